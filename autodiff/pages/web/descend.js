// A blue number that is dragged on its wire, and gradient descent in the graph. Beside y a ghost
// says what was foretold, and a line how far y has come down.

// -- Scrub

// A number that is dragged where it stands: 2 pixels are 1/400 of its range. All orange numbers run
// along, and beside y stays what its gradient foretold; but no answer of a quiz is given away.
const scrub = remembered((node) => ({
  class: "scrub",
  onpointerdown: (event) => {
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    held = { node, x: state.leaves[node], px: event.clientX };
  },
  onpointermove: ({ buttons, clientX }) => {
    const [low, high] = state.ranges[node], by = (clientX - held?.px) / 2;
    if (!buttons || held?.node !== node || (!held.moved && Math.abs(by) < 1)) return;
    if (!held.moved) foretell(node);
    held.moved = true;
    const step = Number(((high - low) / 400).toPrecision(1));
    move(node, Number((step * Math.round(held.x / step + by)).toPrecision(9)));
  },
  onpointerup: () => (held?.moved ? left() : actions.touch(node)),
  onpointercancel: left,
  onclick: (event) => event.stopPropagation(),
}));
let held = null; // the number, or the button, that is held

// The slope of y in a node, kept while the node moves; and the number stays under the finger.
function foretell(node) {
  const eye = seen.fit.zoomed ? seen.eye : null;
  actions.touch(node);
  set({ eye, step: state.ask ? state.step : state.graph.last });
  if (state.ask) return;
  const { values, adjoints } = seen.view.run;
  set({ ghost: { node, x: values[node], y: values.at(-1), slope: adjoints[node] } });
}

// What y would be, had its slope stayed as it was where the drag began; or NaN.
const foretoldOf = ({ ghost, leaves }) =>
  (ghost ? ghost.y + ghost.slope * (leaves[ghost.node] - ghost.x) : NaN);

// That number, a ghost that rises out of y's own as the gap opens.
function drawGhost({ state, view, take }, { node, x, y }, left, room) {
  const foretold = foretoldOf(state), gap = Math.abs(foretold - view.run.values[node]);
  if (!Number.isFinite(foretold)) return null;
  const words = fitted(foretold, room);
  const open = Math.min(1, 8 * gap / (Math.abs(state.ghost.y) + gap)) || 0;
  take(x + left, y - 46, widthOf(words, 18), 20);
  return write("gradient foretold", left, -10 - 22 * open, words);
}

// -- Descend

const letGo = () => { held = null; };
const holdOn = () => {
  held = "descend";
  if (!state.pulse) descend();
};
const HOLD = {
  onpointerdown: ({ currentTarget, pointerId, button }) => {
    if (button) return;
    currentTarget.setPointerCapture(pointerId);
    holdOn();
  },
  onkeydown: (event) => {
    if (![" ", "Enter"].includes(event.key)) return;
    event.preventDefault();
    if (!event.repeat) holdOn();
  },
  onclick: ({ detail }) => { if (!detail && !state.pulse) descend(); }, // by a screen reader
  onpointerup: letGo, onpointercancel: letGo, onkeyup: letGo, onblur: letGo,
};

// One step of gradient descent: a pulse forward, one back, and all inputs slide along their arrows.
// Held down, it goes on, and faster.
function descend(pace = 300) {
  const { graph, leaves, ranges } = state, { rate, ends, trail, told } = stepDown(state);
  rest({ step: graph.last, ask: false, trail, rate, told });
  if (told) return;
  const free = freeOf(graph), wait = (next, ms) => { timer = setTimeout(next, ms); };
  const slide = (k) => {
    set({ leaves: leaves.map((x, i) => (k < 1 ? x + k * (ends[i] - x) : ends[i])), pulse: "slide",
      dragging: k < 1 });
    if (k < 1) {
      wait(() => slide(k + (calm.matches ? 1 : 0.125)), pace / 12);
      return;
    }
    const far = free.filter((i) => ends[i] < ranges[i][0] || ends[i] > ranges[i][1]);
    set({ pulse: null, trail: [...trail, seen.view.run.values.at(-1)] });
    if (far.length) set({ told: far, ranges: held = null });
    remember();
    if (held === "descend") wait(() => descend(Math.max(60, 0.8 * pace)), 0);
  };
  set({ pace, pulse: "forward" });
  wait(() => {
    set({ pulse: "backward" });
    wait(() => slide(0.125), pace);
  }, pace);
}

