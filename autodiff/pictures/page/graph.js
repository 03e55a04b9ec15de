// The picture of a graph: one pure function of the state. Blue is a value, above its wire; orange
// a gradient, below it; a message stands on the wire, beside the operation that made it. What
// moves in a step moves by the style sheet: an element that is new there is `.fresh`.

// What is known at this step: of each unit's value, of what it sent, and of each node's gradient.
function viewOf(state, run) {
  const { graph, step, moving, touched } = state, { needs, uses, owner, units, output } = graph;
  const last = step === graph.last, next = unitsAt(graph, step + 1)[0];
  const valued = (u) => units[u].at[0] <= step, sent = (u) => units[u].at[1] <= step;
  const rest = touched !== null || (!moving && (step === graph.half || last));
  const asks = state.ask && touched === null && units[next]?.kind === "op";
  const now = rest || asks ? [] : unitsAt(graph, step);
  const gradient = (j) => { // fresh: it comes at this step
    const all = uses[j].filter(([i, k]) => run.messages[i][k] != null).reverse();
    const terms = all.filter(([i]) => sent(owner[i])).map(([i, k]) => run.messages[i][k]);
    const of = all.length, fresh = all.some(([i]) => now.includes(owner[i]));
    return j === output
      ? { terms: [1], of: 1, complete: step > graph.half, fresh: step === graph.half + 1 }
      : { terms, of, complete: terms.length === of && (of > 0 || last), fresh };
  };
  // the two slopes of a corner, where an input is touched
  const sides = touched !== null && last && Number.isFinite(run.adjoints[touched])
    && corner((at) => slopeAt(graph, state.leaves, touched, at), state.leaves[touched]);
  const view = { run, gradient, valued, sent, now, sides };
  if (!asks) return view;
  const edges = units[next].edges.filter(({ from, edge: [i, k] }) =>
    step >= graph.half && needs[from] && run.messages[i][k] !== null);
  return { ...view, asking: next, asked: edges[state.asked], questions: edges.length };
}

// -- Sizes

const NAMES = { log: "ln", sqrt: "√", maximum: "max", minimum: "min", less: "<", less_equal: "≤",
  sigmoid: "σ", sum: "Σ", prod: "Π", abs: "|x|", pow: "xʸ", exponential: "aˣ",
  add: "+", sub: "−", mul: "×", div: "÷", neg: "−" };
const nameOf = (op, name) => NAMES[op] ?? name.slice(0, 12);
const opOf = ({ nodes }, i) => nameOf(nodes[i].rule.op, nodes[i].rule.name);

// What stands in the box of a unit that is a text.
function signOf({ nodes, labels, start }, { kind, node, name, edges }) {
  const said = labels[node] ? `${plainName(name)} = ` : "";
  if (kind === "constant") return said + number(start[node]);
  const { op, name: word } = nodes[node].rule, exponent = nodes[nodes[node].inputs[1]];
  return op === "power" && edges.length < 2 ? `x${raise(exponent.value)}` : nameOf(op, word);
}

const CARD = { head: 41, row: 25.5 };

// What a unit's box says and how large it is, where its first port is and how far apart they are.
function sizeOf(graph, unit, down) {
  const { kind, name, neuron } = unit, n = unit.edges.length;
  if (neuron) {
    const w = down ? 116 : 190, tall = CARD.head + CARD.row * neuron.weights.length + 7;
    return down ? { w, tall, first: w / (n + 1) - w / 2, apart: w / (n + 1) }
      : { w, tall, first: CARD.head + CARD.row / 2 - tall / 2, apart: CARD.row };
  }
  if (kind === "input") return { w: Math.max(40, nameWidth(name, 24) + 16), tall: 40 };
  const sign = signOf(graph, unit), w = widthOf(sign, 17) + 8, row = n > 2 ? 26 * n : 0;
  if (kind === "constant") return { sign, w, tall: 40 };
  const apart = down && !row ? 20 : 26, first = apart * (1 - n) / 2;
  return { sign, w: Math.max(42, w + 14, down && row && row + 16), first, apart,
    tall: row && !down ? row + 4 : 42 };
}

