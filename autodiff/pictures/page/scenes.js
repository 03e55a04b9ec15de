// What a model makes of its inputs: curve, plane, neurons, weights. All is painted from the state.

const SIDE = 48; // points along each side of a plane
const ALONG = 160; // points of a curve

// The ranges of the picture, fixed at the start: they stay while points are dragged.
function sceneOf({ rows, targets, features, outputs, measures }) {
  const spread = (k, pad) => {
    const xs = rows.map((row) => row[k]), low = Math.min(...xs), high = Math.max(...xs);
    const more = Math.max((high - low) * pad, 1e-9);
    return [low - more, high + more];
  };
  const kinds = [...new Set(targets ?? [])].sort((a, b) => a - b),
    [first, last] = [kinds[0], kinds.at(-1)];
  const scene = { kind: features, classes: null, level: 0, scale: 1 };
  // The logits of two classes are shown as the chance of 1.
  scene.chance = features === 1 && outputs === 1 && !measures && kinds.length > 0
    && kinds.every((t) => t === 0 || t === 1);
  if (features < 3) scene.x = spread(0, features === 1 ? 0.075 : 0.12);
  if (features === 2) {
    scene.y = spread(1, 0.12);
    const [w, v] = [scene.x, scene.y].map(([low, high]) => high - low), most = Math.max(w, v);
    const widen = ([low, high]) => [low - (most - high + low) / 2, high + (most - high + low) / 2];
    // one scale
    if (most < 3 * Math.min(w, v)) [scene.x, scene.y] = [widen(scene.x), widen(scene.y)];
    if (outputs > 1 || kinds.length === 2) scene.classes = kinds;
  }
  if (scene.classes ? measures : kinds.length > 1) {
    [scene.level, scene.scale] = [(first + last) / 2, (last - first) / 2];
  }
  return scene;
}

// What the model says, as one number for the plane: from -1 to 1 between classes.
function said(scene, data, values) {
  const [one, other] = values.slice(data.hidden);
  if (data.outputs === 2) return Math.tanh((other - one) / 2);
  const far = (one - scene.level) / scene.scale;
  return scene.classes && !data.measures ? Math.tanh(far / 2) : far;
}

// Every neuron and output over the picture: grid[k][i] for number k at place i.
function evaluated({ data, scene, trainer, programs, slow }) {
  const side = scene.kind === 1 ? ALONG : slow ? 32 : SIDE, count = scene.kind === 1 ? side
    : side ** 2;
  const inputs = [...data.rows[0].slice(0, data.features), ...trainer.p];
  const grid = Array.from({ length: data.hidden + data.outputs }, () => new Float64Array(count));
  const between = ([low, high], k) => low + (high - low) * k / (side - 1);
  for (let i = 0; i < count; i++) {
    inputs[0] = between(scene.x, i % side);
    if (scene.y) inputs[1] = between(scene.y.toReversed(), Math.floor(i / side));
    const values = programs.neurons(inputs);
    grid.forEach((each, k) => { each[i] = values[k]; });
    if (scene.chance) grid[data.hidden][i] = 1 / (1 + Math.exp(-values[data.hidden]));
  }
  return grid;
}

// What the model says of each sample, and how steep each neuron is there: dead, saturated or well.
function examined(s) {
  const { data, trainer, programs } = s;
  const inputs = trainer.rows.map((row) => [...row.slice(0, data.features), ...trainer.p]);
  const found = inputs.map(programs.neurons);
  let k = 0;
  s.health = data.layers.slice(0, -1).flatMap(({ act, weights }) => weights.map(() => {
    const at = data.hidden + data.outputs + k++;
    if (act === null) return "";
    const slopes = found.map((values) => Math.abs(programs.slopes[act]([values[at]])[1][0]));
    if (slopes.every((x) => x === 0)) return "dead";
    const steps = slopes.every((x) => x === 0 || x === 1); // relu: flat or not, never saturated
    return !steps && slopes.reduce((a, b) => a + b) < 0.05 * slopes.length ? "saturated" : "";
  }));
  s.predictions = found.map((values) => values.slice(data.hidden, data.hidden + data.outputs));
}

// -- One input: data, curve, sticks -------------------------------------------------------------

// The range of the picture upwards: of the data, and of the curve at the start.
function upwards({ data, scene, grid, few }) {
  if (scene.range) return scene.range;
  const curves = grid.slice(data.hidden).flatMap((each) => [...each]);
  const ys = [...(data.targets ?? []).flat(), ...curves].filter(Number.isFinite);
  let [low, high] = [Math.min(...ys), Math.max(...ys)];
  const more = (high - low || 1) * 0.18;
  [low, high] = [low >= 0 && low < 0.3 * high ? 0 : low - more, high + more];
  const levels = ticks(low, high, few ? 3 : 5);
  if (low === 0 && few) { // so that the top is labelled
    high = Math.max(high, 2 * levels.at(-1) - levels.at(-2));
  }
  return scene.range = [low, high];
}

