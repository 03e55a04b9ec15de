// What a model makes of its inputs: curve, plane, samples, neurons. All is painted from the state.

const t = trainer(programs, data), { features, targets, names, layers } = data;
const points = data.rows.length, few = names.length > 0, outputs = data.outputs;
const drawn = outputs > 1 ? layers : layers.slice(0, -1); // with a small picture each
const hidden = layers.slice(0, -1).flatMap(({ act, weights }) => weights.map(() => act));
const s = { rate: data.rate, running: false, asked: false, focus: null, turn: 0 };

// The ranges of the picture, fixed at the start: they stay while points are dragged.
const kinds = [...new Set(targets ?? [])].sort((a, b) => a - b);
const [least, greatest] = extent(kinds);
const classes = data.classes.length ? data.classes.map((_, k) => k) : null;
const logits = outputs === 1 && !data.measures && kinds.length === 2; // of a class against another
const [level, scale] = logits || !(greatest > least) ? [0, 1]
  : [(least + greatest) / 2, (greatest - least) / 2];
// The logits of one input are shown as the chance of a 1.
const chance = features === 1 && logits && kinds.join() === "0,1";
const ranges = data.rows[0].slice(0, features).map((_, k) => {
  const [low, high] = extent([...data.rows, ...data.held].map((row) => row[k]));
  const more = (high - low || 1) * (features === 1 ? 0.06 : 0.1);
  return [low - more, high + more];
});

const targetOf = (i) => t.rows[i]?.[data.column] ?? targets[i]; // rows, then those held back
const short = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
const unit = (name = "") => short(name.match(/\(([^)]*)\)\s*$/)?.[1] ?? "", 6);
const bare = (name = "") => short(name.replace(/\s*\([^)]*\)\s*$/, ""), 24);

// What the model says, from -1 to 1: half way it changes its mind between two classes. Of several
// classes the likeliest tells by its parity, and by its lead how sure it is.
function said(values) {
  if (outputs === 1) return 2 * chances(values)[1] - 1;
  const [most, next] = values.toSorted((a, b) => b - a), best = values.indexOf(most);
  return (best % 2 ? 1 : -1) * Math.tanh((most - next) / 2);
}

// By how much a class of the second pair is likelier than those of the first, or none is.
const later = (values) => Math.max(...values.slice(2)) - Math.max(...values.slice(0, 2));

// The class of a sample, and what the model says it is.
const classOf = (i) => (outputs > 1 ? targetOf(i) : kinds.indexOf(targetOf(i)));
function saidClass(values) {
  const shares = chances(values);
  return shares.indexOf(Math.max(...shares));
}

// How sure the model is of each class: of a number, how near it is to either end.
function chances(values) {
  if (outputs > 1) {
    const most = Math.max(...values), sizes = values.map((v) => Math.exp(v - most));
    const all = sizes.reduce((a, b) => a + b);
    return sizes.map((size) => size / all);
  }
  const far = (values[0] - level) / scale, p = logits ? 1 / (1 + Math.exp(-far)) : (1 + far) / 2;
  return [1 - p, p];
}

// Every neuron and output over the picture: grid[k][i] for number k at place i.
function evaluated() {
  const side = features === 1 ? 160 : 48, inputs = [...data.rows[0].slice(0, features), ...t.p];
  const [across, up] = ranges.map(([low, high]) => spaced(side - 1, low, high));
  const grid = [...hidden, ...Array(outputs)].map(() => new Float64Array(side ** features));
  for (let i = 0; i < side ** features; i++) {
    inputs[0] = across[i % side];
    if (up) inputs[1] = up[side - 1 - Math.floor(i / side)];
    const values = programs.neurons(inputs);
    if (chance) values[hidden.length] = chances([values[hidden.length]])[1];
    grid.forEach((each, k) => { each[i] = values[k]; });
  }
  return grid;
}

// What the model says of each sample, and the health of each neuron.
function examined() {
  const found = t.rows.map((row) => programs.neurons([...row.slice(0, features), ...t.p]));
  s.predictions = found.map((values) => values.slice(hidden.length, hidden.length + outputs));
  s.right = s.predictions.filter((values, i) => classes && saidClass(values) === classOf(i)).length;
  s.health = hidden.map((act, k) => {
    if (act === null) return "";
    const at = hidden.length + outputs + k;
    const slopes = found.map((values) => Math.abs(programs.slopes[act]([values[at]])[1][0]));
    if (slopes.every((x) => x === 0)) {
      const [says, ...rest] = found.map((values) => values[k]), one = rest.every((x) => x === says);
      return !one ? "stuck" : says === 0 ? "dead" : `stuck at ${number(says)}`;
    }
    const steps = slopes.every((x) => x === 0 || x === 1); // relu: flat or not, never saturated
    return !steps && slopes.filter((x) => x < 0.05).length > 0.9 * points ? "saturated" : "";
  });
}

// -- One input: data, curve, sticks

// Where the numbers stand in the picture.
function framed() {
  const { plotWidth: width, plotHeight: height } = s;
  if (features === 2) return chart(width, height, ...ranges, { room: [0, 0, 0, 0] });
  const ys = [...(targets ?? []).flat(), ...s.says.flatMap((ys) => [...ys])];
  s.range ??= extent(ys);
  const levels = ticks(...s.range, 4), across = ticks(...ranges[0], width / (few ? 48 : 120));
  return chart(width, height, ranges[0], extent(levels), { levels, across,
    unit: ` ${unit(data.axes[1])}`, room: [46, 8, 14, 42] });
}

