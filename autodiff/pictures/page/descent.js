// The page of gradient descent: the path at one rate, the result at every rate, the secant's error.

const two = data.x0.length === 2, [x0] = data.x0, s = { rate: data.rate, h: 0.5, moved: true };
const value = (x) => programs.f(x)[0], slopes = (x) => programs.f(x)[1];
const first = value(data.x0), tangent = slopes(data.x0)[0];
const after = `f after ${counted(data.steps, "step")}`;
const onLog = (n, low, high) => spaced(n, Math.log(low), Math.log(high)).map(Math.exp);

// The points of the descent; it ends where it leaves all numbers behind.
function pathAt(rate) {
  const points = [data.x0];
  for (const x of points) {
    const next = slopes(x).map((g, i) => x[i] - rate * g);
    if (points.length > data.steps || !next.every((v) => Math.abs(v) < 1e9)) break;
    points.push(next);
  }
  return points;
}
function resultAt(rate) {
  const points = pathAt(rate), y = points.length > data.steps ? value(points.at(-1)) : Infinity;
  return Number.isNaN(y) ? Infinity : y;
}

// The result at every rate of the slider, and the lowest point that any of them comes to.
const low = data.rate / 10, high = data.rate * 10, rates = onLog(180, low, high);
const best = rates.flatMap(pathAt).filter((x) => x.every((v, i) => Math.abs(v - data.x0[i]) < 1e3))
  .reduce((a, b) => (value(b) < value(a) ? b : a));
const floor = value(best), lift = Math.max(0, -floor); // a logarithm needs f > 0
const start = first + lift, results = rates.map((rate) => [rate, resultAt(rate) + lift]);

// -- The map, or the curve ------------------------------------------------------------------------

// One scale for both variables; lines as far apart as those of a bowl.
function mapOf(canvas, width, height) {
  const [across, up] = best.map((m, i) => Math.abs(data.x0[i] - m));
  const scale = Math.max(across / (0.43 * width), up / (0.4 * height), 1e-9), side = 140;
  const ends = [width, height].map((size, i) => [-0.5, 0.5].map((k) => best[i] + k * scale * size));
  const box = chart(canvas, width, height, ...ends, { room: [0, 0, 0, 0] }), { c } = box;
  const [xs, ys] = ends.map((each) => spaced(side - 1, ...each));
  const grid = ys.toReversed().flatMap((y) => xs.map((x) => value([x, y])));
  const top = grid.reduce((a, b) => (b < Infinity ? Math.max(a, b) : a), floor);
  c.globalAlpha = 0.2;
  paintPlane(c, grid.map((y) => Math.sqrt((y - floor) / (top - floor))), width, height);
  c.globalAlpha = 0.4;
  for (const k of spaced(10, 0, 1)) {
    contour(c, grid, floor + (top - floor) * k * k, width, height, "blue", 1);
  }
  c.globalAlpha = 1;
  box.disc(best, 3, "ink", 0);
  return box;
}

// The curve of f, in a picture with so much room below.
function curveOf(canvas, width, height, [low, high], below, ...style) {
  const points = spaced(200, low, high).map((x) => [x, value([x])]);
  const ys = points.map(([, y]) => y).filter(Number.isFinite);
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)], more = top - bottom || 1;
  const levels = ticks(bottom - below * more, top, 4), across = ticks(low, high, width / 120);
  const ends = [levels[0], levels.at(-1)];
  const box = chart(canvas, width, height, [low, high], ends, { levels, across });
  box.clip(() => box.line(points, ...style));
  return box;
}

