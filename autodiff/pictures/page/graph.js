// The picture of a graph: one pure function of the state. Blue is a value, above its wire; orange
// a gradient, below it; a message stands on the wire, beside the operation that made it.

const PHASES = { bead: [0, 350], fade: [350, 470], drop: [0, 250], halo: [0, 120], turn: [120, 320],
  swap: [320, 670], open: [670, 850], strand: [850, 1200], merge: [1200, 1450] };
const eased = (p) => (p <= 0 ? 0 : p >= 1 ? 1 : p * p * (3 - 2 * p));
const swapsAt = (state) => unitsAt(state, state.step).some((u) => opOf(state.graph, u) === "mul");
const opOf = (graph, u) => (graph.units[u].kind === "op" ? graph.nodes[graph.units[u].node].rule.op : null);

// How long a step moves, and how far each phase of it has come; at rest all have ended.
const duration = (state) => (state.step <= half(state) ? 470 : state.step === half(state) + 1 ? 250 : swapsAt(state) ? 1450 : 1100);
function phase(state, name) {
  if (state.t === null) return 1;
  const [start, end] = PHASES[name], late = start >= 320 && name !== "fade" && !swapsAt(state) ? 350 : 0;
  return eased((state.t - start + late) / (end - start));
}

// What is known at this step: of each unit's value, of what it sent, and of each node's gradient.
function viewOf(state, run) {
  const { graph, step } = state, { units, nodes, needs, uses } = graph, owner = [];
  units.forEach((unit, u) => unit.inside.forEach((i) => { owner[i] = u; }));
  const times = units.map((_, u) => stepsOf(graph, u));
  const done = (at, name) => (at < step ? 1 : at > step ? 0 : at === 0 ? 1 : phase(state, name));
  const value = units.map((_, u) => done(times[u][0], "fade"));
  const sent = (u, name) => done(times[u][1], name);
  const known = [], gradient = (j) => (known[j] ??= found(j));
  const found = (j) => {
    if (j === graph.output) { const complete = done(half(state) + 1, "drop"); return { terms: complete ? [1] : [], complete, of: 1 }; }
    const messages = uses[j].filter(([i, k]) => needs[i] && run.messages[i][k] !== null && run.messages[i][k] !== undefined);
    messages.sort((a, b) => b[0] - a[0]);
    const come = messages.filter(([i]) => owner[i] !== undefined && sent(owner[i], "merge") > 0);
    const last = Math.min(1, ...come.map(([i]) => sent(owner[i], "merge")));
    const complete = come.length === messages.length && (messages.length || step === lastStep(graph)) ? last : 0;
    return { terms: come.map(([i, k]) => run.messages[i][k]), complete, of: messages.length };
  };
  const rest = state.rest && state.t === null && (step === half(state) || step === lastStep(graph));
  const now = rest || state.touched !== null ? [] : unitsAt(state, step);
  const [unit, edge] = state.ask && state.touched === null ? askedEdge(state, run) : [];
  return { run, owner, times, value, sent, gradient, now: unit === undefined ? now : [], nodes, asked: edge, asking: unit };
}

// In ask mode: the unit of the next step, and its edge whose message is asked for (or null).
function askedEdge(state, run) {
  const [u] = unitsAt(state, state.step + 1), unit = state.graph.units[u];
  if (!unit || unit.kind !== "op") return [];
  if (state.step < half(state)) return [u, null];
  const edges = unit.edges.filter(({ from, edge: [i, k] }) => state.graph.needs[from] && run.messages[i][k] !== null);
  return [u, edges[Math.min(state.asked, edges.length - 1)]];
}

// -- Sizes --------------------------------------------------------------------------------------

