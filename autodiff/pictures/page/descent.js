// -- The page of gradient descent: the path at one rate, the result at every rate, the secant's error.

const main = document.querySelector("#app"), two = data.x0.length === 2;
const s = { rate: data.rate, h: 0.5, view: null };
const value = (x) => programs.f(x)[0], slopes = (x) => programs.f(x)[1];

// The points of the descent; it ends where it leaves all numbers behind.
function pathAt(rate) {
  const points = [data.x0];
  for (let k = 0; k < data.steps; k++) {
    const x = points.at(-1), next = slopes(x).map((g, i) => x[i] - rate * g);
    if (!next.every((v) => Math.abs(v) < 1e9)) break;
    points.push(next);
  }
  return points;
}
const result = (rate) => {
  const points = pathAt(rate), y = points.length <= data.steps ? Infinity : value(points.at(-1));
  return Number.isNaN(y) ? Infinity : y;
};

// The lowest point that any rate comes to, and the range of rates: to where it diverges and beyond.
function survey() {
  const rates = Array.from({ length: 121 }, (_, i) => data.rate * 10 ** (-2 + i / 30)), first = value(data.x0);
  let best = data.x0;
  for (const rate of rates) {
    for (const x of pathAt(rate)) if (value(x) < value(best) && x.every((v, i) => Math.abs(v - data.x0[i]) < 1e3)) best = x;
  }
  const apart = rates.find((rate) => rate > data.rate / 2 && !(result(rate) <= Math.max(first, first + 10 * Math.abs(first))));
  const high = Number((apart ? Math.max(2.4 * apart, 1.5 * data.rate) : 10 * data.rate).toPrecision(1));
  return { best, low: high / 30, high, floor: value(best) };
}
const seen = survey();
const onLog = (low, high, t) => low * (high / low) ** t, fromLog = (low, high, x) => Math.log(x / low) / Math.log(high / low);

// -- The map, or the curve -----------------------------------------------------------------------

function viewOf(c, width, height) {
  const { best } = seen;
  if (two) { // one scale for both
    const [dx, dy] = best.map((m, i) => Math.abs(data.x0[i] - m));
    const scale = Math.max(dx / (0.43 * width), dy / (0.4 * height), 1e-9);
    return { x: (x) => width / 2 + (x - best[0]) / scale, y: (y) => height / 2 - (y - best[1]) / scale,
      at: (px, py) => [best[0] + (px - width / 2) * scale, best[1] - (py - height / 2) * scale] };
  }
  const far = Math.abs(data.x0[0] - best[0]) * 1.25 || 2, [low, high] = [best[0] - far, best[0] + far];
  const xs = Array.from({ length: 201 }, (_, i) => low + ((high - low) * i) / 200), ys = xs.map((x) => value([x])).filter(Number.isFinite);
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)], more = 0.12 * (top - bottom) || 1, box = { left: 40, right: width - 1, top: 8, bottom: height - 34 };
  const range = [bottom - more, top + more];
  return { ...axes(c, box, [low, high], range, { levels: ticks(...range, 4), across: ticks(low, high, width / 120), below: 26 }), xs };
}

function paintMap(width, height) {
  const c = surface(main.querySelector(".map"), width, height), view = viewOf(c, width, height);
  const spot = (x) => (two ? [view.x(x[0]), view.y(x[1])] : [view.x(x[0]), view.y(value(x))]);
  if (two) paintBands(c, view, width, height);
  else line(c, view.xs.map((x) => spot([x])).filter(([, y]) => Number.isFinite(y)), "blue", 4);
  paintPath(c, pathAt(s.rate).map(spot), width, height - (two ? 0 : 30));
}