// The steps, the first as an arrow; a cross where they leave the picture.
function paintPath(canvas, width, height) {
  const wide = 1.25 * Math.abs(x0 - best[0]) || 2, ends = [best[0] - wide, best[0] + wide];
  const box = two ? mapOf(canvas, width, height)
    : curveOf(canvas, width, height, ends, 0.12, "blue", 4);
  const { c } = box, spots = pathAt(s.rate).map((p) => box.at(two ? p : [p[0], value(p)]));
  const out = spots.findIndex(([x, y]) => !(x >= 0 && x <= width && y >= 0 && y <= height));
  const [[x, y], [x1, y1] = spots[0]] = spots, angle = Math.atan2(y1 - y, x1 - x);
  const back = (far, turn) =>
    [x1 - far * Math.cos(angle + turn), y1 - far * Math.sin(angle + turn)];
  box.clip(() => {
    const seen = out < 0 ? spots : spots.slice(0, out + 1);
    line(c, seen, "orange-wire", 1.6);
    if (Math.hypot(x1 - x, y1 - y) > 6) {
      line(c, [[x, y], back(13, 0)], "orange-wire", 4);
      fill(c, [back(5, 0), back(18, 0.32), back(18, -0.32)], "orange-wire");
    }
    for (const spot of seen) disc(c, ...spot, 3.5, "orange-wire", 1.5);
  });
  disc(c, x, y, 6.5, "ink");
  text(c, "start", x, y - 14, { fill: "ink", align: "center" });
  if (out < 0) return;
  const px = clip(spots[out][0], [12, width - 12]), py = clip(spots[out][1], [12, height - 12]);
  const [align, aside] = px > width / 2 ? ["right", -16] : ["left", 16];
  cross(c, px, py);
  text(c, `off the map at step ${out}`, px + aside, py + 4, { ...WRONG, align });
}

// -- A slider that is the axis of a plot ----------------------------------------------------------

const WRONG = { fill: "red", font: STRONG };

// Points on two logarithmic axes, and a line from the thumb up to the curve.
function paintAxis(canvas, width, height, points, [x, y], levels, draw) {
  const ends = [points, levels.map((y) => [y])].map((each) => [each[0][0], each.at(-1)[0]]);
  const box = chart(canvas, width, height, ...ends, { levels, logs: "xy" });
  box.clip(() => draw(box));
  const at = [box.x(x), clip(box.y(y), [10, height - 14])];
  line(box.c, [at, [at[0], height]], "ink", 1.6);
  disc(box.c, ...at, 6, "red");
  return box;
}

function paintResults(canvas, width) {
  const least = Math.max(Math.min(...results.map(([, y]) => y)), 1e-15 * Math.abs(first));
  const box = paintAxis(canvas, width, 168, results, [s.rate, resultAt(s.rate) + lift],
    powers(least / 30, start * 40, 4), (box) => box.line(results, "red", 2.5));
  const { c } = box, up = results.find(([rate, y]) => rate > data.rate / 2 && !(y <= start));
  box.line([[low, start], [high, start]], "soft", 1.4, [2, 3]);
  text(c, "where it starts", box.left + 4, box.y(start) - 5);
  if (up) text(c, "diverges →", Math.min(box.x(up[0]) + 18, box.right - 78), 18, WRONG);
}

function paintErrors(canvas, width) {
  const { c, x, y } = paintAxis(canvas, width, 350, errors, [s.h, error(s.h)],
    [1e-10, 1e-8, 1e-6, 1e-4, 0.01, 1],
    (box) => errors.forEach((each) => box.disc(each, 2, "red", 0)));
  const say = (h, ...lines) => lines.forEach((words, row) =>
    text(c, words, x(h), y(1e-8) + 18 * row, { align: "center" }));
  say(6e-14, "digits are lost:", "error grows like 1/h");
  say(5e-4, "the curve bends:", "error grows like h");
}

// -- One variable: secant and tangent -------------------------------------------------------------

const secantAt = (h) => (value([x0 + h]) - first) / h;
const error = (h) => Math.abs(tangent ? secantAt(h) / tangent - 1 : secantAt(h));
const errors = onLog(299, 1e-16, 1).map((h) => [h, error(h)]);

