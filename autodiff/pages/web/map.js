// Two variables from above: the levels of f, its minima, the path, and what is done by hand.

// -- Minima

const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
const steepness = () => Math.hypot(...slopes(data.x0)) || 1;

// How far downhill a way leads: halved until f falls by its share; or null.
function downhill(x, y, g, way) {
  for (let t = 1; t > 1e-14; t /= 2) {
    const at = x.map((v, i) => v + t * way[i]), [lower, slope] = programs.f(at);
    if (lower <= y + 1e-4 * t * dot(way, g)) return [at, lower, slope];
  }
  return null;
}

// The inverse Hessian [xx, xy, yy] after a move that changed the gradient by `by` (BFGS).
function learned([xx, xy, yy], move, by) {
  const bent = dot(move, by);
  if (!(bent > 1e-18 * steepness())) return [xx, xy, yy];
  const to = [xx * by[0] + xy * by[1], xy * by[0] + yy * by[1]], more = 1 + dot(by, to) / bent;
  return [[0, 0], [0, 1], [1, 1]].map(([i, j], k) => [xx, xy, yy][k]
    + (more * move[i] * move[j] - to[i] * move[j] - move[i] * to[j]) / bent);
}

// The place without slope that BFGS comes to from x, or null.
function settled(x) {
  let inverse = [1, 0, 1], [y, g] = programs.f(x);
  for (let n = 0; n < 200 && Math.hypot(...g) > 1e-12 * steepness(); n++) {
    const [xx, xy, yy] = inverse, bowl = [-xx * g[0] - xy * g[1], -xy * g[0] - yy * g[1]];
    const down = dot(bowl, g) < 0, found = downhill(x, y, g, down ? bowl : g.map((v) => -v));
    if (!found) break;
    const [at, lower, slope] = found, [move, by] = [[at, x], [slope, g]].map(([b, a]) =>
      b.map((v, i) => v - a[i]));
    inverse = learned(down ? inverse : [1, 0, 1], move, by);
    [x, y, g] = [at, lower, slope];
  }
  return Math.hypot(...g) < 1e-6 * steepness() ? x : null;
}

// The minima near the start, found from a grid of places, the lowest first. A whole valley floor
// of minima counts as one.
function minimaNear(lowest) {
  const around = Math.max(apart(settled(lowest) ?? lowest, data.x0), 0.5), found = [];
  const ring = spaced(8, 0, 2 * Math.PI).map((a) => [Math.cos(a), Math.sin(a)]);
  const raised = (x) => ring.every((way) => // no saddle
    value(x.map((v, i) => v + 1e-3 * around * way[i])) >= value(x));
  const grid = spaced(8, -2.2 * around, 2.2 * around);
  for (const from of [lowest, ...grid.flatMap((dx) => grid.map((dy) =>
    [data.x0[0] + dx, data.x0[1] + dy]))]) {
    const x = settled(from);
    if (x && apart(x, data.x0) < 3.7 * around && raised(x)
      && found.every((m) => apart(m, x) > 1e-3 * around)) found.push(x);
  }
  found.sort((a, b) => value(a) - value(b));
  return found.length > 9 ? found.slice(0, 1) : found;
}

// -- The ground

// One scale for both variables; levels at 1 and 3 of each power of ten above the lowest, shaded
// by their logarithm. It stays as it is while anything is dragged.
const grounds = {};
function groundOf(width, height) {
  const room = [46, 16, 0, 24], inner = [width - 62, height - 24];
  const spans = data.x0.map((_, i) => extent(shown().map((x) => x[i])));
  const scale = Math.max(...spans.map(([a, b], i) => (b - a) / (0.66 * inner[i])), 1e-9);
  const ends = inner.map((size, i) =>
    [-0.5, 0.5].map((k) => (spans[i][0] + spans[i][1]) / 2 + k * scale * size));
  const within = ([a, b], about) => ticks(a, b, about).filter((v) => v > a && v < b);
  const box = chart(width, height, ...ends,
    { room, levels: within(ends[1], 7), across: within(ends[0], width / 120) });
  const [xs, ys] = ends.map((each) => spaced(199, ...each));
  const grid = ys.toReversed().flatMap((y) => xs.map((x) => Math.max(0, value([x, y]) - floor)));
  const top = grid.reduce((a, b) => (b < Infinity ? Math.max(a, b) : a), 1e-9);
  const power = Math.floor(Math.log10(top)), roots = grid.map(Math.sqrt); // straight in a valley
  const levels = [1, 3].flatMap((n) => [0, 1, 2, 3].map((k) => n * 10 ** (power - k)));
  const frame = { x: box.left, y: box.top, width: inner[0], height: inner[1] };
  const lines = levels.map((level) => contour("value thin", roots, Math.sqrt(level), frame));
  const shade = plane(grid.map((y) => clamp((Math.log10(y + 1e-300) - power + 5) / 6, 0, 1)));
  shade.attributes.style = styleOf(frame);
  return { ...box, ends, frame, shade, lines, names: [levelNames(box, ends, levels),
    write("name end", box.right - 6, box.bottom - 10, data.names[0]),
    write("name", box.left + 8, box.top + 20, data.names[1])] };
}
// The start, the minima, and the first path and the one that comes lowest, if they stay near.
function shown() {
  const down = pathAt(rates[extremeOf(results)], data.x0), wide = 2 * (minima.length
    ? Math.max(...minima.map((m) => apart(m, data.x0))) : 1 + Math.hypot(...data.x0));
  const near = [pathAt(data.rate, data.x0), down].filter(({ points }) =>
    points.every((x) => apart(x, data.x0) < wide));
  return [data.x0, ...minima, ...near.flatMap(({ points }) => points)];
}
const extremeOf = (all) => all.reduce((low, [, y], i) => (y < all[low][1] ? i : low), 0);
const styleOf = ({ x, y, width, height }) =>
  `left: ${x}px; top: ${y}px; width: ${width}px; height: ${height}px`;