function curvePicture() {
  const { left, right, bottom, x, y, picture } = s.box, xs = spaced(159, left, right);
  const curve = (kind, ys) => through(`value ${kind}`, xs.map((x, i) => [x, y(ys[i])]));
  const stick = ([at], i) => draw(t.diverged ? "error ghost" : "error",
    `M${x(at)} ${y(s.predictions[i][0])}V${y(targetOf(i))}`);
  const shown = s.focus !== null ? curve("thick", s.grid[s.focus]) // a neuron instead
    : [data.measures && t.rows.map(stick), s.says.map((ys) => curve("thick", ys))];
  return picture([shown, rings()], write("end", right, bottom + 38, bare(data.axes[0])));
}

// -- Two inputs: a plane

function mapPicture() {
  const own = s.scaled[s.focus];
  const values = own ?? s.says[0].map((_, i) => said(s.says.map((each) => each[i])));
  const levels = own ? [] : classes ? [-0.8, 0, 0.8] : [-1, -0.5, 0, 0.5, 1];
  const second = own || outputs < 3 ? null
    : s.says[0].map((_, i) => later(s.says.map((x) => x[i])));
  const between = second && contour("ink", second, 0);
  return [plane(values, second), s.box.picture([between, levels.map((level) =>
    contour(level ? "ink thin" : "ink", values, level)), rings()])];
}

// -- Data points

const standing = ([x, y]) => `left: ${x}px; top: ${y}px`;

// Samples held back.
const rings = () => targets && data.held.map(([x, y], i) => {
  const kind = classes ? KINDS[classOf(points + i)] ?? "soft" : "ink";
  return [targetOf(points + i)].flat().map((target) =>
    disc(`held ${kind}`, s.box.at([x, features === 1 ? target : y]), 5));
});

// A sample, as elements that can be dragged: a height, a class, or a number's sign. What is wrong
// has a ring, as large as the error of a number.
function point(row, i) {
  const [target, ...more] = [targetOf(i)].flat(), values = s.predictions[i];
  const mark = (kind, y, far, words) => h("i", { class: `point ${kind}`, "data-i": i,
    role: "button", style: `${standing(s.box.at([row[0], y]))}; --far: ${far}px`,
    tabindex: i ? -1 : 0, "aria-label": `point ${i + 1} ${words || ""}` }, words);
  if (features === 1) return [target, ...more].map((y) => mark("", y, 8));
  const far = Math.abs(values[0] - target) / scale;
  const known = classes ? classOf(i) : Number(target > level);
  const wrong = (classes ? saidClass(values) !== known : far > 0.05) ? " wrong" : "";
  const kind = ["sand", "value"][known] ?? "digit", size = Math.round(Math.min(2 + 10 * far, 18));
  return mark(kind + wrong, row[1], classes ? 5 : size, kind === "digit" && String(known));
}

// -- The network: wires by size and sign, a small picture for each neuron

const columns = [features, ...drawn.map(({ weights }) => weights.length)];
const tallest = Math.max(...columns), end = outputs === 1;

// The middle of neuron i of column l; after the last column stands the output, where it is shown.
function placeOf(l, i) {
  const { side, size, phone } = s, n = columns.length, left = phone ? 0 : 55;
  const pitch = end ? (side - (phone ? 8 : 62)) / n
    : (side - left - (phone ? 10 : 24) - size) / (n - 1);
  const row = i - ((columns[l] ?? 1) - 1) / 2;
  const x = l < n ? left + size / 2 + l * pitch : side - (phone && 8);
  return [x, s.netHeight / 2 + 1.29 * size * row];
}

// The wires into a layer.
const wires = ({ weights }, l) => weights.map((row, i) => row.map((index, j) => {
  const before = columns.slice(1, l).reduce((a, b) => a + b, 0), w = t.p[index], size = Math.abs(w);
  const both = [l ? before + j : null, before + (l ? columns[l] : 0) + i];
  const dead = both.some((k) => /dead|stuck/.test(s.health[k])), wide = Math.min(8, 0.4 + 2.2 * size);
  const aside = s.focus !== null && !both.includes(s.focus);
  const [[x, y], [x2, y2]] = [placeOf(l, j), placeOf(l + 1, i)], from = x + s.size / 2;
  const stub = l + 1 === columns.length && !end;
  const [to, high] = stub ? [from + 10, y] : [x2 - (l + 1 < columns.length ? s.size / 2 : 7), y2];
  const half = (from + to) / 2;
  return draw(dead ? "dead" : w < 0 ? "sand" : "value",
    `M${from} ${y}C${half} ${y} ${half} ${high} ${to} ${high}`,
    dead ? {} : { "stroke-width": wide, "stroke-dasharray": w < 0 && `${4 + wide} ${3 + wide}`,
      opacity: aside ? 0.1 : Math.min(0.9, 0.3 + 0.75 * size) });
}));

// The numbers of small pictures, from -1 to 1, each on a scale of its own.
const scaled = () => s.grid.map((row) => {
  const most = row.reduce((far, x) => Math.max(far, Math.abs(x)), 1e-9);
  return row.map((x) => x / most);
});

// What a neuron makes of the inputs, or what an input is.
function small(values) {
  if (features === 2) return plane(values);
  return h("svg", { viewBox: "0 -109 159 218", preserveAspectRatio: "none" },
    draw("axis", "M0 0H159"), through("value", [...values].map((y, i) => [i, -100 * y])));
}
const ramp = spaced(features === 1 ? 159 : 47, -1, 1), turned = ramp.toReversed();
const ramps = features === 1 ? [ramp]
  : [turned.flatMap(() => ramp), turned.flatMap((y) => ramp.map(() => y))];

// -- More than two inputs: what the model says of each sample

const MARKS = ["●", "◆", "▲", "■", "✚"], KINDS = ["sand", "value", "ink"];
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
  const about = { role: "img", "aria-label": `${s.right} of ${points} right` };
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
