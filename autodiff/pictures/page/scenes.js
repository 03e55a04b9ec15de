// What a model makes of its inputs: curve, plane, neurons, weights. All is painted from the state.

const SIDE = 48; // points along each side of a plane
const ALONG = 160; // points of a curve

// The ranges of the picture, fixed at the start: they stay while points are dragged.
function sceneOf(data) {
  const spread = (xs, pad, least = 0) => {
    const [low, high] = [Math.min(...xs), Math.max(...xs)], more = Math.max((high - low) * pad, least, 1e-9);
    return [low - more, high + more];
  };
  const column = (k) => data.rows.map((row) => row[k]);
  const scene = { kind: data.features, classes: null, level: 0, scale: 1 };
  const kinds = [...new Set(data.targets ?? [])].sort((a, b) => a - b);
  // The logits of two classes are shown as the chance of 1.
  scene.chance = data.features === 1 && data.outputs === 1 && !data.measures && kinds.every((t) => t === 0 || t === 1) && kinds.length > 0;
  if (data.features === 1) scene.x = spread(column(0), 0.075);
  if (data.features === 2) {
    [scene.x, scene.y] = [0, 1].map((k) => spread(column(k), 0.12));
    const [w, v] = [scene.x, scene.y].map(([low, high]) => high - low);
    if (Math.max(w, v) < 3 * Math.min(w, v)) { // one scale for both
      for (const range of [scene.x, scene.y]) {
        const more = (Math.max(w, v) - (range[1] - range[0])) / 2;
        [range[0], range[1]] = [range[0] - more, range[1] + more];
      }
    }
    if (data.outputs > 1 || kinds.length === 2) scene.classes = kinds;
  }
  if (scene.classes && data.measures) [scene.level, scene.scale] = [(kinds[0] + kinds[1]) / 2, (kinds[1] - kinds[0]) / 2];
  else if (!scene.classes && kinds.length > 1) {
    [scene.level, scene.scale] = [(kinds[0] + kinds.at(-1)) / 2, (kinds.at(-1) - kinds[0]) / 2];
  }
  return scene;
}

// What the model says, as one number for the plane: from -1 to 1 between classes.
function said(scene, data, values, at = data.hidden) {
  if (data.outputs === 2) return Math.tanh((values[at + 1] - values[at]) / 2);
  const far = (values[at] - scene.level) / scene.scale;
  return scene.classes && !data.measures ? Math.tanh(far / 2) : far;
}

// Every neuron and output over the picture: grid[k][i] for number k at place i.
function evaluated(s) {
  const { data, scene, trainer, programs } = s, { p } = trainer;
  const side = s.slow ? 32 : SIDE, count = scene.kind === 1 ? ALONG : side * side;
  const inputs = [...data.rows[0].slice(0, data.features), ...p];
  const wanted = data.hidden + data.outputs;
  const grid = Array.from({ length: wanted }, () => new Float64Array(count));
  const [[low, high], [down, up]] = [scene.x, scene.y ?? [0, 1]];
  for (let i = 0; i < count; i++) {
    if (scene.kind === 1) inputs[0] = low + ((high - low) * i) / (count - 1);
    else {
      inputs[0] = low + ((high - low) * (i % side)) / (side - 1);
      inputs[1] = up - ((up - down) * Math.floor(i / side)) / (side - 1);
    }
    const values = programs.neurons(inputs);
    for (let k = 0; k < wanted; k++) grid[k][i] = values[k];
    if (scene.chance) grid[data.hidden][i] = 1 / (1 + Math.exp(-values[data.hidden]));
  }
  return grid;
}

// What the model says of each sample, and how steep each neuron is there: dead, saturated or well.
function examined(s) {
  const { data, trainer, programs } = s;
  const found = trainer.rows.map((row) => programs.neurons([...row.slice(0, data.features), ...trainer.p]));
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
  const ys = [...(data.targets ?? []).flat(), ...grid.slice(data.hidden).flatMap((each) => [...each])].filter(Number.isFinite);
  let [low, high] = [Math.min(...ys), Math.max(...ys)];
  const more = (high - low || 1) * 0.18;
  [low, high] = [low >= 0 && low < 0.3 * high ? 0 : low - more, high + more];
  const levels = ticks(low, high, few ? 3 : 5);
  if (low === 0 && few) high = Math.max(high, 2 * levels.at(-1) - levels.at(-2)); // so that the top is labelled
  return scene.range = [low, high];
}

const unit = (name = "") => name.match(/\(([^)]*)\)\s*$/)?.[1] ?? "";
const bare = (name = "") => name.replace(/\s*\([^)]*\)\s*$/, "");

