// The picture of a graph: one pure function of the state. Blue is a value, above its wire; orange
// a gradient, below it; a message stands on the wire, beside the operation that made it. What
// moves in a step moves by the style sheet: an element that is new there is `.fresh`.

// The input whose slope is steepest.
function steepest(inputs, { adjoints }) {
  const size = (i) => Math.abs(adjoints[i]);
  return inputs.reduce((a, b) => (size(b) > size(a) ? b : a));
}

// What is known at this step: of each unit's value, of what it sent, and of each node's gradient.
function viewOf(state, run) {
  const { graph, step, moving, touched, proof, leaves } = state;
  const { needs, uses, owner, units, output } = graph;
  const last = step === graph.last, next = unitsAt(graph, step + 1)[0];
  const valued = (u) => units[u].at[0] <= step, sent = (u) => units[u].at[1] <= step;
  const asks = state.ask && touched === null && !proof && next !== undefined;
  const rest = touched !== null || proof || asks || (!moving && (step === graph.half || last));
  const now = rest ? [] : unitsAt(graph, step);
  const gradient = (j) => { // fresh: it comes at this step
    const all = uses[j].filter(([i, k]) => run.messages[i][k] != null).reverse();
    const terms = all.filter(([i]) => sent(owner[i])).map(([i, k]) => run.messages[i][k]);
    const of = all.length, fresh = all.some(([i]) => now.includes(owner[i]));
    return j === output
      ? { terms: [1], of: 1, complete: step > graph.half, fresh: step === graph.half + 1 }
      : { terms, of, complete: terms.length === of && (of > 0 || last), fresh };
  };
  // the two slopes of a corner, where an input is touched, or its curve shown
  const drawn = touched ?? (last && rest && !proof && !asks ? steepest(graph.sliders, run) : null);
  const sides = drawn !== null && last && Number.isFinite(run.adjoints[drawn])
    && corner((x) => pass(graph, leaves.with(drawn, x)).adjoints[drawn], leaves[drawn]);
  const breaks = sides && kindsOf(state, run, drawn).includes("jump");
  const lost = !Number.isFinite(run.values.at(-1)); // there is nothing to send back
  const doing = asks ? [next] : now; // computed, or asked for
  const view = { run, lost, gradient, valued, sent, now, doing, drawn, sides: breaks ? null : sides,
    proof: proof && proofOf(state, run) };
  if (!asks) return view;
  const edges = step < graph.half ? [] : units[next].edges.filter(({ from, edge: [i, k] }) =>
    needs[from] && run.messages[i][k] !== null);
  const here = ([i, k]) => owner[i] === next || sent(owner[i]) || run.messages[i][k] == null;
  const sums = [...new Set(edges.map(({ from }) => from))]
    .filter((j) => uses[j].length > 1 && uses[j].every(here));
  const questions = [...edges, ...sums.map((sum) => ({ sum }))];
  return { ...view, asking: next, asked: questions[state.asked], questions: questions.length || 1,
    told: questions.slice(0, state.asked) };
}

// -- Sizes

const NAMES = { log: "ln", sqrt: "√", maximum: "max", minimum: "min", less: "<", less_equal: "≤",
  sigmoid: "σ", sum: "Σ", prod: "Π", abs: "|x|", pow: "xʸ", exponential: "aˣ",
  add: "+", sub: "−", mul: "×", div: "÷", neg: "−" };
const nameOf = (op, name) => NAMES[op] ?? name.slice(0, 12);

// An operation as its circle says it: ×, ln, x³.
function opOf({ nodes, loss, output }, i) {
  const { rule: { op, name }, inputs } = nodes[i], exponent = nodes[inputs[1]]?.value;
  if (loss && i === output) return "(o − t)²";
  if (op !== "power" || exponent === undefined) return nameOf(op, name);
  return Number.isInteger(exponent) ? `x${raise(exponent)}` : `x^${letter(exponent)}`;
}

// What a question calls a unit: a neuron by its name, for several have a tanh.
const unitName = (graph, { node }) =>
  (graph.neurons.has(node) ? named(graph, node) : h("b", opOf(graph, node)));

const CARD = { head: 41, row: 25.5, closed: 44 };

