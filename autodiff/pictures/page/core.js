// The pass over a graph, and what follows from a state. Nothing here needs a page.

// -- The graph ----------------------------------------------------------------------------------

// nodes: {rule, inputs} for an operation, {value} for a leaf, each after its inputs, the output
// last. Rules were printed from ops.py: value(...inputs), and back(grad, ...inputs) for messages.
function graphOf({ nodes, inputs, labels, sliders, formula }) {
  const needs = [], uses = nodes.map(() => []);
  nodes.forEach((node, i) => {
    needs[i] = node.rule ? node.inputs.some((j) => needs[j]) : inputs.includes(i);
    if (node.rule) node.inputs.forEach((j, k) => uses[j].push([i, k]));
  });
  const graph = { nodes, inputs, labels: [...labels], needs, uses, formula, output: nodes.length - 1 };
  graph.sliders = sliders;
  graph.start = nodes.map((node) => node.value);
  findNeurons(graph);
  nameNodes(graph);
  graph.units = unitsOf(graph);
  graph.groups = groupsOf(graph);
  graph.sliders ??= inputs.filter((i) => graph.units.place.has(i));
  return graph;
}

// The engine of notebook 4. What lies outside of a domain is NaN, and so is all that it sends.
function pass({ nodes, needs }, leaves, forward = false) {
  const values = [], messages = nodes.map(() => []), adjoints = nodes.map(() => null);
  nodes.forEach(({ rule, inputs }, i) => {
    values[i] = rule ? rule.value(...inputs.map((j) => values[j])) : leaves[i];
  });
  if (forward) return { values };
  adjoints[nodes.length - 1] = 1;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const { rule, inputs } = nodes[i];
    if (!rule || !needs[i] || adjoints[i] === null) continue;
    const xs = inputs.map((j) => values[j]);
    const ends = Number.isNaN(values[i]) && !xs.some(Number.isNaN);
    messages[i] = rule.back(adjoints[i], ...xs).map((x) => (x !== null && ends ? NaN : x));
    inputs.forEach((j, k) => {
      const sent = messages[i][k];
      if (sent !== null && needs[j]) adjoints[j] = adjoints[j] === null ? sent : adjoints[j] + sent;
    });
  }
  return { values, messages, adjoints: adjoints.map((x) => x ?? 0) };
}

const localsOf = ({ nodes }, values, i) => nodes[i].rule.back(1, ...nodes[i].inputs.map((j) => values[j]));

// The output at other numbers of one leaf.
function along(graph, leaves, leaf, x) {
  const moved = [...leaves];
  moved[leaf] = x;
  return pass(graph, moved, true).values;
}

function slopeAt(graph, leaves, leaf, x) {
  const moved = [...leaves];
  moved[leaf] = x;
  return pass(graph, moved).adjoints[leaf];
}

// The slopes on the left and on the right of x, if they differ: a corner.
function corner(graph, leaves, leaf, x) {
  const near = 1e-7 * Math.max(1, Math.abs(x));
  const [left, right] = [x - near, x + near].map((at) => slopeAt(graph, leaves, leaf, at));
  return Math.abs(right - left) > 1e-3 * Math.max(1, Math.abs(left)) && Math.abs(right - left) < 1e3 ? [left, right] : null;
}

// What is peculiar about an operation here: "corner", or "left" or "right" where its domain ends.
function peculiar({ nodes }, values, i) {
  const { rule, inputs } = nodes[i], xs = inputs.map((j) => values[j]);
  const at = (k, x) => xs.map((other, j) => (j === k ? x : other));
  if (Number.isNaN(values[i]) && xs.some(Number.isNaN)) return null;
  for (let k = 0; k < xs.length; k++) {
    if (nodes[inputs[k]].value !== undefined && xs.length > 1 && rule.op !== "maximum" && rule.op !== "minimum") continue;
    const near = 1e-7 * Math.max(1, Math.abs(xs[k]));
    const [left, right] = [xs[k] - near, xs[k] + near].map((x) => rule.back(1, ...at(k, x))[k]);
    if (Math.abs(right - left) > 1e-3 * Math.max(1, Math.abs(left)) && Math.abs(right - left) < 1e3) return "corner";
    if (Number.isNaN(rule.value(...at(k, xs[k] - 0.5)))) return "left";
    if (Number.isNaN(rule.value(...at(k, xs[k] + 0.5)))) return "right";
  }
  return null;
}

