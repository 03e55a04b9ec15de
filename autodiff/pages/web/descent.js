// The page of gradient descent: the path at one rate, the result at every rate, the secant's error.

const two = data.x0.length === 2, [x0] = data.x0;
const s = { rate: data.rate, h: 0.5, least: 0.5, x0: data.x0, balls: [], basins: true };
const value = (x) => programs.f(x)[0], slopes = (x) => programs.f(x)[1];
const first = value(data.x0), tangent = slopes(data.x0)[0];
const after = `f after ${counted(data.steps, "step")}`;
const tidy = (y) => (Math.abs(y) < 1e-12 * Math.abs(first) ? 0 : y); // 0 but for rounding
const onLog = (n, low, high) => spaced(n, Math.log(low), Math.log(high)).map(Math.exp);

// The points of a descent and its result, to the last step or as long as f is a
// number. lost: a step led to where f has no value; away: "up" or "down", if it ran past 10⁹, and
// farther up it is not drawn.
function pathAt(rate, from = s.x0) {
  const path = { points: [from], result: value(from), lost: false, away: null };
  let x = from;
  for (let n = 0; n < data.steps && Number.isFinite(path.result); n++) {
    const next = slopes(x).map((g, i) => x[i] - rate * g), y = value(next), { away } = path;
    if (Number.isNaN(y)) return away ? path : { ...path, result: Infinity, lost: true };
    if (next.some((v) => !(Math.abs(v) < 1e9))) path.away ??= y <= path.result ? "down" : "up";
    if (away !== "up" && next.every(Number.isFinite)) path.points.push(next);
    [path.result, x] = [y, next];
  }
  return path;
}

// The result at every rate of the slider, and the lowest point that any of them comes to.
const low = data.rate / 10, high = data.rate * 10, rates = onLog(180, low, high);
let paths, start, results, lift;
function begin(x) {
  s.x0 = x;
  paths = rates.map((rate) => pathAt(rate));
  start = value(x) + lift;
  results = paths.map(({ result }, i) => [rates[i], result + lift]);
}
lift = 0; // until it is known: a logarithm needs f > 0
begin(data.x0);
const lowest = [[data.x0], ...paths.filter(({ away }) => !away).map(({ points }) => points)].flat()
  .filter((x) => Number.isFinite(value(x)) && x.every((v, i) => Math.abs(v - data.x0[i]) < 1e3))
  .reduce((a, b) => (value(b) < value(a) ? b : a));
const minima = two ? minimaNear(lowest) : [], best = minima[0] ?? lowest, floor = value(best);
lift = Math.max(0, -floor);
begin(data.x0);
const far = Math.abs(x0 - best[0]); // where f rises again on the way down: the nearest minimum
const down = onLog(400, 1e-4, 1).map((k) => x0 - k * far * Math.sign(tangent));
const near = down.find((x, k) => !(value([down[k + 1]]) < value([x]))) ?? best[0];

// -- The curve, and the path

// The curve of f, in a picture with so much room below.
function curveOf(width, height, [low, high], below, kind) {
  const points = pointsOf((x) => value([x]), [low, high], 200);
  const [bottom, top] = extent(points.map(([, y]) => y)), more = top - bottom || 1;
  const levels = ticks(bottom - below * more, top, 4), across = ticks(low, high, width / 120);
  const chosen = chart(width, height, [low, high], extent(levels), { levels, across });
  return [chosen, chosen.line(kind, points)];
}

// Both sides of the nearest minimum, and the path at the first rate, unless it runs away.
function ends() {
  const wide = 1.25 * Math.abs(x0 - near) || 2, xs = pathAt(data.rate).points.map(([x]) => x);
  const whole = xs.every((x) => Math.abs(x - x0) < 3 * far);
  return extent([near - wide, near + wide, ...whole ? xs : []]);
}

// The steps, the first as an arrow; dots where they are apart, a cross where they leave it.
function pathPicture(width, height) {
  const [box, curve] = curveOf(width, height, ends(), 0.12, "value thick");
  const spots = s.path.points.map((p) => box.at([p[0], value(p)]));
  return h("div.view", box.picture([curve, stepsOf(box, spots)], startOf(spots[0]),
    leaving(box, spots)));
}

function stepsOf({ inside }, spots) {
  const dots = [], [[x, y], [x1, y1] = spots[0]] = spots, far = Math.hypot(x1 - x, y1 - y);
  for (const spot of spots.slice(1)) {
    const [px, py] = dots.at(-1) ?? [x, y];
    if (inside(spot) && Math.hypot(spot[0] - px, spot[1] - py) >= 8) dots.push(spot);
  }
  const turn = Math.atan2(y1 - y, x1 - x) * 180 / Math.PI;
  return h("g.path", dots.map((spot) => disc("solid", spot, 3)), through("", spots),
    far > 12 && h("g", { transform: `translate(${x1} ${y1}) rotate(${turn})` },
      draw("thick", `M${-far} 0H-13`), draw("solid", "M-5 0L-17-6V6Z")));
}

