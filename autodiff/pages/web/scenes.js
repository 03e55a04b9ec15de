// What a model makes of its inputs: curve, plane, samples, neurons. All is painted from the state.

const t = trainer(programs, data), { features, targets, names, layers } = data;
const few = names.length > 0, outputs = data.outputs;
const drawn = outputs > 1 ? layers : layers.slice(0, -1); // with a small picture each
const hidden = layers.slice(0, -1).flatMap(({ act, weights }) => weights.map(() => act));
const s = { rate: data.rate, running: false, asked: false, focus: null, turn: 0,
  wire: data.edit?.wire(t) ?? null, held: Boolean(data.edit), pulls: null };

// The ranges of the picture, fixed at the start: they stay while points are dragged.
const kinds = [...new Set(targets ?? [])].sort((a, b) => a - b);
const [least, greatest] = extent(kinds);
const classes = data.classes.length ? data.classes.map((_, k) => k) : null;
const logits = outputs === 1 && !data.measures && kinds.length === 2; // of a class against another
const [level, scale] = logits || !(greatest > least) ? [0, 1]
  : [(least + greatest) / 2, (greatest - least) / 2];
// The logits of one input are shown as the chance of a 1.
const chance = features === 1 && logits && kinds.join() === "0,1";
const ranges = data.ranges ?? data.rows[0].slice(0, features).map((_, k) => {
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
const ofSecond = (values) => Math.max(...values.slice(2)) - Math.max(...values.slice(0, 2));

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
    return !steps && slopes.filter((x) => x < 0.05).length > 0.9 * t.rows.length ? "saturated" : "";
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
  return picture([shown, rings(), pullsAtPoints()],
    write("end", right, bottom + 38, bare(data.axes[0])));
}

// -- Two inputs: a plane

function mapPicture() {
  const own = s.scaled[s.focus];
  const every = (f) => s.says[0].map((_, i) => f(s.says.map((each) => each[i])));
  const values = own ?? every(said);
  const levels = own ? [] : classes ? [-0.8, 0, 0.8] : [-1, -0.5, 0, 0.5, 1];
  const second = own || outputs < 3 ? null : every(ofSecond);
  const between = second && contour("ink", second, 0);
  return [plane(values, second), s.box.picture([between, levels.map((level) =>
    contour(level ? "ink thin" : "ink", values, level)), rings(), pullsAtPoints()],
    edit.numbers?.(s.box))];
}

// -- Data points

const KINDS = ["sand", "value", "ink"];
const standing = ([x, y]) => `left: ${x}px; top: ${y}px`;

// Samples held back.
const rings = () => targets && data.held.map(([x, y], i) => {
  const kind = classes ? KINDS[classOf(t.rows.length + i)] ?? "soft" : "ink";
  return [targetOf(t.rows.length + i)].flat().map((target) =>
    disc(`held ${kind}`, s.box.at([x, features === 1 ? target : y]), 5));
});

// A sample, as elements that can be dragged: a height, a class, or a number's sign. What is wrong
// has a ring, as large as the error of a number.
function point(row, i) {
  const [target, ...more] = [targetOf(i)].flat(), values = s.predictions[i];
  const mark = (kind, y, far, words) => h("i", { class: `point ${kind}`, "data-i": i,
    role: "button", style: `${standing(s.box.at([row[0], y]))}; --far: ${far}px`,
    tabindex: i ? -1 : 0, ariaLabel: `point ${i + 1} ${words || ""}` }, words);
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
  const { side, size, phone, low } = s, n = columns.length, left = phone ? 0 : low ? 36 : 55;
  const pitch = end ? (side - (phone ? 8 : 62)) / n
    : (side - left - (phone ? 10 : 24) - size) / (n - 1);
  const row = i - ((columns[l] ?? 1) - 1) / 2;
  const x = l < n ? left + size / 2 + l * pitch : side - (low ? 24 : phone && 8);
  return [x, s.netHeight / 2 + 1.29 * size * row];
}

// Where the dot of a bias is: left of its neuron, and lower.
function dotAt(l, i) {
  const [x, y] = placeOf(l + 1, i), inner = l + 1 < columns.length;
  return [x - (inner ? s.size / 2 : 7) - 14, y + (inner ? 0.36 * s.size : 4) + 8];
}

// The dots of the biases, above all wires: 24 pixels wide to a finger.
const dots = ({ biases }, l) => biases.map((index, i) => {
  const [cx, cy] = dotAt(l, i), kind = t.p[index] < 0 ? "sand" : "value";
  return index !== null && h(`circle.dot.${kind}`, { cx, cy, r: 3.5, "data-wire": index });
});

// The wires into a layer; that of a bias is short, and comes from its dot.
const wires = ({ weights, biases }, l) => weights.map((row, i) =>
  [...row, biases[i]].map((index, j) => {
    if (index === null) return null;
    const before = columns.slice(1, l).reduce((a, b) => a + b, 0);
    const w = t.p[index], size = Math.abs(w), wide = Math.min(8, 0.4 + 2.2 * size);
    const bias = j === row.length, inner = l + 1 < columns.length;
    const both = [l && !bias ? before + j : null, before + (l ? columns[l] : 0) + i];
    const dead = both.some((k) => /dead|stuck/.test(s.health[k]));
    const aside = s.wire === null ? s.focus !== null && !both.includes(s.focus) : s.wire !== index;
    const [x2, y2] = placeOf(l + 1, i), to = x2 - (inner ? s.size / 2 : 7);
    const [x, y] = placeOf(l, j), [from, low] = bias ? dotAt(l, i) : [x + s.size / 2, y];
    const high = bias ? low - 8 : y2, half = (from + to) / 2;
    const d = `M${from} ${low}C${half} ${low} ${half} ${high} ${to} ${high}`;
    return [draw(dead ? "dead" : w < 0 ? "sand" : "value", d,
      dead ? {} : { "stroke-width": wide, "stroke-dasharray": w < 0 && `${4 + wide} ${3 + wide}`,
        opacity: aside ? 0.3 : Math.min(0.9, 0.3 + 0.75 * size) }),
    draw(s.wire === index ? "hit halo" : "hit", d, { "data-wire": index })];
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