function paintCurve(s, canvas, width, height) {
  const { data, scene, trainer } = s, c = surface(canvas, width, height), range = upwards(s), below = height < 300 ? 26 : 42;
  const box = s.box = { left: s.few ? 46 : 34, right: width - 1, top: 6, bottom: height - below - 16 }, name = bare(data.axes[0]);
  const across = ticks(...scene.x, Math.min(12, width / (s.few ? 48 : 120))).filter((x) => !name || x > scene.x[0] + 0.04 * (scene.x[1] - scene.x[0]));
  axes(c, box, scene.x, range, { levels: ticks(...range, s.few ? 3 : 5), across, below, unit: unit(data.axes[1]), zero: "hair" });
  text(c, name, box.left - 8, box.bottom + below, { align: "right" });
  const path = (ys) => [...ys].map((y, i) => [box.left + ((box.right - box.left) * i) / (ys.length - 1), box.y(y)]);
  clipped(c, box.left - 8, 0, width, box.bottom + 12, () => {
    if (s.focus !== null) return line(c, path(s.grid[s.focus]), "blue", 4); // a neuron in the place of the model
    c.globalAlpha = 0.2;
    for (const each of s.trail) line(c, path(each.ys), "blue", 2);
    c.globalAlpha = trainer.diverged ? 0.35 : 1;
    if (data.measures && data.targets) {
      trainer.rows.forEach((row, i) => {
        const [x, y, t] = [box.x(row[0]), box.y(s.predictions[i][0]), box.y(targetOf(s, i))];
        line(c, [[x, y], [x, t + Math.min(7, Math.abs(y - t)) * Math.sign(y - t)]], "red", s.few ? 3.5 : 3);
      });
    }
    c.globalAlpha = 1;
    s.grid.slice(data.hidden).forEach((ys) => line(c, path(ys), "blue", 4));
  });
  farAway(s, c, box, width);
}

// Where the curve has left the picture, an arrow says how far it is.
function farAway(s, c, box, width) {
  const ys = [...s.grid[s.data.hidden]], [low, high] = s.scene.range;
  const middle = ys[ys.length >> 1], over = ys.every((y) => y > high), under = ys.every((y) => y < low);
  if (s.trainer.diverged) {
    s.trail.slice(0, 2).forEach(({ step, ys: old }) => {
      const i = step ? Math.round(ALONG * 0.17) : Math.round(ALONG * 0.82);
      text(c, step ? `step ${step}` : "start", box.x(s.scene.x[0]) + ((width - box.left) * i) / ALONG, box.y(old[i]) + 24, { fill: "blue", align: "center", halo: true });
    });
  }
  if (!over && !under) return;
  const x = box.left + (width - box.left) / 2, y = over ? box.top + 10 : box.bottom - 52, tip = over ? y : y + 42;
  line(c, [[x, y], [x, y + 42]], "blue", 4);
  fill(c, [[0, 0], [9, 14], [-9, 14]].map(([a, b]) => [x + a, tip + (over ? b : -b)]), "blue");
  const far = [amount(middle, 2), unit(s.data.axes[1])].join(" ").trim();
  text(c, over ? `the curve is ${far} up there` : `the curve is at ${far}, down there`, x + 16, y + 26, { fill: "blue", halo: true, font: `650 15px ${SANS}` });
}

const targetOf = ({ data, trainer }, i) => (data.column === null ? data.targets[i] : trainer.rows[i][data.column]);

const tablesOf = () => ({ weak: shades(0.6), full: shades(0.92) });

// -- Two inputs: a plane ------------------------------------------------------------------------

function paintMap(s, canvas, size) {
  const { data, scene } = s, c = surface(canvas, size, size), side = Math.sqrt(s.grid[0].length);
  const box = s.box = {
    x: (x) => ((x - scene.x[0]) / (scene.x[1] - scene.x[0])) * size,
    y: (y) => ((scene.y[1] - y) / (scene.y[1] - scene.y[0])) * size,
    back: (px, py) => [scene.x[0] + (px / size) * (scene.x[1] - scene.x[0]), scene.y[1] - (py / size) * (scene.y[1] - scene.y[0])],
  };
  const tables = s.tables ??= tablesOf();
  c.beginPath();
  c.roundRect(0, 0, size, size, 4);
  c.clip();
  let values;
  if (s.focus !== null) values = s.grid[s.focus].map((x) => x / s.sizes[s.focus]);
  else if (data.outputs > 2) values = margins(s);
  else values = s.grid[data.hidden].map((_, i) => said(scene, data, s.grid.map((each) => each[i])));
  paintPlane(c, values, side, tables.weak, 0, 0, size, size);
  if (s.focus !== null) return;
  contour(c, values, side, 0, size, size, "ink", 2.6);
  c.globalAlpha = 0.45;
  for (const level of scene.classes ? [-0.8, 0.8] : [-1, -0.5, 0.5, 1]) contour(c, values, side, level, size, size, "ink", 1);
  c.globalAlpha = 1;
}