// Numbers of whole powers, where the way from the lowest to the farthest corner crosses them.
function levelNames(box, ends, levels) {
  const corner = ends.map(([a, b], i) => (best[i] - a > b - best[i] ? a : b)), names = [];
  const named = [[box.left, box.top], [box.right, box.bottom]]; // corners, by the axes
  let before = 0, last = box.at(best);
  for (const k of spaced(400, 0, 0.97)) {
    const x = best.map((m, i) => m + k * (corner[i] - m)), y = value(x) - floor, spot = box.at(x);
    const level = levels.find((v) => (before - v) * (y - v) < 0 && Math.log10(v) % 1 === 0);
    if (level && [last, ...named].every((other) => apart(spot, other) > 40)) {
      names.push(write("level middle", spot[0], spot[1] + 4, number(floor + level, 3)));
      last = spot;
    }
    before = y;
  }
  return names;
}

// -- The picture

function mapPicture(width, height) {
  const box = (grounds[[width, height]] ??= groundOf(width, height)), { at, frame } = box;
  const spots = s.path.points.map(at), coloured = minima.length > 1 && s.basins;
  const low = (m, k) => [disc("ink", at(m), k ? 3 : 4.5),
    write("ink middle", at(m)[0], at(m)[1] + 20,
      `${k && width < 700 ? "" : "minimum "}${number(tidy(value(m)), 3)}`)];
  return h("div.view", { onclick: (event) => {
    const spot = placeIn(event);
    if (box.inside(spot) && !event.target.closest(".handle")) drop(box.back(...spot));
  } }, box.shade, coloured && basins(box, frame),
  box.picture([box.lines, stepsOf(box, spots), trailsOf(box)], box.names, minima.map(low),
    leaving(box, spots), handle(box, spots[0])));
}

// The start, which is dragged, by arrow keys too.
function handle(box, [x, y]) {
  const to = (px, py) => { begin(box.back(px, py)); paint(); };
  const where = s.x0.map((v) => number(v, 3)).join(", ");
  return h("g.handle", { tabindex: 0, role: "button",
    ariaLabel: `start at ${where}: drag it, or use the arrow keys`,
    onpointerdown: ({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId),
    onpointermove: ({ buttons, clientX, clientY, currentTarget }) => {
      const { left, top } = currentTarget.closest(".plot").getBoundingClientRect();
      if (buttons) to(clientX - left, clientY - top);
    },
    onkeydown: (event) => {
      const way = ARROWS[event.key];
      if (event.key === "Enter") drop(s.x0);
      if (!way) return;
      event.preventDefault();
      to(x + 8 * way[0], y + 8 * way[1]);
    } }, h("circle.hit", { cx: x, cy: y, r: 22 }), startOf([x, y]));
}

const endOf = ({ trails }, k) =>
  (trails[k].length > RUN ? amount(tidy(value(trails[k].at(-1)))) : "runs away");
const mapTools = () => [h("div.tools",
  h("button", { onclick: () => drop(s.x0) }, "Drop a ball"),
  s.balls.length > 0 && h("button", { onclick: () => { s.balls = []; paint(); } }, "Clear"),
  minima.length > 1 && h("button", { ariaPressed: s.basins,
    onclick: () => { s.basins = !s.basins; paint(); } }, "Basins"),
  h("button", { onclick: copyMap }, s.copied ?? "Copy picture")),
h("p.racers", s.balls.length ? `f after ${RUN} steps:` : "A click drops a ball there, too:",
  RACERS.map((kind, k) => h(`b.racer${k}`, `● ${kind} `, s.balls.length > 0
    && endOf(s.balls.at(-1), k)))),
s.basins && minima.length > 1 && h("p.note", `Each place has the colour of the minimum
  to which ${RUN} steps at this rate lead from there, or none.`)];

// The map as it stands: its lines, and below them what is drawn in pixels.
function mapAsText() {
  const view = main.querySelector(".view"), image = (canvas) => h("image", {
    href: canvas.toDataURL(), x: canvas.offsetLeft, y: canvas.offsetTop,
    width: canvas.offsetWidth, height: canvas.offsetHeight, preserveAspectRatio: "none",
    opacity: getComputedStyle(canvas).opacity });
  return inlined(view.querySelector("svg"), [...view.querySelectorAll("canvas")].map(image));
}

// To the clipboard, twice as large; or where that is closed, as a file.
async function copyMap() {
  const image = pixels(mapAsText());
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": image })]);
    s.copied = "Copied";
  } catch {
    download(await image, "png");
    s.copied = "Saved";
  }
  paint();
  setTimeout(() => { s.copied = null; paint(); }, 1500);
}