function paintBands(c, view, width, height) {
  const side = 140, grid = Float64Array.from({ length: side * side }, (_, i) =>
    value(view.at(((i % side) / (side - 1)) * width, (Math.floor(i / side) / (side - 1)) * height)));
  const finite = [...grid].filter(Number.isFinite), { floor } = seen, top = finite.reduce((a, b) => Math.max(a, b), floor);
  const level = (k) => floor + (top - floor) * (k / 10) ** 2; // a bowl's are equally far apart
  const band = (y) => Math.floor(10 * Math.sqrt(Math.max(0, y - floor) / (top - floor || 1)));
  const mix = mixer(colour("paper"), colour("blue-tint"));
  const table = Uint32Array.from({ length: 257 }, (_, i) => pixel(mix(Math.max(0, (i - 128) / 128))));
  paintPlane(c, grid.map((y) => band(y) / 10), side, table, 0, 0, width, height);
  c.globalAlpha = 0.4;
  for (let k = 1; k < 10; k++) contour(c, grid, side, level(k), width, height, "blue", 1);
  c.globalAlpha = 1;
  const [mx, my] = [view.x(seen.best[0]), view.y(seen.best[1])];
  for (const k of [2, 4]) { // the level stands where its line crosses the row of the lowest point
    for (let px = mx; px < width - 40; px += 1) {
      if (value(view.at(px + 1, my)) >= level(k)) {
        text(c, amount(level(k), 2), px - 4, my + 5, { fill: "blue-deep", align: "right", halo: false });
        break;
      }
    }
  }
  line(c, [[mx - 7, my], [mx + 7, my]], "ink", 1.8);
  line(c, [[mx, my - 7], [mx, my + 7]], "ink", 1.8);
}

function paintPath(c, spots, width, height) {
  const inside = ([x, y]) => x >= 0 && x <= width && y >= 0 && y <= height;
  const out = spots.findIndex((spot) => !inside(spot)), seenSpots = out < 0 ? spots : spots.slice(0, out + 1);
  const [[x, y], next] = [spots[0], spots[1] ?? spots[0]], angle = Math.atan2(next[1] - y, next[0] - x), long = Math.hypot(next[0] - x, next[1] - y);
  const from = (far, turn = 0, [px, py] = next) => [px + far * Math.cos(angle + turn), py + far * Math.sin(angle + turn)];
  clipped(c, 0, 0, width, height, () => {
    c.globalAlpha = 0.8;
    line(c, seenSpots.slice(1), "orange-wire", 1.6);
    c.globalAlpha = 1;
    if (long > 6) {
      line(c, [[x, y], from(-13)], "orange-wire", 4);
      fill(c, [from(-5), from(14, 2.72, from(-5)), from(14, -2.72, from(-5))], "orange-wire");
    }
    seenSpots.slice(1).forEach(([px, py]) => disc(c, px, py, 3.5, "orange-wire", 1.5));
  });
  disc(c, x, y, 6.5, "ink");
  text(c, "start", x, y - 14, { fill: "ink", align: "center", font: `14px ${SANS}` });
  if (out < 0) return;
  const clip = (v, most) => Math.min(most - 12, Math.max(12, v)), [px, py] = [clip(spots[out][0], width), clip(spots[out][1], height)];
  cross(c, px, py, 8);
  text(c, `off the map at step ${out}`, px > width - 220 ? px - 16 : px + 16, py + (py > height / 2 ? -2 : 12), { fill: "red", align: px > width - 220 ? "right" : "left", font: `650 15px ${SANS}` });
}

// -- A slider that is the axis of a plot ----------------------------------------------------------

