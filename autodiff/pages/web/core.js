// The pass over a graph, and what follows from a state. Nothing here needs a page.
//
//   a formula, or Python's data        parser.js, sentGraph in alone.js
//      | graphOf                       its neurons, names, units and steps: core.js
//   graph → state ← people             opened in core.js; set and what calls it, live.js
//             | pass                   values, messages, gradients: core.js
//            run → view                what is known at this step: viewOf in graph.js
//                   | page             sentence, picture, place: words.js, graph.js, proof.js
//                 tree                 of elements, as dom.js makes them
//                   | match            the document becomes like it: dom.js

// -- The graph

const byName = Object.fromEntries(rules.map((rule) => [`${rule.op}/${rule.arity}`, rule]));

// nodes: {rule, inputs} for an operation, {value} for a leaf, each after its inputs, the output
// last. Rules were printed from ops.py: value(...inputs), and back(grad, ...inputs) for messages.
function graphOf({ nodes, inputs, labels, ids = labels, ...more }) {
  const needs = [], uses = nodes.map(() => []);
  nodes.forEach(({ rule, inputs: from = [] }, i) => {
    needs[i] = rule ? from.some((j) => needs[j]) : inputs.includes(i);
    from.forEach((j, k) => uses[j].push([i, k]));
  });
  const start = nodes.map((node) => node.value), output = nodes.length - 1;
  const graph = { nodes, inputs, needs, uses, start, output, ids, labels: [...labels], ...more };
  findNeurons(graph);
  graph.loss = graph.neurons.size ? lossOf(graph) : null;
  nameNodes(graph);
  findUnits(graph);
  tellLayersApart(graph);
  graph.sliders = inputs.filter((i) => graph.place.has(i));
  if (!graph.sliders.length) graph.sliders = [...graph.neurons.values()].at(-1).weights;
  graph.many = graph.units.length > 24;
  return graph;
}

// The engine of notebook 4. What lies outside of a domain, or is too large, is NaN, and so is all
// that it sends. moved: {node or edge, by}: a value, or one use of it, that is moved by so much.
function pass({ nodes, needs }, leaves, moved, forward = false) {
  const values = [], messages = nodes.map(() => []), adjoints = nodes.map(() => null);
  const { node, edge: [user, place] = [], by } = moved ?? {};
  const xsAt = (i) => {
    const xs = nodes[i].inputs.map((j) => values[j]);
    return i === user ? xs.with(place, xs[place] + by) : xs;
  };
  nodes.forEach(({ rule, inputs }, i) => {
    if (!rule) values[i] = leaves[i];
    else if (i === user || inputs.length > 2) values[i] = rule.value(...xsAt(i)); // slower
    else values[i] = rule.value(values[inputs[0]], values[inputs[1]]);
    if (rule && Math.abs(values[i]) === Infinity) values[i] = NaN;
    if (i === node) values[i] += by;
  });
  if (forward) return values;
  adjoints[nodes.length - 1] = 1;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const { rule, inputs } = nodes[i];
    if (!rule || !needs[i] || adjoints[i] === null) continue;
    const xs = xsAt(i), ends = Number.isNaN(values[i]) && !xs.some(Number.isNaN);
    messages[i] = rule.back(adjoints[i], ...xs).map((x) => (x !== null && ends ? NaN : x));
    inputs.forEach((j, k) => {
      const sent = messages[i][k];
      if (sent !== null && needs[j]) adjoints[j] = adjoints[j] === null ? sent : adjoints[j] + sent;
    });
  }
  return { values, messages, adjoints: adjoints.map((x) => x ?? 0) };
}

const localsOf = ({ nodes }, values, i) =>
  nodes[i].rule.back(1, ...nodes[i].inputs.map((j) => values[j]));

// How a message was made: what arrived at node `at`, times the slope there. The loss is one
// operation, from its output to the difference in it.
function madeOf(graph, { values, messages, adjoints }, [i, k]) {
  const sent = messages[i][k], whole = graph.loss?.edge[0] === i;
  return whole ? { at: graph.output, arrived: 1, local: sent, sent }
    : { at: i, arrived: adjoints[i], local: localsOf(graph, values, i)[k], sent };
}

// The output at other numbers of one leaf.
const along = (graph, leaves, leaf, x) => pass(graph, leaves.with(leaf, x), null, true);

// The slopes on the left and on the right of x, if they differ: at a corner they differ as much
// however near one looks.
function corner(slope, x) {
  const near = 1e-6 * Math.max(1, Math.abs(x)), gap = ([a, b]) => Math.abs(b - a);
  const sides = (by) => [slope(x - by), slope(x + by)], ends = sides(near), wide = gap(ends);
  if (!(wide > 1e-3 * Math.max(1e-6, ...ends.map(Math.abs)))) return null;
  const found = [0.01, 1e-4].map((part) => sides(part * near));
  return found.every((each) => Math.abs(gap(each) / wide - 1) < 0.01) ? found[1] : null;
}