// Lays all out. Numbers change nothing here.
// way: "roomy", "compact", or "down", from the top to the bottom.
function placed(graph, way) {
  graph.places ??= {};
  if (graph.places[way]) return graph.places[way];
  const down = way === "down", roomy = way === "roomy", many = isLarge(graph);
  const forked = (node) => graph.uses[node].length > 1;
  const units = graph.units.map((unit) => {
    const { kind, node } = unit, { first, apart, ...size } = sizeOf(graph, unit, down);
    const { w, tall } = size;
    const edges = unit.edges.map((edge, k) => ({ ...edge, port: first + apart * k }));
    const beside = kind === "constant" ? 10 : !down ? 34 : many ? 21 : kind === "input" ? 96 : 62;
    const up = Math.max((down ? w : tall) / 2, beside);
    const below = down ? 74 * many : way === "compact" && forked(node) ? 52 : 0;
    return { ...unit, ...size, edges, column: (down ? tall : w) / 2, up,
      down: Math.max(up, kind === "constant" ? 0 : below) };
  });
  const room = ({ kind, node, name }) => (kind === "constant" ? 0
    : !roomy ? (forked(node) ? 58 : 36) + 13 * many
      : forked(node) ? 150 : kind === "op" ? nameWidth(name, 16) + 72 : 72);
  const gap = (l) => {
    const here = units.filter((unit) => unit.layer === l);
    if (!here.some(({ node }) => node === graph.output)) {
      return down ? 100 : Math.max(...here.map(room)) + gap.curve + 8;
    }
    return down ? 62 : nameWidth(graph.labels[graph.output], 24) + endRoom(units) + 8;
  };
  gap.curve = down ? 57 : roomy ? 110 : 42;
  gap.run = down ? 0 : roomy ? 22 : 12;
  return (graph.places[way] = { ...layOut(units, gap), units });
}
const isLarge = ({ units }) => units.length > 24;
const endRoom = (units) => (isLarge({ units }) ? 92 : 72);

// The way of drawing in which the whole is in sight, with texts of 9 pixels; its scale.
function fitOf({ graph, width }) {
  const network = graph.neurons.size > 0, phone = width < 600, many = isLarge(graph);
  const ways = network ? [phone ? "down" : "roomy"]
    : [...phone ? [] : ["roomy"], "compact", ...many || phone ? ["down"] : []];
  const fits = ways.map((way) => {
    const place = placed(graph, way), down = way === "down";
    const least = network ? (down ? 0.76 : 0.66) : { roomy: 0.75, compact: 0.61, down: 0.54 }[way];
    const whole = width / (8 + (down ? place.high - place.low : place.length));
    return { place, way, down, whole, least };
  });
  const fit = fits.find(({ whole, least }) => whole >= least)
    ?? fits.reduce((a, b) => (b.whole > a.whole ? b : a));
  return { ...fit, scale: clamp(fit.whole, fit.least, many ? 0.7 : 1.28) };
}

// -- Wires

// A wire bends as a cubic whose height is known at each place: y₀ + (y₁ - y₀) p² (3 - 2p).
function pathOf(points, shift, at) {
  return points.map(([x, y], k) => {
    if (k === 0) return `M${at(x, y + shift)}`;
    const [x0, y0] = points[k - 1], third = (x - x0) / 3;
    return `C${at(x0 + third, y0 + shift)} ${at(x - third, y + shift)} ${at(x, y + shift)}`;
  }).join("");
}

// On a wire, so far before its end.
const onWire = (path, far) =>
  ({ style: `offset-path: path("${path}"); offset-distance: max(9px, 100% - ${far}px)` });

// The widths of wires in a network: blue by weight, orange by message; a negative one is dashed.
function ribbonsOf({ units }, { run }) {
  const edges = units.flatMap((unit) => unit.edges.filter(({ weight }) => weight !== undefined));
  const kinds = [({ weight }) => run.values[weight], ({ edge: [i, k] }) => run.messages[i][k]];
  const most = kinds.map((of) => Math.max(...edges.map((edge) => Math.abs(of(edge)) || 0), 1e-300));
  return (edge) => kinds.map((of, k) => {
    if (edge.weight === undefined) return { "stroke-width": 2 };
    const x = of(edge), width = 1 + 4 * Math.min(1, Math.abs(x) / most[k] || 0);
    return { "stroke-width": width,
      "stroke-dasharray": x < 0 && `${2 + 2 * width} ${1.5 + width}` };
  });
}