// The range of a slider: the same for all, but 0 stays near the left where negative numbers end.
function rangeOf(graph, leaves, leaf, size) {
  const end = (x) => Number.isNaN(along(graph, leaves, leaf, x)[graph.output]);
  return [end(-size) && leaves[leaf] > -0.4 * size ? -0.4 * size : -size, size];
}

// -- Neurons ------------------------------------------------------------------------------------

const ACTIVATIONS = ["tanh", "relu", "sigmoid", "softplus", "sin", "exp"];

// The weighted sum that ends in node i, with its activation, as {rows, bias, inside}; or null.
function neuronAt({ nodes, needs, uses, labels }, i) {
  const own = (j) => nodes[j].rule === undefined && uses[j].length === 1;
  const inner = (j) => nodes[j].rule && uses[j].length === 1 && !labels[j];
  const rows = [], rest = [], inside = [i];
  const row = (a, b, edge) => {
    const [w, x] = own(a) ? [a, b] : [b, a];
    if (!own(w) || !needs[w]) return false;
    return rows.push({ weight: w, from: x, edge: [edge[0], w === a ? edge[2] : edge[1]] });
  };
  const term = (j) => {
    const op = nodes[j].rule?.op, [a, b] = nodes[j].inputs ?? [];
    if (own(j)) return rest.push(j) && needs[j];
    if (j !== i && j !== sum && !inner(j)) return false;
    if (j !== i) inside.push(j);
    if (op === "add" || op === "sum") return nodes[j].inputs.every(term);
    if (op === "mul") return row(a, b, [j, 0, 1]);
    const n = nodes[j].inputs.length / 2;
    return op === "dot" && nodes[j].inputs.slice(0, n).every((x, k) => row(x, nodes[j].inputs[n + k], [j, k, n + k]));
  };
  const active = ACTIVATIONS.includes(nodes[i].rule?.op) ? nodes[i].inputs[0] : null;
  const sum = active ?? i;
  if (active !== null && !(nodes[sum].rule && uses[sum].length === 1)) return null;
  if (!["add", "sum", "dot"].includes(nodes[sum].rule?.op) || !term(sum)) return null;
  if (rows.length < 2 || rest.length > 1) return null;
  return { rows, bias: rest[0], inside, act: active === null ? null : nodes[i].rule, sum };
}

// Networks are drawn as cards, from three neurons on.
function findNeurons(graph) {
  const found = new Map(), taken = new Set();
  for (let i = graph.output; i >= 0; i--) {
    if (!graph.nodes[i].rule || taken.has(i)) continue;
    const neuron = neuronAt(graph, i);
    if (neuron) found.set(i, neuron).get(i).inside.forEach((j) => taken.add(j));
  }
  graph.neurons = found.size >= 3 ? found : new Map();
}

// Names for what has none: h₁, h₂ for neurons, v₁, v₂ for other results, y for the output.
function nameNodes(graph) {
  const { nodes, labels, neurons, output } = graph, taken = new Set(labels);
  const inside = new Set([...neurons.values()].flatMap((x) => x.inside));
  const next = (letter) => {
    for (let i = 1; ; i++) if (!taken.has(letter + i)) return taken.add(letter + i) && letter + i;
  };
  graph.auto = labels.map((label) => !label);
  nodes.forEach((node, i) => {
    if (labels[i]) return;
    const only = ["y", "z", "f"].find((x) => !taken.has(x));
    if (i === output) labels[i] = only ?? next("v");
    else if (neurons.has(i)) labels[i] = next("h");
    else if (node.rule && !inside.has(i)) labels[i] = next("v");
    else if (!node.rule && graph.inputs.includes(i)) labels[i] = next("x");
  });
}

// -- Units: what is drawn as one thing, and what a step computes --------------------------------

