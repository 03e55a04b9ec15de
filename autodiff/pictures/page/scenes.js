// What a model makes of its inputs: curve, plane, neurons, weights. All is painted from the state.

const t = trainer(programs, data), { features, targets, names, layers } = data;
const points = data.rows.length, few = names.length > 0, outputs = data.outputs;
const drawn = outputs > 1 ? layers : layers.slice(0, -1); // with a small picture each
const hidden = layers.slice(0, -1).flatMap(({ act, weights }) => weights.map(() => act));
const s = {
  rate: data.rate, running: false, asked: false, byHand: null, focus: null, ghosts: [], trail: [], health: [], turn: 0, moved: true,
};

// The ranges of the picture, fixed at the start: they stay while points are dragged.
const kinds = [...new Set(targets ?? [])].sort((a, b) => a - b), ends = [kinds[0], kinds.at(-1)];
const classes = features === 2 && (outputs > 1 || kinds.length === 2) ? kinds : null;
const logits = outputs === 1 && !data.measures && kinds.length === 2; // of a class against another
const [level, scale] = logits || !(ends[1] > ends[0]) ? [0, 1]
  : [(ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2];
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

// -- One input: data, curve, sticks -------------------------------------------------------------

// The picture: its size and ranges, and what stands around it.
function framed() {
  const { plotWidth: width, plotHeight: height } = s;
  if (features === 2) return [width, height, ...ranges, { room: [0, 0, 0, 0] }];
  const ys = [...(targets ?? []).flat(), ...s.grid.slice(hidden.length).flatMap((ys) => [...ys])];
  s.range ??= [Math.min, Math.max].map((end) => end(...ys.filter(Number.isFinite)));
  const levels = ticks(...s.range, 4), across = ticks(...ranges[0], width / (few ? 48 : 120));
  const around = { levels, across, unit: unit(data.axes[1]), room: [few ? 46 : 34, 8, 14, 42] };
  return [width, height, ranges[0], [levels[0], levels.at(-1)], around];
}

function paintCurve(canvas) {
  const curves = s.grid.slice(hidden.length), box = chart(canvas, ...s.frame), { c } = box;
  text(c, bare(data.axes[0]), box.right, box.bottom + 38, { align: "right" });
  const path = (ys) => ys.map((y, i) => [box.left + ((box.right - box.left) * i) / 159, box.y(y)]);
  const draw = (ys, ...style) => line(c, path([...ys]), "blue", ...style);
  box.clip(() => {
    if (s.focus !== null) return draw(s.grid[s.focus], 4); // a neuron instead
    c.globalAlpha = 0.2;
    for (const each of s.trail) draw(each, 2);
    c.globalAlpha = t.diverged ? 0.35 : 1;
    t.rows.forEach(([x], i) => data.measures
      && box.line([[x, s.predictions[i][0]], [x, targetOf(i)]], "red", 3));
    c.globalAlpha = 1;
    for (const each of curves) draw(each, 4);
  });
  farAway(box, curves[0]);
}

// Where the curve has left the picture, an arrow says how far it is.
function farAway({ c, left, right, top, bottom, y }, ys) {
  const over = ys.every((each) => y(each) < top);
  if (!over && !ys.every((each) => y(each) > bottom)) return;
  const far = [amount(ys[80], 2), unit(data.axes[1])].join(" ").trim(), x = (left + right) / 2;
  const words = over ? `↑ the curve is ${far} up there` : `↓ the curve is at ${far}, down there`;
  text(c, words, x, over ? 34 : bottom - 20, { fill: "blue", font: STRONG, align: "center" });
}

// -- Two inputs: a plane --------------------------------------------------------------------------

function paintMap(canvas) {
  const { c } = chart(canvas, ...s.frame), size = s.plotWidth;
  const values = s.focus === null
    ? s.grid[0].map((_, i) => said(s.grid.slice(hidden.length).map((each) => each[i])))
    : s.grid[s.focus].map((x) => x / s.sizes[s.focus]);
  c.globalAlpha = 0.6; // so that points stand out
  paintPlane(c, values, size, size);
  if (s.focus === null) {
    for (const level of classes ? [-0.8, 0.8] : [-1, -0.5, 0.5, 1]) {
      contour(c, values, level, size, size, "ink", 0.8);
    }
    c.globalAlpha = 1;
    contour(c, values, 0, size, size, "ink", 2.6);
  }
  c.globalAlpha = 1;
}

// -- Data points ----------------------------------------------------------------------------------

// A sample, as elements that can be dragged: a height, a class, or a number's sign. What is wrong
// has a ring, as large as the error of a number.
function point(row, i) {
  const [target, ...more] = [targetOf(i)].flat(), values = s.predictions[i];
  const mark = (kind, y, far, words) => h("i", { class: `point ${kind}`, "data-i": i, role: "button",
    style: `left: ${s.box.x(row[0])}px; top: ${s.box.y(y)}px; --far: ${far}px`,
    tabindex: i ? -1 : 0, "aria-label": `point ${i + 1}` }, words);
  if (features === 1) {
    const kind = data.flower && i === points - 1 ? "flower" : "";
    return [target, ...more].map((y) => mark(kind, y, 8));
  }
  const far = Math.abs(values[0] - target) / scale;
  const known = outputs > 1 ? target : classes?.indexOf(target) ?? Number(target > level);
  const says = outputs > 1 ? values.indexOf(Math.max(...values)) : Number(values[0] > level);
  const wrong = (classes ? says !== known : far > 0.05) ? " wrong" : "";
  const kind = ["sand", "blue"][known] ?? "digit", size = Math.round(Math.min(2 + 10 * far, 18));
  return mark(kind + wrong, row[1], classes ? 5 : size, kind === "digit" && String(known));
}

// -- The network: wires by size and sign, a small picture for each neuron ------------------------

// The wires, between the places that the style sheet gave the neurons.
function paintWires(canvas) {
  const net = canvas.parentNode, c = surface(canvas, net.clientWidth, net.clientHeight);
  const columns = [...net.querySelectorAll(".layer")].map((column) => [...column.children]);
  const end = net.querySelector(".end"), all = columns.slice(1).flat();
  const middle = (element) => element.offsetTop + element.offsetHeight / 2;
  layers.forEach(({ weights }, l) => weights.forEach((row, i) => row.forEach((index, j) => {
    const from = columns[l][j], to = columns[l + 1]?.[i] ?? end, w = t.p[index];
    const both = [from, to].map((each) => all.indexOf(each)), size = Math.abs(w);
    const dead = both.some((k) => s.health[k] === "dead"), wide = Math.min(8, 0.4 + 2.2 * size);
    const aside = s.focus !== null && !both.includes(s.focus);
    c.lineWidth = dead ? 1 : wide;
    c.strokeStyle = colour(dead ? "hair" : w < 0 ? "sand" : "blue");
    c.globalAlpha = aside ? 0.1 : dead ? 1 : Math.min(0.9, 0.3 + 0.75 * size);
    c.setLineDash(dead ? [1.5, 3] : w < 0 ? [4 + wide, 3 + wide] : []);
    const x = from.offsetLeft + from.offsetWidth, y = middle(from);
    const x2 = to.offsetLeft, y2 = middle(to), half = (x + x2) / 2;
    c.beginPath();
    c.moveTo(x, y);
    c.bezierCurveTo(half, y, half, y2, x2, y2);
    c.stroke();
  })));
  c.globalAlpha = 1;
}

// What small pictures are scaled by: their layer, so that weak neurons look weak.
function measureNeurons() {
  const each = s.grid.map((row) => row.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-9));
  s.sizes = drawn.flatMap(({ weights }) => {
    const most = Math.max(...each.splice(0, weights.length));
    return weights.map(() => most);
  });
}