const startOf = ([x, y]) => [disc("ink", [x, y], 6.5), write("ink middle", x, y - 14, "start")];

// Where the path leaves the picture: as far along the step as its sides allow.
function leaving({ inside, left, right, top, bottom }, spots) {
  const out = spots.findIndex((spot) => !inside(spot));
  if (out < 1) return null;
  const [from, to] = [spots[out - 1], spots[out]];
  const parts = [[left, right], [top, bottom]].flatMap((sides, i) =>
    sides.map((side) => (side - from[i]) / (to[i] - from[i])).filter((t) => t >= 0));
  const part = Math.min(1, ...parts), [x, y] = from.map((v, i) => v + part * (to[i] - v));
  const [align, aside] = x > (left + right) / 2 ? ["end", -16] : ["", 16];
  const back = spots.findLastIndex(inside) > out ? ", and back" : "";
  return [cross([x, y]), write(`error ${align}`, x + aside, clamp(y + 4, top + 24, bottom - 8),
    `off the picture at step ${out}${back}`)];
}

// -- A slider that is the axis of a plot

// A picture of points on two logarithmic axes, and a line from the thumb up to the curve.
function axisPicture(width, height, points, [x, y], levels, drawn, words) {
  const across = extent(points.map(([x]) => x));
  const box = chart(width, height, across, extent(levels), { levels, logs: "xy" });
  const [cx, cy] = [box.x(x), clamp(box.y(y), 10, height - 14)];
  return box.picture(drawn(box), draw("ink", `M${cx} ${cy}V${height}`), disc("error", [cx, cy], 6),
    words(box));
}

// What stands right of a rate, below the curve that has left; or left of it, above.
const beyond = (at, right, words) => (at < right - 96 ? write("error", at + 18, 60, words)
  : write("error end", at - 8, 18, words));

function resultPicture(width) {
  const high = start > 0 ? start : 1; // f may be 0, or as low as it gets, where it starts
  const kept = results.filter((_, i) => !paths[i].away).map(([, y]) => y);
  const least = Math.max(Math.min(high, extent([high, ...kept])[0]), 1e-14 * high); // but rounding
  const up = results.find(([rate, y]) => rate > data.rate / 2 && !(y <= start));
  const where = up && Math.max(up[0], s.rate), there = up && pathAt(where);
  const drawn = results.map(([rate, y]) => [rate, Math.max(y, least)]);
  return axisPicture(width, 168, results, [s.rate, Math.max(s.path.result + lift, least)],
    powers(least / 30, high * 40, 4), ({ line }) => line("error", drawn),
    ({ left, right, x, y }) => [draw("dotted", `M${left} ${y(start)}H${right}`),
      write("", left + 4, y(start) - 5, "where it starts"),
      up && beyond(x(where), right, there.lost ? "no value →"
        : there.away === "up" ? "diverges →" : "higher →")]);
}

function errorPicture(width) {
  const say = ({ x, y }, h, ...lines) => lines.map((words, row) =>
    write("middle", x(h), y(1e-8) + 18 * row, words));
  return axisPicture(width, 350, errors, [s.h, error(s.h)], [1e-10, 1e-8, 1e-6, 1e-4, 0.01, 1],
    ({ at }) => errors.filter(([h]) => h >= s.least).map((each) => disc("error dust", at(each), 2)),
    (box) => [s.least < 1e-13 && say(box, 6e-14, "digits are lost:", "error grows like 1/h"),
      s.least < 1e-5 && say(box, 5e-4, "the curve bends:", "error grows like h")]);
}

// -- One variable: secant and tangent

const secantAt = (h) => (value([x0 + h]) - first) / h;
const error = (h) => Math.abs(tangent ? secantAt(h) / tangent - 1 : secantAt(h));
const errors = onLog(299, 1e-16, 1).map((h) => [h, error(h)]);

