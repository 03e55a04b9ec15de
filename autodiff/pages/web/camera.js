// Where one looks: the layout that fits the stage, the camera, the map, and what moves them.

const MAP = 48; // its height at most
const STAGE = 200; // what is left to the graph at least

// The layout that fills the stage, of neurons closed where they are too many to stand open; if
// none fits, the graph is zoomed; above a map where room is left.
function fitOf({ graph, width, height }) {
  const kinds = graph.neurons.size ? [false, true] : [false];
  const fits = kinds.map((closed) => {
    const [tight, roomy] = [0, 1].map((stretch) => placed(graph, stretch, closed));
    const { least } = tight;
    const tall = tight.high - tight.low + 16;
    const most = Math.min(Math.max(1.5, width / 1200), height / tall);
    const air = width / (tight.length + 40) < least ? 12 : 40; // left and right, together
    const large = Math.max(1, height / tall / 2.4, width / (roomy.length + air));
    const want = width / Math.min(most, large) - air;
    const stretch = clamp((want - tight.length) / (roomy.length - tight.length), 0, 2);
    const place = placed(graph, Math.floor(99 * stretch) / 99 || 0, closed);
    const whole = Math.min(width / (place.length + air), most);
    const spare = stretch > 0 || whole < least ? 0 : height / whole - tall; // on a narrow phone
    const apart = placed(graph, 0, closed, 12 + clamp(4 * Math.floor(spare / 12), 0, 36));
    const fits = spare > 0 && (apart.high - apart.low + 16) * whole <= height;
    return { place: fits ? apart : place, tall, whole };
  });
  const fit = fits.find(({ whole, place }) => whole >= place.least) ?? fits.at(-1);
  if (fit.whole >= fit.place.least) return { ...fit, height, scale: fit.whole };
  const place = placed(graph, 0.5, graph.neurons.size > 0), { tall } = fit;
  const thin = Math.min(MAP, Math.ceil(width * tall / place.length)) + 10;
  const map = height - thin < STAGE ? 0 : thin - 10, left = height - (map && thin);
  const scale = Math.min(width / (place.length + 48), left / tall);
  return { place, tall, zoomed: true, height: left, map, scale };
}

// How tall a graph is where its smallest text can just be read, with its map if it is too wide.
function tallOf({ graph, width }) {
  const { low, high, length, least } = placed(graph, 0, graph.neurons.size > 0);
  return Math.max(STAGE, Math.ceil((high - low + 16) * least))
    + ((length + 12) * least > width ? MAP + 10 : 0);
}

// Where one looks: the middle of the view, and the scale. In a graph that is zoomed: at rest at its
// inputs; otherwise at what is done, with what goes into it.
function cameraOf(state, view, fit) {
  const { graph, touched, proof, width } = state, { place, zoomed, height } = fit;
  const whole = { x: place.length / 2, y: (place.low + place.high) / 2, scale: fit.scale };
  const inside = (x, low, high, margin) => (high - low < 2 * margin
    ? (low + high) / 2 : clamp(x, low + margin, high - margin));
  const kept = ({ scale, x, y }) => ({ scale, // nothing is seen beyond the graph
    x: inside(x, -24, place.length + 24, width / 2 / scale),
    y: inside(y, place.low - 8, place.high + 8, height / 2 / scale) });
  if (state.eye || !zoomed) return kept(state.eye ?? whole);
  const at = state.look ?? touched ?? (proof && (proof.node ?? proof.edge[0]));
  const done = at != null ? [graph.owner[at] ?? graph.owner[graph.uses[at][0][0]]] : view.doing;
  const ops = done.map((u) => place.units[u]);
  const near = [...ops, ...ops.flatMap(({ edges }) => edges.map(({ unit }) => place.units[unit]))];
  const spans = [({ x, column }) => [x - column - 60, x + column + 60],
    ({ y, up }) => [y - up, y + up]].map((sides) => extent(near.flatMap(sides)));
  const wide = (k) => [width, height][k] / (spans[k][1] - spans[k][0]);
  const scale = clamp(done.length ? Math.min(wide(0), wide(1)) : 0, place.least, 1);
  const [x, y] = [width, height].map((size, k) => {
    const half = size / 2 / scale, keep = 80 * (2 - k); // from the edge
    if (!done.length) return k ? place.low : 0;
    const middle = mean(ops.map((unit) => [unit.x, unit.y][k]));
    return inside(mean(spans[k]), middle - half + keep, middle + half - keep, 0);
  });
  return kept({ scale, x, y });
}