function paintSecant(canvas, width, height) {
  const ends = [x0 - 1.6, x0 + 2], secant = secantAt(s.h), right = x0 + s.h;
  const box = curveOf(canvas, width, height, ends, 0.4, "idle", 5), { c, y, at } = box;
  const through = (slope) => ends.map((x) => [x, first + slope * (x - x0)]);
  const [blue, orange] = [through(secant), through(tangent)];
  const apart = y(orange[1][1]) - y(blue[1][1]), near = Math.abs(apart) < 5;
  box.clip(() => {
    c.globalAlpha = 0.13;
    fill(c, [[x0, first], blue[1], orange[1]].map(at), "red"); // the error
    c.globalAlpha = 1;
    box.line(blue, "blue", 3.5);
    box.line(orange, "orange-wire", 3.5, near ? [10, 10] : [10, 6]);
  });
  const say = (words, slope, x, fill, dy) => {
    const [px, py] = at([x, first + slope * (x - x0)]);
    const place = clip(py + dy * Math.sign(apart), [16, height - 44]);
    text(c, words, px, place, { fill, font: STRONG, align: "center" });
  };
  box.disc([x0, first], 6.5, near ? "blue" : "ink");
  say("tangent", tangent, x0 + 0.42, "orange", 34);
  if (s.h < 0.08) return;
  box.disc([right, value([right])], 6, "blue");
  say("secant", secant, x0 + 1.45, "blue", -24);
  line(c, [x0, right].map((x) => [box.x(x), height - 38]), "blue", 1.8);
  text(c, "h", box.x(x0 + s.h / 2), height - 44, { fill: "blue", align: "center" });
}

// -- The page -------------------------------------------------------------------------------------

// What the path does: in how many variables it goes from side to side.
function telling() {
  if (!(resultAt(s.rate) <= first)) return "Diverges: each step lands farther up the other side.";
  const [before, next] = pathAt(s.rate).map(slopes);
  const swings = before.filter((g, i) => g * next[i] < 0).length;
  if (!swings) return "Each step is the slope times the rate: shorter where it is flatter.";
  return swings < data.x0.length
    ? "Across the valley each step overshoots the floor; along it, it creeps."
    : "Each step overshoots the floor, and lands on the other side, lower.";
}

const wide = (paint, height) =>
  picture("", (canvas) => paint(canvas, canvas.parentNode.clientWidth, height));

// A plot whose axis is the slider of s.rate or s.h.
const onAxis = (title, paintAt, key, name, low, high) => h("div.onAxis", h("p.note", title),
  wide(paintAt), logSlider(name, low, high, s[key], (x) => { s[key] = x; paint(); }, 3),
  h("p.ends", h("span", amount(low, 1)), name, h("span", amount(high, 1))));

function nudges(phone) {
  const [a, b] = [secantAt(s.h), tangent].map((x) => minus(x.toPrecision(16)));
  const k = [...`${a} `].findIndex((x, i) => x !== b[i]), same = a.slice(0, k);
  const right = same.replace(/^[−0.]+|\./g, "").length;
  return [h("h1", "How small should a nudge be?"),
    h("p.lead", "Two values of f make ", mark("forward", "a secant"), "; as h shrinks it becomes ",
      mark("backward", "the tangent"), ". Drag h to the left. Then farther."),
    h("div.pair", h("div", wide(paintSecant, phone ? 280 : 390),
      h("dl", h("dt", "h"), h("dd", amount(s.h, 2)),
        h("dt.forward", "secant"), h("dd.forward", same, h("u.error", a.slice(k))),
        h("dt.backward", "tangent"), h("dd.backward", b)),
      h("p.note", `${counted(right, "right digit")}; the wrong ones are underlined`)),
    onAxis(mark("error", "error of the secant’s slope"), paintErrors, "h", "h", 1e-16, 1))];
}

function paint() {
  const [phone, width] = sizes(main), above = floor < 0 ? " above the lowest," : "";
  const height = two ? width * (phone ? 0.9 : 0.375) : phone ? 260 : 380;
  show(h(phone ? "div.learning.phone" : "div.learning", two ? null : nudges(phone),
    h(two ? "h1" : "h1.second", data.title),
    h("p.lead", data.formula && `f = ${data.formula.replaceAll("·", " ")}. `,
      big(counted(data.steps, "step")),
      " of gradient descent. Drag the learning rate: the whole path follows."),
    h("div", wide(paintPath, height)),
    h("div.below", onAxis([mark("error", after), above, " at every learning rate"],
      paintResults, "rate", "learning rate", low, high),
    h("div.told", "learning rate", h("b", amount(s.rate)), h("span.error", after),
      h("b.error", amount(resultAt(s.rate))), h("p.tell", { role: "status" }, telling()))),
    program(`const f = ${programs.f};`)));
}

follow(() => {
  shown.clear();
  paint();
});
