// The page of gradient descent: the path at one rate, the result at every rate, the secant's error.

const two = data.x0.length === 2, [x0] = data.x0, s = { rate: data.rate, h: 0.5, least: 0.5 };
const value = (x) => programs.f(x)[0], slopes = (x) => programs.f(x)[1];
const first = value(data.x0), tangent = slopes(data.x0)[0];
const after = `f after ${counted(data.steps, "step")}`;
const onLog = (n, low, high) => spaced(n, Math.log(low), Math.log(high)).map(Math.exp);

// The points of the descent and its result; it ends where a step leads to no value, so that it is
// lost, or runs away; downhill it may run on as long as f is a number.
function pathAt(rate) {
  const points = [data.x0];
  for (const x of points) {
    if (points.length > data.steps) break;
    const next = slopes(x).map((g, i) => x[i] - rate * g), y = value(next), lost = Number.isNaN(y);
    const down = y <= value(x), near = next.every((v) => Math.abs(v) < 1e9);
    if (!lost) points.push(next);
    if (lost || !(near || (down && Number.isFinite(y)))) {
      return { points, result: down ? y : Infinity, lost };
    }
  }
  return { points, result: value(points.at(-1)), lost: false };
}

// The result at every rate of the slider, and the lowest point that any of them comes to.
const low = data.rate / 10, high = data.rate * 10, rates = onLog(180, low, high);
const paths = rates.map(pathAt);
const best = paths.flatMap(({ points }) => points)
  .filter((x) => Number.isFinite(value(x)) && x.every((v, i) => Math.abs(v - data.x0[i]) < 1e3))
  .reduce((a, b) => (value(b) < value(a) ? b : a));
const floor = value(best), lift = Math.max(0, -floor); // a logarithm needs f > 0
const far = Math.abs(x0 - best[0]); // where f rises again on the way down: the nearest minimum
const down = onLog(400, 1e-4, 1).map((k) => x0 - k * far * Math.sign(tangent));
const near = down.find((x, k) => !(value([down[k + 1]]) < value([x]))) ?? best[0];
const start = first + lift, results = paths.map(({ result }, i) => [rates[i], result + lift]);

// -- The map, or the curve

// One scale for both variables; lines as far apart as those of a bowl.
function mapOf(width, height) {
  const [across, up] = best.map((m, i) => Math.abs(data.x0[i] - m));
  const scale = Math.max(across / (0.43 * width), up / (0.4 * height), 1e-9);
  const ends = [width, height].map((size, i) => [-0.5, 0.5].map((k) => best[i] + k * scale * size));
  const [xs, ys] = ends.map((each) => spaced(139, ...each));
  const grid = ys.toReversed().flatMap((y) => xs.map((x) => value([x, y])));
  const top = grid.reduce((a, b) => (b < Infinity ? Math.max(a, b) : a), floor);
  const heights = grid.map((y) => Math.sqrt(Math.max(0, y - floor) / (top - floor)));
  return [chart(width, height, ...ends, { room: [0, 0, 0, 0] }),
    spaced(10, 0, 1).map((k) => contour("value thin", heights, k)), plane(heights)];
}

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

// The steps, the first as an arrow; a cross where they leave the picture.
function pathPicture(width, height) {
  const [{ at, picture }, ground, pixels] = two ? mapOf(width, height)
    : curveOf(width, height, ends(), 0.12, "value thick");
  const spots = s.path.points.map((p) => at(two ? p : [p[0], value(p)]));
  const out = spots.findIndex(([x, y]) => !(x >= 0 && x <= width && y >= 0 && y <= height));
  const seen = out < 0 ? spots : spots.slice(0, out + 1), [[x, y], [x1, y1] = spots[0]] = spots;
  const far = Math.hypot(x1 - x, y1 - y), turn = Math.atan2(y1 - y, x1 - x) * 180 / Math.PI;
  const off = () => {
    const px = clamp(spots[out][0], 12, width - 12), py = clamp(spots[out][1], 12, height - 12);
    const [align, aside] = px > width / 2 ? ["end", -16] : ["", 16];
    return [cross([px, py]),
      write(`error ${align}`, px + aside, py + 4, `off the map at step ${out}`)];
  };
  return h("div.view", pixels, picture([ground, h("g.path", through("", seen),
    far > 6 && h("g", { transform: `translate(${x1} ${y1}) rotate(${turn})` },
      draw("thick", `M${-far} 0H-13`), draw("solid", "M-5 0L-17-6V6Z")),
    seen.map((spot) => disc("", spot, 3.5)))],
  two && disc("ink", at(best), 3), disc("ink", [x, y], 6.5),
  write("ink middle", x, y - 14, "start"), out >= 0 && off()));
}