// The whole graph, small: its wires, the step as a large dot, the view as a frame, and the names of
// its ends.
function drawMap({ graph, width, step }, view, { place, map, height }, eye) {
  const { length, low, high, units, least } = place;
  const scale = Math.min(width / length, map / (high - low));
  const kind = step > graph.half ? "gradient" : "value";
  const wire = (unit, u) => unit.edges.map((edge) => {
    const { x, y } = units[edge.unit];
    return through(`wire ${view.sent(u) && graph.needs[edge.from] ? "gradient"
      : view.valued(edge.unit) ? "value" : ""}`, [[x, y], ...edge.points]);
  });
  const [w, tall] = [width / eye.scale, height / eye.scale];
  const [x0, y0] = [Math.max(0, eye.x - w / 2), Math.max(low, eye.y - tall / 2)];
  const size = [Math.min(length, eye.x + w / 2) - x0, Math.min(high, eye.y + tall / 2) - y0];
  const end = (kind, x, ends) => { // where there is room
    const said = units.filter(ends).map(({ name }) => plainName(name)).join(", ");
    return widthOf(said, 14) < (width - length * scale) / 2 - 12
      && write(kind, x, (low + high) / 2 + 4 / scale, said);
  };
  const look = (event) => {
    if (!event.buttons) return;
    const { x, y, width: wide, height: long } = event.currentTarget.getBoundingClientRect();
    set({ eye: { scale: clamp(eye.scale, least, 2), x: (event.clientX - x) / wide * length,
      y: low + (event.clientY - y) / long * (high - low) } });
  };
  return h("svg.map", { viewBox: `0 ${low} ${length} ${high - low}`, width: length * scale,
    height: (high - low) * scale, style: `stroke-width: ${1.5 / scale}; font-size: ${14 / scale}px`, ariaHidden: "true",
    onpointerdown: look, onpointermove: look },
  end("end", -8 / scale, ({ kind }) => kind === "input"),
  end("", length + 8 / scale, ({ node }) => node === graph.output), units.map(wire),
  units.map(({ x, y }, u) => (view.doing.includes(u) ? disc(kind, [x, y], 4 / scale)
    : disc("ink", [x, y], 1.5 / scale))),
  h("rect.frame", { x: x0, y: y0, width: Math.max(0, size[0]), height: Math.max(0, size[1]) }));
}

// -- What moves it: a hand, two fingers, a wheel, and keys by `shift`

const hand = { at: new Map(), moved: false };
const release = ({ pointerId }) => { hand.at.delete(pointerId); };
const HAND = {
  onpointerdown: ({ pointerId, clientX, clientY, button, target }) => {
    if (button || target.closest(".map")) return;
    if (!hand.at.size) hand.moved = false;
    hand.at.set(pointerId, [clientX, clientY]);
  },
  onpointermove: (event) => {
    const { pointerId, clientX: x, clientY: y } = event, was = hand.at.get(pointerId);
    if (!was) return;
    const [dx, dy] = [x - was[0], y - was[1]], fingers = hand.at.size;
    if (!hand.moved && Math.hypot(dx, dy) < 6) return;
    if (!hand.moved) event.currentTarget.setPointerCapture(pointerId);
    hand.moved = true;
    hand.at.set(pointerId, [x, y]);
    shift(dx / fingers, dy / fingers);
    if (fingers < 2) return;
    const [, [x2, y2]] = [...hand.at].find(([id]) => id !== pointerId);
    const closer = Math.hypot(x - x2, y - y2) / Math.hypot(was[0] - x2, was[1] - y2);
    shift(0, 0, closer, (x + x2) / 2, (y + y2) / 2);
  },
  onpointerup: release,
  onpointercancel: release,
  onwheel: (event) => {
    if (!seen.fit.zoomed && !event.ctrlKey) return; // a notebook scrolls on
    event.preventDefault();
    shift(0, 0, Math.exp(-event.deltaY / 400), event.clientX, event.clientY);
  },
  onclick: ({ target }) => {
    if (!hand.moved && !target.closest(".unit, .proves, .map")) actions.end();
  },
};

// Move the view by so many pixels, and magnify it about a point of the screen.
function shift(dx, dy, more = 1, px = null, py = null) {
  const { eye, fit: { place, scale: least } } = seen;
  const scale = clamp(eye.scale * more, Math.min(least, place.least), 2.5);
  const { left, right, top, bottom } = main.querySelector(".graph").getBoundingClientRect();
  const moved = (x, by, p, ends) => {
    const aside = p === null ? 0 : p - mean(ends); // from the middle
    return x - by / scale + aside / eye.scale - aside / scale;
  };
  set({ eye: { scale, x: moved(eye.x, dx, px, [left, right]),
    y: moved(eye.y, dy, py, [top, bottom]) } });
}