// What a unit's box says and how large it is, where its first port is and how far apart they are.
function sizeOf(graph, { kind, name, neuron, node, edges: { length: n } }, closed) {
  if (neuron && closed) {
    const apart = Math.min(12, 36 / n), w = nameWidth(name, 21) + (neuron.act ? 86 : 24);
    return { w, tall: CARD.closed, first: apart * (1 - n) / 2, apart };
  }
  if (neuron) {
    const w = 190, tall = CARD.head + CARD.row * neuron.weights.length + 7;
    return { w, tall, first: CARD.head + CARD.row / 2 - tall / 2, apart: CARD.row };
  }
  if (kind === "input") return { w: Math.max(40, nameWidth(name, 24) + 16), tall: 40 };
  const said = graph.labels[node] ? `${plainName(name)} = ` : "";
  const sign = kind === "constant" ? said + letter(graph.start[node]) : opOf(graph, node);
  const w = widthOf(sign, 17) + 8;
  if (kind === "constant") return { sign, w, tall: 26 };
  return { sign, w: Math.max(42, w + 14), first: 13 * (1 - n), apart: 26,
    tall: n > 2 ? 26 * n + 4 : 42 };
}

// Lays all out; gaps stretch from 0, tight, to 1, roomy, and on; rows stand so far apart. Numbers
// change nothing here.
function placed(graph, stretch, closed, rows = 12) {
  const places = graph.places ??= {}, key = `${stretch} ${closed} ${rows}`;
  if (places[key]) return places[key];
  const between = (tight, roomy) => tight + stretch * (roomy - tight);
  const forked = (node) => graph.uses[node].length > 1;
  const units = graph.units.map((unit) => {
    const { kind } = unit, { first, apart, ...size } = sizeOf(graph, unit, closed);
    const edges = unit.edges.map((edge, k) => ({ ...edge, port: first + apart * k }));
    const half = Math.max(size.tall / 2, kind === "constant" ? 10 : 34);
    return { ...unit, ...size, closed, edges, column: size.w / 2, up: half,
      down: half + (kind === "loss" ? 30 : 0) };
  });
  const room = ({ kind, node, name }) => (kind === "constant" ? 0
    : kind === "card" ? between(72, 150) : forked(node) ? between(64, 150)
      : between(46, kind === "op" ? nameWidth(name, 16) + 72 : 72));
  const gap = (l) => {
    const here = units.filter((unit) => unit.layer === l);
    const last = here.some(({ node }) => node === graph.output);
    return last ? nameWidth(graph.labels[graph.output], 24) + END + 8
      : Math.max(...here.map(room)) + gap.curve + 8;
  };
  gap.curve = between(36, 110);
  gap.run = between(12, 22);
  const small = closed || (graph.many && !graph.neurons.size) ? 18 : 16; // its smallest text
  const least = 11.01 / small; // the scale at which that is 11 high
  return (places[key] = { ...layOut(units, gap, rows), stretch, units, small, least });
}
const END = 76; // the wire of the output

// -- Wires

// A wire bends as a cubic whose height is known at each place: y₀ + (y₁ - y₀) p² (3 - 2p).
function pathOf(points, shift = 0) {
  const at = (x, y) => `${x.toFixed(1)} ${(y + shift).toFixed(1)}`;
  return points.map(([x, y], k) => {
    if (k === 0) return `M${at(x, y)}`;
    const [x0, y0] = points[k - 1], third = (x - x0) / 3;
    return `C${at(x0 + third, y0)} ${at(x - third, y)} ${at(x, y)}`;
  }).join("");
}

// The height of a wire at x, and its angle there.
function onWire(points, x) {
  const k = Math.max(1, points.findIndex(([end]) => end >= x));
  const [[x0, y0], [x1, y1]] = points.slice(k - 1);
  const p = clamp((x - x0) / (x1 - x0 || 1), 0, 1), up = y1 - y0;
  return [y0 + up * p * p * (3 - 2 * p), Math.atan2(6 * p * (1 - p) * up, x1 - x0) * 180 / Math.PI];
}

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

// Nodes, numbers, places, pills and messages are boxes [x, y, w, tall]; what comes later goes
// where nothing stands.
function boxesOf() {
  const taken = [], free = ([x, y, w, tall]) => taken.every(([x2, y2, w2, tall2]) =>
    x >= x2 + w2 || x2 >= x + w || y >= y2 + tall2 || y2 >= y + tall);
  const first = (boxes) => {
    const found = boxes.find(free);
    if (found) taken.push(found);
    return found;
  };
  return { take: (...found) => taken.push(found), first };
}