const SUPERSCRIPT = (text) => text.replace(/[\d−]/g, (x) => (x === "−" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[x]));
const NAMES = { log: "ln", sqrt: "√", maximum: "max", minimum: "min", less: "<", less_equal: "≤", sigmoid: "σ", sum: "Σ", prod: "Π", neg: "−", abs: "|x|", pow: "xʸ", pos: "+" };
const STROKES = { add: "M-8 0H8M0-8V8", sub: "M-8 0H8", neg: "M-8 0H8", mul: "M-6-6L6 6M-6 6L6-6", div: "M-8 0H8M0-7.5V-7.4M0 7.5V7.4", sum: "M-8 0H8M0-8V8", sqrt: "M-10 1h3l4 8 5-17h9" };

// What stands in the circle of an operation.
function signOf({ nodes, labels }, unit) {
  const { rule, inputs } = nodes[unit.node], { op } = rule, value = (k) => nodes[inputs[k]].value;
  const word = op ? NAMES[op] ?? op : rule.name;
  if (unit.inside.length > 1) {
    const [a, b] = nodes[unit.inside[1]].inputs.map((j) => (nodes[j].rule || labels[j] ? plainName(labels[j]) : factor(nodes[j].value)));
    return { text: `(${a} − ${b})${SUPERSCRIPT(number(value(1)))}`, serif: true };
  }
  if (op === "power" && unit.edges.length === 1) {
    const n = number(value(1));
    return { text: n.includes(".") ? `x^${n}` : `x${SUPERSCRIPT(n)}`, serif: true };
  }
  if (op === "exponential") return { text: "aˣ", serif: true };
  return STROKES[op] ? { stroke: STROKES[op] } : { text: word.length > 12 ? `${word.slice(0, 11)}…` : word };
}

const CARD = { head: 41, row: 25.5 };
const capsuleFont = (size) => `650 ${size}px ${SANS}`;

// Gives each unit its size and ports, and lays all out. Numbers change nothing here.
function placed(graph, compact, vertical) {
  const key = `${compact}${vertical}`;
  graph.places ??= {};
  if (graph.places[key]) return graph.places[key];
  const units = graph.units.map((unit) => {
    const ports = unit.edges.length, copy = { ...unit, edges: unit.edges.map((edge) => ({ ...edge })) };
    if (unit.kind === "card") {
      const rows = ports + (unit.neuron.bias === undefined ? 0 : 1), tall = CARD.head + CARD.row * rows + 7;
      const [wide, long] = [vertical ? 116 : 190, tall];
      Object.assign(copy, { w: wide, h: long, column: (vertical ? long : wide) / 2 });
      copy.up = copy.down = (vertical ? wide : long) / 2 + 3;
      copy.edges.forEach((edge, k) => { edge.port = vertical ? wide * ((k + 1) / (ports + 1) - 0.5) : CARD.head + CARD.row * (k + 0.5) - long / 2; });
      return copy;
    }
    const sign = unit.kind === "op" ? signOf(graph, unit) : null;
    const text = sign?.text ? widthOf(sign.text, sign.serif ? `italic 18px ${SERIF}` : `16px ${SANS}`) : 0;
    const wide = unit.kind === "op" ? Math.max(42, text + 22) : unit.kind === "input" ? Math.max(40, nameWidth(unit.name, 24) + 16) : constantWidth(graph, unit);
    const tall = unit.kind === "op" ? (ports > 2 ? 26 * ports + 4 : 42) : 40;
    Object.assign(copy, { sign, w: vertical && ports > 1 ? Math.max(wide, 26 * ports + 16) : wide, h: vertical ? 42 : tall });
    copy.column = (vertical ? copy.h : copy.w) / 2;
    const forked = graph.uses[unit.node].length > 1;
    copy.up = vertical ? Math.max(copy.w / 2, 62) : unit.kind === "constant" ? 10 : Math.max(tall / 2, 34);
    copy.down = vertical ? copy.up : unit.kind === "constant" ? 10 : Math.max(tall / 2, compact && forked ? 52 : 36);
    copy.edges.forEach((edge, k) => { edge.port = 26 * (k - (ports - 1) / 2); });
    return copy;
  });
  const many = units.length > 24, room = (unit) => {
    if (unit.kind === "constant") return 0;
    const forked = graph.uses[unit.node].length, named = compact || unit.kind !== "op" || unit.node === graph.output ? 0 : nameWidth(unit.name, 16) + 8;
    return compact || forked < 2 || graph.neurons.size ? Math.max(compact ? (many ? (forked > 1 ? 76 : 64) : forked > 1 ? 50 : 42) : 68, named + (compact ? 42 : 62)) : forked > 3 ? 132 : forked > 2 ? 190 : 150;
  };
  const last = Math.max(...units.map((unit) => unit.edges.length), 0);
  const gap = (l) => {
    const here = units.filter((unit) => unit.layer === l), end = here.some((unit) => unit.node === graph.output);
    if (vertical) return end ? 62 : here.some((unit) => unit.kind === "card") ? 92 : 84;
    return (end ? endRoom(graph, compact) + 8 + nameWidth(graph.labels[graph.output], 24) : Math.max(...here.map(room)) + gap.curve + (compact ? 4 : 14));
  };
  gap.curve = vertical ? 60 : graph.neurons.size ? 104 : compact ? 52 : 118;
  gap.run = vertical ? 0 : compact ? 12 : last ? 22 : 0;
  return (graph.places[key] = { ...layOut(units, gap), units });
}

