// What a model makes of its inputs: curve, plane, neurons, weights. All is painted from the state.

const t = trainer(programs, data), { features, targets, names, layers } = data;
const points = data.rows.length, few = names.length > 0, outputs = data.outputs;
const drawn = outputs > 1 ? layers : layers.slice(0, -1); // with a small picture each
const hidden = layers.slice(0, -1).flatMap(({ act, weights }) => weights.map(() => act));
const s = {
  rate: data.rate, running: false, asked: false, byHand: null, focus: null, ghosts: [], trail: [],
  turn: 0,
};

// The ranges of the picture, fixed at the start: they stay while points are dragged.
const kinds = [...new Set(targets ?? [])].sort((a, b) => a - b);
const [least, greatest] = [kinds[0], kinds.at(-1)];
const classes = features === 2 && (outputs > 1 || kinds.length === 2) ? kinds : null;
const logits = outputs === 1 && !data.measures && kinds.length === 2; // of a class against another
const [level, scale] = logits || !(greatest > least) ? [0, 1]
  : [(least + greatest) / 2, (greatest - least) / 2];
// The logits of one input are shown as the chance of a 1.
const chance = features === 1 && logits && kinds.join() === "0,1";
const ranges = data.rows[0].slice(0, features).map((_, k) => {
  const xs = data.rows.map((row) => row[k]), low = Math.min(...xs), high = Math.max(...xs);
  const more = (high - low || 1) * (features === 1 ? 0.06 : 0.1);
  return [low - more, high + more];
});

const targetOf = (i) => (data.column === null ? targets[i] : t.rows[i][data.column]);
const unit = (name = "") => name.match(/\(([^)]*)\)\s*$/)?.[1] ?? "";
const bare = (name = "") => name.replace(/\s*\([^)]*\)\s*$/, "");

// What the model says, from -1 to 1: half way it changes its mind between two classes. Of several
// classes the parity of the likeliest tells regions apart, and its lead how sure it is.
function said(values) {
  if (outputs === 1) return logits ? Math.tanh(values[0] / 2) : (values[0] - level) / scale;
  const [most, next] = values.toSorted((a, b) => b - a), best = values.indexOf(most);
  return (best % 2 ? 1 : -1) * (1 - 0.28 * Math.floor(best / 2)) * Math.tanh((most - next) / 2);
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
    if (chance) values[hidden.length] = 1 / (1 + Math.exp(-values[hidden.length]));
    grid.forEach((each, k) => { each[i] = values[k]; });
  }
  return grid;
}

// What the model says of each sample, and how steep each neuron is there: dead, saturated or well.
function examined() {
  const found = t.rows.map((row) => programs.neurons([...row.slice(0, features), ...t.p]));
  s.predictions = found.map((values) => values.slice(hidden.length, hidden.length + outputs));
  s.health = hidden.map((act, k) => {
    if (act === null) return "";
    const at = hidden.length + outputs + k;
    const slopes = found.map((values) => Math.abs(programs.slopes[act]([values[at]])[1][0]));
    if (slopes.every((x) => x === 0)) return "dead";
    const steps = slopes.every((x) => x === 0 || x === 1); // relu: flat or not, never saturated
    return !steps && slopes.reduce((a, b) => a + b) < 0.05 * points ? "saturated" : "";
  });
}

// -- One input: data, curve, sticks

// Where the numbers stand in the picture.
function framed() {
  const { plotWidth: width, plotHeight: height } = s;
  if (features === 2) return chart(width, height, ...ranges, { room: [0, 0, 0, 0] });
  const ys = [...(targets ?? []).flat(), ...s.says.flatMap((ys) => [...ys])];
  s.range ??= [Math.min, Math.max].map((end) => end(...ys.filter(Number.isFinite)));
  const levels = ticks(...s.range, 4), across = ticks(...ranges[0], width / (few ? 48 : 120));
  return chart(width, height, ranges[0], [levels[0], levels.at(-1)], { levels, across,
    unit: ` ${unit(data.axes[1])}`, room: [few ? 46 : 34, 8, 14, 42] });
}

function curvePicture() {
  const { left, right, bottom, x, y, picture } = s.box, xs = spaced(159, left, right);
  const curve = (kind, ys) => through(`value ${kind}`, xs.map((x, i) => [x, y(ys[i])]));
  const stick = ([at], i) => draw(t.diverged ? "error ghost" : "error",
    `M${x(at)} ${y(s.predictions[i][0])}V${y(targetOf(i))}`);
  const shown = s.focus !== null ? curve("thick", s.grid[s.focus]) // a neuron instead
    : [s.trail.map((ys) => curve("ghost", ys)), data.measures && t.rows.map(stick),
      s.says.map((ys) => curve("thick", ys))];
  return picture(shown, write("end", right, bottom + 38, bare(data.axes[0])), farAway(s.says[0]));
}