function drawGraph(state, view, fit, eye) {
  const { graph, width } = state, { place, height } = fit, { units } = place;
  const { take, first } = boxesOf();
  const tools = { state, graph, view, place, units, take, first,
    many: graph.many, small: place.small, named: place.stretch >= 1 || !graph.many,
    forward: state.step <= graph.half, ribbons: ribbonsOf(graph, view) };
  const wires = [], heads = [], late = [];
  const nodes = units.map((unit, u) => drawUnit(tools, unit, u));
  units.forEach((unit) => drawPill(tools, unit, heads));
  units.forEach((unit, u) => {
    drawTrunk(tools, unit, u, wires, heads);
    unit.edges.forEach((edge) => late.push([!view.now.includes(u), unit, u, edge]));
  });
  late.sort((a, b) => a[0] - b[0]).forEach(([, ...rest]) => drawEdge(tools, ...rest, wires, heads));
  const [x, y] = [width / 2 - eye.scale * eye.x, height / 2 - eye.scale * eye.y];
  const transform = `translate(${x} ${y}) scale(${eye.scale})`;
  return h("svg", { width, height, role: "group", "aria-labelledby": "formula sentence",
    class: `graph ${view.proof && "proof"} ${place.small > 16 && "many"}` },
  h("g", { class: fit.zoomed && !state.eye ? "camera eased" : "camera", transform },
    h("g", wires), h("g", nodes), h("g", heads), pulseOf(state, units)));
}

const still = ({ view }, moved) => (view.proof && !moved ? "still" : "");
const later = ({ view }, node) => // after the operations before it
  (view.proof ? { style: `--turn: ${view.proof.order.get(node) ?? 0}` } : {});

// Both strands of a wire.
function strands(tools, wire, points, ...about) {
  const [known, sent, fresh, moved, , ribbon] = about, widths = ribbon.map(Object.values);
  const drawn = () => strandsOf(tools, points, ...about);
  return moved ? drawn()
    : kept(wire, "strands", [known, sent, fresh, still(tools), widths].join(), drawn);
}

function strandsOf(tools, points, known, sent, fresh, moved, node, [blue, orange]) {
  const apart = sent ? (blue["stroke-width"] + orange["stroke-width"]) / 4 + 0.6 : 0;
  const grows = fresh && !orange["stroke-dasharray"] && { pathLength: 1 };
  return [sent && draw(`wire gradient ${fresh && "fresh"} ${still(tools)}`,
    pathOf([...points].reverse(), apart), { ...orange, ...grows }),
  draw(`wire ${known && "value"} ${moved ? "moved" : still(tools)}`, pathOf(points, -apart),
    moved ? later(tools, node) : blue)];
}

// The wire from a unit to its fork, its dot, and for the output its end.
function drawTrunk(tools, unit, u, wires, heads) {
  const { graph, view, proof = view.proof } = tools, { node, x, y, column, kind } = unit;
  const last = node === graph.output, many = graph.uses[node].length > 1;
  if (kind === "constant" || (!many && !last)) return;
  const known = view.valued(u), { complete, fresh } = view.gradient(node);
  const sum = complete && graph.needs[node], moved = proof?.moved(node);
  const end = last ? x + column + END - 8 : unit.fork;
  wires.push(strands(tools, unit, [[x + column, y], [end, y]], known, sum, fresh, moved, node,
    tools.ribbons({})));
  if (!many || last) return;
  heads.push(put(`fork ${sum && "sum"} ${sum && fresh && "now"} ${known || "idle"} ${still(tools)}`,
    [end, y], disc("", [0, 0], sum ? 8 : 5), sum && draw("", "M-4 0H4M0-4V4")));
}

