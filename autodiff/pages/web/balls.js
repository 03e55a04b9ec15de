// Balls that race down, and basins: each place of the map by the minimum that it reaches.

// -- Balls

const RACERS = ["SGD", "momentum", "Adam"];
const RUN = Math.max(40, data.steps), BEAT = 40; // ms for a step

// The points of one kind of descent. Adam's first step is as long as that of SGD.
function trailOf(kind, x, rate) {
  const m = [0, 0], v = [0, 0], points = [x], own = rate * Math.hypot(...slopes(x)) / Math.SQRT2;
  const adam = (i, g, n) => {
    m[i] = 0.9 * m[i] + 0.1 * g;
    v[i] = 0.999 * v[i] + 0.001 * g * g;
    return own * m[i] / (1 - 0.9 ** n) / (Math.sqrt(v[i] / (1 - 0.999 ** n)) + 1e-12);
  };
  const momentum = (i, g) => rate * (m[i] = 0.9 * m[i] + g);
  const step = { SGD: (i, g) => rate * g, momentum, Adam: adam }[kind];
  for (let n = 1; n <= RUN; n++) {
    const g = slopes(x);
    x = x.map((at, i) => at - step(i, g[i], n));
    if (!Number.isFinite(value(x))) break;
    points.push(x);
  }
  return points;
}

function drop(at) {
  s.balls = [...s.balls.slice(-3), { at, begun: calm.matches ? -1e9 : performance.now() }];
  paint();
}

// Trails as far as their balls have come: all take a step in the same time.
let frame = 0;
function trailsOf({ at }) {
  let rolls = false;
  const drawn = s.balls.map((ball) => {
    if (ball.rate !== s.rate) {
      [ball.rate, ball.trails] = [s.rate, RACERS.map((kind) => trailOf(kind, ball.at, s.rate))];
    }
    const time = (performance.now() - ball.begun) / BEAT;
    rolls ||= time < RUN;
    return ball.trails.map((points, k) => {
      const gone = Math.min(time, points.length - 1), n = Math.floor(gone), part = gone - n;
      const next = points[n + 1] ?? points[n], spots = points.slice(0, n + 1);
      const end = at(points[n].map((v, i) => v + part * (next[i] - v)));
      return h(`g.racer${k}`, through("trail", [...spots.map(at), end]), disc("ball", end, 6));
    });
  });
  cancelAnimationFrame(frame);
  if (rolls) frame = requestAnimationFrame(paint);
  return drawn;
}

// -- Basins

const GRID = 200, HUES = [250, 60, 150, 330, 100, 200, 20, 290, 130];
const SLICE = 6; // ms
let job = null;

// The minimum that a start reaches at this rate, or -1.
function reached(x, rate, near) {
  for (let n = 0; n < RUN; n++) {
    const g = programs.f(x)[1];
    x = [x[0] - rate * g[0], x[1] - rate * g[1]];
    if (!(Math.abs(x[0]) + Math.abs(x[1]) < 1e9)) return -1;
  }
  return minima.findIndex((m) => apart(m, x) < near);
}

// Cells of the map, large ones first, and each once: [i, j, size].
function* cellsOf(wide, tall) {
  for (let size = 16; size >= 1; size /= 2) {
    for (let j = 0; j < tall; j += size) {
      for (let i = 0; i < wide; i += size) {
        if (size === 16 || i % (2 * size) || j % (2 * size)) yield [i, j, size];
      }
    }
  }
}

// In slices, between which the page does all else; a start that has arrived nowhere has no colour.
function basins({ ends: [[x0, x1], [y0, y1]] }, place) {
  const tall = Math.round(GRID * (y1 - y0) / (x1 - x0)), cell = (x1 - x0) / GRID, { rate } = s;
  const near = 0.04 * Math.min(x1 - x0, y1 - y0), key = [rate, tall, x0].join();
  const onpaint = (canvas) => {
    if (job?.key === key && job.canvas === canvas) return;
    const ink = canvas.getContext("2d");
    const colours = minima.map((_, k) => `oklch(0.72 0.13 ${HUES[k]})`);
    const own = job = { key, canvas, longest: 0, begun: performance.now() };
    const cells = cellsOf(GRID, tall);
    const slice = () => {
      const begun = performance.now();
      if (job !== own || !canvas.isConnected) return;
      for (let next = cells.next(); !next.done; next = cells.next()) {
        const [i, j, size] = next.value;
        const k = reached([x0 + (i + 0.5) * cell, y1 - (j + 0.5) * cell], rate, near);
        ink.clearRect(i, j, size, size);
        ink.fillStyle = colours[k];
        if (k >= 0) ink.fillRect(i, j, size, size);
        if (performance.now() - begun < SLICE) continue;
        own.longest = Math.max(own.longest, performance.now() - begun);
        return setTimeout(slice);
      }
      own.took = performance.now() - own.begun;
      return null;
    };
    setTimeout(slice);
  };
  return h("canvas.basins", { width: GRID, height: tall, style: styleOf(place), onpaint });
}
