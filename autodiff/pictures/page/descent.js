// The page of gradient descent: the path at one rate, the result at every rate, the secant's error.

const main = document.querySelector("#app"), two = data.x0.length === 2, [x0] = data.x0;
const s = { rate: data.rate, h: 0.5 };
const value = (x) => programs.f(x)[0], slopes = (x) => programs.f(x)[1];
const first = value(data.x0), tangent = slopes(data.x0)[0];
const after = `f after ${counted(data.steps, "step")}`;
const spaced = (n, low, high) => [...Array(n + 1).keys()].map((i) => low + ((high - low) * i) / n);
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

// The lowest point that any rate comes to, and the range of rates: to where it diverges and beyond.
const tried = onLog(120, data.rate / 100, data.rate * 100);
const best = tried.flatMap(pathAt).filter((x) => x.every((v, i) => Math.abs(v - data.x0[i]) < 1e3))
  .reduce((a, b) => (value(b) < value(a) ? b : a));
const floor = value(best), lift = Math.max(0, -floor); // a logarithm needs f > 0
const start = first + lift, most = Math.max(first, first + 10 * Math.abs(first));
const far = tried.find((rate) => rate > data.rate / 2 && !(resultAt(rate) <= most));
const high = Number((3 * (far ?? 4 * data.rate)).toPrecision(1)), low = high / 30;
const results = onLog(180, low, high).map((rate) => [rate, resultAt(rate) + lift]);

// -- The map, or the curve ------------------------------------------------------------------------

// One scale for both variables; bands, as far apart as those of a bowl.
function mapOf(canvas, width, height) {
  const away = best.map((m, i) => Math.abs(data.x0[i] - m)), size = [width, height];
  const scale = Math.max(away[0] / (0.43 * width), away[1] / (0.4 * height), 1e-9);
  const ends = best.map((m, i) => [-0.5, 0.5].map((side) => m + side * scale * size[i]));
  const box = chart(canvas, width, height, ...ends, { room: [0, 0, 0, 0] }), { c } = box;
  const side = 140, parts = spaced(side - 1, 0, 1);
  const grid = parts.flatMap((y) => parts.map((x) => value(box.back(x * width, y * height))));
  const top = grid.reduce((a, b) => (b < Infinity ? Math.max(a, b) : a), floor);
  const bands = grid.map((y) => Math.floor(10 * Math.sqrt((y - floor) / (top - floor))) / 10);
  paintPlane(c, bands, side, blend("paper", "paper", "blue-tint"), 0, 0, width, height);
  c.globalAlpha = 0.4;
  for (const k of spaced(10, 0, 1)) {
    contour(c, grid, side, floor + (top - floor) * k * k, width, height, "blue", 1);
  }
  c.globalAlpha = 1;
  box.disc(best, 3, "ink", 0);
  return box;
}

// The curve of f, in a picture with so much room below and above.
function curveOf(canvas, width, height, [low, high], below, above, ...style) {
  const points = spaced(200, low, high).map((x) => [x, value([x])]);
  const ys = points.map(([, y]) => y).filter(Number.isFinite);
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)], more = top - bottom || 1;
  const range = [bottom - below * more, top + above * more];
  const levels = ticks(...range, 4), across = ticks(low, high, width / 120);
  const box = chart(canvas, width, height, [low, high], range, { levels, across });
  box.clip(() => box.line(points, ...style));
  return box;
}

// The steps, the first as an arrow; a cross where they leave the picture.
function paintPath(canvas, width, height) {
  const wide = 1.25 * Math.abs(x0 - best[0]) || 2, ends = [best[0] - wide, best[0] + wide];
  const box = two ? mapOf(canvas, width, height)
    : curveOf(canvas, width, height, ends, 0.12, 0.12, "blue", 4);
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
  const align = px > width / 2 ? "right" : "left";
  cross(c, px, py);
  const beside = px + (align === "left" ? 16 : -16);
  text(c, `off the map at step ${out}`, beside, py + 4, { ...STRONG, align });
}

// -- A slider that is the axis of a plot ----------------------------------------------------------

const STRONG = { fill: "red", font: `650 14px ${SANS}`, halo: true };

// Points on two logarithmic axes, and a line from the thumb up to the curve.
function paintAxis(canvas, width, height, points, [x, y], levels, draw) {
  const xs = [points[0][0], points.at(-1)[0]], ys = [levels[0], levels.at(-1)];
  const box = chart(canvas, width, height, xs, ys, { levels, logs: "xy" });
  box.clip(() => draw(box));
  const at = [box.x(x), clip(box.y(y), [10, height - 14])];
  line(box.c, [at, [at[0], height]], "ink", 1.6);
  disc(box.c, ...at, 6, "red");
  return box;
}

function paintResults(canvas, width) {
  const least = Math.max(Math.min(...results.map(([, y]) => y)), 1e-15 * Math.abs(first));
  const box = paintAxis(canvas, width, 168, results, [s.rate, resultAt(s.rate) + lift],
    powers(least / 30, start * 40, 5), (box) => box.line(results, "red", 2.5));
  const { c } = box, up = results.find(([rate, y]) => rate > 2 * low && y > start);
  box.line([[low, start], [high, start]], "soft", 1.4, [2, 3]);
  text(c, "where it starts", box.left + 4, box.y(start) - 5, { halo: true });
  if (up) text(c, "diverges →", Math.min(box.x(up[0]) + 18, box.right - 78), 18, STRONG);
}