// -- The picture

// A message, or the place for an answer.
const capsule = (kind, wide, where, ...inside) => h("g", { class: kind, ...where },
  box("", wide, 22, 11), write("middle", 0, 5, inside));

function drawGraph(state, view) {
  const { graph } = state, { place, way, down, scale } = fitOf(state), { units } = place;
  const at = (x, y) => (down ? [y, x] : [x, y]).map((v) => v.toFixed(1)).join(" ");
  const compact = way !== "roomy", many = isLarge(graph);
  const tools = { state, graph, view, units, at, down, compact, many,
    forward: state.step <= graph.half, ribbons: ribbonsOf(graph, view),
    digits: compact && !graph.neurons.size ? 3 : 4 };
  const sides = [[-4, place.length + 8], [place.low - 4, place.high - place.low + 8]];
  const [[x, w], [y, tall]] = down ? sides.reverse() : sides;
  const wires = [], heads = [];
  units.forEach((unit, u) => {
    drawTrunk(tools, unit, u, wires, heads);
    unit.edges.forEach((edge) => drawEdge(tools, unit, u, edge, wires, heads));
  });
  return h("svg", { viewBox: `${x} ${y} ${w} ${tall}`, width: Math.round(w * scale), role: "img",
    height: Math.round(tall * scale), "aria-labelledby": "formula sentence",
    class: down ? "graph down" : "graph" },
  h("g", wires), h("g", units.map((unit, u) => drawUnit(tools, unit, u))), h("g", heads));
}

// Both strands of a wire.
function strands(points, at, known, sent, fresh, [blue, orange]) {
  const apart = sent ? (blue["stroke-width"] + orange["stroke-width"]) / 4 + 0.6 : 0;
  const grows = fresh && !orange["stroke-dasharray"] && { pathLength: 1 };
  return [draw(known ? "wire value" : "wire", pathOf(points, -apart, at), blue),
    sent && draw(fresh ? "wire gradient fresh" : "wire gradient",
      pathOf([...points].reverse(), apart, at), { ...orange, ...grows })];
}

// The wire from a unit to its fork, its dot, and for the output its end.
function drawTrunk(tools, unit, u, wires, heads) {
  const { graph, view, at, down } = tools, { node, x, y, column, kind } = unit;
  const last = node === graph.output, many = graph.uses[node].length > 1;
  if (kind === "constant" || (!many && !last)) return;
  const known = view.valued(u), { complete, fresh } = view.gradient(node);
  const sum = complete && graph.needs[node];
  const end = last ? x + column + (down ? 34 : endRoom(tools.units) - 8) : unit.fork;
  wires.push(strands([[x + column, y], [end, y]], at, known, sum, fresh, tools.ribbons({})));
  if (!many || last) return;
  heads.push(put(`fork ${sum && "sum"} ${sum && fresh && "now"} ${known || "idle"}`, at(end, y),
    disc("", [0, 0], sum ? 8 : 5), sum && draw("", "M-4 0H4M0-4V4")));
}

