/**
 * Shows one episode: what it was, and each of its steps; below the current one what the agent knew and planned then.
 */
class EpisodeView {
  /** @param {HTMLElement} element what it is shown in. */
  constructor(element) {
    this.element = element;
    element.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * Show an episode.
   *
   * @param {any} row what the list says of it.
   * @param {any} detail what its piece says of it.
   * @param {string[]} columns the names of the parts of a step.
   */
  show(row, detail, columns) {
    this.detail = detail;
    this.steps = detail.steps.map((values) => Object.fromEntries(columns.map((name, place) => [name, values[place]])));
    const outcome = make(row.success ? "strong.won" : "strong.lost", row.outcome);
    const facts = make("dl");
    for (const [name, fact] of Object.entries({ type: row.kind, ...detail.facts })) {
      facts.append(make("dt", name), make("dd", fact));
    }
    const list = make("ol");
    list.id = "steps";
    list.append(...this.steps.map((step, place) => this.step(step, place)));
    this.element.replaceChildren(
      make("h3", row.task),
      make("p", "Goal: ", detail.goal),
      make("p", outcome, ` after ${row.steps} steps, ${row.method}`),
      ...(detail.fault ? [make("p.warning", detail.fault)] : []),
      make("details", make("summary", "How it was played, and what it spent"), facts),
      ...this.verdicts(),
      ...(this.steps.length ? [list] : [make("p.faint", "Its steps were not kept.")]),
    );
    this.current = -1;
    if (this.steps.length) this.go(0, false);
  }

  /** @returns {HTMLElement[]} all that the episode said of entries, of those it didn't recall as well. */
  verdicts() {
    const entries = [...new Set(this.detail.votes.map(([entry]) => entry))];
    if (!entries.length) return [];
    const list = make("ul.recalled", ...entries.map((number) => make("li", ...this.recalled(number))));
    return [make("details", make("summary", `What it said of entries of experience (${entries.length})`), list)];
  }

  /** @returns {HTMLElement} a step as an item of the list of them. */
  step(step, place) {
    const kind = { environment: "environment", format: "format" }[step.kind] || "call";
    const item = make("li.step", ...this.parts(step));
    item.classList.add(kind);
    item.tabIndex = -1;
    item.addEventListener("click", (event) => {
      if (!event.target.closest("summary, a") && !String(getSelection())) this.go(place, false);
    });
    return item;
  }

  /** @returns {HTMLElement[]} what is always shown of a step. */
  parts(step) {
    const action = step.number ? `${step.number}  ${step.action || step.reply}` : "The first observation";
    const parts = [make("div.head", make("span.action", action), make("span.spent", spent(step)))];
    if (step.compacted) {
      parts.push(make("p.warning", `The oldest ${step.compacted} exchanges were left out: the context was full.`));
    }
    if (step.remark) parts.push(make("p.warning", step.remark));
    if (step.thought) parts.push(make("p.thought", step.thought));
    if (step.reply && step.reply !== step.action) parts.push(make("p.raw", "The whole reply: ", step.reply));
    parts.push(make("p.observation", step.observation));
    if (step.recalled.length) {
      parts.push(make("ul.recalled", ...step.recalled.map((number) => make("li", ...this.recalled(number)))));
    }
    return parts;
  }

  /** @returns {(string | Node)[]} an entry that was recalled, and what the episode said of it. */
  recalled(number) {
    const [kind, text, standing] = this.detail.entries[number] || ["", "", "no longer in the store"];
    const votes = this.detail.votes.filter(([entry]) => entry === number);
    const said = votes.map(([, value, words]) => make(value > 0 ? "strong.won" : "strong.lost", words));
    const standingNow = make("span.faint", ` (${standing}) `);
    return [`[${number}] ${kind} `, text, standingNow, ...(said.length ? said : ["no vote"])];
  }

  /**
   * Make a step the current one, below which the state after it is shown.
   *
   * @param {number} place
   * @param {boolean} focused whether the keyboard goes there as well.
   */
  go(place, focused) {
    const items = this.element.querySelectorAll(".step");
    const to = Math.min(Math.max(place, 0), items.length - 1);
    if (to < 0) return;
    if (to !== this.current) {
      this.element.querySelector(".state")?.remove();
      items[this.current]?.removeAttribute("aria-current");
      this.current = to;
      items[to].setAttribute("aria-current", "step");
      items[to].append(this.state(to));
    }
    if (focused) {
      items[to].focus({ preventScroll: true });
      items[to].scrollIntoView({ block: "nearest" });
    }
  }

  /** @returns {HTMLElement} what the agent knew and planned after a step. */
  state(place) {
    const belief = new Belief();
    let plan = [];
    for (const step of this.steps.slice(0, place + 1)) {
      belief.absorb(step.number, step.facts, this.detail.noted[step.number] || []);
      plan = this.detail.plans[step.number] || plan;
    }
    const { number } = this.steps[place];
    const known = belief.known().map(({ words, step }) => make(step === number ? "li.news" : "li", words));
    const subgoals = plan.map(([name, status, said, current]) => {
      const mark = { done: "✓", blocked: "✗", open: current ? "→" : "·" }[status];
      return make(status === "done" ? "li.won" : "li", `${mark} ${name}${said ? ` (${said})` : ""}`);
    });
    return make(
      "div.state",
      this.part("belief", make("p.situation", belief.situation()), make("ul", ...known)),
      this.part("progress", plan.length ? make("ul.plan", ...subgoals) : make("p.faint", "no plan")),
    );
  }

  part(name, ...content) {
    const off = this.detail.parts.includes(name) ? "" : " (not shown to the agent)";
    const part = make("div", make("h4", `${name}${off}`), ...content);
    part.dataset.part = name;
    return part;
  }

  key(event) {
    const places = { ArrowDown: this.current + 1, ArrowUp: this.current - 1, Home: 0, End: this.steps?.length - 1 };
    if (!(event.key in places) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.go(places[event.key], true);
  }
}

/**
 * @param {any} step
 * @returns {string} the time and the tokens of a step.
 */
function spent(step) {
  const seconds = step.model + step.environment + step.harness;
  const parts = [];
  if (step.number && !step.charged) parts.push("free");
  if (step.invalid) parts.push("invalid");
  parts.push(`${seconds.toFixed(2)} s (model ${step.model.toFixed(2)})`);
  if (step.prompt || step.written) {
    parts.push(`${step.prompt} tokens read, ${step.evaluated} of them new, ${step.written} written`);
  }
  return parts.join(" · ");
}
