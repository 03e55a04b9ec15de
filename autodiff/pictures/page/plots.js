// Colours, charts and planes: what the pages of learning have in common.

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

// 257 pixels from sand over the plane's colour to blue, mixed in OKLab by the browser.
function shades() {
  if (!shown.has(shades)) {
    const c = surface(document.createElement("canvas"), 257, 1, 1);
    for (let i = 0; i < 257; i++) {
      const end = `${colour(i < 128 ? "sand" : "blue")} ${Math.abs(i - 128) / 1.28}%`;
      c.fillStyle = `color-mix(in oklab, ${end}, ${colour("plane")})`;
      c.fillRect(i, 0, 1, 1);
    }
    shown.set(shades, new Uint32Array(c.getImageData(0, 0, 257, 1).data.buffer));
  }
  return shown.get(shades);
}

// -- Marks on a canvas ----------------------------------------------------------------------------

// The context of a canvas of this size in CSS pixels, empty.
function surface(canvas, width, height, ratio = devicePixelRatio) {
  const [w, h] = [width, height].map((x) => Math.round(x * ratio));
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  return c;
}

const STRONG = "650 15px";
function text(c, words, x, y, { fill = "soft", align = "left", font = "13px" } = {}) {
  Object.assign(c, { font: `${font} ${SANS}`, textAlign: align, fillStyle: colour(fill) });
  Object.assign(c, { strokeStyle: colour("paper"), lineWidth: 5, lineJoin: "round" });
  c.strokeText(words, x, y);
  c.fillText(words, x, y);
}

function line(c, places, stroke, lineWidth, dash = []) {
  Object.assign(c, { strokeStyle: colour(stroke), lineWidth, lineJoin: "round" });
  c.setLineDash(dash);
  c.beginPath();
  for (const place of places) c.lineTo(...place);
  c.stroke();
  c.setLineDash([]);
}

function fill(c, places, name) {
  c.fillStyle = colour(name);
  c.beginPath();
  for (const place of places) c.lineTo(...place);
  c.fill();
}

function disc(c, x, y, radius, name, halo = 2) {
  for (const [r, each] of [[radius + halo, "paper"], [radius, name]]) {
    c.fillStyle = colour(each);
    c.beginPath();
    c.arc(x, y, r, 0, 7);
    c.fill();
  }
}

function cross(c, x, y) {
  for (const side of [-7, 7]) line(c, [[x - 7, y - side], [x + 7, y + side]], "red", 3);
}

// -- Charts ---------------------------------------------------------------------------------------

const clip = (v, [low, high]) => Math.min(high, Math.max(low, v));
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

// Where numbers of the data are in a picture of this size. logs: the logarithmic axes, "y" or "xy";
// room: around it, for the numbers.
function scales(width, height, xs, ys, { logs = "", room = [46, 16, 10, 24] }) {
  const [left, right, top, bottom] = [room[0], width - room[1], room[2], height - room[3]];
  const scale = (ends, from, to, log) => {
    const on = log ? (v) => Math.log(Math.max(v, 1e-300)) : Number, [low, high] = ends.map(on);
    return (v) => clip(from + ((to - from) * (on(v) - low)) / (high - low), [-1e4, 1e4]);
  };
  const x = scale(xs, left, right, logs.includes("x")), y = scale(ys, bottom, top, logs);
  const back = (px, py) => [scale([left, right], ...xs)(clip(px, [left, right])),
    scale([bottom, top], ...ys)(clip(py, [top, bottom]))];
  return { left, right, top, bottom, x, y, back, at: ([a, b]) => [x(a), y(b)] };
}