// Where the curve has left the picture, an arrow says how far it is.
function farAway(ys) {
  const { left, right, top, bottom, y } = s.box, over = ys.every((each) => y(each) < top);
  if (!over && !ys.every((each) => y(each) > bottom)) return null;
  const far = [amount(ys[80], 2), unit(data.axes[1])].join(" ").trim();
  const words = over ? `↑ the curve is ${far} up there` : `↓ the curve is at ${far}, down there`;
  return write("value middle", (left + right) / 2, over ? 34 : bottom - 20, words);
}

// -- Two inputs: a plane

function mapPicture() {
  const own = s.scaled[s.focus];
  const values = own ?? s.says[0].map((_, i) => said(s.says.map((each) => each[i])));
  const levels = own ? [] : classes ? [-0.8, 0, 0.8] : [-1, -0.5, 0, 0.5, 1];
  return [plane(values), s.box.picture(levels.map((level) =>
    contour(level ? "ink thin" : "ink", values, level)))];
}

// -- Data points

// A sample, as elements that can be dragged: a height, a class, or a number's sign. What is wrong
// has a ring, as large as the error of a number.
function point(row, i) {
  const [target, ...more] = [targetOf(i)].flat(), values = s.predictions[i];
  const mark = (kind, y, far, words) => h("i", { class: `point ${kind}`, "data-i": i,
    role: "button", style: `left: ${s.box.x(row[0])}px; top: ${s.box.y(y)}px; --far: ${far}px`,
    tabindex: i ? -1 : 0, "aria-label": `point ${i + 1}` }, words);
  if (features === 1) {
    const kind = data.flower && i === points - 1 ? "flower" : "";
    return [target, ...more].map((y) => mark(kind, y, 8));
  }
  const far = Math.abs(values[0] - target) / scale;
  const known = outputs > 1 ? target : classes?.indexOf(target) ?? Number(target > level);
  const says = outputs > 1 ? values.indexOf(Math.max(...values)) : Number(values[0] > level);
  const wrong = (classes ? says !== known : far > 0.05) ? " wrong" : "";
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
  return [l < n ? left + size / 2 + l * pitch : side - (phone && 8), s.netHeight / 2 + 1.29 * size * row];
}

// The wires into a layer.
const wires = ({ weights }, l) => weights.map((row, i) => row.map((index, j) => {
  const before = columns.slice(1, l).reduce((a, b) => a + b, 0), w = t.p[index], size = Math.abs(w);
  const both = [l ? before + j : null, before + (l ? columns[l] : 0) + i];
  const dead = both.some((k) => s.health[k] === "dead"), wide = Math.min(8, 0.4 + 2.2 * size);
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

// The numbers of small pictures, from -1 to 1, all on one scale: a layer that is weak looks weak.
function scaled() {
  const most = s.grid.reduce((far, row) => row.reduce((far, x) => Math.max(far, Math.abs(x)), far), 1e-9);
  return s.grid.map((row) => row.map((x) => x / most));
}

// What a neuron makes of the inputs, or what an input is.
function small(values) {
  if (features === 2) return plane(values);
  return h("svg", { viewBox: "0 -109 159 218", preserveAspectRatio: "none" },
    draw("axis", "M0 0H159"), through("value", [...values].map((y, i) => [i, -100 * y])));
}
const ramp = spaced(features === 1 ? 159 : 47, -1, 1), turned = ramp.toReversed();
const ramps = features === 1 ? [ramp]
  : [turned.flatMap(() => ramp), turned.flatMap((y) => ramp.map(() => y))];

// -- Weights of any model: squares by size, and diamonds if negative

function weightPicture(rows, width) {
  const cell = Math.max(4, Math.min(24, Math.floor(width / rows[0].length)));
  const mark = (index, i, j) => {
    const w = t.p[index], r = Math.tanh(Math.abs(w)) * (cell / 2 - 0.5);
    return put(w < 0 ? "sand" : "value", [(j + 0.5) * cell, (i + 0.5) * cell],
      box("solid", 2 * r, 2 * r, 0));
  };
  return h("svg", { width: cell * rows[0].length, height: cell * rows.length },
    rows.map((row, i) => row.map((index, j) => mark(index, i, j))));
}