const unit = (name = "") => name.match(/\(([^)]*)\)\s*$/)?.[1] ?? "";
const bare = (name = "") => name.replace(/\s*\([^)]*\)\s*$/, "");

function paintCurve(s, canvas, width, height) {
  const { data, scene, trainer, few } = s, c = surface(canvas, width, height), range = upwards(s);
  const below = height < 300 ? 26 : 42, name = bare(data.axes[0]), left = few ? 46 : 34;
  const box = s.box = { left, right: width - 1, top: 6, bottom: height - below - 16 };
  const start = name ? scene.x[0] + 0.04 * (scene.x[1] - scene.x[0]) : -Infinity;
  const across = ticks(...scene.x, Math.min(12, width / (few ? 48 : 120))).filter((x) => x > start);
  const levels = ticks(...range, few ? 3 : 5);
  axes(c, box, scene.x, range, { levels, across, below, unit: unit(data.axes[1]), zero: "hair" });
  text(c, name, left - 8, box.bottom + below, { align: "right" });
  const path = (ys) =>
    [...ys].map((y, i) => [left + ((box.right - left) * i) / (ys.length - 1), box.y(y)]);
  clipped(c, left - 8, 0, width, box.bottom + 12, () => {
    if (s.focus !== null) return line(c, path(s.grid[s.focus]), "blue", 4); // a neuron instead
    c.globalAlpha = 0.2;
    for (const each of s.trail) line(c, path(each.ys), "blue", 2);
    c.globalAlpha = trainer.diverged ? 0.35 : 1;
    if (data.measures && data.targets) {
      trainer.rows.forEach((row, i) => {
        const [x, y, t] = [box.x(row[0]), box.y(s.predictions[i][0]), box.y(targetOf(s, i))];
        const short = Math.min(7, Math.abs(y - t)) * Math.sign(y - t);
        line(c, [[x, y], [x, t + short]], "red", few ? 3.5 : 3);
      });
    }
    c.globalAlpha = 1;
    s.grid.slice(data.hidden).forEach((ys) => line(c, path(ys), "blue", 4));
  });
  farAway(s, c, box, width);
}

// Where the curve has left the picture, an arrow says how far it is.
function farAway({ grid, data, scene }, c, box, width) {
  const ys = [...grid[data.hidden]], [low, high] = scene.range;
  const over = ys.every((y) => y > high), x = (box.left + width) / 2, y = over ? 16
    : box.bottom - 52;
  if (!over && !ys.every((y) => y < low)) return;
  const tip = over ? y : y + 42, down = over ? 14 : -14;
  line(c, [[x, y], [x, y + 42]], "blue", 4);
  fill(c, [[x, tip], [x + 9, tip + down], [x - 9, tip + down]], "blue");
  const far = [amount(ys[ys.length >> 1], 2), unit(data.axes[1])].join(" ").trim();
  const words = over ? `the curve is ${far} up there` : `the curve is at ${far}, down there`;
  text(c, words, x + 16, y + 26, { fill: "blue", halo: true, font: `650 15px ${SANS}` });
}

const targetOf = ({ data, trainer }, i) => (data.column === null ? data.targets[i]
  : trainer.rows[i][data.column]);

const tables = (s) => (s.tables ??= { weak: shades(0.6), full: shades(0.92) });

// -- Two inputs: a plane --------------------------------------------------------------------------

function paintMap(s, canvas, size) {
  const { data, scene, grid, focus } = s, c = surface(canvas, size, size),
    side = Math.sqrt(grid[0].length);
  const [[x0, x1], [y0, y1]] = [scene.x, scene.y];
  s.box = {
    x: (x) => ((x - x0) / (x1 - x0)) * size,
    y: (y) => ((y1 - y) / (y1 - y0)) * size,
    back: (px, py) => [x0 + (px / size) * (x1 - x0), y1 - (py / size) * (y1 - y0)],
  };
  c.beginPath();
  c.roundRect(0, 0, size, size, 4);
  c.clip();
  const output = data.outputs > 2 ? margin : (values) => said(scene, data, values);
  const values = focus === null ? grid[0].map((_, i) =>
    output(grid.map((each) => each[i]), data.hidden))
    : grid[focus].map((x) => x / s.sizes[focus]);
  paintPlane(c, values, side, tables(s).weak, 0, 0, size, size);
  if (focus !== null) return;
  contour(c, values, side, 0, size, size, "ink", 2.6);
  c.globalAlpha = 0.45;
  const levels = scene.classes ? [-0.8, 0.8] : [-1, -0.5, 0.5, 1];
  for (const level of levels) contour(c, values, side, level, size, size, "ink", 1);
  c.globalAlpha = 1;
}

