// More than two inputs: what the model says of each sample.

const MARKS = ["●", "◆", "▲", "■", "✚"];
const signOf = (k) => h("b", { class: KINDS[k] ?? "soft" }, MARKS[k] ?? String(k));

// A corner for each class; a sample stands between them as the model holds it for theirs, a
// little aside: many coincide.
function samplesPicture(width, height) {
  const n = classes.length, line = n === 2, turn = line ? 0.5 : 0.25;
  const tall = (height - 74) / (n === 3 ? 1.5 : 2); // of a triangle, or a polygon
  const spread = line ? [0, 30] : [12, 12];
  const radius = line ? width / 2 - 50 : Math.min(0.57 * width - 57, tall);
  const middle = [width / 2, line ? height / 2 : radius + 34];
  const corners = classes.map((k) => [Math.cos, Math.sin].map((f, axis) =>
    middle[axis] + radius * f(2 * Math.PI * (k / n - turn))));
  const mark = (values, i) => {
    const p = chances(values).map((x) => clamp(x, 0, 1)), k = classOf(i);
    const along = (axis) => p.reduce((sum, share, c) => sum + share * corners[c][axis], 0);
    const at = spread.map((most, axis) => along(axis) + most * Math.sin((7 + 4 * axis) * i));
    if (!at.every(Number.isFinite)) return null;
    return put("", at, saidClass(values) !== k && h("circle.ring", { r: 9 }),
      write(`mark middle ${KINDS[k] ?? "soft"}`, 0, 5, MARKS[k] ?? String(k)));
  };
  const edges = corners.map((corner, k) => {
    const next = corners[(k + 1) % n], half = [0, 1].map((axis) => (corner[axis] + next[axis]) / 2);
    return [draw("axis", `M${corner}L${next}`),
      draw("axis dashed", line ? `M${middle[0]} ${middle[1] - 60}v120` : `M${middle}L${half}`)];
  });
  const names = corners.map(([x, y], k) => write(`corner middle ${KINDS[k] ?? "soft"}`, x,
    y + (line ? -52 : y < middle[1] - 1 ? -18 : 32), `${MARKS[k] ?? k} ${data.classes[k]}`));
  const about = { role: "img", ariaLabel: `${s.right} of ${t.rows.length} right` };
  return h("svg.plot", { width, height, ...about }, edges, names, s.predictions.map(mark));
}

// A number against what is true: on the diagonal it is right.
function numbersPicture(width, height) {
  s.range ??= extent([...targets, ...s.predictions.flat()]);
  const levels = ticks(...s.range, 5), ends = extent(levels);
  const { x, y, right, bottom, at, line, picture } = chart(width, height, ends, ends,
    { levels, across: levels, room: [46, 12, 24, 42] });
  const each = s.predictions.map(([said], i) => [targets[i], said]);
  return picture([line("axis dashed", ends.map((v) => [v, v])),
    each.map(([v, said]) => draw("error ghost", `M${x(v)} ${y(v)}V${y(said)}`)),
    each.map((place) => disc("value", at(place), 5))],
  write("end", right, bottom + 38, "what is true →"),
  write("", x(ends[0]), 10, "↑ what the model says"));
}

// What each class is taken for.
function confusion() {
  const says = s.predictions.map(saidClass);
  const count = (k, said) => says.filter((x, i) => x === said && classOf(i) === k).length;
  const name = (k) => [signOf(k), ` ${data.classes[k]}`];
  return h("table", h("caption", "it is … ↓   the model says … →"),
    h("tr", h("td"), classes.map((k) => h("th", { scope: "col" }, name(k)))),
    classes.map((k) => h("tr", h("th", { scope: "row" }, name(k)), classes.map((said) => {
      const n = count(k, said);
      return h("td", { class: n === 0 ? "idle" : k === said ? "" : "error" }, n);
    }))));
}