// Several classes: the parity of the likeliest tells regions apart, its lead how sure it is.
function margins({ data, grid }) {
  return grid[0].map((_, i) => {
    const logits = grid.slice(data.hidden).map((each) => each[i]);
    const best = logits.indexOf(Math.max(...logits)), rest = Math.max(...logits.filter((_, k) => k !== best));
    return (best % 2 ? 1 : -1) * (1 - 0.28 * Math.floor(best / 2)) * Math.tanh((logits[best] - rest) / 2 + 0.05);
  });
}

// -- Points: on a canvas of their own, painted only when they move ------------------------------

function paintPoints(s, canvas, width, height) {
  const { data, scene, trainer, box } = s, c = surface(canvas, width, height);
  trainer.rows.forEach((row, i) => {
    if (scene.kind === 1) {
      for (const t of data.targets ? [targetOf(s, i)].flat() : []) {
        if (data.flower && i === trainer.rows.length - 1) sunflower(c, box.x(row[0]), box.y(t), width < 400 ? 0.67 : 1);
        else disc(c, box.x(row[0]), box.y(t), width < 400 ? 4 : 5, "ink");
      }
    } else pointOfPlane(s, c, box.x(row[0]), box.y(row[1]), i);
    if (s.chosen === i) ring(c, box.x(row[0]), scene.kind === 1 ? box.y(targetOf(s, i) ?? 0) : box.y(row[1]), 12, "blue");
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
  c.restore();
  disc(c, x, y, 9 * size, "seeds", 0);
  c.fillStyle = "#edb21e";
  for (let k = 1; k < 22; k++) { // by the golden angle
    const [r, angle] = [1.75 * size * Math.sqrt(k), 2.39996 * k];
    c.fillRect(x + r * Math.cos(angle) - 0.5, y + r * Math.sin(angle) - 0.5, 1, 1);
  }
}

const ring = (c, x, y, radius, stroke) => {
  c.beginPath();
  c.arc(x, y, radius, 0, 7);
  Object.assign(c, { strokeStyle: colour(stroke), lineWidth: 2.6 });
  c.stroke();
};

function pointOfPlane(s, c, x, y, i) {
  const { data, scene } = s, t = data.targets?.[i];
  if (!scene.classes) { // a number: its colour, and a ring as large as the error
    const [value, error] = [(t - scene.level) / scene.scale, Math.abs(s.predictions[i][0] - t) / scene.scale];
    disc(c, x, y, 5, value < 0 ? "sand-deep" : "blue-deep");
    if (error > 0.05) ring(c, x, y, Math.min(6 + 10 * error, 22), "red");
    return;
  }
  const k = data.outputs > 1 ? Math.round(t) : scene.classes.indexOf(t);
  (k % 2 ? disc : diamond)(c, x, y, k % 2 ? 4.6 : 5.6, k % 2 ? "blue-deep" : "sand-deep", 1.6);
  if (k > 1) text(c, String(k), x, y + 3.4, { fill: "paper", align: "center", font: `650 9px ${SANS}` });
  const p = s.predictions[i];
  const wrong = data.outputs > 1 ? p.indexOf(Math.max(...p)) !== k : (p[0] > scene.level ? 1 : 0) !== k;
  if (wrong) ring(c, x, y, 9, "red");
}

// -- The network: wires by size and sign, a small picture for each neuron ------------------------

// Where each column of neurons stands, and how large they are.
function placed(s, width, height) {
  const { data, phone } = s, columns = [data.features, ...data.drawn.map((x) => x.weights.length)];
  const most = Math.max(...columns), pitch = phone ? 58 : Math.max(26, Math.min(67, Math.floor(height / most)));
  const first = phone ? 0 : 55, single = data.outputs === 1, stubs = phone && columns.length > 2;
  const gaps = columns.length - (stubs || !single), room = width - first - (stubs && single ? 10 : single ? 0 : 24);
  const size = Math.max(18, Math.min(phone ? 44 : pitch > 40 ? pitch - 15 : pitch - 6, (0.6 * room) / columns.length));
  const gap = (room - size * columns.length) / Math.max(1, gaps);
  const tall = (most - 1) * pitch + size;
  const spots = columns.map((n, l) => Array.from({ length: n }, (_, i) => ({
    x: first + l * (size + gap), y: tall / 2 + (i - (n - 1) / 2) * pitch,
  })));
  const end = stubs || !single ? null : { x: width, y: phone ? tall / 2 : s.plotMiddle };
  return { spots, size, tall, end, stubs };
}

const weight = ({ data, trainer }, i) => (i < trainer.p.length ? trainer.p[i] : data.fixed[i - trainer.p.length]);

function paintWires(s, canvas, width) {
  const { spots, size, tall, end, stubs } = s.places, c = surface(canvas, width, tall), { data } = s;
  const number = (l, i) => (l === 0 ? null : spots.slice(1, l).reduce((n, each) => n + each.length, 0) + i);
  const dead = (k) => k !== null && s.health[k] === "dead";
  s.data.layers.forEach(({ weights }, l) => weights.forEach((row, i) => row.forEach((index, j) => {
    const last = l === data.drawn.length;
    const from = spots[l][j], to = last ? end : spots[l + 1][i], w = weight(s, index);
    const [a, b] = [number(l, j), last ? null : number(l + 1, i)];
    const wide = Math.min(8, 0.4 + 2.2 * Math.abs(w)), off = dead(a) || dead(b);
    const aside = s.focus !== null && s.focus !== a && s.focus !== b;
    Object.assign(c, { lineWidth: off ? 1 : wide, strokeStyle: colour(off ? "hair" : w < 0 ? "sand" : "blue") });
    c.globalAlpha = aside ? 0.1 : off ? 1 : Math.min(0.9, 0.3 + 0.75 * Math.abs(w));
    c.setLineDash(off ? [1.5, 3] : w < 0 ? [Math.max(4, 1.7 * wide), Math.max(3, wide)] : []);
    const x = from.x + size, x2 = to ? to.x : x + 10, y2 = to ? to.y : from.y, bend = (x2 - x) / 2;
    c.beginPath();
    c.moveTo(x, from.y);
    c.bezierCurveTo(x + bend, from.y, x2 - bend, y2, x2, y2);
    c.stroke();
  })));
  c.globalAlpha = 1;
  c.setLineDash([]);
}

// The sizes that small pictures are scaled by: relu's by its layer, so that weak neurons look weak.
function scales(s) {
  const { data, grid } = s, sizes = [];
  for (const { act, weights } of data.drawn) {
    const first = sizes.length, each = weights.map((_, i) => grid[first + i].reduce((m, x) => Math.max(m, Math.abs(x)), 0));
    const most = Math.max(...each, 1e-9);
    weights.forEach(() => sizes.push(act === null || most > 1 ? most : Math.max(most, data.bounded ? 1 : 1e-9)));
  }
  s.sizes = sizes;
}

function paintNeuron(s, canvas, k, size) {
  const c = surface(canvas, size, size), { scene } = s;
  const inputs = k < s.data.features, values = inputs ? null : s.grid[k - s.data.features];
  if (scene.kind === 1) {
    line(c, [[0, size / 2], [size, size / 2]], "hair", 1);
    const most = inputs ? 1 : s.sizes[k - s.data.features] * 1.15;
    const points = inputs ? [[0, size * 0.9], [size, size * 0.1]]
      : [...values].map((y, i) => [(i / (values.length - 1)) * size, size / 2 - (y / most) * (size / 2 - 3)]);
    line(c, points, "blue", 2.2);
    return;
  }
  const side = inputs ? 16 : Math.sqrt(values.length);
  const shownValues = inputs
    ? Float64Array.from({ length: 256 }, (_, i) => (k === 0 ? ((i % 16) - 7.5) / 7.5 : (7.5 - Math.floor(i / 16)) / 7.5))
    : values.map((x) => x / s.sizes[k - s.data.features]);
  const tables = s.tables ??= tablesOf();
  paintPlane(c, shownValues, side, tables.full, 0, 0, size, size);
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
  const c = surface(canvas, width, y + tall), { full } = s.tables ??= tablesOf();
  groups.forEach(([name, rows], g) => {
    const [left, top] = spots[g];
    text(c, name, left, top + 14);
    rows.forEach((row, i) => row.forEach((index, j) => {
      const w = index < 0 ? 0 : weight(s, index), pixel = full[Math.round(128 + 128 * Math.tanh(w / 1.5)) || 0];
      c.fillStyle = `rgb(${pixel & 255} ${(pixel >> 8) & 255} ${(pixel >> 16) & 255})`;
      const [px, py] = [left + j * cell, top + 22 + i * cell];
      c.fillRect(px, py, cell - 1, cell - 1);
      if (w < 0 && cell > 8) line(c, [[px + 5, py + cell / 2], [px + cell - 6, py + cell / 2]], "paper", 1.5); // a minus
    }));
  });
}
