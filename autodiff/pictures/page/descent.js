// The page of gradient descent: the path at one rate, the result at every rate, the secant's error.

const main = document.querySelector("#app"), two = data.x0.length === 2, [x0] = data.x0;
const s = { rate: data.rate, h: 0.5 };
const value = (x) => programs.f(x)[0], slopes = (x) => programs.f(x)[1];
const first = value(data.x0), tangent = slopes(data.x0)[0];
const spaced = (n, low, high) => Array.from({ length: n + 1 }, (_, i) => low + ((high - low) * i) / n);
const onLog = (n, low, high) => spaced(n, Math.log(low), Math.log(high)).map(Math.exp);
const after = `f after ${data.steps} steps`;

// The points of the descent; it ends where it leaves all numbers behind.
function pathAt(rate) {
  const points = [data.x0];
  for (let k = 0; k < data.steps; k++) {
    const x = points[k], next = slopes(x).map((g, i) => x[i] - rate * g);
    if (!next.every((v) => Math.abs(v) < 1e9)) break;
    points.push(next);
  }
  return points;
}
function resultOf(points) {
  const y = points.length > data.steps ? value(points.at(-1)) : Infinity;
  return Number.isNaN(y) ? Infinity : y;
}

// The lowest point that any rate comes to, and the range of rates: to where it diverges and beyond.
const tried = onLog(120, data.rate / 100, data.rate * 100);
const best = tried.flatMap(pathAt).filter((x) => x.every((v, i) => Math.abs(v - data.x0[i]) < 1e3))
  .reduce((a, b) => (value(b) < value(a) ? b : a));
const floor = value(best), lift = floor < 0 ? -floor : 0; // a logarithm needs f > 0
const far = tried.find((rate) =>
  rate > data.rate / 2 && !(resultOf(pathAt(rate)) <= Math.max(first, first + 10 * Math.abs(first))));
const high = Number(Math.max(2.4 * (far ?? 4 * data.rate), 1.5 * data.rate).toPrecision(1)), low = high / 30;
const results = onLog(180, low, high).map((rate) => [rate, resultOf(pathAt(rate)) + lift]);

// -- The map, or the curve ------------------------------------------------------------------------

function paintMap(canvas, width, height) {
  const away = best.map((m, i) => Math.abs(data.x0[i] - m));
  const scale = Math.max(away[0] / (0.43 * width), away[1] / (0.4 * height), 1e-9); // one for both
  const [xs, ys] = best.map((m, i) => [-1, 1].map((side) => m + (side * scale * [width, height][i]) / 2));
  const box = chart(canvas, width, height, xs, ys, { room: { left: 0, right: 0, top: 0, bottom: 0 } });
  const { c } = box, side = 140, places = spaced(side - 1, 0, 1);
  const grid = places.flatMap((y) => places.map((x) => value(box.back(x * width, y * height))));
  const top = grid.filter(Number.isFinite).reduce((a, b) => Math.max(a, b), floor);
  const part = (y) => Math.floor(10 * Math.sqrt(Math.max(0, y - floor) / (top - floor || 1))) / 10;
  paintPlane(c, grid.map(part), side, blend("paper", "paper", "blue-tint"), 0, 0, width, height);
  faint(c, 0.4, () => spaced(10, 0, 1).slice(1, -1).forEach((k) => { // a bowl's are equally far apart
    contour(c, grid, side, floor + (top - floor) * k * k, width, height, "blue", 1);
  }));
  const [x, y] = [box.x(best[0]), box.y(best[1])];
  line(c, [[x - 7, y], [x + 7, y], [x, y], [x, y - 7], [x, y + 7]], "ink", 1.8);
  paintPath(c, pathAt(s.rate).map((p) => [box.x(p[0]), box.y(p[1])]), width, height);
}

// The curve of f, with round numbers on the axes, in a picture that pads the values so much.
function curveOf(canvas, width, height, [low, high], below, above) {
  const xs = spaced(200, low, high), ys = xs.map((x) => value([x])).filter(Number.isFinite);
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)], more = top - bottom || 1;
  const range = [bottom - below * more, top + above * more];
  const box = chart(canvas, width, height, [low, high], range, { levels: ticks(...range, 4),
    across: ticks(low, high - (high - low) / 30, width / 120), below: 26, room: { left: 40, right: 1, top: 8, bottom: 34 } });
  box.curve = xs.map((x) => [box.x(x), box.y(value([x]))]).filter(([, y]) => Number.isFinite(y));
  return box;
}

function paintCurve(canvas, width, height) {
  const wide = Math.abs(x0 - best[0]) * 1.25 || 2;
  const box = curveOf(canvas, width, height, [best[0] - wide, best[0] + wide], 0.12, 0.12);
  line(box.c, box.curve, "blue", 4);
  paintPath(box.c, pathAt(s.rate).map((p) => [box.x(p[0]), box.y(value(p))]), width, height - 30);
}

