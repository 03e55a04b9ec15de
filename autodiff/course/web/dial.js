// The graph of y = ln x₁ + x₁x₂ − sin x₂ at (2, 5): the tangent of every line, and a dial for the
// direction in which the inputs move.

const [x1, x2] = [2, 5], s = { direction: -45, trail: [] };
const nodes = { // where each stands, what it says
  x1: [90, 26, "x₁"], x2: [270, 26, "x₂"], v1: [57, 146, "ln x₁"], v2: [180, 146, "x₁ · x₂"],
  v3: [303, 146, "sin x₂"], v4: [118, 262, "sum"], y: [180, 370, "y"],
};
const made = { v1: ["log", "x1"], v2: ["mul", "x1", "x2"], v3: ["sin", "x2"],
  v4: ["add", "v1", "v2"], y: ["sub", "v4", "v3"] };
const values = { x1, x2 }, edges = Object.entries(made).flatMap(([to, [op, ...inputs]]) => {
  const xs = inputs.map((from) => values[from]), slopes = rules[op].back(1, ...xs);
  values[to] = rules[op].value(...xs);
  return inputs.map((from, k) => [from, to, slopes[k]]);
});

function tangents(u1, u2) { // forward mode: each edge multiplies, each box adds
  const found = { x1: u1, x2: u2, v1: 0, v2: 0, v3: 0, v4: 0, y: 0 };
  for (const [from, to, factor] of edges) found[to] += found[from] * factor;
  return found;
}

const lines = edges.map(([from, to, factor]) => {
  const [[a, b], [c, d]] = [nodes[from], nodes[to]];
  return [draw("soft thin", `M${a} ${b + 23}L${c} ${d - 23}`),
    write("factor", (a + c) / 2, (b + d) / 2 + 5, `× ${number(factor, 3)}`)];
});
const boxOf = ([name, tangent]) => put("", nodes[name].slice(0, 2), box("", 112, 46, 8),
  write("value", 0, -4, `${nodes[name][2]} = ${minus(String(Number(values[name].toFixed(2))))}`),
  write("tangent", 0, 15, `moves at ${places(tangent)}`));

function point(direction) {
  s.direction = direction;
  paint();
}
function turn({ buttons, currentTarget, clientX, clientY }) {
  const { x, y, width, height } = currentTarget.getBoundingClientRect();
  const angle = Math.atan2(y + height / 2 - clientY, clientX - x - width / 2);
  if (buttons) point(Math.round((angle * 180) / Math.PI));
}

function paint() {
  const exact = s.direction === 53 ? Math.atan2(4, 3) : null; // (0.6, 0.8)
  const angle = exact ?? (s.direction * Math.PI) / 180, u1 = Math.cos(angle), u2 = Math.sin(angle);
  const found = tangents(u1, u2), at = (far) => [far * u1, -far * u2];
  s.trail = [...s.trail, at(17 * found.y)].slice(-400);
  match(main, h("main.lesson", h("svg", { viewBox: "0 0 360 400", role: "img",
    ariaLabel: "the graph of y, with the tangent of every line" },
  lines, Object.entries(found).map(boxOf)),
  h("section", h("svg.dial", { viewBox: "-122 -122 244 244", role: "img",
    ariaLabel: "a dial for the direction", onpointerdown: turn, onpointermove: turn },
  disc("", [0, 0], 100), draw("soft thin", "M-100 0H100M0 -100V100"),
  write("", 84, 16, "ẋ₁"), write("", 14, -84, "ẋ₂"), through("speed ghost", s.trail),
  draw("ink", `M0 0L${at(100)}`), disc("solid", at(100), 11),
  disc("speed solid", at(17 * found.y), 7)),
  h("label", "direction", slider({ min: -180, max: 180, value: s.direction }, point)),
  h("p", `ẋ₁ = ${places(u1)}, ẋ₂ = ${places(u2)}: y moves at `, h("output", places(found.y))))));
}

follow(paint);
