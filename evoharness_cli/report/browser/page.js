const FILTERS = { method: "all methods", kind: "all types", outcome: "all outcomes", verb: "all verbs" };

/** Open the index, and let episodes be found and opened. */
async function main() {
  const index = await unpack("index");
  const episodes = index.rows.map(([key, task, method, kind, outcome, success, steps, calls, seconds, piece]) => ({
    key,
    task,
    method: index.methods[method],
    kind: index.kinds[kind],
    outcome: index.outcomes[outcome],
    success,
    steps,
    calls,
    seconds,
    piece,
  }));
  const byKey = new Map(episodes.map((episode) => [episode.key, episode]));
  const pieces = new Map();
  const view = new EpisodeView(document.getElementById("episode"));
  const list = new VirtualList(document.getElementById("list"), document.getElementById("rows"), shown, open);
  const task = document.getElementById("filter-task");
  const chosen = Object.fromEntries(
    Object.keys(FILTERS).map((name) => [name, document.getElementById(`filter-${name}`)]),
  );
  let opened = null;

  /** @returns {Node[]} an episode as a row of the list. */
  function shown(episode) {
    const calls = index.verbs.flatMap((verb, place) =>
      episode.calls[place] ? [`${episode.calls[place]} ${verb}`] : [],
    );
    const spent = [`${episode.steps} steps`, ...calls, `${episode.seconds.toFixed(1)} s`].join(", ");
    const outcome = make(episode.success ? "span.won" : "span.lost", episode.outcome);
    return [
      make("div", outcome, ` ${episode.task}`),
      make("div.faint", `${episode.method} · ${episode.kind}`),
      make("div.faint", spent),
    ];
  }

  /** Open an episode, or say why it can't be. */
  function open(episode) {
    read(episode).catch(fail);
  }

  /** Show an episode, and put the keyboard there. */
  async function read(episode) {
    opened = episode;
    if (!pieces.has(episode.piece)) pieces.set(episode.piece, unpack(`piece-${episode.piece}`));
    const details = await pieces.get(episode.piece);
    if (opened !== episode) return;
    history.replaceState(null, "", `#episode=${encodeURIComponent(episode.key)}`);
    view.show(episode, details[episode.key], index.columns);
    view.element.focus({ preventScroll: true });
    const { top } = view.element.getBoundingClientRect();
    if (top < 0 || top > innerHeight / 2) view.element.scrollIntoView();
  }

  function filter() {
    const part = task.value.trim().toLowerCase();
    const verb = index.verbs.indexOf(chosen.verb.value);
    const found = episodes.filter(
      (episode) =>
        ["method", "kind", "outcome"].every((name) => !chosen[name].value || episode[name] === chosen[name].value) &&
        (verb < 0 || episode.calls[verb] > 0) &&
        episode.task.toLowerCase().includes(part),
    );
    document.getElementById("count").textContent = `${found.length} of ${episodes.length} episodes`;
    list.show(found, found.indexOf(opened));
  }

  /** Open the episode that the address names. */
  function follow() {
    const match = /^#episode=(.+)$/.exec(location.hash);
    const episode = match && byKey.get(decodeURIComponent(match[1]));
    if (!episode) return;
    list.choose(list.items.indexOf(episode), false);
    open(episode);
  }

  const names = { method: index.methods, kind: index.kinds, outcome: index.outcomes, verb: index.verbs };
  for (const [name, all] of Object.entries(FILTERS)) {
    const options = names[name].map((value) => new Option(value, value));
    chosen[name].replaceChildren(new Option(all, ""), ...options);
  }
  const form = document.getElementById("filters");
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") list.view.focus();
    else if (event.key === "/" && !typing) task.focus();
    else if ((event.key === "]" || event.key === "[") && !typing)
      list.choose(list.chosen + (event.key === "]" ? 1 : -1), true);
    else return;
    event.preventDefault();
  });
  addEventListener("hashchange", follow);
  filter();
  follow();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

/** Say what went wrong where an episode would be. */
function fail(error) {
  document.getElementById("episode").replaceChildren(make("p.warning", error.message));
}

main().catch(fail);