const endRoom = (graph, compact) => (compact ? (graph.units.length > 24 ? 88 : 56) : 72);
const constantWidth = (graph, unit) => {
  const named = graph.labels[unit.node] ? nameWidth(unit.name, 18) + widthOf(" = ", `17px ${SANS}`) : 0;
  return named + widthOf(number(graph.start[unit.node]), `17px ${SANS}`) + 8;
};

// The way of drawing that fits: roomy, compact, or downwards; its scale, and whether it scrolls.
function fitOf(state) {
  const { graph, width } = state, vertical = graph.neurons.size > 0 && width < 600;
  const across = (place, turned) => (turned ? place.high - place.low : place.length) + 8;
  let place = placed(graph, width < 600, vertical), compact = width < 600;
  if (!compact && width / across(place, false) < 0.95) {
    compact = true;
    place = placed(graph, true, false);
  }
  const size = across(place, vertical), least = vertical ? 0.76 : 0.66;
  const pane = Math.max(width, Math.min(state.room, size * 0.85)); // large graphs may use the margins
  const scale = Math.max(least, Math.min(width < 600 ? 1 : 1.28, pane / size)) * state.zoom;
  return { place, compact, vertical, scale, least, whole: pane / size, pane };
}

// -- Wires --------------------------------------------------------------------------------------

const turned = (vertical) => (x, y) => (vertical ? `${y.toFixed(1)},${x.toFixed(1)}` : `${x.toFixed(1)},${y.toFixed(1)}`);

function pathOf(points, shift, at) {
  let [x, y] = points[0], d = `M${at(x, y + shift)}`;
  for (const [x2, y2] of points.slice(1)) {
    const m = (x + x2) / 2;
    d += y === y2 ? `L${at(x2, y2 + shift)}` : `C${at(m, y + shift)} ${at(m, y2 + shift)} ${at(x2, y2 + shift)}`;
    [x, y] = [x2, y2];
  }
  return d;
}

// How far across a wire is at x.
function heightAt(points, x) {
  const k = Math.max(1, points.findIndex((p) => p[0] >= x));
  const [[x0, y0], [x1, y1]] = [points[k - 1], points[k]];
  const part = Math.max(0, Math.min(1, (x - x0) / (x1 - x0 || 1)));
  let low = 0, high = 1;
  for (let i = 0; i < 20; i++) {
    const t = (low + high) / 2;
    if (1.5 * t - 1.5 * t * t + t * t * t < part) low = t;
    else high = t;
  }
  return y0 + (y1 - y0) * (3 * low * low - 2 * low * low * low);
}

// -- The picture --------------------------------------------------------------------------------