// What is peculiar about an operation here: "corner", or "left" or "right" where its domain ends.
function peculiar({ nodes, needs }, values, i) {
  const { rule, inputs } = nodes[i], xs = inputs.map((j) => values[j]);
  const some = (holds) => inputs.some((j, k) => needs[j] && holds(k, (x) => xs.with(k, x)));
  const ends = (by) => some((k, at) => !Number.isFinite(rule.value(...at(xs[k] + by))));
  if (xs.some(Number.isNaN)) return null;
  if (some((k, at) => corner((x) => rule.back(1, ...at(x))[k], xs[k]))) return "corner";
  return ends(-0.5) ? "left" : ends(0.5) ? "right" : null;
}

// -- Neurons

const ACTIVATIONS = ["tanh", "relu", "sigmoid", "softplus", "sin", "exp"];

// The weighted sum that ends in node i, with its activation; or null.
function neuronAt({ nodes, needs, uses, labels }, i) {
  const rows = [], biases = [], inside = [i];
  const own = (j) => !nodes[j].rule && needs[j] && uses[j].length === 1;
  const product = (j) => nodes[j].inputs.slice(nodes[j].inputs.length / 2).every((b, k, half) => {
    const a = nodes[j].inputs[k], edge = own(a) ? half.length + k : k;
    return own(own(a) ? a : b)
      && rows.push({ weight: own(a) ? a : b, from: own(a) ? b : a, edge: [j, edge] });
  });
  const term = (j) => {
    const op = nodes[j].rule?.op;
    if (own(j)) return biases.push(j);
    if (j !== i && (!op || uses[j].length > 1 || labels[j])) return false;
    if (j !== i) inside.push(j);
    if (op === "add" || op === "sum") return nodes[j].inputs.every(term);
    return (op === "mul" || op === "dot") && product(j);
  };
  const act = ACTIVATIONS.includes(nodes[i].rule.op) ? nodes[i].rule : null;
  const sum = act ? nodes[i].inputs[0] : i;
  if (!term(sum) || rows.length < 2 || biases.length > 1) return null;
  return { rows, weights: [...rows.map((row) => row.weight), ...biases], inside, act, sum };
}

// Networks are drawn as cards, from three neurons on.
function findNeurons(graph) {
  const found = new Map(), taken = new Set();
  for (let i = graph.output; i >= 0; i--) {
    const neuron = graph.nodes[i].rule && !taken.has(i) && neuronAt(graph, i);
    if (neuron) found.set(i, neuron).get(i).inside.forEach((j) => taken.add(j));
  }
  graph.neurons = found.size > 2 ? found : new Map();
  graph.inner = new Set([...graph.neurons].flatMap(([i, x]) => x.inside.filter((j) => j !== i)));
}

// The loss that ends a network, (o − t)²: a difference squared, perhaps summed and divided by 1.
function lossOf({ nodes, needs, uses, output }) {
  const inside = [];
  let i = output;
  const back = (op, constant) => {
    const { rule, inputs: [from, second] = [] } = nodes[i];
    if (rule?.op !== op || nodes[second]?.value !== constant || needs[second]) return false;
    inside.push(i);
    if (second !== undefined) inside.push(second);
    i = from;
    return uses[i].length === 1;
  };
  back("div", 1);
  back("sum");
  const power = i;
  if (!back("power", 2)) return null;
  const [o, target] = nodes[i].rule?.op === "sub" ? nodes[i].inputs : [];
  if (!nodes[o]?.rule || nodes[target].rule || uses[target].length > 1) return null;
  return { inside: [...inside, i, target], from: o, target, edge: [i, 0], power };
}

// Names for what has none: y for the output, h₁, h₂ for neurons, v₁, v₂ for other results.
function nameNodes({ nodes, labels, neurons, needs, inner, output, loss }) {
  const next = (letter) => {
    let k = 1;
    while (labels.includes(letter + k)) k++;
    return letter + k;
  };
  const own = (i, name) => { labels[i] ||= labels.includes(name) ? next(name) : name; };
  own(output, loss ? "loss" : "y");
  if (loss) own(loss.from, "o"), own(loss.target, "t");
  nodes.forEach(({ rule }, i) => {
    const letter = neurons.has(i) ? "h" : rule ? "v" : "x";
    if (!labels[i] && (rule || needs[i]) && !inner.has(i)) labels[i] = next(letter);
  });
}