// The steps, the first as an arrow; a cross where they leave the picture.
function paintPath(c, spots, width, height) {
  const out = spots.findIndex(([x, y]) => !(x >= 0 && x <= width && y >= 0 && y <= height));
  const [[x, y], [x1, y1] = spots[0], ...rest] = out < 0 ? spots : spots.slice(0, out + 1);
  const angle = Math.atan2(y1 - y, x1 - x);
  const back = (far, turn = 0) => [x1 - far * Math.cos(angle + turn), y1 - far * Math.sin(angle + turn)];
  clipped(c, 0, 0, width, height, () => {
    line(c, [[x1, y1], ...rest], "orange-wire", 1.6);
    if (Math.hypot(x1 - x, y1 - y) > 6) {
      line(c, [[x, y], back(13)], "orange-wire", 4);
      fill(c, [back(5), back(18, 0.32), back(18, -0.32)], "orange-wire");
    }
    for (const spot of [[x1, y1], ...rest]) disc(c, ...spot, 3.5, "orange-wire", 1.5);
  });
  disc(c, x, y, 6.5, "ink");
  text(c, "start", x, y - 14, { fill: "ink", align: "center" });
  if (out < 0) return;
  const clip = (v, most) => Math.min(most - 12, Math.max(12, v));
  const [px, py] = [clip(spots[out][0], width), clip(spots[out][1], height)], late = px > width - 220;
  cross(c, px, py);
  text(c, `off the map at step ${out}`, px + (late ? -16 : 16), py + (py > height / 2 ? -2 : 12),
    { fill: "red", align: late ? "right" : "left", font: STRONG });
}

// -- A slider that is the axis of a plot ----------------------------------------------------------

const STRONG = `650 14px ${SANS}`;

// Points [x, y] on two logarithmic axes, and a line from the thumb at x up to the curve.
function paintAxis(canvas, width, height, points, [x, y], levels) {
  const [[low], [high]] = [points[0], points.at(-1)], room = { left: 44, right: 11, top: 8, bottom: 20 };
  const ends = [levels[0], levels.at(-1)];
  const box = chart(canvas, width, height, [low, high], ends, { levels, logs: "xy", room }), { c } = box;
  const at = Math.min(height - 14, Math.max(10, box.y(y)));
  const drawn = () => clipped(c, 0, 0, width, height, () =>
    line(c, points.map(([a, b]) => [box.x(a), box.y(Math.min(b, 1e300))]), "red", 2.5));
  const dotted = () => points.forEach(([a, b]) => b > 0 && disc(c, box.x(a), box.y(b), 2, "red", 0));
  if (points === results) drawn();
  else faint(c, 0.6, dotted);
  line(c, [[box.x(x), at], [box.x(x), height]], "ink", 1.6);
  disc(c, box.x(x), at, 6, "red");
  return box;
}

function paintResults(canvas, width) {
  const start = first + lift, y = resultOf(pathAt(s.rate)) + lift;
  const least = Math.max(Math.min(...results.map(([, each]) => each)), 1e-15 * Math.abs(first));
  const box = paintAxis(canvas, width, 168, results, [s.rate, y], powers(least / 30, start * 40, 5));
  const { c } = box, up = results.find(([rate, each]) => rate > 2 * low && each > start);
  line(c, [[box.left, box.y(start)], [box.right, box.y(start)]], "soft", 1.4, [2, 3]);
  text(c, "where it starts", box.left + 4, box.y(start) - 5, { halo: true });
  if (up) text(c, "diverges →", Math.min(box.x(up[0]) + 18, box.right - 78), 18, { fill: "red", font: STRONG, halo: true });
}

function paintErrors(canvas, width) {
  const levels = [1e-10, 1e-8, 1e-6, 1e-4, 0.01, 1];
  const box = paintAxis(canvas, width, 350, errors, [s.h, error(s.h)], levels);
  for (const [x, ...words] of [[6e-14, "digits are lost:", "error grows like 1/h"],
    [5e-4, "the curve bends:", "error grows like h"]]) {
    words.forEach((each, k) => text(box.c, each, box.x(x), box.y(1e-7) + 18 * k, { align: "center", halo: true }));
  }
}

// -- One variable: secant and tangent -------------------------------------------------------------

const secantAt = (h) => (value([x0 + h]) - first) / h;
const error = (h) => Math.abs(tangent ? secantAt(h) / tangent - 1 : secantAt(h));
const errors = onLog(299, 1e-16, 1).map((h) => [h, error(h)]);

// How many leading digits are right, and the text from there on.
function digits() {
  const [a, b] = [secantAt(s.h), tangent].map((x) => minus(x.toPrecision(16)));
  const k = [...a].findIndex((x, i) => x !== b[i]), same = k < 0 ? a : a.slice(0, k);
  return { same, wrong: a.slice(same.length), all: b, count: same.replace(/^[−0.]+|\./g, "").length };
}