function drawGraph(state, view, actions) {
  const { graph } = state, { place, compact, vertical, scale } = fitOf(state), { units } = place;
  const at = turned(vertical), pad = 4, many = units.length > 24;
  const [long, wide] = [place.length + 2 * pad, place.high - place.low + 2 * pad];
  const size = vertical ? [wide, long] : [long, wide];
  const box = vertical ? [place.low - pad, -pad] : [-pad, place.low - pad];
  const ribbons = ribbonsOf(graph, view);
  const tools = { state, view, units, at, compact, vertical, many, ribbons, actions };
  const wires = [], forks = [], heads = [], boxes = [];
  units.forEach((unit, u) => {
    drawTrunk(tools, unit, u, wires, forks);
    unit.edges.forEach((edge) => drawEdge(tools, unit, u, edge, wires, heads));
    boxes.push(drawUnit(tools, unit, u));
  });
  return h("svg", {
    viewBox: [...box, ...size].map((x) => x.toFixed(1)).join(" "), width: Math.round(size[0] * scale), height: Math.round(size[1] * scale),
    role: "img", "aria-labelledby": "formula sentence", class: vertical ? "graph down" : "graph",
  }, h("g", wires), h("g", forks), h("g", boxes), h("g.heads", heads));
}

// The widths of wires in a network: blue by weight, orange by message.
function ribbonsOf(graph, { run }) {
  if (!graph.neurons.size) return () => ({ blue: 2, orange: 2 });
  const edges = graph.units.flatMap((unit) => unit.edges.filter((edge) => edge.weight !== undefined));
  const sent = ({ edge: [i, k] }) => run.messages[i]?.[k] ?? 0;
  const most = (of) => Math.max(1e-300, ...edges.map((edge) => Math.abs(of(edge))).filter(Number.isFinite));
  const weight = (edge) => run.values[edge.weight], [w, m] = [most(weight), most(sent)];
  const width = (x, top) => (Number.isFinite(x) ? 1 + 4 * Math.abs(x) / top : 1);
  return (edge) => (edge.weight === undefined ? { blue: 2, orange: 2 } : {
    blue: width(weight(edge), w), orange: width(sent(edge), m),
    blueDash: weight(edge) < 0, orangeDash: sent(edge) < 0,
  });
}

const dash = (width) => `${2 + 2 * width} ${1.5 + width}`;

// The wire from a unit to its fork, its dot, and for the output its end and name.
function drawTrunk({ state, view, at, vertical, compact }, unit, u, wires, forks) {
  const { graph } = state, { node } = unit, last = node === graph.output;
  if (!last && (unit.kind === "constant" || graph.uses[node].length === 1)) return;
  const points = [[unit.x + unit.column, unit.y], [last ? unit.x + unit.column + (vertical ? 34 : endRoom(graph, compact) - 8) : unit.fork, unit.y]];
  const known = view.value[u], { complete } = view.gradient(node), back = complete > 0 && graph.needs[node];
  wires.push(h("path", { class: known ? "wire value" : "wire", "stroke-width": 2, d: pathOf(points, back ? -1.6 : 0, at) }));
  if (back) wires.push(h("path.wire.gradient", { "stroke-width": 2, d: pathOf(points, 1.6, at), opacity: complete }));
  if (!last && graph.uses[node].length > 1) {
    const [x, y] = at(unit.fork, unit.y).split(","), now = state.touched === null && complete && view.now.some((v) => graph.units[v].edges.some((e) => e.from === node));
    const sum = graph.needs[node] && back;
    forks.push(h("g", { class: `fork${sum ? " sum" : ""}${now ? " now" : ""}${known ? "" : " idle"}`, transform: `translate(${x} ${y})` },
      h("circle", { r: sum ? 5 + 3 * complete : 5 }), sum && h("path", { d: "M-4 0H4M0-4V4", opacity: complete })));
  }
}

