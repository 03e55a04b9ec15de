// Points of two classes, of a text: x and y from -6 to 6, and the class, 1 or -1.

const SPAN = 6, MANY = 500, near = (x) => Math.round(50 * clamp(x, -SPAN, SPAN)) / 50;
const round = (r, angle) => [r * Math.cos(angle), r * Math.sin(angle)];
const SETS = { // of two numbers from 0 to 1, and a class
  circle: (u, v, k) => round(k > 0 ? 2.6 * Math.sqrt(u) : 4 + 1.4 * u, 2 * Math.PI * v),
  moons: (u, v, k) => round(3.4, Math.PI * u).map((x, axis) => k * (x - 1.5 + 0.4 * axis)),
  xor: (u, v, k) => [10 * u - 5, 5 * v * k * Math.sign(u - 0.5)],
  spiral: (u, v, k) => round(0.4 + 4.8 * u, 9.6 * u + k * Math.PI / 2),
};

// Numbers from 0 to 1 that a seed gives.
function diceOf(seed) {
  let state = (seed + 1) * 48271;
  return () => (state = state * 16807 % 2147483647) / 2147483647;
}

// The points of a text: a set, a table of x, y and one of two classes, or a formula of x.
function rowsOf(text, n = 200) {
  const lines = text.trim().replaceAll("−", "-").split("\n")
    .map((line) => line.trim().split(/[\s,;]+/));
  const known = ([x, y, k]) => k && Number.isFinite(x - y), dice = diceOf(7);
  if (lines.some(known)) return tableOf(lines.filter((line, i) => known(line) || (i
    && refuse(`“${line.join(" ")}” is not x, y and a class, such as 1.5 2 A`))));
  const f = Object.hasOwn(SETS, text) ? SETS[text] : curveOf(text);
  return ofTwo(spaced(n - 1, 1, n).map((_, i) => {
    const k = i % 2 ? 1 : -1, [x, y, own] = f(dice(), dice(), k);
    const noise = () => (own ? 0 : (dice() + dice() - 1) / 2);
    return [near(x + noise()), near(y + noise()), own ?? k];
  }));
}

const ofTwo = (rows) => (new Set(rows.map(([,, k]) => k)).size > 1 ? rows
  : refuse("All points are of one class; two are needed"));

// Where a number is beyond the plane, both columns are stretched to it. What became of the table
// is told by its rows.
function tableOf(lines) {
  const kinds = [...new Set(lines.map((line) => line[2]))].sort();
  if (kinds.length > 2 || lines.length > MANY) {
    refuse(`${lines.length} points of ${kinds.length} classes; expected at most ${MANY} of two`);
  }
  const columns = [0, 1].map((axis) => lines.map((line) => Number(line[axis])));
  const within = columns.flat().every((x) => Math.abs(x) <= SPAN);
  const [xs, ys] = within ? columns : columns.map((all) => {
    const [low, high] = extent(all);
    return all.map((x) => 0.9 * SPAN * (2 * (x - low) / (high - low || 1) - 1));
  });
  const rows = lines.map(([, , k], i) => [near(xs[i]), near(ys[i]), k === kinds[1] ? 1 : -1]);
  return Object.assign(ofTwo(rows), { told: `${kinds[0]} is sand, ${kinds[1]} blue${
    within ? "" : "; both columns stretched to the plane"}.` });
}

// Blue above the curve.
function curveOf(text) {
  if (!text.includes("x")) refuse("Type a formula of x, such as sin(x), or lines of x, y and a class");
  const { nodes, labels, inputs } = parse(text, byName);
  const other = inputs.map((i) => labels[i]).find((name) => name !== "x");
  if (other) refuse(`“${other}” is unknown; the formula is one of x, such as sin(x)`);
  return (...shares) => {
    const [x, y] = shares.map((u) => near(11 * u - 5.5));
    const leaves = nodes.map(({ value }, i) => (labels[i] === "x" ? x : value));
    return [x, y, y > pass({ nodes }, leaves, null, true).at(-1) ? 1 : -1];
  };
}
