// Charts, planes and sliders: what the pages of learning have in common. A chart is SVG, like all
// that is drawn; a plane is made of pixels.

// -- Charts ---------------------------------------------------------------------------------------

const spaced = (n, low, high) => [...Array(n + 1).keys()].map((i) => low + ((high - low) * i) / n);

// Round numbers that cover low to high, in about so many steps.
function ticks(low, high, about, least = 0) {
  const step = Math.max(least, roundUp((0.9 * (high - low || 1)) / about));
  const first = Math.floor(low / step + 1e-9), last = Math.ceil(high / step - 1e-9);
  return spaced(Math.max(1, last - first), first, Math.max(first + 1, last)).map((k) => k * step);
}
const powers = (low, high, about = 3) =>
  ticks(Math.log10(low), Math.log10(high), about, 1).map((k) => Number(`1e${k}`));

function tick(x) {
  const [mantissa, power] = x.toExponential(5).split("e").map(Number);
  if (mantissa === 1 && Math.abs(power) > 3) return `10${raise(power)}`;
  return minus(Number(x.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 9 }));
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
    line(level ? "grid" : "axis", xs.map((x) => [x, level])),
    write("end", left - 8, y(level) + 4, tick(level), level === levels.at(-1) && unit)]),
  across.map((a) => a >= xs[0] && a <= xs[1] && write("middle", x(a), bottom + 20, tick(a)))];
  const inside = { x: left, width: right - left, height: bottom,
    viewBox: `${left} 0 ${right - left} ${bottom}` };
  const picture = (cut, ...whole) => // the first are cut off at the edges
    h("svg.chart", { width, height }, numbers(), h("svg", inside, cut), whole);
  return { left, right, top, bottom, x, y, at, back, line, picture };
}

const cross = ([x, y]) =>
  put("error", [x, y], draw("thick", "M-7-7L7 7M-7 7L7-7"));

// Losses against steps, on a logarithmic axis; earlier runs as ghosts.
function lossCurve(width, height, { losses, diverged }, ghosts) {
  const few = (run) => [...run.entries()].filter(([x, y]) => y > 0 && y < Infinity
    && (x % Math.ceil(run.length / 600) === 0 || x === run.length - 1));
  const run = few(losses), earlier = ghosts.map(few);
  const ys = [run, ...earlier].flat().map(([, y]) => y), last = Math.max(10, losses.length - 1);
  if (!run.length) return null;
  const levels = powers(Math.min(...ys), Math.max(...ys)), ends = [levels[0], levels.at(-1)];
  const { right, at, line, picture } =
    chart(width, height, [0, last], ends, { levels, across: [0], logs: "y" });
  const end = at(run.at(-1));
  return picture(earlier.map((each) => line("error ghost", each.filter(([x]) => x <= last))),
    line("error", run), diverged ? cross(end) : disc("error", end, 4.5),
    write("end", right, height - 4, `step ${tick(last)}`));
}

// -- Planes ---------------------------------------------------------------------------------------

// 257 pixels from sand over the plane's colour to blue, mixed in OKLab by the browser.
function shades() {
  const c = document.createElement("canvas").getContext("2d");
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.forcedColorAdjust = "none";
  for (let i = 0; i < 257; i++) {
    const end = `var(--${i < 128 ? "sand" : "blue"}) ${Math.abs(i - 128) / 1.28}%`;
    probe.style.color = `color-mix(in oklab, ${end}, var(--plane))`;
    c.fillStyle = getComputedStyle(probe).color;
    c.fillRect(i, 0, 1, 1);
  }
  probe.remove();
  return new Uint32Array(c.getImageData(0, 0, 257, 1).data.buffer);
}

// Numbers of a square grid, from -1 to 1, as a picture that the style sheet stretches.
let table = null;
function plane(values) {
  const side = Math.sqrt(values.length);
  const onpaint = (canvas) => {
    const image = new ImageData(side, side), pixels = new Uint32Array(image.data.buffer);
    table ??= shades();
    values.forEach((v, i) => { pixels[i] = table[Math.round(128 + 128 * clamp(v, -1, 1)) || 0]; });
    canvas.getContext("2d").putImageData(image, 0, 0);
  };
  return h("canvas", { width: side, height: side, onpaint });
}

// The line where numbers of a grid pass a level (marching squares), stretched over a picture.
function contour(kind, values, level) {
  const corners = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], side = Math.sqrt(values.length);
  const unit = side - 1, d = [];
  for (let k = 0; k < unit * unit; k++) {
    const i = k % unit, j = Math.floor(k / unit);
    const v = corners.map(([x, y]) => values[(j + y) * side + i + x] - level);
    const ends = [0, 1, 2, 3].filter((m) => v[m] < 0 !== v[m + 1] < 0).map((m) => {
      const t = v[m] / (v[m] - v[m + 1]), [[x, y], [x2, y2]] = [corners[m], corners[m + 1]];
      return `${(i + x + t * (x2 - x)).toFixed(2)} ${(j + y + t * (y2 - y)).toFixed(2)}`;
    });
    ends.forEach((end, m) => d.push(m % 2 ? "L" : "M", end));
  }
  const whole = { viewBox: `0 0 ${unit} ${unit}`, preserveAspectRatio: "none" };
  return h("svg", { width: "100%", height: "100%", ...whole }, draw(kind, d.join("")));
}

// -- Words and sliders ----------------------------------------------------------------------------

const NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split(" ");
const counted = (n, noun) => `${NUMBERS[n] ?? n} ${noun}${n === 1 ? "" : "s"}`;
const big = (text) => text[0].toUpperCase() + text.slice(1);
const red = (...words) => h("b.error", words);

// A slider on a logarithmic scale, snapped to some digits.
const logSlider = (label, low, high, value, moved, digits = 2) => h("input.slider", {
  type: "range", min: Math.log(low), max: Math.log(high), step: "any", value: Math.log(value),
  "aria-label": label, "aria-valuetext": amount(value, digits),
  oninput: ({ target }) => moved(Number(Math.exp(target.value).toPrecision(digits))),
});

const program = (source) => h("details", h("summary", "The program that runs here"),
  h("pre", { tabindex: "0" }, source));

// The page made to match a tree, and its planes painted.
function show(tree) {
  match(main, h("div", tree));
  for (const canvas of main.querySelectorAll("canvas")) canvas.onpaint(canvas);
}

// Whether the page is a phone's, and how wide its inside is.
const sizes = ({ clientWidth: w }) => [w < 760, Math.min(1200, w) - (w < 760 ? 32 : 88)];