// A wire to a port: its strands, arrowhead and message.
function drawEdge(tools, unit, u, edge, wires, heads) {
  const { state, graph, view, place, many, forward } = tools, source = tools.units[edge.unit];
  const points = [...edge.points], [endX] = points.at(-1), [i, k] = edge.edge;
  const start = [source.x + source.column, source.y], now = view.now.includes(u);
  if (source.kind === "constant") {
    return wires.push(draw(`wire thin ${still(tools)}`, pathOf([start, ...points.slice(1)])));
  }
  const whole = [start, ...points];
  if (graph.uses[edge.from].length === 1) points.unshift(start);
  const same = (other) => other?.edge && other.edge.join() === edge.edge.join();
  const live = view.run.messages[i][k] != null && graph.needs[edge.from];
  const sent = live && (view.sent(u) || view.told?.some(same)), known = view.valued(edge.unit);
  const moved = same(state.proof) || view.proof?.moved(edge.from);
  wires.push(strands(tools, edge, points, known, sent, now && !forward, moved, edge.from,
    tools.ribbons(edge)));
  if (now && forward) {
    heads.push(h("circle.bead", { r: 5, style: `offset-path: path("${pathOf(whole)}")` }));
  }
  if (edge.weight !== undefined) return;
  const asked = same(view.asked) && graph.uses[edge.from].length > 1, proving = same(state.proof);
  const about = now || state.hover === unit.node || view.asking === u || proving;
  const shown = sent && (about || (!many && !view.proof));
  const texts = asked ? [52, 36].map((wide) => [state.wrong ?? "", wide])
    : shown ? messageTexts(tools, i, k, now) : [];
  let left = endX - 24;
  for (const parts of texts) {
    const places = [];
    const wide = asked ? parts[1] : Math.max(22, widthOf(parts.join(""), tools.small) + 12);
    for (let x = endX - 4 - wide / 2; x - wide / 2 > points[0][0] - 12; x -= 6) {
      places.push([x - wide / 2, onWire(points, x)[0] - 11, wide, 22]);
    }
    const beside = (Math.sign(edge.port) || 1) * (unit.tall / 2 + 12) - 11; // above or below
    const up = clamp(unit.y + beside, place.low - 10, place.high - 12);
    places.push(...[0.5, 0.25, 0.75, 0, 1].map((part) => [endX - part * wide, up, wide, 22]));
    const spot = tools.first(places);
    if (!spot) continue;
    const [made, local, ...result] = parts;
    if (places.indexOf(spot) < places.length - 5) left = spot[0]; // on its wire
    const at = [spot[0] + wide / 2, spot[1] + 11], rect = [-wide / 2, -11, wide, 22];
    const inside = [made, local && h("tspan.local", local), result];
    heads.push(asked ? capsule("asked", spot, made) : put(`message ${now && "now"}`, at,
      orangeNumber(tools, { edge: edge.edge }, rect, [0, 5, "middle"], inside)));
    break;
  }
  const x = Math.max(points[0][0] + 9, left - 14), [y, angle] = onWire(points, x);
  const kind = sent || asked ? "gradient" : known ? "value" : "idle";
  const turn = angle + (sent || asked ? 180 : 0), key = [kind, still(tools), x, turn].join();
  heads.push(kept(edge, "head", key, () => put(`head ${kind} ${still(tools)}`, [x, y],
    draw("solid", "M-6-5.5L8 0L-6 5.5Z",
      { transform: `rotate(${turn}) scale(${many ? 0.8 : 1})` }))));
}

// What a message can say: 3; at its step how it was made, 1 · 3 = 3.
function messageTexts({ graph, view: { run } }, i, k, now) {
  const { at, arrived, local, sent } = madeOf(graph, run, [i, k]), result = [number(sent)];
  const copies = at === i && /^-?1$/.test(graph.nodes[i].rule.slopes[k]);
  const made = [`${number(arrived)} · `, factor(local), " = ", ...result];
  return !now || copies ? [result] : [made, result];
}

const proves = remembered((_, target) => {
  const onclick = (event) => {
    event.stopPropagation();
    actions.prove(target);
  };
  return { onclick, onkeydown: (event) => { if (event.key === "Enter") onclick(event); } };
});

// A gradient or a message, which proves itself when it is touched.
function orangeNumber({ state, view }, target, [left, top, wide, tall], [x, y, align], inside) {
  const { node, edge: [i] = [node] } = target, proving = isSame(state.proof, target);
  const touchable = !view.lost && { role: "button", tabindex: -1,
    ariaPressed: proving, "data-at": i, ...proves(`${target.node}/${target.edge}`, target),
    ariaLabel: `gradient ${textOf(h("g", inside))}: prove it` };
  return h("g", { class: `proves ${proving && "proving"}`, ...touchable },
    box("hit", wide, tall, Math.min(tall / 2, 11), left, top),
    write(`gradient ${align}`, x, y, inside));
}

// By how much a value moved, where nothing stands: beside the value, above it, higher, below.
function drawPill({ state, graph, view, first }, { node, x, y, column, wide, kind }, heads) {
  if (!view.proof?.moved(node) || kind === "constant") return;
  const said = signed(view.proof.by[node]), w = widthOf(said, 17) + 16, left = x + column + 4;
  const places = [[left + wide + 8, -30], [left, -54], [left, -80], [x - w / 2, -74], [left, 34],
    [left, 60], [x - w / 2, 50]];
  const spot = first(places.map(([px, up]) => [px, y + up, w, 24]));
  if (!spot) return;
  const pill = capsule(node === state.proof.node ? "pill source" : "pill", spot, said);
  Object.assign(pill.attributes, later({ view }, node));
  heads.push(pill);
}