// Several classes: the parity of the likeliest tells regions apart, its lead how sure it is.
function margin(values, hidden) {
  const logits = values.slice(hidden), [most, next] = logits.toSorted((a, b) => b - a);
  const best = logits.indexOf(most);
  return (best % 2 ? 1 : -1) * (1 - 0.28 * Math.floor(best / 2)) * Math.tanh((most - next) / 2
    + 0.05);
}

// -- Points: on a canvas of their own, painted only when they move ------------------------------

function paintPoints(s, canvas, width, height) {
  const { data, scene, trainer, box } = s, c = surface(canvas, width, height), small = width < 400;
  trainer.rows.forEach((row, i) => {
    const x = box.x(row[0]), flower = data.flower && i === trainer.rows.length - 1;
    if (scene.kind === 2) pointOfPlane(s, c, x, box.y(row[1]), i);
    else for (const t of data.targets ? [targetOf(s, i)].flat() : []) {
      if (flower) sunflower(c, x, box.y(t), small ? 0.67 : 1);
      else disc(c, x, box.y(t), small ? 4 : 5, "ink");
    }
    const y = scene.kind === 2 ? row[1] : data.targets ? targetOf(s, i) : 0;
    if (s.chosen === i) ring(c, x, box.y(y), 12, "blue");
  });
}

// Fifteen petals about a dark disc.
function sunflower(c, x, y, size) {
  c.save();
  c.translate(x, y);
  c.scale(size, size);
  c.fillStyle = "#edb21e";
  for (let k = 0; k < 15; k++) {
    c.rotate((2 * Math.PI) / 15);
    c.beginPath();
    c.ellipse(0, -13.5, 3.2, 7, 0, 0, 7);
    c.fill();
  }
  disc(c, 0, 0, 9, "seeds", 0);
  c.restore();
}

const ring = (c, x, y, radius, stroke) => {
  c.beginPath();
  c.arc(x, y, radius, 0, 7);
  Object.assign(c, { strokeStyle: colour(stroke), lineWidth: 2.6 });
  c.stroke();
};

function pointOfPlane({ data, scene, predictions }, c, x, y, i) {
  const t = data.targets?.[i], p = predictions[i], many = data.outputs > 1;
  if (!scene.classes) { // a number: its colour, and a ring as large as the error
    const error = Math.abs(p[0] - t) / scene.scale;
    disc(c, x, y, 5, t < scene.level ? "sand-deep" : "blue-deep");
    if (error > 0.05) ring(c, x, y, Math.min(6 + 10 * error, 22), "red");
    return;
  }
  const k = many ? Math.round(t) : scene.classes.indexOf(t), said = many ? p.indexOf(Math.max(...p))
    : Number(p[0] > scene.level);
  if (k % 2) disc(c, x, y, 4.6, "blue-deep", 1.6);
  else diamond(c, x, y, 5.6, "sand-deep", 1.6);
  if (k > 1) text(c, String(k), x, y + 3.4, { fill: "paper", align: "center",
    font: `650 9px ${SANS}` });
  if (said !== k) ring(c, x, y, 9, "red");
}

// -- The network: wires by size and sign, a small picture for each neuron ------------------------

// Where each column of neurons stands, and how large they are.
function placed({ data, phone, plotMiddle }, width, height) {
  const columns = [data.features, ...data.drawn.map((x) => x.weights.length)],
    most = Math.max(...columns);
  const pitch = phone ? 58 : clampTo(Math.floor(height / most), 26, 67), first = phone ? 0 : 55;
  const single = data.outputs === 1, stubs = phone && columns.length > 2;
  const gaps = columns.length - (stubs || !single), beside = single ? (stubs ? 10 : 0) : 24;
  const room = width - first - beside, fits = (0.6 * room) / columns.length;
  const size = Math.max(18, Math.min(phone ? 44 : pitch > 40 ? pitch - 15 : pitch - 6, fits));
  const gap = (room - size * columns.length) / Math.max(1, gaps), tall = (most - 1) * pitch + size;
  const spots = columns.map((n, l) => Array.from({ length: n }, (_, i) => ({
    x: first + l * (size + gap), y: tall / 2 + (i - (n - 1) / 2) * pitch,
  })));
  const end = stubs || !single ? null : { x: width, y: phone ? tall / 2 : plotMiddle };
  return { spots, size, tall, end, stubs };
}
const clampTo = (x, low, high) => Math.max(low, Math.min(high, x));