// Points [x, y] on two logarithmic axes, and a line from the thumb up to the curve.
function paintAxis(canvas, width, height, { points, low, high, x, y, levels, dots, most }) {
  const c = surface(canvas, width, height), left = 44, right = width - 11, top = 8, bottom = height;
  const [k0, k1] = [levels[0], levels.at(-1)];
  const px = (v) => left + (right - left) * fromLog(low, high, v);
  const py = (v) => Math.max(-20, bottom - 20 - ((bottom - 20 - top) * (Math.log10(Math.max(v, 1e-300)) - k0)) / (k1 - k0));
  for (const k of levels) {
    line(c, [[left, py(10 ** k)], [right, py(10 ** k)]], "grid", 1);
    text(c, power(k), left - 7, py(10 ** k) + 4, { align: "right" });
  }
  const drawn = points.map(([a, b]) => [px(a), b > 1e300 ? -20 : py(b)]);
  if (dots) {
    c.globalAlpha = 0.6;
    for (const [a, b] of drawn) if (b < bottom) disc(c, a, b, 2, "red", 0);
    c.globalAlpha = 1;
  } else line(c, drawn, "red", 2.5);
  const at = Math.min(bottom - 14, Math.max(top + 2, py(y)));
  line(c, [[px(x), at], [px(x), bottom]], "ink", 1.6);
  disc(c, px(x), at, dots ? 7 : 5.5, "red", 2);
  if (most !== undefined) {
    line(c, [[left, py(most)], [right, py(most)]], "soft", 1.4, [2, 3]);
    text(c, "where it starts", left + 4, py(most) - 5, { halo: true });
    const k = drawn.findIndex(([, b], i) => i > 3 && b < py(most) && points[i][0] > seen.low * 2);
    if (k > 0) text(c, "diverges →", Math.min(drawn[k][0] + 18, right - 78), top + 10, { fill: "red", font: `650 14px ${SANS}`, halo: true });
  }
  return { px, py };
}

// -- One variable: secant and tangent -------------------------------------------------------------

const secantAt = (hh) => (value([data.x0[0] + hh]) - value(data.x0)) / hh;
function digits(found, right) { // how many leading digits agree, and the text from there on
  const [a, b] = [found, right].map((x) => minus(x.toPrecision(16).includes("e") ? String(x) : x.toFixed(Math.max(0, 16 - Math.max(1, Math.ceil(Math.log10(Math.abs(right) || 1)))))));
  let k = 0;
  while (k < Math.min(a.length, b.length) && a[k] === b[k]) k++;
  return { same: a.slice(0, k), wrong: a.slice(k), all: b, count: a.slice(0, k).replace(/\D/g, "").replace(/^0+/, "").length };
}

function paintSecant(width, height) {
  const c = surface(main.querySelector(".secant"), width, height), [x0] = data.x0, y0 = value(data.x0), slope0 = slopes(data.x0)[0], m = secantAt(s.h);
  const [low, high] = [x0 - 1.6, x0 + 2], xs = Array.from({ length: 121 }, (_, i) => low + ((high - low) * i) / 120);
  const ys = xs.map((x) => value([x])).filter(Number.isFinite), pad = 0.35 * (Math.max(...ys) - Math.min(...ys)) || 1;
  const range = [Math.min(...ys) - 1.2 * pad, Math.max(...ys) + 0.1 * pad], box = { left: 36, right: width - 1, top: 0, bottom: height - 34 };
  const { x: px, y: py } = axes(c, box, [low, high], range, { levels: ticks(...range, 3), across: ticks(low, high - 0.1, 4), below: 26 });
  const through = (mm) => [low, high].map((x) => [px(x), py(y0 + mm * (x - x0))]), near = Math.abs(through(m)[1][1] - through(slope0)[1][1]) < 5;
  clipped(c, 36, 0, width, height - 32, () => {
    c.globalAlpha = 0.45;
    line(c, xs.map((x) => [px(x), py(value([x]))]).filter(([, y]) => Number.isFinite(y)), "soft", 5);
    if (!near) fill(c, [[px(x0), py(y0)], through(m)[1], through(slope0)[1]], "red", 0.13); // between them, the error
    c.globalAlpha = 1;
    line(c, through(m), "blue", 3.5);
    line(c, through(slope0), "orange-wire", 3.5, near ? [10, 10] : [10, 6]);
  });
  disc(c, px(x0), py(y0), 6.5, near ? "blue" : "ink");
  const say = (words, x, mm, fill, side) => text(c, words, px(x), Math.min(height - 44, Math.max(16, py(y0 + mm * (x - x0)) + side)), { fill, halo: true, font: `650 15px ${SANS}`, align: "center" });
  say("tangent", x0 + 0.42, slope0, "orange", slope0 < m ? 38 : -30);
  if (px(x0 + s.h) - px(x0) > 12) {
    disc(c, px(x0 + s.h), py(value([x0 + s.h])), 6, "blue");
    say("secant", x0 + 1.45, m, "blue", slope0 < m ? -22 : 30);
    line(c, [[px(x0), height - 38], [px(x0 + s.h), height - 38]], "blue", 1.8);
    for (const x of [x0, x0 + s.h]) line(c, [[px(x), height - 41], [px(x), height - 35]], "blue", 1.8);
    text(c, "h", px(x0 + s.h / 2), height - 45, { fill: "blue", align: "center", font: `italic 18px ${SERIF}` });
  } else text(c, "two points, too close to tell apart", px(x0) + 14, py(y0) - 12, { fill: "blue", halo: true, font: `14px ${SANS}` });
}