// What moved, or the place of an answer, in which a wrong one is struck through.
const capsule = (kind, [x, y, w, tall], inside) => put(kind, [x + w / 2, y + tall / 2],
  box("", w, tall, tall / 2), write("middle", 0, 6, inside ?? ""));

const WALL = "M-4-28V-8M-4-26l-6 6M-4-19l-6 6M-4-12l-6 6M1-8C1-20 4-27 17-27"; // on the left
const CORNER = "M-16-10H0L14-24M0-7A3 3 0 000-13A3 3 0 000-7";

// A unit: its box, its value above the wire, its gradient, or the place for it, below.
function drawUnit(tools, unit, u) {
  const { state, graph, view, forward, take } = tools;
  const { node, kind, name, w, tall, x, y } = unit, output = node === graph.output;
  const now = view.doing.includes(u), { proof } = view;
  const about = !proof || proof.moved(node)
    || [graph.owner[proof.source], graph.place.get(proof.source)].includes(u);
  const kinds = [kind, now && (forward && !view.asked ? "now forward" : "now backward"),
    state.touched === node && "touched", [state.hover, state.neuron].includes(node) && "hover",
    !view.valued(u) && "idle", !about && "still"];
  const odd = kind === "op" && view.valued(u) && peculiar(graph, view.run.values, node);
  const inside = kind === "input" ? write("middle", 0, 7, nameSpan(name, 24))
    : kind === "card" ? drawCard(tools, unit, u)
      : /^[+−×÷√]$/.test(unit.sign) ? write("large middle", 0, 11, unit.sign)
        : write("middle", 0, 6, unit.sign);
  const drawBox = () => h("g", actions.linked(node),
    now && box("halo", w + 14, tall + 14, kind === "card" ? 16 : 28),
    kind !== "constant" && box("box", w, tall, kind === "op" || target ? 21 : 10), inside,
    odd && put("", [0, -tall / 2], draw("", odd === "corner" ? CORNER : WALL,
      { transform: odd === "right" && "scale(-1 1)" })));
  const tail = unit.column + END, { target } = (kind === "loss" && graph.loss) || {};
  take(x - w / 2, y - tall / 2, w, tall);
  if (target) take(x - 45, y + 34, 90, 22);
  if (odd) take(x - 18, y - tall / 2 - 30, 36, 30);
  if (output) take(x + tail, y - 14, nameWidth(name, 24), 26);
  else if (graph.uses[node].length > 1) take(unit.fork - 8, y - 8, 16, 16);
  return put(`unit ${kinds.filter(Boolean).join(" ")}`, [x, y],
    kind === "card" ? drawBox() : kept(unit, "box", [now, odd].join(), drawBox),
    target && [draw("axis", "M0 21V32"), write("middle target", 0, 50,
      nameSpan(graph.labels[target], 19), ` = ${number(view.run.values[target])}`)],
    kind !== "constant" && drawTexts(tools, unit, u),
    output && write("", tail, 8, nameSpan(name, 24)));
}

// A neuron: its name, its activation with point and tangent, and its weights, whose rows are ports;
// closed, without them.
function drawCard(tools, { neuron, w, tall, name, closed }, u) {
  const { state, graph, view } = tools, { run } = view, { act } = neuron;
  const top = -tall / 2, right = w / 2;
  const curve = () => { // 2 wide and 1 tall, as a drawing of its own
    const x = run.values[neuron.sum], y = act.value(x), slope = act.back(1, x)[0];
    const span = clamp(1.3 * Math.abs(x) || 3, 3, 30), reach = 0.3 * span;
    const points = pointsOf(act.value, [-span, span], 30), ys = points.map((point) => point[1]);
    const { at, line } = chart(60, 28, [-span, span],
      extent([...ys, 0, 1e-9]), { room: [0, 0, 0, 0] });
    return put("", [right - 66, top + 7], line("axis", [[-span, 0], [span, 0]]),
      line("wire value", points),
      view.sent(u) && Number.isFinite(y + slope) && line("tangent",
        [-reach, reach].map((by) => [x + by, y + slope * by])),
      view.valued(u) && Number.isFinite(y) && disc("value", at([x, y]), 3.5));
  };
  const title = [write("", 12 - right, top + 28, nameSpan(name, 21)), act && curve()];
  return closed ? title : [title,
    write("soft", 20 - right + nameWidth(name, 21), top + 26, `= ${act ? `${act.name} ` : ""}Σ`),
    draw("axis", `M${-right} ${top + 40}h${w}`),
    neuron.weights.map((j, k) => {
      const y = top + CARD.head + CARD.row * (k + 0.5) + 5;
      const touch = (event) => { event.stopPropagation(); actions.touch(j); };
      const sent = fitted(run.adjoints[j], 62, 16), wide = Math.max(44, widthOf(sent, 16) + 8);
      return h("g", { class: state.touched === j ? "row touched" : "row", onclick: touch },
        box("hit", w - 6, 25, 6, 3 - right, y - 17.5),
        write("", 12 - right, y, nameSpan(graph.labels[j], 16)),
        h("g.scrub", scrub(j), box("hit", 66, 25, 6, right - 140, y - 17.5),
          write("value end", right - 76, y, fitted(run.values[j], 62, 16))),
        view.gradient(j).complete ? orangeNumber(tools, { node: j },
          [right - 4 - wide, y - 17, wide, 24], [right - 10, y, "end"], sent)
          : box("place", 38, 14, 4, right - 48, y - 12));
    }),
  ];
}