const weight = ({ data, trainer: { p } }, i) => (i < p.length ? p[i] : data.fixed[i - p.length]);

function paintWires(s, canvas, width) {
  const { spots, size, tall, end } = s.places, c = surface(canvas, width, tall),
    { data, focus } = s;
  const before = spots.map((_, l) => spots.slice(1, l).flat().length); // neurons of earlier layers
  const number = (l, i) => (l && l < spots.length ? before[l] + i : null);
  data.layers.forEach(({ weights }, l) => weights.forEach((row, i) => row.forEach((index, j) => {
    const from = spots[l][j], to = l === data.drawn.length ? end : spots[l + 1][i];
    const ends = [number(l, j), number(l + 1, i)], off = ends.some((k) => s.health[k] === "dead");
    const w = weight(s, index), wide = Math.min(8, 0.4 + 2.2 * Math.abs(w));
    const aside = focus !== null && !ends.includes(focus),
      strong = Math.min(0.9, 0.3 + 0.75 * Math.abs(w));
    c.lineWidth = off ? 1 : wide;
    c.strokeStyle = colour(off ? "hair" : w < 0 ? "sand" : "blue");
    c.globalAlpha = aside ? 0.1 : off ? 1 : strong;
    c.setLineDash(off ? [1.5, 3] : w < 0 ? [Math.max(4, 1.7 * wide), Math.max(3, wide)] : []);
    const x = from.x + size, x2 = to ? to.x : x + 10, y2 = to ? to.y : from.y,
      middle = (x + x2) / 2;
    c.beginPath();
    c.moveTo(x, from.y);
    c.bezierCurveTo(middle, from.y, middle, y2, x2, y2);
    c.stroke();
  })));
  c.globalAlpha = 1;
  c.setLineDash([]);
}

// The sizes that small pictures are scaled by: relu's by its layer, so that weak neurons look weak.
function scales(s) {
  const each = s.grid.map((row) => row.reduce((m, x) => Math.max(m, Math.abs(x)), 0));
  s.sizes = s.data.drawn.flatMap(({ act, weights }) => {
    const most = Math.max(...each.splice(0, weights.length), 1e-9);
    return weights.map(() => (act === null || most > 1 || !s.data.bounded ? most : 1));
  });
}

function paintNeuron(s, canvas, k, size) {
  const c = surface(canvas, size, size), own = k - s.data.features, input = own < 0;
  const values = input ? null : s.grid[own], ramp = (i) => (i - 7.5) / 7.5;
  if (s.scene.kind === 1) {
    const most = input ? 1 : s.sizes[own] * 1.15, [y0, room] = [size / 2, size / 2 - 3];
    const ys = input ? [-1, 1] : [...values];
    line(c, [[0, y0], [size, y0]], "hair", 1);
    line(c, ys.map((y, i) => [(i / (ys.length - 1)) * size, y0 - (y / most) * room]), "blue", 2.2);
    return;
  }
  const shown = input
    ? Float64Array.from({ length: 256 }, (_, i) =>
      (k === 0 ? ramp(i % 16) : -ramp(Math.floor(i / 16))))
    : values.map((x) => x / s.sizes[own]);
  paintPlane(c, shown, Math.sqrt(shown.length), tables(s).full, 0, 0, size, size);
}

// -- Weights of any model: cells by size and sign ------------------------------------------------

function paintWeights(s, canvas, width) {
  const { groups } = s.data, wide = Math.max(...groups.map(([, rows]) => rows[0].length));
  const cell = Math.max(3, Math.min(30, Math.floor((width - 20) / wide))), spots = [];
  let x = 0, y = 0, tall = 0;
  for (const [name, rows] of groups) { // side by side as far as they fit
    const across = Math.max(rows[0].length * cell, 80) + 28;
    if (x && x + across > width) [x, y, tall] = [0, y + tall, 0];
    spots.push([x, y]);
    [x, tall] = [x + across, Math.max(tall, rows.length * cell + 44)];
  }
  const c = surface(canvas, width, y + tall), { full } = tables(s);
  groups.forEach(([name, rows], g) => {
    const [left, top] = spots[g];
    text(c, name, left, top + 14);
    rows.forEach((row, i) => row.forEach((index, j) => {
      const w = index < 0 ? 0 : weight(s, index);
      const pixel = full[Math.round(128 + 128 * Math.tanh(w / 1.5)) || 0];
      c.fillStyle = `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
      const [px, py] = [left + j * cell, top + 22 + i * cell];
      c.fillRect(px, py, cell - 1, cell - 1);
      const sign = [[px + 5, py + cell / 2], [px + cell - 6, py + cell / 2]];
      if (w < 0 && cell > 8) line(c, sign, "paper", 1.5);
    }));
  });
}