// -- The page -------------------------------------------------------------------------------------

function telling(points, y) {
  const first = value(data.x0);
  if (points.length <= data.steps || y > first) return h("p", { class: "tell error" }, h("b", {}, "Diverges: each step lands farther up the other side."));
  const turns = data.x0.map((_, i) => points.slice(1, 12).filter((x, k) => slopes(x)[i] * slopes(points[k])[i] < 0).length);
  const swings = turns.some((n) => n > 5), creeps = turns.some((n) => n < 2) && Math.hypot(...slopes(points.at(-1))) > 0.01 * Math.hypot(...slopes(data.x0));
  if (swings && turns.some((n) => n < 2)) return h("p", { class: "tell" }, "Across the valley each step overshoots the floor; along it, it creeps.");
  if (swings) return h("p", { class: "tell" }, "Each step overshoots the floor, and lands on the other side, lower.");
  return h("p", { class: "tell" }, creeps ? "It creeps: a larger rate comes farther in as many steps." : "Each step is the slope times the rate: shorter where it is flatter.");
}

const names = (words) => words.split(/([\p{L}_][\p{L}\p{M}\d₀-₉]*)/u).map((part) => (data.names.includes(part) ? h("i", {}, part) : part.replaceAll("·", " ")));
function frame() {
  const points = pathAt(s.rate), y = result(s.rate), { low, high } = seen;
  return [h("h1", {}, data.title),
    h("p", { class: "lead" }, h("i", {}, "f"), ...(data.formula ? [" = ", ...names(data.formula)] : []), `, and ${data.steps} steps of gradient descent. Drag the learning rate: the whole path follows.`),
    h("canvas", { class: "map", role: "img", "aria-label": `the path from ${data.x0.map((x) => amount(x)).join(", ")} to ${points.at(-1).map((x) => amount(x)).join(", ")}` }),
    h("div", { class: "below" },
      h("div", { class: "onAxis" }, h("p", { class: "note" }, h("b", { class: "error" }, `f after ${data.steps} steps`), `${seen.floor < 0 ? " above the lowest" : ""}, at every learning rate`),
        h("canvas", { class: "results" }), logSlider("learning rate", low, high, s.rate, (rate) => { s.rate = rate; paint(); }, 3),
        h("p", { class: "ends" }, h("span", {}, amount(low, 1)), h("span", {}, "learning rate"), h("span", {}, amount(high, 1)))),
      h("div", { class: "told" }, h("span", {}, "learning rate"), h("b", {}, amount(s.rate)),
        h("span", { class: "error" }, `f after ${data.steps} steps`), h("b", { class: "error" }, amount(y)), telling(points, y))),
    ...(two ? [] : nudges()),
    h("details", {}, h("summary", {}, "The program that runs here"), h("pre", { tabindex: "0" }, `const f = ${programs.f};`))];
}