// A number with as many digits as there is room for.
function fitted(x, room, size = 18, most = 4) {
  if (Number.isNaN(x)) return room > widthOf("no value", size) ? "no value" : "–";
  const text = number(x, most);
  return most > 2 && widthOf(text, size) > room ? fitted(x, room, size, most - 1) : text;
}

function drawTexts(tools, unit, u) {
  const { state, graph, view, named, take } = tools, { node, kind, name, column, x, y } = unit;
  const { run } = view, output = node === graph.output, left = column + 10;
  const room = (output ? END : unit.room) - 14;
  const [i, k] = view.asked?.edge ?? [node, 0], { rule, inputs } = graph.nodes[i];
  const lit = state.wrong !== null && rule?.op === "mul" && inputs[1 - k] === node; // the other
  const shift = named && kind === "op" && !output ? nameWidth(name, 16) + 7 : 0;
  const value = fitted(run.values[node], room - shift), shown = view.valued(u);
  const asks = view.asking === u && !view.asked;
  unit.wide = shift + (shown || asks ? widthOf(value, 18) : 0);
  if (unit.wide) take(x + left - 1, y - 26, asks ? 54 : unit.wide + 2, 20);
  const scrubs = kind === "input" && graph.needs[node], long = output && state.trail.length > 1;
  const spot = long && tools.first([36, -66].map((up) => [x + left, y + up, 70, 34]));
  const above = [shift > 0 && write("soft", left, -10, nameSpan(name, 16)),
    output && drawGhost(tools, unit, left, room),
    asks ? capsule("asked", [left, -28, 52, 22], state.wrong)
      : shown && h("g", scrubs && scrub(node),
        scrubs && box("hit", Math.max(44, unit.wide + 14), 30, 8, left - 7, -33),
        write(`value number ${lit ? "lit" : ""}`, left + shift, -10, value)),
    spot && put("spark", [spot[0] - x, spot[1] - y], sparkOf(state.trail, 70, 34))];
  if (!graph.needs[node]) return above;
  const alone = view.asked?.from === node && graph.uses[node].length === 1;
  if (alone || view.asked?.sum === node) {
    take(x + left, y + 9, 52, 22);
    return [above, capsule("asked", [left, 9, 52, 22], state.wrong)];
  }
  const { terms, complete, fresh } = view.gradient(node);
  const told = view.told?.some(({ sum }) => sum === node);
  if (!complete && !told) { // perhaps half of it: 3 + ▢
    const part = terms.length && !output ? `${total(terms.slice(0, 2))} + ` : "";
    const wide = widthOf(part, 18), half = part && wide + 26 < room ? part : "";
    take(x + left, y + 8, half ? wide + 24 : 40, 22);
    return [above, half && write("gradient terms", left, 24, half),
      box("place", half ? 24 : 40, 22, 6, left + (half && wide), 8)];
  }
  const own = fitted(run.adjoints[node], room), wide = widthOf(own, 18);
  const proving = isSame(state.proof, { node });
  take(x + left - 1, y + 9, wide + 2, 20);
  return [above, h("g", { class: fresh ? "number fresh" : "number" }, orangeNumber(tools, { node },
    [left - 7, 5, Math.max(wide + 14, proving ? 0 : 44), 26], [left, 24], own))];
}
