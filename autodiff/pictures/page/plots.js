// Colours, axes, curves and planes: what the pages of learning have in common.

// -- Colours --------------------------------------------------------------------------------------

// A colour of the palette, as the page shows it now: rgb(...).
const shown = new Map();
function colour(name) {
  if (!shown.has(name)) {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style = `color: var(--${name}); forced-color-adjust: none`;
    shown.set(name, getComputedStyle(probe).color);
    probe.remove();
  }
  return shown.get(name);
}

// 257 colours from -1 over 0 to 1, mixed in OKLab by the browser, as pixels of an image.
function blend(low, middle, high, strength = 1) {
  const c = surface(document.createElement("canvas"), 257, 1, 1);
  for (let i = 0; i < 257; i++) {
    const t = (i - 128) / 128, share = 100 * strength * Math.abs(t);
    c.fillStyle = `color-mix(in oklab, ${colour(t < 0 ? low : high)} ${share}%, ${colour(middle)})`;
    c.fillRect(i, 0, 1, 1);
  }
  return new Uint32Array(c.getImageData(0, 0, 257, 1).data.buffer);
}
const shades = (strength) => blend("sand", "plane", "blue", strength);

// -- Marks on a canvas ----------------------------------------------------------------------------

// The context of a canvas of this size in CSS pixels, empty.
function surface(canvas, width, height, ratio = devicePixelRatio) {
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  return c;
}

const LABEL = `13px ${SANS}`;
function text(c, words, x, y, { fill = "soft", align = "left", font = LABEL, halo } = {}) {
  Object.assign(c, { font, textAlign: align, fillStyle: colour(fill) });
  Object.assign(c, { strokeStyle: colour("paper"), lineWidth: 5, lineJoin: "round" });
  if (halo) c.strokeText(words, x, y);
  c.fillText(words, x, y);
}

function line(c, points, stroke, lineWidth, dash = []) {
  c.beginPath();
  for (const point of points) c.lineTo(...point);
  Object.assign(c, { strokeStyle: colour(stroke), lineWidth, lineJoin: "round" });
  c.setLineDash(dash);
  c.stroke();
  c.setLineDash([]);
}

function fill(c, points, name, alpha = 1) {
  Object.assign(c, { globalAlpha: alpha, fillStyle: colour(name) });
  c.beginPath();
  for (const point of points) c.lineTo(...point);
  c.fill();
  c.globalAlpha = 1;
}

function disc(c, x, y, radius, name, halo = 2) {
  for (const [r, each] of [[radius + halo, "paper"], [radius, name]]) {
    c.fillStyle = colour(each);
    c.beginPath();
    c.arc(x, y, r, 0, 7);
    c.fill();
  }
}

function diamond(c, x, y, radius, name, halo = 2) {
  for (const [r, each] of [[radius + halo * 1.4, "paper"], [radius, name]]) {
    fill(c, [[x, y - r], [x + r, y], [x, y + r], [x - r, y]], each);
  }
}

function cross(c, x, y, r = 7) {
  for (const side of [-r, r]) line(c, [[x - r, y - side], [x + r, y + side]], "red", 3);
}

function clipped(c, left, top, right, bottom, draw) {
  c.save();
  c.beginPath();
  c.rect(left, top, right - left, bottom - top);
  c.clip();
  draw();
  c.restore();
}

// -- Axes -----------------------------------------------------------------------------------------

// Round numbers from low to high, about so many.
function ticks(low, high, about) {
  const raw = (high - low) / about, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((n) => n * power >= raw * 0.9);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return [...Array(Math.max(0, last - first + 1)).keys()].map((k) => (first + k) * step);
}

// The powers of ten that a logarithmic axis from low to high shows: two at least, about `most`.
function powers(low, high, most = 4) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const step = Math.max(1, Math.ceil((last - first) / (most - 1)));
  const n = Math.max(1, Math.ceil((last - first) / step));
  return [...Array(n + 1).keys()].map((k) => Number(`1e${first + k * step}`));
}

const tick = (x) => {
  const [mantissa, power] = x.toExponential(5).split("e").map(Number), far = Math.abs(power) > 3;
  if (far && mantissa === 1) return `10${raise(power)}`;
  return minus(Number(x.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 9 }));
};

// Places in a box, with a hairline and a number for each level, and numbers below.
// logs: "x", "y" or "xy" for logarithmic axes. Its marks are at places of the data.
function axes(c, box, xs, ys, options) {
  const { levels = [], across = [], below = 20, unit = "", zero = "grid", logs = "" } = options;
  const { left, right, top, bottom } = box;
  const scale = (v, log) => (log ? Math.log(Math.max(v, 1e-300)) : v);
  const part = (v, [low, high], log) =>
    (scale(v, log) - scale(low, log)) / (scale(high, log) - scale(low, log));
  box.x = (x) => left + (right - left) * part(x, xs, logs.includes("x"));
  box.y = (y) => clip(bottom - (bottom - top) * part(y, ys, logs.includes("y")), [-1e4, 1e4]);
  box.at = ([x, y]) => [box.x(x), box.y(y)];
  box.back = (px, py) => [
    xs[0] + ((px - left) / (right - left)) * (xs[1] - xs[0]),
    ys[0] + ((bottom - py) / (bottom - top)) * (ys[1] - ys[0]),
  ];
  box.line = (points, ...style) => line(c, points.map(box.at), ...style);
  box.clip = (draw) => clipped(c, left, 0, right, bottom, draw);
  box.disc = (point, ...style) => disc(c, ...box.at(point), ...style);
  levels.forEach((y, k) => {
    const words = unit && k === levels.length - 1 ? `${tick(y)} ${unit}` : tick(y);
    box.line(xs.map((x) => [x, y]), y === 0 ? zero : "grid", 1);
    text(c, words, left - 8, box.y(y) + 4, { align: "right" });
  });
  for (const x of across) text(c, tick(x), box.x(x), bottom + below, { align: "center" });
  return box;
}
const clip = (v, [low, high]) => Math.min(high, Math.max(low, v));