// A canvas with a hairline and a number for each level, and numbers below.
function chart(canvas, width, height, xs, ys, options) {
  const { levels = [], across = [], unit = "" } = options, c = surface(canvas, width, height);
  const box = { c, ...scales(width, height, xs, ys, options) };
  const { left, right, bottom, x, y, at } = box;
  box.line = (points, ...style) => line(c, points.map(at), ...style);
  box.disc = (point, ...style) => disc(c, ...at(point), ...style);
  box.clip = (draw) => {
    c.save();
    c.beginPath();
    c.rect(left, 0, right - left, bottom);
    c.clip();
    draw();
    c.restore();
  };
  for (const level of levels) {
    const words = unit && level === levels.at(-1) ? `${tick(level)} ${unit}` : tick(level);
    box.line(xs.map((x) => [x, level]), level === 0 ? "hair" : "grid", 1);
    text(c, words, left - 8, y(level) + 4, { align: "right" });
  }
  for (const a of across.filter((a) => a >= xs[0] && a <= xs[1])) {
    text(c, tick(a), x(a), bottom + 20, { align: "center" });
  }
  return box;
}

// Losses against steps, on a logarithmic axis; earlier runs as ghosts.
function lossCurve(canvas, width, height, { losses, diverged, ghosts }) {
  const few = (run) => [...run.entries()].filter(([x, y]) => y > 0 && y < Infinity
    && (x % Math.ceil(run.length / 600) === 0 || x === run.length - 1));
  const run = few(losses), earlier = ghosts.map(few);
  const ys = [run, ...earlier].flat().map(([, y]) => y), last = Math.max(10, losses.length - 1);
  if (!run.length) return;
  const levels = powers(Math.min(...ys), Math.max(...ys)), ends = [levels[0], levels.at(-1)];
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

// -- Planes ---------------------------------------------------------------------------------------

// Numbers of a square grid, from -1 to 1, painted over a picture of this size.
const pixels = globalThis.document?.createElement("canvas");
function paintPlane(c, values, width, height) {
  const side = pixels.width = pixels.height = Math.sqrt(values.length), table = shades();
  const image = new ImageData(side, side), colours = new Uint32Array(image.data.buffer);
  values.forEach((v, i) => { colours[i] = table[Math.round(128 + 128 * clip(v, [-1, 1])) || 0]; });
  pixels.getContext("2d").putImageData(image, 0, 0);
  c.drawImage(pixels, 0, 0, width, height);
}

// The line where numbers of a grid pass a level (marching squares), over a picture of this size.
function contour(c, values, level, width, height, stroke, lineWidth) {
  const corners = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], side = Math.sqrt(values.length);
  const unit = side - 1;
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

// -- Words and sliders ----------------------------------------------------------------------------

const NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split(" ");
const counted = (n, noun) => `${NUMBERS[n] ?? n} ${noun}${n === 1 ? "" : "s"}`;
const big = (text) => text[0].toUpperCase() + text.slice(1);
const mark = (kind, ...inside) => h(`b.${kind}`, ...inside);

// A slider on a logarithmic scale, snapped to some digits.
const logSlider = (label, low, high, value, moved, digits = 2) => h("input.slider", {
  type: "range", min: Math.log(low), max: Math.log(high), step: "any", value: Math.log(value),
  "aria-label": label, "aria-valuetext": amount(value, digits),
  oninput: ({ target }) => moved(Number(Math.exp(target.value).toPrecision(digits))),
});

// A picture that is painted once in so many frames; the k-th of many in turn with the others.
const picture = (kind, draw, every = 1, k = 0) => h("canvas", { class: kind, every, k, onpaint: draw });
const program = (source) => h("details", h("summary", "The program that runs here"),
  h("pre", { tabindex: "0" }, source));

// The page made to match a tree, and its pictures painted, which have their places by then.
function show(tree) {
  match(main, h("div", tree));
  for (const canvas of main.querySelectorAll("canvas")) {
    const { every, k } = canvas.tree.attributes;
    if (s.moved || (s.turn + k) % every === 0) canvas.onpaint(canvas);
  }
}

// Whether the page is a phone's, and how wide its inside is.
const sizes = ({ clientWidth: w }) => [w < 760, Math.min(1200, w) - (w < 760 ? 32 : 88)];