// Units are drawn as one thing; a group is what one step computes: an operation, or a layer.
function findUnits(graph) {
  const { nodes, needs, uses, neurons, inputs, loss, output } = graph;
  const hidden = new Set([...graph.inner, ...(loss?.inside ?? [])]);
  hidden.delete(loss && output);
  for (const { weights } of neurons.values()) weights.forEach((j) => hidden.add(j));
  nodes.forEach(({ rule, inputs: from }) => { // a constant exponent stands in its circle: x³
    if (rule?.op === "power" && !needs[from[1]] && uses[from[1]].length === 1) hidden.add(from[1]);
  });
  const order = [...new Set([...inputs, ...nodes.keys()])].filter((i) => !hidden.has(i));
  graph.place = new Map(order.map((i, u) => [i, u]));
  graph.owner = [];
  graph.units = order.map((i, u) => {
    const neuron = neurons.get(i), { rule, inputs: from = [] } = nodes[i];
    const ends = loss && i === output;
    const kind = neuron ? "card" : ends ? "loss" : rule ? "op" : needs[i] ? "input" : "constant";
    const edges = neuron?.rows ?? (ends ? [loss] : from.map((j, k) => ({ from: j, edge: [i, k] })));
    const shown = edges.filter((edge) => !hidden.has(edge.from));
    const inside = neuron?.inside ?? (ends ? loss.inside : []);
    [i, ...inside].forEach((j) => { graph.owner[j] = u; });
    const own = shown.map((edge) => ({ ...edge, unit: graph.place.get(edge.from) }));
    return { kind, node: i, neuron, edges: own, name: graph.labels[i] };
  });
  const ops = order.flatMap((i, u) => (nodes[i].rule ? [u] : [])), depth = [];
  ops.sort((a, b) => order[a] - order[b]).forEach((u, k) => {
    const before = graph.units[u].edges.map((edge) => depth[edge.unit] ?? 0);
    depth[u] = neurons.size ? 1 + Math.max(0, ...before) : k + 1;
  });
  graph.groups = [];
  ops.forEach((u) => (graph.groups[depth[u] - 1] ??= []).push(u));
  graph.half = graph.groups.length;
  graph.last = 2 * graph.half + 1; // its steps: forward, the seed, backward
  graph.units.forEach((unit, u) => {
    unit.at = depth[u] ? [depth[u], graph.last - depth[u] + 1] : [0, Infinity];
  });
}

// Two layers may each have a weight[0,0]: that of the second is w′₀₀, and its first neuron h′₁.
function tellLayersApart({ labels, inputs, units }) {
  const names = new Set(inputs.map((i) => plainName(labels[i]))), counts = [];
  if (names.size < inputs.length) units.filter(({ neuron }) => neuron).forEach((unit) => {
    const { node, neuron, at: [layer] } = unit, primes = "′".repeat(layer - 1);
    neuron.weights.forEach((j) => {
      labels[j] = plainName(labels[j]).replace(/[₀-₉]*$/, `${primes}$&`);
    });
    counts[layer] = (counts[layer] ?? 0) + 1;
    if (/^h\d+$/.test(labels[node])) labels[node] = unit.name = `h${primes}${counts[layer]}`;
  });
}

// -- The state

const RATE = 0.1; // of Descend, until it is too large
const AT_REST = { moving: false, playing: false, touched: null, proof: null, eye: null, look: null,
  dragging: false, ghost: null, pulse: null, trail: [], rate: RATE, told: null };

// At the start: before the backward pass, or at its first question.
const opened = (graph, changes) => ({
  graph, leaves: [...graph.start], step: graph.half + Number(Boolean(changes.ask)), ...AT_REST,
  hover: null, ask: false, asked: 0, wrong: null, share: false, problem: null, unread: null,
  text: null, editing: false, neuron: null, tries: [], ...changes,
});

// The units that a step computes, or sends from; the start and the seed have none.
const unitsAt = ({ groups, half, last }, step) =>
  groups[step <= half ? step - 1 : last - step] ?? [];

// -- The address: the numbers, the formula, the step and the mode

function addressOf({ graph, leaves, step, ask }) {
  const numbers = graph.inputs.map((i) => `${graph.ids[i]}=${leaves[i]}`);
  const text = [...numbers, graph.formula].join(";").replaceAll(" ", "");
  // a messenger may end a link at a bracket or a star
  const coded = (c) => `%${c.charCodeAt(0).toString(16)}`;
  const kept = encodeURIComponent(text).replace(/[()*]/g, coded);
  return `#${kept}&step=${step}${ask ? "&ask" : ""}`;
}