function secantPicture(width, height) {
  const ends = [x0 - 1.6, x0 + 2], secant = secantAt(s.h), right = x0 + s.h;
  const [{ x, y, at, line, picture }, curve] = curveOf(width, height, ends, 0.4, "idle thick");
  const through = (slope) => ends.map((x) => [x, first + slope * (x - x0)]);
  const [below, above] = [through(secant), through(tangent)];
  const apart = y(above[1][1]) - y(below[1][1]), near = Math.abs(apart) < 5;
  const say = (kind, words, slope, x, dy) => {
    const [px, py] = at([x, first + slope * (x - x0)]);
    return write(`${kind} middle`, px, clamp(py + dy * Math.sign(apart), 16, height - 44), words);
  };
  return picture([curve, line("error solid wedge", [[x0, first], below[1], above[1]]),
    line("value thick", below), line("gradient thick dashed", above)],
  disc(near ? "value" : "ink", at([x0, first]), 6.5),
  say("gradient", "tangent", tangent, x0 - 0.5, -24),
  s.h >= 0.08 && [disc("value", at([right, value([right])]), 6),
    say("value", "secant", secant, x0 - 1.2, 34),
    draw("value", `M${x(x0)} ${height - 38}H${x(right)}`),
    write("value middle", x(x0 + s.h / 2), height - 44, "h")]);
}

// -- The page

// What the last steps do: in which variables they go from side to side, and whether f falls.
function telling() {
  const { points, result, lost, away } = s.path, last = points.slice(-4);
  const every = (of, holds) => last.slice(1).every((x, k) => holds(of(x), of(last[k])));
  const goes = (i, way) => every((x) => slopes(x)[i], (g, before) => way * g * before > 0);
  const swings = data.names.map((_, i) => goes(i, -1));
  const along = data.names.findIndex((_, i) => goes(i, 1));
  const lower = every(value, (y, before) => y < before), all = !swings.includes(false);
  if (lost) return "A step leads to where f has no value.";
  if (away === "up") return "Diverges: the steps lead up, and away.";
  if (away) return "Runs away: the steps lead down, past 10⁹.";
  if (all && lower) return "The last steps overshoot the floor, and land on the other side, lower.";
  if (result > value(s.x0)) return "It ends higher than it starts: the steps are too long.";
  if (all) return "The last steps overshoot the floor, and come no lower.";
  if (along < 0 || !swings.includes(true)) {
    return "Each step is the slope times the rate: shorter where it is flatter.";
  }
  const [x, y] = [data.names[along], data.names[1 - along]];
  return `In ${y} the last steps overshoot the floor; in ${x} they go one way.`;
}

// A plot whose axis is the slider of s.rate or s.h.
const onAxis = (title, picture, key, name, low, high) => h("div.onAxis", h("p.note", title),
  picture, logSlider(name, low, high, s[key], (x) => { s[key] = x; paint(); }, 3),
  h("p.ends", h("span", amount(low, 1)), name, h("span", amount(high, 1))));

function nudges(phone, width) {
  const [a, b] = [secantAt(s.h), tangent].map((x) => minus(x.toPrecision(16)));
  const k = [...`${a} `].findIndex((x, i) => x !== b[i]), same = a.slice(0, k);
  const right = same.replace(/^[−0.]+|\./g, "").length;
  const title = "Where does the slope come from?";
  return [data.steps ? h("h1.second", title) : h("h1", data.title),
    h("p.lead", "Two values of f make ", blue("a secant"), "; as h shrinks it becomes ",
      orange("the tangent"), ". Drag h to the left. Then farther."),
    h("div.pair", h("div", secantPicture(width, phone ? 280 : 390),
      h("dl", h("dt", "h"), h("dd", amount(s.h, 2)),
        h("dt.value", "secant"), h("dd.value", same, h("u.error", a.slice(k))),
        h("dt.gradient", "tangent"), h("dd.gradient", b)),
      h("p.note", `${counted(right, "right digit")}; the wrong ones are underlined`)),
    onAxis(red("error of the secant’s slope"), errorPicture(width), "h", "h", 1e-16, 1))];
}

function paint() {
  const [phone, width] = sizes();
  s.path = pathAt(s.rate);
  s.least = Math.min(s.least, s.h); // the valley is drawn as far as it has been dragged
  show(h("main.page.descent", data.steps ? descent(phone, width) : null,
    two ? null : nudges(phone, phone ? width : (width - 45) / 2),
    program(`const f = ${programs.f};`)));
}

function descent(phone, width) {
  const above = floor < 0 ? " above the lowest," : "", { lost, result } = s.path;
  return [h("h1", data.title),
    h("p.lead", data.formula && `f = ${data.formula.replaceAll("·", " ")}. `,
      big(counted(data.steps, "step")),
      " of gradient descent. Drag the learning rate: the whole path follows."),
    two ? [mapPicture(width, width * (phone ? 0.95 : 0.45)), mapTools()]
      : pathPicture(width, phone ? 260 : 380),
    h("div.below", onAxis([red(after), above, " at every learning rate"],
      resultPicture(phone ? width : width - 345), "rate", "learning rate", low, high),
    h("div.told", "learning rate", h("b.ink", amount(s.rate)), h("span.error", after),
      h("b.error", lost ? "no value" : amount(tidy(result))),
      h("p.tell", { role: "status" }, telling())))];
}

follow(() => {
  table = null;
  paint();
});