// A canvas with axes: its box, with the context as `c`; around it room for numbers.
function chart(canvas, width, height, xs, ys, options) {
  const [left, right, top, bottom] = options.room ?? [46, 16, 10, 24];
  const c = surface(canvas, width, height);
  return axes(c, { c, left, right: width - right, top, bottom: height - bottom }, xs, ys, options);
}

// Losses against steps, on a logarithmic axis; earlier runs as ghosts.
function lossCurve(canvas, width, height, { losses, diverged, ghosts }) {
  const few = (run) => [...run.entries()].filter(([x, y]) => y > 0 && y < Infinity
    && (x % Math.ceil(run.length / 600) === 0 || x === run.length - 1));
  const run = few(losses), earlier = ghosts.map(few);
  const ys = [run, ...earlier].flat().map(([, y]) => y);
  if (!run.length) return;
  const levels = powers(Math.min(...ys), Math.max(...ys)), last = Math.max(10, losses.length - 1);
  const ends = [levels[0], levels.at(-1)];
  const box = chart(canvas, width, height, [0, last], ends, { levels, logs: "y" }), { c } = box;
  text(c, "0", box.left, height - 4);
  text(c, `step ${tick(last)}`, box.right, height - 4, { align: "right" });
  c.globalAlpha = 0.25;
  for (const each of earlier) box.line(each.filter(([x]) => x <= last), "red", 1.5);
  c.globalAlpha = 1;
  box.line(run, "red", 2.2);
  if (diverged) cross(c, ...box.at(run.at(-1)));
  else box.disc(run.at(-1), 4.5, "red", 0);
}

const NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split(" ");
const counted = (n, noun) => `${NUMBERS[n] ?? n} ${noun}${n === 1 ? "" : "s"}`;
const big = (text) => text[0].toUpperCase() + text.slice(1);

// A slider on a logarithmic scale, snapped to some digits.
const logSlider = (label, low, high, value, moved, digits = 2) => h("input.slider", {
  type: "range", min: "0", max: "1", step: "any", "aria-label": label,
  "aria-valuetext": amount(value, digits), value: Math.log(value / low) / Math.log(high / low),
  oninput: ({ target }) => moved(Number((low * (high / low) ** target.value).toPrecision(digits))),
});

// -- Planes ---------------------------------------------------------------------------------------

// Numbers of a square grid, from -1 to 1, painted into a canvas.
function paintPlane(c, values, side, table, x, y, width, height) {
  const pixels = paintPlane.pixels ??= document.createElement("canvas");
  pixels.width = pixels.height = side;
  const image = new ImageData(side, side), colours = new Uint32Array(image.data.buffer);
  values.forEach((v, i) => {
    colours[i] = table[Math.round(128 + 128 * Math.min(Math.max(v, -1), 1)) || 0];
  });
  pixels.getContext("2d").putImageData(image, 0, 0);
  c.drawImage(pixels, x, y, width, height);
}

// The line where numbers of a grid pass a level (marching squares), over a picture of this size.
function contour(c, values, side, level, width, height, stroke, lineWidth) {
  const corners = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], unit = side - 1;
  c.beginPath();
  for (let k = 0; k < unit * unit; k++) {
    const i = k % unit, j = Math.floor(k / unit);
    const v = corners.map(([x, y]) => values[(j + y) * side + i + x] - level);
    let drawn = 0;
    for (let m = 0; m < 4; m++) {
      if (v[m] < 0 === v[m + 1] < 0) continue;
      const t = v[m] / (v[m] - v[m + 1]), [[x, y], [x2, y2]] = [corners[m], corners[m + 1]];
      const px = ((i + x + t * (x2 - x)) / unit) * width;
      const py = ((j + y + t * (y2 - y)) / unit) * height;
      drawn++ % 2 ? c.lineTo(px, py) : c.moveTo(px, py);
    }
  }
  Object.assign(c, { strokeStyle: colour(stroke), lineWidth });
  c.stroke();
}

// -- The page -------------------------------------------------------------------------------------

// A picture that paints itself: `draw(canvas)` is called once the canvas stands in the page.
const picture = (kind, draw, more) => h("canvas", { class: kind, onpaint: draw, ...more });

// The page made to match a tree, and its pictures painted.
function show(main, tree) {
  match(main, h("div", tree));
  for (const canvas of main.querySelectorAll("canvas")) canvas.onpaint?.(canvas);
}

// Whether the page is a phone's, and how wide its inside is.
const sizes = ({ clientWidth: w }) => [w < 760, Math.min(1200, w) - (w < 760 ? 32 : 88)];

// Paint anew when the page has another width or other colours; tell a notebook how high it is.
function follow(main, paint) {
  const again = () => {
    shown.clear();
    paint();
    parent.postMessage({ autodiff: "height", height: main.offsetHeight + 8 }, "*");
  };
  main.tree = { attributes: {} };
  main.replaceChildren();
  matchMedia("(prefers-color-scheme: dark)").onchange = again;
  addEventListener("message", ({ data: told, source }) => {
    const scheme = told?.dark ? "dark" : "light", { style } = document.documentElement;
    if (source !== parent || told?.dark === undefined || style.colorScheme === scheme) return;
    style.colorScheme = scheme;
    again();
  });
  new ResizeObserver(again).observe(main);
}