// What a neuron, or an input, makes of the inputs.
function paintNeuron(canvas, k, size) {
  const c = surface(canvas, size, size), side = features === 1 ? 160 : 48, own = k - features;
  const shown = s.grid[0].map((_, i) => (own >= 0 ? s.grid[own][i] / s.sizes[own]
    : (2 * (k ? side - 1 - Math.floor(i / side) : i % side)) / (side - 1) - 1));
  if (features === 2) return paintPlane(c, shown, size, size);
  const ys = [...shown].map((y, i) => [(size * i) / (side - 1), size / 2 - y * (size / 2 - 4)]);
  line(c, [[0, size / 2], [size, size / 2]], "hair", 1);
  line(c, ys, "blue", 2.2);
}

// -- Weights of any model: squares by size, and diamonds if negative -----------------------------

function paintWeights(canvas, rows, width) {
  const cell = Math.max(4, Math.min(24, Math.floor(width / rows[0].length)));
  const c = surface(canvas, cell * rows[0].length, cell * rows.length);
  rows.forEach((row, i) => row.forEach((index, j) => {
    const w = t.p[index], x = (j + 0.5) * cell, y = (i + 0.5) * cell;
    const r = Math.tanh(Math.abs(w)) * (cell / 2 - 0.5);
    if (w < 0) fill(c, [[x, y - r], [x + r, y], [x, y + r], [x - r, y]], "sand");
    else fill(c, [[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r]], "blue");
  }));
}