// A wire to a port, its second strand, its arrowhead and its message.
function drawEdge(tools, unit, u, edge, wires, heads) {
  const { state, view, at, vertical, compact, many, ribbons } = tools, { graph } = state, source = tools.units[edge.unit], [i, k] = edge.edge;
  const constant = source.kind === "constant", points = [...edge.points], end = points.at(-1);
  if (graph.uses[edge.from].length === 1) points[constant ? "splice" : "unshift"](...(constant ? [0, 1] : []), [source.x + source.column, source.y]);
  const message = view.run.messages[i][k], live = graph.needs[edge.from] && message !== null && message !== undefined;
  const grown = live ? view.sent(u, "strand") : 0, known = view.value[edge.unit] > 0;
  const { blue, orange, blueDash, orangeDash } = ribbons(edge), apart = grown ? (blue + orange) / 4 + 0.6 : 0;
  const kind = constant ? "wire thin" : known ? "wire value" : "wire";
  wires.push(h("path", { class: kind, d: pathOf(points, -apart, at), "stroke-width": constant ? 1.2 : blue, "stroke-dasharray": blueDash ? dash(blue) : undefined }));
  if (grown) {
    wires.push(h("path", {
      class: "wire gradient", d: pathOf([...points].reverse(), apart, at), "stroke-width": orange,
      pathLength: grown < 1 ? 1 : undefined, "stroke-dasharray": grown < 1 ? `${grown} 2` : orangeDash ? dash(orange) : undefined,
    }));
  }
  if (constant) return;
  const now = view.now.includes(u), forward = state.step <= half(state);
  if (now && forward && state.t !== null && state.t < 350) heads.push(beadOn(graph.uses[edge.from].length === 1 ? points : [[source.x + source.column, source.y], ...points], phase(state, "bead"), at));
  if (edge.weight !== undefined) return;
  const shown = live && view.sent(u, "open") > 0 && (!many || now || state.hover === unit.node);
  const asked = view.asked?.edge === edge.edge;
  let left = 0;
  if (shown || asked) {
    const text = asked ? [] : messageText(state, view, unit, i, k, now, compact ? 3 : 4);
    const width = asked ? 52 : Math.max(22, widthOf(text.map((x) => (typeof x === "string" ? x : x[1])).join(""), capsuleFont(now ? 15 : 14)) + 14);
    const open = asked ? 1 : view.sent(u, "open"), x = end[0] - 8 - width / 2;
    const y = vertical ? heightAt(points, end[0] - 24) : Math.max(end[1] - 9, Math.min(end[1] + 9, heightAt(points, x)));
    const [cx, cy] = at(vertical ? end[0] - 24 : x, y).split(",").map(Number);
    heads.push(h("g", { class: `message${now ? " now" : ""}${asked ? " asked" : ""}`, transform: `translate(${cx} ${cy})` },
      h("rect", { x: width / 2 - width * open, y: asked ? -14 : -11, width: width * open, height: asked ? 28 : 22, rx: asked ? 7 : 11 }),
      asked ? h("text.wrong", { y: 5 }, state.wrong?.text ?? "") : h("text", { y: 5, opacity: open }, text.map((x) => (x.tag || typeof x === "string" ? x : h("tspan", { class: x[0] }, x[1]))))));
    left = vertical ? 26 : width * open;
  }
  const turn = live ? (asked ? 1 : view.sent(u, "turn")) : 0, x = Math.max(points[0][0] + 9, end[0] - 14 - Math.max(24, left + 3));
  const slope = heightAt(points, x + 4) - heightAt(points, x - 4), y = heightAt(points, x);
  if (many && !now && !(unit.w > 0 && known)) return;
  const angle = Math.atan2(slope, 8) * 180 / Math.PI, [px, py] = at(x, y).split(",");
  heads.push(h("path", { class: turn > 0.5 ? "head gradient" : known ? "head value" : "head", d: "M-6-5.5L8 0L-6 5.5Z", transform: `translate(${px} ${py}) rotate(${(vertical ? 90 - angle : angle) + 180 * turn}) scale(${many ? 0.7 : 1})` }));
  if (now && !forward && opOf(graph, u) === "mul" && state.t !== null && !vertical) {
    const p = phase(state, "swap"), other = unit.edges[1 - unit.edges.indexOf(edge)];
    if (p > 0 && p < 1 && other) {
      const across = end[1] + (other.port - edge.port) * p, bend = (edge.port < other.port ? -1 : 1) * 30 * Math.sin(Math.PI * p);
      heads.push(h("text.value.swap", { x: end[0] - 34 + bend, y: across + 6 }, number(view.run.values[edge.from])));
    }
  }
}