function nudges() {
  const m = secantAt(s.h), found = digits(m, slopes(data.x0)[0]);
  return [h("h1", { class: "second" }, "How small should a nudge be?"),
    h("p", { class: "lead" }, "Two values of ", h("i", {}, "f"), " make ", h("b", { class: "forward" }, "a secant"), "; as ", h("i", {}, "h"), " shrinks it becomes ", h("b", { class: "backward" }, "the tangent"), ". Drag ", h("i", {}, "h"), " to the left. Then farther."),
    h("div", { class: "pair" }, h("div", {}, h("canvas", { class: "secant" }),
      h("dl", {}, h("dt", {}, h("i", {}, "h")), h("dd", { class: "h" }, amount(s.h, 2)),
        h("dt", { class: "forward" }, "secant"), h("dd", { class: "forward" }, found.same, h("u", { class: "error" }, found.wrong)),
        h("dt", { class: "backward" }, "tangent"), h("dd", { class: "backward" }, found.all)),
      h("p", { class: "note indent" }, `${found.count} right digit${found.count === 1 ? "" : "s"}; the wrong ones are underlined`)),
    h("div", { class: "onAxis" }, h("p", { class: "note" }, h("b", { class: "error" }, "error of the secant’s slope")),
      h("canvas", { class: "errors" }), logSlider("h", 1e-16, 1, s.h, (hh) => { s.h = hh; paint(); }),
      h("p", { class: "ends" }, h("span", {}, `10${raise(-16)}`), h("i", {}, "h"), h("span", {}, "1"))))];
}

let painted = false;
function paint() {
  const style = getComputedStyle(main), width = main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight), phone = width < 680;
  match(main, h("div", { class: "learning descent" }, frame()));
  paintMap(width, two ? (phone ? width * 0.9 : Math.round(width * 0.375)) : phone ? 260 : 380);
  const { low, high, floor } = seen, first = value(data.x0), wide = main.querySelector(".onAxis").clientWidth;
  const rates = Array.from({ length: 181 }, (_, i) => onLog(low, high, i / 180)), lift = floor < 0 ? -floor : 0; // a logarithm needs f > 0
  const points = s.points ??= rates.map((rate) => [rate, result(rate) + lift]);
  const least = Math.max(Math.min(...points.map(([, y]) => y)), 1e-15 * Math.abs(first)), span = powers(least / 30, (first + lift) * 40, 5);
  paintAxis(main.querySelector(".results"), wide, 168, { points, low, high, x: s.rate, y: result(s.rate) + lift, levels: span, most: first + lift });
  if (two) return;
  paintSecant(main.querySelector(".secant").parentNode.clientWidth, phone ? 280 : 390);
  const exact = slopes(data.x0)[0], error = (hh) => Math.abs(secantAt(hh) / (exact || 1) - (exact ? 1 : 0));
  s.errors ??= Array.from({ length: 300 }, (_, i) => onLog(1e-16, 1, i / 299)).map((hh) => [hh, error(hh)]);
  const right = main.querySelector(".errors"), box = right.parentNode.clientWidth;
  const { px, py } = paintAxis(right, box, 350, { points: s.errors.filter(([, e]) => e > 0), low: 1e-16, high: 1, x: s.h, y: error(s.h), levels: [-10, -8, -6, -4, -2, 0], dots: true });
  const c = right.getContext("2d"), say = (a, b, x) => [a, b].forEach((words, k) => text(c, words, px(x), py(1e-7) + 18 * k, { align: "center", font: `14px ${SANS}`, halo: true }));
  say("digits are lost:", "error grows like 1/h", 6e-14);
  say("the curve bends:", "error grows like h", 5e-4);
}

main.tree = { attributes: {} };
main.replaceChildren();
main.className = "learning";
follow(main, paint);