function paintErrors(canvas, width) {
  const { c, x, y } = paintAxis(canvas, width, 350, errors, [s.h, error(s.h)],
    [1e-10, 1e-8, 1e-6, 1e-4, 0.01, 1],
    (box) => errors.forEach((each) => box.disc(each, 2, "red", 0)));
  const say = (words, h, row) =>
    text(c, words, x(h), y(1e-7) + 18 * row, { align: "center", halo: true });
  say("digits are lost:", 6e-14, 0);
  say("error grows like 1/h", 6e-14, 1);
  say("the curve bends:", 5e-4, 0);
  say("error grows like h", 5e-4, 1);
}

// -- One variable: secant and tangent -------------------------------------------------------------

const secantAt = (h) => (value([x0 + h]) - first) / h;
const error = (h) => Math.abs(tangent ? secantAt(h) / tangent - 1 : secantAt(h));
const errors = onLog(299, 1e-16, 1).map((h) => [h, error(h)]);

function paintSecant(canvas, width, height) {
  const ends = [x0 - 1.6, x0 + 2], secant = secantAt(s.h), right = x0 + s.h;
  const box = curveOf(canvas, width, height, ends, 0.4, 0.03, "idle", 5), { c, y, at } = box;
  const through = (slope) => ends.map((x) => [x, first + slope * (x - x0)]);
  const [blue, orange] = [through(secant), through(tangent)];
  const apart = y(orange[1][1]) - y(blue[1][1]), side = Math.sign(apart);
  const near = Math.abs(apart) < 5;
  box.clip(() => {
    fill(c, [[x0, first], blue[1], orange[1]].map(at), "red", 0.13); // the error
    box.line(blue, "blue", 3.5);
    box.line(orange, "orange-wire", 3.5, near ? [10, 10] : [10, 6]);
  });
  const say = (words, slope, x, fill, dy) => {
    const [px, py] = at([x, first + slope * (x - x0)]);
    text(c, words, px, clip(py + dy, [16, height - 44]), { ...STRONG, fill, align: "center" });
  };
  box.disc([x0, first], 6.5, near ? "blue" : "ink");
  say("tangent", tangent, x0 + 0.42, "orange", 34 * side);
  if (s.h < 0.08) return;
  box.disc([right, value([right])], 6, "blue");
  say("secant", secant, x0 + 1.45, "blue", -24 * side);
  line(c, [x0, right].map((x) => [box.x(x), height - 38]), "blue", 1.8);
  text(c, "h", box.x(x0 + s.h / 2), height - 44, { fill: "blue", align: "center" });
}

// -- The page -------------------------------------------------------------------------------------

const mark = (kind, words) => h(`b.${kind}`, words);

// What the path does: in how many variables it goes from side to side.
function telling() {
  if (!(resultAt(s.rate) <= first)) return "Diverges: each step lands farther up the other side.";
  const early = pathAt(s.rate).slice(0, 12).map(slopes);
  const swings = data.x0.filter((_, i) =>
    early.filter((g, k) => k && g[i] * early[k - 1][i] < 0).length > 5).length;
  if (!swings) return "Each step is the slope times the rate: shorter where it is flatter.";
  return swings < data.x0.length
    ? "Across the valley each step overshoots the floor; along it, it creeps."
    : "Each step overshoots the floor, and lands on the other side, lower.";
}

// A plot whose axis is a slider from low to high.
const onAxis = (title, paintAt, name, low, high, x, moved) => h("div.onAxis", h("p.note", title),
  picture("", (canvas) => paintAt(canvas, canvas.parentNode.clientWidth)),
  logSlider(name, low, high, x, (x) => { moved(x); paint(); }, 3),
  h("p.ends", h("span", amount(low, 1)), name, h("span", amount(high, 1))));

function nudges(phone) {
  const [a, b] = [secantAt(s.h), tangent].map((x) => minus(x.toPrecision(16)));
  const k = [...`${a} `].findIndex((x, i) => x !== b[i]), same = a.slice(0, k);
  const right = same.replace(/^[−0.]+|\./g, "").length;
  return [h("h1.second", "How small should a nudge be?"),
    h("p.lead", "Two values of f make ", mark("forward", "a secant"), "; as h shrinks it becomes ",
      mark("backward", "the tangent"), ". Drag h to the left. Then farther."),
    h("div.pair", h("div",
      picture("", (canvas) =>
        paintSecant(canvas, canvas.parentNode.clientWidth, phone ? 280 : 390)),
      h("dl", h("dt", "h"), h("dd", amount(s.h, 2)),
        h("dt.forward", "secant"), h("dd.forward", same, h("u.error", a.slice(k))),
        h("dt.backward", "tangent"), h("dd.backward", b)),
      h("p.note", `${counted(right, "right digit")}; the wrong ones are underlined`)),
    onAxis(mark("error", "error of the secant’s slope"), paintErrors, "h", 1e-16, 1, s.h,
      (h) => { s.h = h; }))];
}

function paint() {
  const [phone, width] = sizes(main), above = floor < 0 ? " above the lowest," : "";
  const height = two ? width * (phone ? 0.9 : 0.375) : phone ? 260 : 380;
  show(main, h(phone ? "div.learning.phone" : "div.learning", h("h1", data.title),
    h("p.lead", data.formula && `f = ${data.formula.replaceAll("·", " ")}. `,
      big(counted(data.steps, "step")),
      " of gradient descent. Drag the learning rate: the whole path follows."),
    picture("map", (canvas) => paintPath(canvas, width, height)),
    h("div.below", onAxis([mark("error", after), above, " at every learning rate"],
      paintResults, "learning rate", low, high, s.rate, (rate) => { s.rate = rate; }),
    h("div.told", "learning rate", h("b", amount(s.rate)), h("span.error", after),
      h("b.error", amount(resultAt(s.rate))), h("p.tell", { role: "status" }, telling()))),
    two ? null : nudges(phone),
    h("details", h("summary", "The program that runs here"),
      h("pre", { tabindex: "0" }, `const f = ${programs.f};`))));
}

follow(main, paint);