function beadOn(points, p, at) {
  const x = points[0][0] + (points.at(-1)[0] - points[0][0]) * p, [cx, cy] = at(x, heightAt(points, x)).split(",");
  return h("circle.bead", { r: 5, cx, cy });
}

// A message: 3; at its step how it was made, 1 · 3 = 3, the local derivative in blue.
const COPIES = ["add", "sub", "sum", "neg", "pos", "where"];
function messageText(state, { run, nodes }, unit, i, k, now, digits) {
  const sent = run.messages[i][k], { op } = nodes[i].rule;
  if (!now || COPIES.includes(op)) return [number(sent, digits)];
  const local = localsOf(state.graph, run.values, i)[k];
  return [["up", `${number(run.adjoints[i])} · `], ["local", factor(local)], ["up", " = "], number(sent)];
}

// The box of a unit with its value above the wire and its gradient, or the place for it, below.
function drawUnit(tools, unit, u) {
  const { state, view, at, vertical, compact, actions } = tools, { graph } = state, { node, kind } = unit;
  const [x, y] = at(unit.x, unit.y).split(",").map(Number), now = view.now.includes(u) || view.asking === u;
  const touch = state.touched === node;
  const classes = `unit ${kind}${now ? ` now ${state.step <= half(state) && view.asking !== u ? "forward" : "backward"}` : ""}${touch ? " touched" : ""}${state.hover === node ? " hover" : ""}${kind === "op" && !view.value[u] && view.asking !== u ? " idle" : ""}`;
  const go = { onclick: () => actions.choose(node), onpointerenter: () => actions.hover(node), onpointerleave: () => actions.hover(null) };
  if (kind === "constant") {
    const name = graph.labels[node];
    return h("g", { class: classes, transform: `translate(${x} ${y})`, ...go }, h("text", { x: -unit.column, y: 6 }, name ? [...nameSpans(name, 18), h("tspan", " = ")] : "", number(state.leaves[node])));
  }
  return h("g", { class: classes, transform: `translate(${x} ${y})` },
    h("g", go, kind === "card" ? drawCard(tools, unit, u) : drawBox(tools, unit, u, now)),
    drawTexts(tools, unit, u),
    node === graph.output && h("text.end", { x: vertical ? 0 : unit.column + endRoom(graph, compact), y: vertical ? unit.column + 56 : 8, "text-anchor": vertical ? "middle" : "start" }, nameSpans(unit.name, 24)));
}

const MARKS = { corner: ["M-16 0H0L14-14", true], left: ["M-4-16V4M-4-14l-6 6M-4-7l-6 6M-4 0l-6 6M1 4C1-8 4-15 17-15"], right: ["M4-16V4M4-14l6 6M4-7l6 6M4 0l6 6M-1 4C-1-8-4-15-17-15"] };