// A wire to a port: its strands, arrowhead and message.
function drawEdge(tools, unit, u, edge, wires, heads) {
  const { state, graph, view, at, down, many, forward } = tools, source = tools.units[edge.unit];
  const points = [...edge.points], [endX, endY] = points.at(-1), [i, k] = edge.edge;
  const start = [source.x + source.column, source.y], now = view.now.includes(u);
  if (source.kind === "constant") {
    return wires.push(draw("wire thin", pathOf([start, ...points.slice(1)], 0, at)));
  }
  if (graph.uses[edge.from].length === 1) points.unshift(start);
  const live = view.run.messages[i][k] != null && graph.needs[edge.from];
  const sent = live && view.sent(u), known = view.valued(edge.unit);
  const path = pathOf(points, 0, at), whole = pathOf([start, ...points], 0, at);
  wires.push(strands(points, at, known, sent, now && !forward, tools.ribbons(edge)));
  if (now && forward) heads.push(h("circle.bead", { r: 5, ...onWire(whole, 0) }));
  if (edge.weight !== undefined) return;
  const asked = view.asked?.edge === edge.edge;
  let left = 24;
  if (asked || (sent && (!many || now || state.hover === unit.node))) {
    const parts = asked ? [state.wrong ?? ""] : messageText(tools, i, k, now);
    const wide = asked ? 52 : Math.max(22, widthOf(parts.join(""), 15) + 12);
    const [up, local, ...result] = parts;
    left = down ? 26 : Math.max(24, wide + 3);
    heads.push(capsule(`${asked ? "asked" : "message"} ${now && "now"}`, wide,
      onWire(path, down ? 24 : 8 + wide / 2), up, local && h("tspan.local", local), result));
  }
  const kind = sent || asked ? "gradient turned" : known ? "value" : "";
  heads.push(h("g", onWire(path, left + 14),
    draw(`solid head ${kind}`, many ? "M-4-4L5 0L-4 4Z" : "M-6-5.5L8 0L-6 5.5Z")));
  const other = unit.edges[1 - k];
  if (now && sent && graph.nodes[i].rule.op === "mul" && other) { // the values change places
    const beside = endY + other.port - edge.port;
    const bend = at(endX + (k ? 4 : -72), (endY + beside) / 2);
    const arc = `M${at(endX - 34, endY)}Q${bend} ${at(endX - 34, beside)}`;
    heads.push(h("text.value.swap", onWire(arc, 0), number(view.run.values[edge.from])));
  }
}

// A message: 3; at its step how it was made, 1 · 3 = 3.
function messageText({ graph, view: { run }, digits }, i, k, now) {
  const sent = number(run.messages[i][k], digits);
  if (!now || ["add", "sub", "sum"].includes(graph.nodes[i].rule.op)) return [sent];
  return [`${number(run.adjoints[i])} · `, factor(localsOf(graph, run.values, i)[k]), " = ", sent];
}

const CORNER = "M-16-10H0L14-24M0-7A3 3 0 000-13A3 3 0 000-7";
const END = "M-4-28V-8M-4-26l-6 6M-4-19l-6 6M-4-12l-6 6M1-8C1-20 4-27 17-27"; // on the left

// A unit: its box, its value above the wire, its gradient, or the place for it, below.
function drawUnit(tools, unit, u) {
  const { state, graph, view, at, down, forward } = tools;
  const { node, kind, name, w, tall } = unit, output = node === graph.output;
  const now = view.now.includes(u) || view.asking === u;
  const kinds = [kind, now && (forward && !view.asked ? "now forward" : "now backward"),
    state.touched === node && "touched", state.hover === node && "hover",
    !view.valued(u) && "idle"];
  const odd = kind === "op" && view.valued(u) && peculiar(graph, view.run.values, node);
  const inside = kind === "input" ? write("middle", 0, 7, nameSpan(name, 24))
    : kind === "card" ? drawCard(tools, unit, u)
      : write(/^[+−×÷√]$/.test(unit.sign) ? "large middle" : "middle", 0, 6, unit.sign);
  const end = unit.column + (down ? 56 : endRoom(tools.units));
  return put(`unit ${kinds.filter(Boolean).join(" ")}`, at(unit.x, unit.y),
    h("g", actions.linked(node), now && box("halo", w + 14, tall + 14, kind === "card" ? 16 : 28),
      kind !== "constant" && box("box", w, tall, kind === "op" ? 21 : 10), inside,
      odd && put("mark", `0 ${-tall / 2}`, draw(odd, odd === "corner" ? CORNER : END))),
    kind !== "constant" && drawTexts(tools, unit, u),
    output && write(down ? "middle" : "", down ? 0 : end, down ? end : 8, nameSpan(name, 24)));
}