// What moves: all inputs, or in a network its weights; a loss keeps its target.
const freeOf = ({ inputs, needs, neurons, place, loss }) =>
  inputs.filter((i) => needs[i] && i !== loss?.target && !(neurons.size && place.has(i)));

// Where a step leads: its rate is halved until y falls, and grows again; or why there is none.
function stepDown({ graph, leaves, trail, rate }) {
  const { values, adjoints } = pass(graph, leaves), y = values.at(-1), free = freeOf(graph);
  const down = trail.length ? trail : [y], none = (told) => ({ trail: down, rate, told });
  const at = (by) => leaves.map((x, i) => (free.includes(i) ? x - by * adjoints[i] : x));
  if (![y, ...free.map((i) => adjoints[i])].every(Number.isFinite)) return none("endless");
  for (let by = Math.min(RATE, 2 * rate); ; by /= 2) {
    const ends = at(by), lower = y - pass(graph, ends, null, true).at(-1);
    if (lower > 1e-9 * (down[0] - y)) return { ends, trail: down, rate: by };
    if (lower > 0 || free.every((i) => !adjoints[i])) return none("flat");
    if (ends.every((x, i) => x === leaves[i])) return none("stuck");
  }
}

// Beads on all wires, layer by layer: blue ones forward, orange ones back.
function pulseOf({ pulse, pace, graph }, units) {
  if (!pulse || pulse === "slide" || calm.matches) return null;
  const back = pulse === "backward", ms = pace / Math.max(...units.map(({ layer }) => layer));
  return h("g", { class: `pulse ${back ? "gradient" : "value"}`, key: pulse },
    units.map((unit) => unit.edges.filter(({ from }) => graph.needs[from]).map((edge) => {
      const from = units[edge.unit], wait = back ? pace - ms * unit.layer : ms * from.layer;
      const path = pathOf([[from.x + from.column, from.y], ...edge.points]);
      return h("circle.bead", { r: 5, style: `offset-path: path("${path}"); animation:
        pulse ${ms * (unit.layer - from.layer)}ms ${wait}ms ${back ? "reverse" : ""} both` });
    })));
}

// The values of y on the way down.
function sparkOf(trail, width, height) {
  const end = [trail.length - 1, trail.at(-1)];
  const { line, at } = chart(width, height, [0, Math.max(8, end[0])],
    extent([...trail, trail[0] + 1e-9]), { room: [4, 6, 5, 5] });
  return [line("value", trail.map((v, k) => [k, v])), disc("value", at(end), 4)];
}

function descentPane(state) {
  const { graph, trail, rate, told } = state, { width } = plotSize(state), n = trail.length - 1;
  const y = named(graph, graph.output);
  const why = { flat: say`The gradients are 0, or as good as: ${y} can **fall no more** from here.`,
    stuck: say`However short a step along these gradients, ${y} can **fall no more**.`,
    endless: say`Where a number is missing or infinite, **no step** leads down.` }[told];
  const far = Array.isArray(told) && [told.map((i, k) => [k > 0 && ", ", named(graph, i)]),
    " left the range of its slider, which is longer now. Press again to go on."];
  const steps = n === 1 ? "1 step" : `${n} steps`;
  return pane("descent", [`${steps} down: `, y, " = ", blue(trail.at(-1))],
    h("p", { role: "status" }, why ?? (far || say`Each step takes ${blue(rate)} ·
      ${orange("gradient")} off every ${graph.neurons.size ? "weight" : "input"}. Hold
      **Descend**, and it goes on.`)),
    h("svg.plot", { width, height: 60, ariaHidden: "true" }, sparkOf(trail, width, 60)));
}