function unitsOf(graph) {
  const { nodes, needs, uses, neurons, labels, auto, inputs } = graph;
  const hidden = new Set(), held = new Map(), units = [];
  for (const [i, { inside, rows, bias }] of neurons) {
    inside.forEach((j) => j !== i && hidden.add(j));
    rows.forEach(({ weight }) => hidden.add(weight));
    if (bias !== undefined) hidden.add(bias);
  }
  const isConstant = (j) => !nodes[j].rule && !needs[j];
  nodes.forEach(({ rule, inputs: from }, i) => { // constant exponents go inside, as does (o − t)²
    if (rule?.op !== "power" || !isConstant(from[1]) || uses[from[1]].length > 1) return;
    hidden.add(from[1]);
    const base = nodes[from[0]];
    if (neurons.size && base.rule?.op === "sub" && uses[from[0]].length === 1 && auto[from[0]]) {
      held.set(i, from[0]);
      hidden.add(from[0]);
    }
  });
  const place = new Map();
  const order = [...inputs, ...nodes.keys()].filter((i, k, all) => all.indexOf(i) === k && !hidden.has(i));
  for (const i of order) {
    const neuron = neurons.get(i), { rule, inputs: from } = nodes[i];
    const kind = neuron ? "card" : rule ? "op" : needs[i] ? "input" : "constant";
    let edges = [];
    if (neuron) edges = neuron.rows.map(({ from, edge, weight }) => ({ from, edge, weight }));
    else if (rule) {
      const inner = held.get(i), source = inner ?? i;
      edges = nodes[source].inputs.map((j, k) => ({ from: j, edge: [source, k] }));
      if (inner === undefined) edges = edges.filter(({ from }) => !hidden.has(from));
    }
    place.set(i, units.length);
    units.push({ kind, node: i, neuron, edges, inside: neuron?.inside ?? [i, held.get(i)].filter((x) => x !== undefined), name: labels[i] });
  }
  units.forEach((unit) => unit.edges.forEach((edge) => { edge.unit = place.get(edge.from); }));
  units.place = place;
  return units;
}

// The operations that one step computes: one, or in a network a layer of neurons.
function groupsOf({ units, neurons }) {
  const order = units.map((_, u) => u).filter((u) => units[u].kind === "op" || units[u].kind === "card")
    .sort((a, b) => units[a].node - units[b].node);
  if (!neurons.size) return order.map((u) => [u]);
  const depth = [];
  order.forEach((u) => { depth[u] = 1 + Math.max(0, ...units[u].edges.map((e) => depth[e.unit] ?? 0)); });
  const groups = [];
  order.forEach((u) => (groups[depth[u] - 1] ??= []).push(u));
  return groups;
}

// -- The state ----------------------------------------------------------------------------------

// A state at the start: before the backward pass, finished only if there is nothing to send.
function opened(graph, changes = {}) {
  return {
    graph, leaves: [...graph.start], step: graph.groups.length, rest: true, t: null, playing: false, speed: 1,
    touched: null, more: [], dragging: false, hover: null, ask: false, asked: 0, answer: "", wrong: null,
    field: null, fold: false, zoom: 1, width: 1072, note: "", problem: null, text: null, ...changes,
  };
}

const lastStep = (graph) => 2 * graph.groups.length + 1;
const half = (state) => state.graph.groups.length;

// The units that a step computes, or sends from; the seed has none.
function unitsAt({ graph }, step) {
  const n = graph.groups.length;
  if (step >= 1 && step <= n) return graph.groups[step - 1];
  return step > n + 1 ? graph.groups[2 * n + 1 - step] : [];
}

// When each unit runs, forward and backward.
function stepsOf({ groups }, u) {
  const g = groups.findIndex((group) => group.includes(u));
  return g < 0 ? [0, Infinity] : [g + 1, 2 * groups.length + 1 - g];
}

// -- The address: the numbers, the formula, the step and the mode -------------------------------

function addressOf(state) {
  const { graph, leaves, step, ask } = state;
  const numbers = graph.inputs.map((i) => `${graph.ids?.[i] ?? graph.labels[i]}=${leaves[i]}`);
  const text = [...numbers, graph.formula ?? "y"].join(";").replaceAll(" ", "");
  const kept = encodeURIComponent(text).replace(/%(3B|3D|2B|2F|2C)/g, decodeURIComponent);
  return `#${kept}&step=${step}${ask ? "&ask" : ""}`;
}

// What an address says, as data: text, step and ask. Nothing in it is run.
function readAddress(hash) {
  const [first, ...settings] = hash.replace(/^#/, "").split("&");
  let text = "";
  try { text = decodeURIComponent(first); } catch { /* not an address that we made */ }
  const found = settings.map((x) => x.match(/^step=(\d{1,3})$/)?.[1]).find((x) => x !== undefined);
  return { text, step: found === undefined ? null : Number(found), ask: settings.includes("ask") };
}