// A neuron: its name, its activation with point and tangent, and its weights, whose rows are ports.
function drawCard({ state, graph, view, down }, { neuron, w, tall, name }, u) {
  const { run } = view, { act } = neuron, top = -tall / 2, right = w / 2;
  const [size, digits, wide] = down ? [13, 3, 40] : [15, 4, 60];
  const curve = () => { // 2 wide and 1 tall, as a drawing of its own
    const x = run.values[neuron.sum], y = act.value(x), slope = act.back(1, x)[0];
    const span = clamp(1.3 * Math.abs(x) || 3, 3, 30), reach = 0.3 * span;
    const xs = spaced(30, -span, span), ys = xs.map(act.value);
    const { at, line } = chart(wide, 28, [-span, span],
      [Math.min(...ys, 0), Math.max(...ys, 1e-9)], { room: [0, 0, 0, 0] });
    return put("", [right - 6 - wide, top + 7], line("axis", [[-span, 0], [span, 0]]),
      line("wire value", xs.map((x, k) => [x, ys[k]])),
      view.sent(u) && Number.isFinite(y + slope) && line("tangent",
        [-reach, reach].map((by) => [x + by, y + slope * by])),
      view.valued(u) && Number.isFinite(y) && disc("value", at([x, y]), 3.5));
  };
  return [
    write("", 12 - right, top + 27, nameSpan(name, down ? 18 : 21)),
    !down && write("soft", 20 - right + nameWidth(name, 21), top + 26,
      `= ${act ? `${act.name} ` : ""}Σ`),
    act && curve(), draw("axis", `M${-right} ${top + 40}h${w}`),
    neuron.weights.map((j, k) => {
      const y = top + CARD.head + CARD.row * (k + 0.5) + 5;
      const touch = (event) => { event.stopPropagation(); actions.touch(j); };
      return h("g", { class: state.touched === j ? "row touched" : "row", onclick: touch },
        box("hit", w - 6, 25, 6, 3 - right, y - 17.5),
        write("", (down ? 7 : 12) - right, y, nameSpan(graph.labels[j], size)),
        write("value end", right - (down ? 44 : 76), y, number(run.values[j], digits)),
        view.gradient(j).complete ? write("gradient end", right - (down ? 5 : 10), y,
          number(run.adjoints[j], 3))
          : box("place", down ? 28 : 38, 14, 4, right - (down ? 35 : 48), y - 12));
    }),
  ];
}

function drawTexts(tools, { node, kind, name, w, column }, u) {
  const { state, graph, view, down, compact, digits, many } = tools, { run } = view;
  const named = kind === "op" && !compact && node !== graph.output;
  const x = kind === "input" ? w / 2 + 8 : 10, turn = kind === "input" ? 6 : column + 18;
  const [x1, y1, x2, y2] = !down ? [column + 10, -10, column + 10, 24]
    : many ? [8, column + 18, 8, column + 37] : [-x, turn, x, turn];
  const [i, k] = view.asked?.edge ?? [node, 0], { rule, inputs } = graph.nodes[i];
  const lit = state.wrong !== null && rule?.op === "mul" && inputs[1 - k] === node; // the other
  const shift = named ? nameWidth(name, 16) + 7 : 0, side = down && !many ? " end" : "";
  const above = [named && write("soft", x1, y1, nameSpan(name, 16)),
    view.asking === u && !view.asked
      ? capsule("asked", 52, { transform: `translate(${x1 + 26} ${y1 - 7})` }, state.wrong ?? "")
      : view.valued(u) && write(`value${lit ? " lit" : ""}${side}`, x1 + shift, y1,
        number(run.values[node], digits))];
  if (!graph.needs[node]) return above;
  const { terms, of, complete, fresh } = view.gradient(node);
  if (!complete) { // perhaps half of it: 3 + ▢
    const half = !many && node !== graph.output && terms.length > 0
      && `${total(terms.slice(0, 2))} + `;
    const wide = half ? widthOf(half, 18) : 0;
    return [above, half && write("gradient terms", x2, y2, half),
      box("place", half ? 24 : 40, down ? 18 : 22, 6, x2 + wide, y2 - (down ? 14 : 16))];
  }
  const own = number(run.adjoints[node], digits), kinds = fresh ? "gradient fresh" : "gradient";
  const hidden = of < 2 || graph.neurons.size || (compact && !fresh && state.touched !== node);
  const [tx, ty] = compact ? [x2, y2 + 18] : [x2 + 5 + widthOf(own, 18), y2];
  return [above, write(kinds, x2, y2, own), !hidden && write(`${kinds} terms`, tx, ty,
    of > 3 ? `= sum of ${of}` : `= ${total(terms)}`)];
}