function drawBox({ state, view }, unit, u, now) {
  const { w, h: tall, kind, sign, node } = unit, { graph } = state;
  if (kind === "input") return [h("rect.box", { x: -w / 2, y: -20, width: w, height: 40, rx: 9 }), h("text", { y: 7, "text-anchor": "middle" }, nameSpans(unit.name, 24))];
  const odd = graph.nodes[node].rule && view.value[u] ? peculiar(graph, view.run.values, node) : null;
  return [
    now && h("rect.halo", { x: -w / 2 - 7, y: -tall / 2 - 7, width: w + 14, height: tall + 14, rx: 28, opacity: phase(state, "halo") }),
    h("rect.box", { x: -w / 2, y: -tall / 2, width: w, height: tall, rx: 21 }),
    sign.stroke ? h("path.sign", { d: sign.stroke }) : h("text", { class: sign.serif ? "sign serif" : "sign", y: 6, "text-anchor": "middle" }, sign.text),
    odd && h("g.mark", { transform: `translate(0 ${-tall / 2 - (odd === "corner" ? 10 : 12)})` }, h("path", { d: MARKS[odd][0] }), MARKS[odd][1] && h("circle", { r: 3.5 })),
  ];
}

// A neuron: its name, its activation with point and tangent, and its weights, whose rows are ports.
function drawCard({ state, view, vertical, actions }, unit, u) {
  const { neuron, w, h: tall } = unit, { run, nodes } = view, size = vertical ? 12 : 14, act = neuron.act;
  const rows = [...neuron.rows.map((row) => row.weight), ...(neuron.bias === undefined ? [] : [neuron.bias])];
  const small = vertical ? [w / 2 - 46, 40] : [w / 2 - 68, 60], height = 28;
  const curve = () => {
    const at = run.values[neuron.sum], span = Math.max(3, Math.min(30, Math.abs(at) * 1.3 || 3)), xs = Array.from({ length: 31 }, (_, k) => -span + k * span / 15);
    const ys = xs.map((x) => act.value(x)), [low, high] = [Math.min(...ys, 0), Math.max(...ys, 0)];
    const px = (x) => small[0] + (x + span) / (2 * span) * small[1], py = (v) => -tall / 2 + 7 + height * (1 - (v - low) / (high - low || 1));
    const slope = act.back(1, at)[0], value = act.value(at), reach = span * 0.3;
    return [h("path.axis", { d: `M${small[0]} ${py(0)}h${small[1]}` }),
      h("path.wire.value", { d: `M${xs.map((x, k) => `${px(x).toFixed(1)} ${py(ys[k]).toFixed(1)}`).join("L")}` }),
      view.value[u] > 0 && Number.isFinite(value) && [view.sent(u, "open") > 0 && h("path.tangent", { d: `M${px(at - reach)} ${py(value - slope * reach)}L${px(at + reach)} ${py(value + slope * reach)}` }),
        h("circle.point", { cx: px(at), cy: py(value), r: 3.5 })]];
  };
  return [
    view.now.includes(u) && h("rect.halo", { x: -w / 2 - 7, y: -tall / 2 - 7, width: w + 14, height: tall + 14, rx: 16, opacity: phase(state, "halo") }),
    h("rect.box", { x: -w / 2, y: -tall / 2, width: w, height: tall, rx: 11 }),
    h("text", { x: -w / 2 + 12, y: -tall / 2 + 27 }, nameSpans(unit.name, vertical ? 18 : 21)),
    !vertical && h("text.soft", { x: -w / 2 + 20 + nameWidth(unit.name, 21), y: -tall / 2 + 26 }, act ? `= ${NAMES[act.op] ?? act.op} Σ` : "= Σ"),
    act && curve(), h("path.axis", { d: `M${-w / 2} ${-tall / 2 + 40}h${w}` }),
    rows.map((j, k) => {
      const y = -tall / 2 + CARD.head + CARD.row * (k + 0.5), { complete } = view.gradient(j), one = state.touched === j;
      return h("g", { class: `row${one ? " touched" : ""}`, onclick: (event) => { event.stopPropagation(); actions.touch(j); } },
        h("rect.hit", { x: -w / 2 + 3, y: y - 12.5, width: w - 6, height: 25, rx: 6 }),
        h("text", { x: -w / 2 + (vertical ? 7 : 12), y: y + 5 }, nameSpans(graphName(state, j), size + 1)),
        h("text.value", { "font-size": size, x: vertical ? w / 2 - 44 : w / 2 - 76, y: y + 5, "text-anchor": "end" }, number(run.values[j], vertical ? 3 : 4)),
        complete ? h("text.gradient", { "font-size": size, opacity: complete, x: w / 2 - (vertical ? 5 : 10), y: y + 5, "text-anchor": "end" }, number(run.adjoints[j], 3))
          : h("rect.place", { x: w / 2 - (vertical ? 35 : 48), y: y - 7, width: vertical ? 28 : 38, height: 14, rx: 4 }));
    }),
  ];
}

