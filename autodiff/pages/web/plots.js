// What the pages of learning have in common. All is drawn in SVG; only planes are pixels.

// -- Losses

const cross = ([x, y]) => put("error", [x, y], draw("thick", "M-7-7L7 7M-7 7L7-7"));

// Losses against steps, on a logarithmic axis: of the samples, and of those held back.
function lossCurve(width, height, { losses, validation, diverged }) {
  const steps = losses.length - 1, [run, held] = [0, 1].map((k) =>
    losses.map((both, x) => [x, both[k]]).filter(([x, y]) => y > 0 && y < Infinity
      && (x % Math.ceil(steps / 600) === 0 || x === steps)));
  if (!run.length) return null;
  const levels = powers(...extent([...run, ...held].map(([, y]) => y))), last = Math.max(10, steps);
  const { right, at, line, picture } =
    chart(width, height, [0, last], extent(levels), { levels, across: [0], logs: "y" });
  const end = at(run.at(-1)), low = Math.min(...held.map(([, y]) => y));
  const lowest = held.find(([, y]) => y === low), risen = lowest?.[0] < steps;
  return picture([line("error", run), line("ink", held)],
    diverged ? cross(end) : disc("error", end, 4.5),
    write("end", right, height - 4, `step ${tick(last)}`),
    !steps && write("middle", width / 2, height / 2, "the loss of each step"),
    risen && [disc("ink", at(lowest), 3.5),
      write("ink end", right, 24, `lowest ${amount(low)} at step ${tick(lowest[0])}`)],
    held[0] && write("ink middle", width / 2, height - 4, `━━ validation loss ${amount(validation)}`));
}

// -- Planes

// 257 pixels from a colour over grey to another, mixed in OKLab by the browser.
function shades(...ends) {
  const c = document.createElement("canvas").getContext("2d");
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.forcedColorAdjust = "none";
  for (let i = 0; i < 257; i++) {
    const end = `var(--${ends[Number(i >= 128)]}) ${Math.abs(i - 128) / 1.28}%`;
    probe.style.color = `color-mix(in oklab, ${end}, var(--panel))`;
    c.fillStyle = getComputedStyle(probe).color;
    c.fillRect(i, 0, 1, 1);
  }
  probe.remove();
  return new Uint32Array(c.getImageData(0, 0, 257, 1).data.buffer);
}

// Numbers of a square grid, from -1 to 1, as a picture that the style sheet stretches; with other
// colours where a second number is above 0.
let table = null;
function plane(values, second) {
  const side = Math.sqrt(values.length);
  const onpaint = (canvas) => {
    const image = new ImageData(side, side), pixels = new Uint32Array(image.data.buffer);
    table ??= [shades("sand", "blue"), shades("green", "plum")];
    values.forEach((v, i) => {
      pixels[i] = table[Number(second?.[i] > 0)][Math.round(128 + 128 * clamp(v, -1, 1)) || 0];
    });
    canvas.getContext("2d").putImageData(image, 0, 0);
  };
  return h("canvas", { width: side, height: side, onpaint });
}

// The line where numbers of a grid pass a level (marching squares), stretched over a place of a
// picture, or over all of it.
function contour(kind, values, level, place) {
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
  return h("svg", { width: "100%", height: "100%", ...place, viewBox: `0 0 ${unit} ${unit}`,
    preserveAspectRatio: "none" }, draw(kind, d.join("")));
}

// -- Words and sliders

const NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split(" ");
const counted = (n, noun) => `${NUMBERS[n] ?? n} ${noun}${n === 1 ? "" : "s"}`;
const big = (text) => text[0].toUpperCase() + text.slice(1);
const red = (...words) => h("b.error", words);

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// A slider on a logarithmic scale, snapped to some digits.
const logSlider = (label, low, high, value, moved, digits = 2) => slider({
  min: Math.log(low), max: Math.log(high), step: "any", value: Math.log(value),
  ariaLabel: label, ariaValueText: amount(value, digits),
}, (power) => {
  const x = Math.exp(power), near = roundUp(x / 1.05); // 1, 2 and 5 are easily met
  moved(Number((near < 1.05 * x ? near : x).toPrecision(digits)));
});

const program = (source) => h("details", h("summary", "The program that runs here"),
  h("pre", { tabindex: "0" }, source));

// The page made to match a tree, and its planes painted.
function show(tree) {
  match(main, tree);
  for (const canvas of main.querySelectorAll("canvas")) canvas.onpaint(canvas);
}
