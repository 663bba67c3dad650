// The towers of Hanoi, as a program that evoharness plays (docs/environments.md says how).
const pegs = { left: [], middle: [], right: [] };
const names = Object.keys(pegs);
const top = (peg) => pegs[peg].at(-1) ?? Infinity;
const canMove = (from, to) => top(from) < top(to);

function state(observation, more) {
  const shown = names.map((peg) => `${peg}: ${pegs[peg].join(" ") || "empty"}`).join(", ");
  const facts = names.flatMap((peg) => pegs[peg].map((disk) => [`disk ${disk}`, "at", peg]));
  const moves = names.flatMap((from) => names.filter((to) => canMove(from, to)).map((to) => [from, to]));
  const admissible = moves.map(([from, to]) => `move from ${from} to ${to}`);
  return { observation: `${observation}${shown}.`, facts, admissible, ...more };
}

function reset({ disks = 3 }) {
  pegs.left = Array.from({ length: disks }, (_, index) => disks - index);
  const goal = `move all ${disks} disks to the right peg`;
  const rule = "A larger disk never lies on a smaller one. Of each peg the topmost disk is named last. ";
  return state(rule, { goal, forms: ["move from {peg} to {peg}"], names: { peg: names }, kind: "towers" });
}

function step(action) {
  const [, from, to] = action.match(/^move from (\w+) to (\w+)$/) ?? [];
  if (!names.includes(from) || !names.includes(to) || !canMove(from, to)) return state("That can't be done. ");
  pegs[to].push(pegs[from].pop());
  const success = pegs.left.length + pegs.middle.length === 0;
  return state("", { done: success, success });
}

require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  console.log(JSON.stringify("reset" in request ? reset(request.reset) : step(request.step)));
});