const graphName = (state, j) => state.graph.labels[j] || "w";

function drawTexts({ state, view, vertical, compact, many }, unit, u) {
  const digits = many ? 3 : 4;
  const { graph } = state, { node, kind, column } = unit, { run } = view, needs = graph.needs[node], asked = view.asking === u && state.step < half(state);
  const spot = vertical ? (kind === "input" ? { x: -unit.w / 2 - 8, y: 6, gx: unit.w / 2 + 8, gy: 6 } : { x: -10, y: column + 18, gx: 10, gy: column + 18 }) : { x: column + 10, y: -10, gx: column + 10, gy: 24 };
  const name = kind === "op" && !compact && !vertical && node !== graph.output ? unit.name : "";
  const value = asked ? h("g.message.asked", { transform: `translate(${spot.x + 26} ${spot.y - 7})` }, h("rect", { x: -26, y: -13, width: 52, height: 26, rx: 7 }), h("text.wrong", { y: 5 }, state.wrong?.text ?? ""))
    : h("text", { x: spot.x, y: spot.y, "text-anchor": vertical ? "end" : "start" },
      name && h("tspan.soft", nameSpans(name, 16)),
      view.value[u] ? h("tspan", { class: litValue(state, view, node) ? "value lit" : "value", opacity: view.value[u], dx: name ? 7 : 0, dy: nameParts(name)[1] ? -16 * 0.18 : 0 }, number(run.values[node], digits)) : "");
  if (!needs) return [value];
  const { terms, complete, of } = view.gradient(node), { gx: x, gy: y } = spot;
  const fresh = state.touched === null && complete && view.now.some((v) => graph.units[v].edges.some((e) => e.from === node));
  if (!complete && !terms.length) return [value, h("rect.place", { x, y: y - (vertical ? 14 : 16), width: 40, height: vertical ? 18 : 22, rx: 6 })];
  if (!complete) {
    const said = `${total(terms.slice(0, 2))} + `, wide = widthOf(said, `18px ${SANS}`);
    return [value, h("text.gradient.terms", { x, y }, said), h("rect.place", { x: x + wide + 2, y: y - 15, width: 24, height: 20, rx: 5 })];
  }
  const sum = graph.neurons.size || (compact && !fresh && state.touched !== node) ? "" : of > 3 ? `= sum of ${of}` : of > 1 ? `= ${total(terms)}` : "", own = number(run.adjoints[node], compact && of > 1 ? 3 : digits);
  const below = compact || vertical, wide = widthOf(own, `650 18px ${SANS}`) + (below ? 0 : widthOf(` ${sum}`, `18px ${SANS}`));
  return [value,
    fresh && of > 1 && !vertical && h("rect.tint", { x: x - 6, y: y - 19, width: wide + 12, height: 26, rx: 6, opacity: complete }),
    h("text.gradient", { x, y, opacity: complete, transform: node === graph.output && complete < 1 ? `translate(0 ${-14 * (1 - complete)})` : undefined }, own, sum && !below && h("tspan.terms", ` ${sum}`)),
    sum && below && !vertical && h("text.gradient.terms.small", { x, y: y + 18, opacity: complete }, sum)];
}

// The blue factor of the message that is asked for lights up after a wrong answer.
function litValue(state, view, node) {
  if (!state.wrong || !view.asked || opOf(state.graph, view.asking) !== "mul") return false;
  const [i, k] = view.asked.edge;
  return view.nodes[i].inputs[1 - k] === node;
}
