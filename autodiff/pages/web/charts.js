// Charts, and the arrows of sliders.

// Whether the page is a phone's, and how wide its inside is.
const sizes = ({ clientWidth: w } = main) => [w < 760, w - (w < 760 ? 32 : 88)];

// An arrow from the thumb of a slider, in parts of its length; cut off where the slider ends.
function arrow(at, by) {
  const end = clamp(at + by, 0, 1), long = Math.abs(end - at);
  const way = by < 0 ? "arrow back" : "arrow";
  return long > 0 && h("span", { class: end === at + by ? way : `${way} cut`,
    style: `--at: ${at}; --long: ${long}` });
}

// A slider with an arrow from its thumb.
function track(value, [min, max], by, input, ...marks) {
  const at = clamp((value - min) / (max - min), 0, 1);
  return h("span.track", marks, h("input", { type: "range", min, max, ...input,
    value: String(value) }), arrow(at, by));
}

const spaced = (n, low, high) => [...Array(n + 1).keys()].map((i) => low + ((high - low) * i) / n);

// A curve: points of f between two ends.
const pointsOf = (f, ends, n) => spaced(n, ...ends).map((x) => [x, f(x)]);

// Round numbers that cover low to high, in about so many steps.
function ticks(low, high, about, least = 0) {
  const step = Math.max(least, roundUp((0.9 * (high - low || 1)) / about));
  const first = Math.floor(low / step + 1e-9), last = Math.ceil(high / step - 1e-9);
  return spaced(Math.max(1, last - first), first, Math.max(first + 1, last)).map((k) => k * step);
}
const powers = (low, high, about = 3) =>
  ticks(Math.log10(low), Math.log10(high), about, 1).map((k) => Number(`1e${k}`));

function tick(x) {
  const power = Math.log10(x);
  return Number.isInteger(power) && Math.abs(power) > 3 ? `10${raise(power)}` : number(x, 6);
}

// Where the numbers of the data are in a picture of this size, and the picture itself. logs: the
// logarithmic axes, "y" or "xy"; room: around it, for the numbers of levels and across.
function chart(width, height, xs, ys, options) {
  const { logs = "", room = [46, 16, 10, 24], levels = [], across = [], unit = "" } = options;
  const [left, right, top, bottom] = [room[0], width - room[1], room[2], height - room[3]];
  const scale = (ends, from, to, log) => {
    const on = log ? (v) => Math.log(Math.max(v, 1e-300)) : Number, [low, high] = ends.map(on);
    return (v) => clamp(from + ((to - from) * (on(v) - low)) / (high - low), -1e4, 1e4);
  };
  const x = scale(xs, left, right, logs.includes("x")), y = scale(ys, bottom, top, logs);
  const back = (px, py) => [scale([left, right], ...xs)(clamp(px, left, right)),
    scale([bottom, top], ...ys)(clamp(py, top, bottom))];
  const at = ([a, b]) => [x(a), y(b)], line = (kind, points) => through(kind, points.map(at));
  const numbers = () => [levels.map((level) => [
    line("axis", xs.map((x) => [x, level])),
    write("end", left - 8, y(level) + 4, tick(level), level === levels.at(-1) && unit)]),
  across.map((a) => a >= xs[0] && a <= xs[1] && write("middle", x(a), bottom + 20, tick(a)))];
  const inside = { x: left, width: right - left, height: bottom,
    viewBox: `${left} 0 ${right - left} ${bottom}` };
  const picture = (cut, ...whole) => // the first are cut off at the edges
    h("svg.plot", { width, height }, numbers(), h("svg", inside, cut), whole);
  const holds = ([px, py]) => px >= left && px <= right && py >= top && py <= bottom;
  return { left, right, top, bottom, x, y, at, back, inside: holds, line, picture };
}