// -- A slider that is the axis of a plot

// A picture of points on two logarithmic axes, and a line from the thumb up to the curve.
function axisPicture(width, height, points, [x, y], levels, drawn, words = () => null) {
  const across = extent(points.map(([x]) => x));
  const box = chart(width, height, across, extent(levels), { levels, logs: "xy" });
  const [cx, cy] = [box.x(x), clamp(box.y(y), 10, height - 14)];
  return box.picture(drawn(box), draw("ink", `M${cx} ${cy}V${height}`), disc("error", [cx, cy], 6),
    words(box));
}

function resultPicture(width) {
  const high = start > 0 ? start : 1; // f may be 0, or as low as it gets, where it starts
  const least = Math.max(Math.min(high, extent(results.map(([, y]) => y))[0]), 1e-15 * high);
  const up = results.find(([rate, y]) => rate > data.rate / 2 && !(y <= start));
  return axisPicture(width, 168, results, [s.rate, s.path.result + lift],
    powers(least / 30, high * 40, 4), ({ line }) => line("error", results),
    ({ left, right, x, y }) => [draw("dotted", `M${left} ${y(start)}H${right}`),
      write("", left + 4, y(start) - 5, "where it starts"),
      up && write("error", Math.min(x(Math.max(up[0], s.rate)) + 18, right - 78), 18,
        pathAt(up[0]).lost ? "no value →" : up[1] < Infinity ? "higher →" : "diverges →")]);
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
  return picture([curve, line("error wedge", [[x0, first], below[1], above[1]]),
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
  const { points, result, lost } = s.path, last = points.slice(-4);
  const every = (of, holds) => last.slice(1).every((x, k) => holds(of(x), of(last[k])));
  const swings = data.names.map((_, i) => every((x) => slopes(x)[i], (g, before) => g * before < 0));
  const along = data.names.findIndex((_, i) => every((x) => slopes(x)[i], (g, b) => g * b > 0));
  const lower = every(value, (y, before) => y < before), all = !swings.includes(false);
  if (lost) return "A step leads to where f has no value.";
  if (result === Infinity) return "Diverges: the steps lead up, and away.";
  if (last.at(-1).some((v) => Math.abs(v) >= 1e9)) return "Runs away: the steps lead down, past 10⁹.";
  if (all && lower) return "The last steps overshoot the floor, and land on the other side, lower.";
  if (result > first) return "It ends higher than it starts: the steps are too long.";
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
  const [phone, width] = sizes(), above = floor < 0 ? " above the lowest," : "";
  s.path = pathAt(s.rate);
  s.least = Math.min(s.least, s.h); // the valley is drawn as far as it has been dragged
  const height = two ? width * (phone ? 0.9 : 0.375) : phone ? 260 : 380;
  show(h("main.page.descent", data.steps ? descent(phone, width, height, above) : null,
    two ? null : nudges(phone, phone ? width : (width - 45) / 2),
    program(`const f = ${programs.f};`)));
}

function descent(phone, width, height, above) {
  return [h("h1", data.title),
    h("p.lead", data.formula && `f = ${data.formula.replaceAll("·", " ")}. `,
      big(counted(data.steps, "step")),
      " of gradient descent. Drag the learning rate: the whole path follows."),
    pathPicture(width, height),
    h("div.below", onAxis([red(after), above, " at every learning rate"],
      resultPicture(phone ? width : width - 345), "rate", "learning rate", low, high),
    h("div.told", "learning rate", h("b.ink", amount(s.rate)), h("span.error", after),
      h("b.error", s.path.lost ? "no value" : amount(s.path.result)),
      h("p.tell", { role: "status" }, telling())))];
}

follow(() => {
  table = null;
  paint();
});
