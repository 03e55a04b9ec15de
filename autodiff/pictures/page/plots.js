// Colours, axes, curves and planes: what the pages of learning have in common.

// A colour of the palette, as the page shows it now: rgb(...).
const shown = new Map();
function colour(name) {
  if (!shown.has(name)) {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(--${name})`;
    shown.set(name, getComputedStyle(probe).color);
    probe.remove();
  }
  return shown.get(name);
}

// The context of a canvas of this size in CSS pixels, empty.
function surface(canvas, width, height) {
  const ratio = globalThis.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// A slider on a logarithmic scale, snapped to two digits.
const logSlider = (label, low, high, value, moved, digits = 2) => h("input", {
  type: "range", min: "0", max: "1", step: "any", "aria-label": label, "aria-valuetext": amount(value, 2),
  value: String(Math.log(value / low) / Math.log(high / low)), class: "slider",
  oninput: (event) => moved(Number((low * (high / low) ** event.target.value).toPrecision(digits))),
});
const LABEL = '13px -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

// Round numbers from low to high, about so many.
const ticks = (low, high, about) => {
  const raw = (high - low) / about, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((each) => each >= raw * 0.9);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
  return found;
};
const tick = (x) => minus(String(Number(x.toPrecision(6))));

// The powers of ten that a logarithmic axis from low to high shows: at most `most`.
const powers = (low, high, most = 4) => {
  const first = Math.floor(Math.log10(low) + 1e-9), last = Math.ceil(Math.log10(high) - 1e-9);
  const step = Math.max(1, Math.ceil((last - first) / (most - 1)));
  const found = [];
  for (let k = first; k < last + step; k += step) found.push(k);
  return found.length > 1 ? found : [first, first + step];
};
const power = (k) => (k < -3 || k > 3 ? `10${raise(k)}` : tick(10 ** k).replace("1000", "1,000"));

const text = (c, words, x, y, { fill = "soft", align = "left", font = LABEL, halo = false } = {}) => {
  Object.assign(c, { font, textAlign: align, textBaseline: "alphabetic" });
  if (halo) {
    Object.assign(c, { strokeStyle: colour("paper"), lineWidth: 5, lineJoin: "round" });
    c.strokeText(words, x, y);
  }
  c.fillStyle = colour(fill);
  c.fillText(words, x, y);
};

const line = (c, points, stroke, width, dash = []) => {
  c.beginPath();
  points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
  Object.assign(c, { strokeStyle: colour(stroke), lineWidth: width, lineJoin: "round" });
  c.setLineDash(dash);
  c.stroke();
  c.setLineDash([]);
};

const fill = (c, points, name, alpha = 1) => {
  c.globalAlpha = alpha;
  c.fillStyle = colour(name);
  c.beginPath();
  for (const point of points) c.lineTo(...point);
  c.fill();
  c.globalAlpha = 1;
};

const disc = (c, x, y, radius, name, halo = 2) => {
  for (const [r, each] of [[radius + halo, "paper"], [radius, name]]) {
    c.beginPath();
    c.arc(x, y, r, 0, 7);
    c.fillStyle = colour(each);
    c.fill();
  }
};

const diamond = (c, x, y, radius, name, halo = 2) => {
  for (const [r, each] of [[radius + halo * 1.4, "paper"], [radius, name]]) fill(c, [[x, y - r], [x + r, y], [x, y + r], [x - r, y]], each);
};

const cross = (c, x, y, r = 6) => {
  for (const side of [-1, 1]) line(c, [[x - r, y - side * r], [x + r, y + side * r]], "red", 3);
};

// An arrow from x to end on the height y; where it is cut off it has two heads.
const arrow = (c, x, end, y, limits) => {
  const way = Math.sign(end - x), cut = end < limits[0] || end > limits[1];
  const tip = Math.min(Math.max(end, limits[0]), limits[1]);
  const head = Math.min(15, Math.abs(tip - x));
  const triangle = (at, size) => fill(c, [[at, y], [at - way * size, y - size * 0.62], [at - way * size, y + size * 0.62]], "orange-wire");
  if (Math.abs(tip - x) < 1) return;
  const shaft = tip - way * (head + (cut ? 13 : 0));
  if ((shaft - x) * way > 0) line(c, [[x, y], [shaft, y]], "orange-wire", 8);
  triangle(tip - way * (cut ? 13 : 0), head);
  if (cut) triangle(tip, 12);
};

// Losses against steps, on a logarithmic axis; earlier runs as ghosts.
const lossCurve = (canvas, width, height, { losses, diverged, ghosts, labels = 46 }) => {
  const c = surface(canvas, width, height), runs = [...ghosts, losses];
  const seen = runs.flat().filter((x) => x > 0 && Number.isFinite(x));
  if (!seen.length) return;
  const grid = powers(Math.min(...seen), Math.max(...seen));
  const [low, high] = [grid[0], grid[grid.length - 1]], last = Math.max(10, losses.length - 1);
  const left = labels, right = width - 16, top = 10, bottom = height - 24;
  const x = (i) => left + ((right - left) * i) / last;
  const y = (loss) => bottom - ((bottom - top) * (Math.log10(Math.max(loss, 1e-300)) - low)) / (high - low);
  for (const k of grid) {
    line(c, [[left, y(10 ** k)], [right, y(10 ** k)]], "grid", 1);
    text(c, power(k), left - 7, y(10 ** k) + 4, { align: "right" });
  }
  text(c, "0", left, height - 4);
  text(c, `step ${last.toLocaleString("en-US")}`, right, height - 4, { align: "right" });
  const path = (run) => {
    const jump = Math.max(1, Math.floor(run.length / 600));
    return run.map((loss, i) => [x(i), y(loss), i]).filter(([px, py, i]) =>
      Number.isFinite(py) && px <= right + 1 && (i % jump === 0 || i === run.length - 1));
  };
  c.globalAlpha = 0.25;
  for (const run of ghosts) line(c, path(run), "red", 1.5);
  c.globalAlpha = 1;
  const run = path(losses), end = run[run.length - 1];
  if (!end) return;
  line(c, run, "red", 2.2);
  if (losses.length < 12) for (const [px, py] of run.slice(0, -1)) disc(c, px, py, 2.5, "red", 0);
  if (diverged) cross(c, end[0], end[1]);
  else disc(c, end[0], end[1], 4.5, "red", 0);
};

// A colour between two, given as rgb(...), mixed in OKLab (Ottosson 2020): the bytes of r, g, b.
const mixer = (from, to) => {
  const linear = (rgb) => rgb.match(/[\d.]+/g).slice(0, 3).map((x) => (x / 255) ** 2.2);
  const lab = (rgb) => {
    const [r, g, b] = linear(rgb);
    const [l, m, s] = [0.4122 * r + 0.5363 * g + 0.0514 * b, 0.2119 * r + 0.6807 * g + 0.1074 * b,
      0.0883 * r + 0.2817 * g + 0.63 * b].map(Math.cbrt);
    return [0.2105 * l + 0.7936 * m - 0.0041 * s, 1.978 * l - 2.4286 * m + 0.4506 * s,
      0.0259 * l + 0.7828 * m - 0.8087 * s];
  };
  const [one, other] = [lab(from), lab(to)];
  return (t) => {
    const [L, a, b] = one.map((x, i) => x + t * (other[i] - x));
    const [l, m, s] = [L + 0.3963 * a + 0.2158 * b, L - 0.1056 * a - 0.0639 * b,
      L - 0.0895 * a - 1.2915 * b].map((x) => x ** 3);
    return [4.0767 * l - 3.3077 * m + 0.231 * s, -1.2684 * l + 2.6098 * m - 0.3413 * s,
      -0.0042 * l - 0.7034 * m + 1.7076 * s].map((x) => Math.round(255 * Math.min(Math.max(x, 0), 1) ** (1 / 2.2)));
  };
};

const pixel = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;

// 257 colours from -1 (sand) over 0 to 1 (blue), as pixels of an image.
const shades = (strength) => {
  const up = mixer(colour("plane"), colour("blue")), down = mixer(colour("plane"), colour("sand"));
  return Uint32Array.from({ length: 257 }, (_, i) => {
    const t = (i - 128) / 128;
    return pixel((t < 0 ? down : up)(strength * Math.abs(t)));
  });
};

// Numbers of a square grid, from -1 to 1, painted into a canvas.
const SMALL = typeof document === "undefined" ? null : document.createElement("canvas");
const paintPlane = (c, values, side, table, x, y, width, height) => {
  if (SMALL.width !== side) SMALL.width = SMALL.height = side;
  const small = SMALL.getContext("2d"), image = small.createImageData(side, side);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) {
    pixels[i] = table[Math.round(128 + 128 * Math.min(Math.max(values[i], -1), 1)) || 0];
  }
  small.putImageData(image, 0, 0);
  c.imageSmoothingEnabled = true;
  c.drawImage(SMALL, 0, 0, side, side, x, y, width, height);
};

// The line where numbers of a grid pass a level (marching squares), over a picture of this size.
function contour(c, values, side, level, width, height, stroke, wide) {
  c.beginPath();
  for (let j = 0; j + 1 < side; j++) {
    for (let i = 0; i + 1 < side; i++) {
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], v = corners.map(([x, y]) => values[y * side + x] - level);
      const points = [];
      corners.forEach(([x, y], k) => {
        const m = (k + 1) % 4, t = v[k] / (v[k] - v[m]), [x2, y2] = corners[m];
        if (v[k] < 0 !== v[m] < 0) points.push([((x + t * (x2 - x)) / (side - 1)) * width, ((y + t * (y2 - y)) / (side - 1)) * height]);
      });
      points.forEach((point, k) => (k % 2 ? c.lineTo(...point) : c.moveTo(...point)));
    }
  }
  Object.assign(c, { strokeStyle: colour(stroke), lineWidth: wide, lineCap: "round" });
  c.stroke();
}

// Places in a box, with a hairline and a number for each level, and numbers below.
function axes(c, box, [x0, x1], [y0, y1], { levels, across, below = 20, unit = "", zero = "grid" }) {
  box.x = (x) => box.left + ((box.right - box.left) * (x - x0)) / (x1 - x0);
  box.y = (y) => Math.max(-1e4, Math.min(1e4, box.bottom - ((box.bottom - box.top) * (y - y0)) / (y1 - y0)));
  box.back = (px, py) => [x0 + ((px - box.left) / (box.right - box.left)) * (x1 - x0), y0 + ((box.bottom - py) / (box.bottom - box.top)) * (y1 - y0)];
  levels.forEach((y, k) => {
    line(c, [[box.left, box.y(y)], [box.right, box.y(y)]], y === 0 ? zero : "grid", 1);
    text(c, `${tick(y)}${unit && k === levels.length - 1 ? ` ${unit}` : ""}`, box.left - 8, box.y(y) + 4, { align: "right" });
  });
  for (const x of across) text(c, tick(x), box.x(x), box.bottom + below, { align: "center" });
  return box;
}

function clipped(c, left, top, right, bottom, draw) {
  c.save();
  c.beginPath();
  c.rect(left, top, right - left, bottom - top);
  c.clip();
  draw();
  c.restore();
}

// Paint anew when the page has another width or other colours; tell a notebook how high it is.
function follow(main, paint) {
  const again = () => {
    shown.clear();
    paint();
    if (parent !== window) parent.postMessage({ autodiff: "height", height: Math.ceil(main.getBoundingClientRect().height) + 8 }, "*");
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  addEventListener("message", ({ data: told, source }) => {
    const scheme = told?.dark ? "dark" : "light", { style } = document.documentElement;
    if (source !== parent || typeof told?.dark !== "boolean" || style.colorScheme === scheme) return;
    style.colorScheme = scheme;
    again();
  });
  let width = 0, height = 0;
  new ResizeObserver(() => {
    if (main.clientWidth === width && main.clientHeight === height) return;
    [width, height] = [main.clientWidth, main.clientHeight];
    again();
  }).observe(main);
}
