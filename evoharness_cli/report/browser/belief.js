/**
 * What an agent knew, step by step: the newest fact about a subject and relation, as `harness/belief.py` keeps it.
 */
class Belief {
  constructor() {
    this.observed = new Map();
    this.noted = new Map();
  }

  /**
   * Take in what a step showed, and what the agent wrote down at it.
   *
   * @param {number} step
   * @param {string[][]} facts subject, relation and object of each.
   * @param {string[][]} notes the same.
   */
  absorb(step, facts, notes) {
    for (const fact of facts) {
      const key = JSON.stringify(fact.slice(0, 2));
      this.observed.set(key, { fact, step, noted: false });
      this.noted.delete(key);
    }
    for (const fact of notes) {
      this.noted.set(JSON.stringify(fact.slice(0, 2)), { fact, step, noted: true });
    }
  }

  /** @returns {string} where the agent is, what it holds, and how much it has searched. */
  situation() {
    const facts = [...this.observed.values()].map((known) => known.fact);
    const place = facts.find(([subject, relation]) => subject === "you" && relation === "at");
    const held = facts.filter(([, relation, object]) => relation === "at" && object === "hand").map(([thing]) => thing);
    const places = facts.filter(([, relation]) => relation === "searched");
    const searched = places.filter(([, , object]) => object === "yes");
    const parts = [`at ${place ? place[2] : "no place yet"}`, `holding ${held.join(", ") || "nothing"}`];
    if (places.length) parts.push(`${searched.length} of ${places.length} places searched`);
    return parts.join(", ");
  }

  /** @returns {{words: string, step: number}[]} what it knows besides, the newest first. */
  known() {
    return [...this.observed.values(), ...this.noted.values()]
      .filter(({ fact: [subject, relation] }) => subject !== "you" && relation !== "searched")
      .sort((one, other) => other.step - one.step)
      .map(({ fact, step, noted }) => ({ words: `${worded(fact)} (${noted ? "noted at " : ""}step ${step})`, step }));
  }
}

/**
 * @param {string[]} fact
 * @returns {string} the fact in words.
 */
function worded([subject, relation, object]) {
  if (object === "yes") return `${subject} ${relation}`;
  if (object === "no") return `${subject} not ${relation}`;
  if (relation === "at" && object === "hand") return `${subject} in hand`;
  return `${subject} ${relation} ${object}`;
}