function paintSecant(canvas, width, height) {
  const box = curveOf(canvas, width, height, [x0 - 1.6, x0 + 2], 0.4, 0.03), { c } = box, secant = secantAt(s.h);
  const on = (slope, x) => [box.x(x), box.y(first + slope * (x - x0))], [x, y] = on(0, x0);
  const through = (slope) => [on(slope, x0 - 1.6), on(slope, x0 + 2)], right = box.x(x0 + s.h);
  const near = Math.abs(through(secant)[1][1] - through(tangent)[1][1]) < 5, below = tangent < secant;
  clipped(c, 36, 0, width, height - 32, () => {
    faint(c, 0.45, () => line(c, box.curve, "soft", 5));
    if (!near) fill(c, [[x, y], through(secant)[1], through(tangent)[1]], "red", 0.13); // the error
    line(c, through(secant), "blue", 3.5);
    line(c, through(tangent), "orange-wire", 3.5, near ? [10, 10] : [10, 6]);
  });
  disc(c, x, y, 6.5, near ? "blue" : "ink");
  const say = (words, [px, py], fill, side) => text(c, words, px, Math.min(height - 44, Math.max(16, py + side)),
    { fill, halo: true, font: STRONG, align: "center" });
  say("tangent", on(tangent, x0 + 0.42), "orange", below ? 38 : -30);
  if (right - x < 12) return say("two points, too close to tell apart", [x + 130, y], "blue", -12);
  disc(c, right, box.y(value([x0 + s.h])), 6, "blue");
  say("secant", on(secant, x0 + 1.45), "blue", below ? -22 : 30);
  line(c, [[x, height - 38], [right, height - 38]], "blue", 1.8);
  say("h", [(x + right) / 2, height - 46], "blue", 0);
}

// -- The page -------------------------------------------------------------------------------------

// What the path does: in how many variables it goes from side to side.
function telling(points, y) {
  const swings = data.x0.filter((_, i) => points.slice(1, 12).filter((x, k) =>
    slopes(x)[i] * slopes(points[k])[i] < 0).length > 5).length;
  if (!(y <= first)) return h("p.tell.error", "Diverges: each step lands farther up the other side.");
  return h("p.tell", [`Each step is the slope times the rate: shorter where it is flatter.`,
    two ? "Across the valley each step overshoots the floor; along it, it creeps."
      : "Each step overshoots the floor, and lands on the other side, lower.",
    "Each step overshoots the floor, and lands on the other side, lower."][swings]);
}

// A plot whose axis is a slider.
const onAxis = (title, paint, slider, low, name, high) => h("div.onAxis", h("p.note", title),
  picture("", (canvas) => paint(canvas, canvas.parentNode.clientWidth)), slider,
  h("p.ends", h("span", low), name, h("span", high)));

function nudges(phone) {
  const { same, wrong, all, count } = digits(), mark = (kind, ...inside) => h(`b.${kind}`, ...inside);
  return [h("h1.second", "How small should a nudge be?"),
    h("p.lead", "Two values of ", h("i", "f"), " make ", mark("forward", "a secant"), "; as ", h("i", "h"),
      " shrinks it becomes ", mark("backward", "the tangent"), ". Drag ", h("i", "h"), " to the left. Then farther."),
    h("div.pair", h("div",
      picture("", (canvas) => paintSecant(canvas, canvas.parentNode.clientWidth, phone ? 280 : 390)),
      h("dl", h("dt", h("i", "h")), h("dd.h", amount(s.h, 2)),
        h("dt.forward", "secant"), h("dd.forward", same, h("u.error", wrong)),
        h("dt.backward", "tangent"), h("dd.backward", all)),
      h("p.note", `${count} right digit${count === 1 ? "" : "s"}; the wrong ones are underlined`)),
    onAxis(mark("error", "error of the secant’s slope"), paintErrors,
      logSlider("h", 1e-16, 1, s.h, (h) => { s.h = h; paint(); }), `10${raise(-16)}`, h("i", "h"), "1"))];
}

function paint() {
  const phone = main.clientWidth < 760, width = Math.min(1200, main.clientWidth) - (phone ? 32 : 88);
  const points = pathAt(s.rate), y = resultOf(points), [from, to] = [data.x0, points.at(-1)].map((x) => x.map((v) => amount(v)).join(", "));
  const height = two ? width * (phone ? 0.9 : 0.375) : phone ? 260 : 380;
  const above = floor < 0 ? " above the lowest, at every learning rate" : ", at every learning rate";
  show(main, h(phone ? "div.learning.phone" : "div.learning", h("h1", data.title),
    h("p.lead", h("i", "f"), data.formula && ` = ${data.formula.replaceAll("·", " ")}`,
      `, and ${data.steps} steps of gradient descent. Drag the learning rate: the whole path follows.`),
    picture("map", (canvas) => (two ? paintMap : paintCurve)(canvas, width, height),
      { role: "img", "aria-label": `the path from ${from} to ${to}` }),
    h("div.below", onAxis([h("b.error", after), above], paintResults,
      logSlider("learning rate", low, high, s.rate, (rate) => { s.rate = rate; paint(); }, 3),
      amount(low, 1), "learning rate", amount(high, 1)),
    h("div.told", "learning rate", h("b", amount(s.rate)), h("span.error", after),
      h("b.error", amount(y)), telling(points, y))),
    two ? null : nudges(phone),
    h("details", h("summary", "The program that runs here"), h("pre", { tabindex: "0" }, `const f = ${programs.f};`))));
}

follow(main, paint);
