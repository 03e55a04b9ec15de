// What the page says: the formula, the sentence of a step, the lines of the backward pass.

const SIGNS = { add: [" + ", 1, 1, 1], sub: [" − ", 1, 1, 2], mul: [" · ", 2, 2, 2], div: [" / ", 2, 2, 3], less: [" < ", 0, 1, 1], less_equal: [" ≤ ", 0, 1, 1] };

// Node i as parts: texts, {name}, {raised}, {node, parts}; deep: with the formulas of its inputs.
function written(graph, i, least = 0, deep = true, top = true) {
  const { nodes, labels, uses, neurons, needs } = graph, { rule, inputs, value } = nodes[i];
  if (!rule) return labels[i] ? [{ name: labels[i] }] : value < 0 && least ? [factor(value)] : [number(value)];
  if (!top && (!deep || uses[i].length > 1 || neurons.has(i))) return [{ name: labels[i] || "Σ" }];
  const of = (k, need = 0) => written(graph, inputs[k], need, deep, false);
  const joined = (sign, parts) => parts.flatMap((part, k) => (k ? [sign, ...part] : part));
  const all = (need) => inputs.map((_, k) => of(k, need)), n = inputs.length / 2, { op } = rule;
  let parts, strength = 5;
  if (SIGNS[op]) {
    const [sign, own, left, right] = SIGNS[op];
    [parts, strength] = [[...of(0, left), sign, ...of(1, right)], own];
  } else if (op === "sum") [parts, strength] = [joined(" + ", all(1)), 1];
  else if (op === "prod") [parts, strength] = [joined(" · ", all(2)), 2];
  else if (op === "dot") [parts, strength] = [joined(" + ", inputs.slice(0, n).map((_, k) => [...of(k, 2), " · ", ...of(n + k, 2)])), 1];
  else if (op === "neg") [parts, strength] = [["−", ...of(0, 2)], 1];
  else if (["power", "pow", "exponential"].includes(op)) [parts, strength] = [[...of(0, 5), { raised: of(1) }], 4];
  else if (op === "abs") parts = ["|", ...of(0), "|"];
  else {
    const word = NAMES[op] ?? rule.name, inside = joined(", ", all(0)), plain = inside.length === 1 && !nodes[inputs[0]].rule && inputs.length === 1;
    const short = plain && op && !(nodes[inputs[0]].value < 0 && !needs[inputs[0]]);
    parts = short ? [op === "sqrt" ? word : `${word} `, ...inside] : [`${word}(`, ...inside, ")"];
  }
  if (strength < least) parts = ["(", ...parts, ")"];
  return [{ node: i, parts }];
}

const inHtml = (parts, lit = () => null) => parts.map((part) => (typeof part === "string" ? part
  : part.name ? nameIn(part.name) : part.raised ? h("sup", inHtml(part.raised, lit))
    : h("span", { class: lit(part.node) }, inHtml(part.parts, lit))));
const inText = (parts) => parts.map((part) => (typeof part === "string" ? part
  : part.name ? plainName(part.name) : part.raised ? `^${inText(part.raised)}` : inText(part.parts))).join("");

const weighted = ({ act, bias }) => [act ? `${NAMES[act.op] ?? act.op}(` : "", { name: "w" }, " · ", { name: "h" }, bias === undefined ? "" : " + b", act ? ")" : ""];

// The formula of the whole graph, with those of the results that are used more than once.
function heading(state, view) {
  const { graph } = state, pass = state.step <= half(state) ? "now forward" : "now backward";
  const now = new Set(view.now.map((u) => graph.units[u].node)), lit = (i) => (now.has(i) ? pass : null);
  const one = (i) => [nameIn(graph.labels[i]), " = ", inHtml(graph.neurons.has(i) && graph.neurons.get(i).rows.length > 4 ? weighted(graph.neurons.get(i)) : written(graph, i), lit)];
  const shared = graph.nodes.flatMap(({ rule }, i) => (rule && graph.uses[i].length > 1 && graph.labels[i] && graph.nodes.length <= 24 && !graph.neurons.size ? [i] : []));
  return [one(graph.output), shared.slice(-6).reverse().map((i) => h("span.where", ", ", one(i)))];
}

function say(strings, ...values) {
  let bold = false;
  return strings.flatMap((text, i) => {
    const parts = text.split("**").flatMap((part, k) => {
      if (k) bold = !bold;
      return part ? [bold ? h("b", part) : part] : [];
    });
    return i < values.length ? [...parts, bold ? h("b", values[i]) : values[i]] : parts;
  });
}
const blue = (x) => h("b.value", typeof x === "number" ? number(x) : x);
const orange = (x) => h("b.gradient", typeof x === "number" ? number(x) : x);
const times = (n) => (n === 2 ? "twice" : n === 3 ? "three times" : `${n} times`);
const count = (n) => ({ 2: "two", 3: "three", 4: "four" })[n] ?? n;
const nodeName = (graph, i) => (graph.nodes[i].rule || graph.labels[i] ? nameIn(graph.labels[i] || "Σ") : number(graph.nodes[i].value));

// What an operation does on the way back.
function ruleWords(graph, run, i) {
  const { rule, inputs } = graph.nodes[i], { op, name } = rule, word = NAMES[op] ?? name;
  if (op === "mul") return inputs[0] === inputs[1] ? say`A product **swaps**; here both inputs are ${nodeName(graph, inputs[0])}.` : say`A product **swaps**: each input gets what arrived, times the other.`;
  if (op === "add") return say`A sum **copies**: both inputs get what arrived.`;
  if (op === "sum") return say`A sum **copies**: every input gets what arrived.`;
  if (op === "sub") return say`A difference **copies** what arrived, with its sign turned for what is taken away.`;
  if (op === "neg") return say`A minus **turns the sign** of what arrived.`;
  if (op === "div") return say`A quotient **divides**: what arrived, by the number below.`;
  if (op === "maximum" || op === "minimum") return say`A ${op} **chooses**: the ${op === "maximum" ? "larger" : "smaller"} input gets what arrived.`;
  if (op === "relu") return run.values[inputs[0]] > 0 ? say`relu is **open** above 0: what arrived passes.` : say`relu is **shut** up to 0: nothing passes back.`;
  if (op === "where") return say`A choice **passes** what arrived to the input that was chosen.`;
  if (op === "dot" || op === "prod") return say`A product **swaps**: each input gets what arrived, times its partner${op === "prod" ? "s" : ""}.`;
  const local = localsOf(graph, run.values, i)[0];
  return inputs.filter((j) => graph.needs[j]).length > 1 || local === null ? say`${word} sends back what arrived, times each **slope**.` : say`${op === "power" ? "A power" : word} sends back what arrived, times its **slope** here: ${h("b.value", number(local))}.`;
}

// The sentence, and a smaller one below it.
function sentence(state, view) {
  const { graph, step, touched } = state, { run } = view, n = half(state), y = nameIn(graph.labels[graph.output]), value = run.values[graph.output];
  if (state.problem) return [[state.problem.message], ["The picture shows the formula before."]];
  if (graph.note) return [say`${graph.note}`, []];
  const back = step > n, [u] = view.now;
  const lost = graph.nodes.findIndex(({ rule, inputs }, i) => rule && Number.isNaN(run.values[i]) && !inputs.some((j) => Number.isNaN(run.values[j])));
  if (lost >= 0) {
    const { rule, inputs } = graph.nodes[lost];
    return [say`${NAMES[rule.op] ?? rule.name} has **no value** at ${inputs.map((j, k) => [k ? ", " : "", nodeName(graph, j), graph.labels[j] ? ` = ${number(run.values[j])}` : ""])}.`, [touched === null ? "" : say`Its domain ends before. Drag ${nameIn(graph.labels[touched])} back.`]];
  }
  if (view.asking !== undefined) return question(state, view);
  if (touched !== null) return touchedWords(state, view, y, back);
  if (step === n && !view.now.length) return [n ? say`The values have run forward, in ${blue("blue")}. Press **Play** to send the gradients back, in ${orange("orange")}.` : say`One number, and nothing is computed from it.`, []];
  if (step === 0) return [say`The inputs hold their numbers. Press **Play** to run the values forward, in ${blue("blue")}.`, []];
  if (step < n || (step === n && view.now.length)) {
    if (view.now.length > 1 || graph.units[u].kind === "card") return [say`Each neuron adds up weights times inputs${graph.units[u].neuron?.act ? `, then bends the sum: ${graph.units[u].neuron.act.name}` : ""}.`, []];
    const i = graph.units[u].node, { rule, inputs } = graph.nodes[i], numbers = { ...graph, labels: graph.labels.map(() => ""), nodes: graph.nodes.map((node, j) => (j === i ? node : { value: run.values[j] })) };
    return [[nameIn(graph.labels[i]), " = ", inHtml(written(graph, i, 0, false)), rule && inputs.length < 9 ? [" = ", inHtml(written(numbers, i, 0, false))] : "", " = ", blue(run.values[i])], []];
  }
  if (step === n + 1) return [say`The way back starts at the end: ${y} changes ${orange("1")} for 1 with itself.`, n ? [] : say`${y} is the input itself.`];
  if (step === lastStep(graph) && !view.now.length) return endWords(state, view, y, value);
  if (graph.units[u].kind === "card") return [say`Each weight gets what arrived, times the **slope** of its neuron, times its input.`, say`The inputs of a layer add up what all its neurons send.`];
  const i = graph.units[u].node, forks = [...new Set(graph.units[u].edges.map((e) => e.from))].filter((j) => graph.needs[j] && view.gradient(j).of > 1 && view.gradient(j).terms.length === view.gradient(j).of);
  return [ruleWords(graph, run, i), forks.slice(0, 1).map((j) => {
    const { terms, of } = view.gradient(j);
    return h("span.big", say`${nameIn(graph.labels[j])} is used ${times(of)}, so its ${count(of)} messages **add**: ${orange(of > 4 ? number(run.adjoints[j]) : `${number(run.adjoints[j])} = ${total(terms)}`)}.`);
  })];
}

function endWords(state, view, y, value) {
  const { graph, leaves } = state, { run } = view;
  if (graph.neurons.size) {
    const moved = leaves.map((x, j) => (graph.nodes[j].rule || !graph.needs[j] || graph.units.place.has(j) ? x : x - 0.1 * run.adjoints[j]));
    return [say`Every weight has its gradient. A step of 0.1 against all of them takes ${y} from ${blue(value)} to ${blue(pass(graph, moved, true).values[graph.output])}.`, ["Thick: large. Dashed: negative. Touch a number in a table to drag it."]];
  }
  const j = graph.inputs.reduce((best, i) => (Math.abs(run.adjoints[i]) > Math.abs(run.adjoints[best]) ? i : best), graph.inputs[0]), slope = run.adjoints[j];
  if (!Number.isFinite(slope)) return steepWords(state, run, y, j);
  return [say`All gradients are here. Move ${nameIn(graph.labels[j])} by 0.01, and ${y} moves by ${orange(0.01 * slope)}.`, ["Drag an input and see."]];
}

function steepWords({ graph, leaves }, run, y, j) {
  const x = nameIn(graph.labels[j]), slope = run.adjoints[j];
  if (Number.isNaN(slope)) return [say`At ${x} = ${number(leaves[j])} the slope of ${y} is **not defined**.`, ["Drag an input away from here."]];
  const i = graph.nodes.findIndex(({ rule, inputs }, k) => rule && inputs.some((_, m) => Math.abs(run.messages[k][m]) === Infinity)), word = { sqrt: "the square root" }[graph.nodes[i]?.rule?.op] ?? y;
  return [say`At ${x} = ${number(leaves[j])} ${word} ${slope > 0 ? "rises" : "falls"} straight ${slope > 0 ? "up" : "down"}: its slope is ${orange(slope)}.`, say`Drag ${x} away, and the slope comes ${slope > 0 ? "down" : "back"}.`];
}

// While an input is touched.
function touchedWords(state, { run }, y, back) {
  const { graph, leaves, touched } = state, x = nameIn(graph.labels[touched]), slope = run.adjoints[touched], at = leaves[touched];
  if (!back || state.step < lastStep(graph)) return [say`${x} moves, and ${y} follows: ${blue(run.values[graph.output])}.`, ["How fast? Press Play: the gradients come back and say it."]];
  if (!Number.isFinite(slope)) return steepWords(state, run, y, touched);
  const sides = corner(graph, leaves, touched, at);
  if (sides) return [say`At the corner there are two slopes, ${orange(sides[0])} and ${orange(sides[1])}. **${cornerName(graph, run)} takes ${number(slope)}**${slope === 0 ? ": nothing passes back" : ""}.`, say`Drag ${x} either way and only one slope is left.`];
  const i = graph.nodes.findIndex(({ rule, inputs }, k) => rule && inputs.length === 1 && ["left", "right"].includes(peculiar(graph, run.values, k)));
  if (i >= 0 && Math.abs(slope) > 2) {
    const word = NAMES[graph.nodes[i].rule.op] ?? graph.nodes[i].rule.name;
    return [say`Close to where ${word} ends, a small step of ${x} moves ${y} a lot: ${orange(slope)} times as far.`, ["Beyond the end it has no value."]];
  }
  if (slope === 0) return [say`Move ${x} a little and ${y} stays where it is: the slope is ${orange(0)}.`, []];
  return [say`Move ${x} a little and ${y} moves ${orange(Math.abs(slope))} times as far${slope < 0 ? ", the other way" : ""}.`, say`That number is the slope of the curve, and the gradient that came back to ${x}.`];
}

const cornerName = (graph, run) => {
  const i = graph.nodes.findIndex(({ rule }, k) => rule && peculiar(graph, run.values, k) === "corner");
  return i < 0 ? plainName(graph.labels[graph.output]) : NAMES[graph.nodes[i].rule.op] ?? graph.nodes[i].rule.name;
};

const signWord = (graph, u) => {
  const { rule } = graph.nodes[graph.units[u].node];
  return { add: "+", sub: "−", mul: "×", div: "÷" }[rule.op] ?? NAMES[rule.op] ?? rule.name;
};

function question(state, { asked, asking, run }) {
  const { graph } = state;
  if (!asked) return [say`Which value does **${signWord(graph, asking)}** compute?`, ["Blue is known."]];
  return [say`Which message goes from **${signWord(graph, asking)}** back to ${nameIn(graph.labels[asked.from])}?`, ["Blue is known. What has come back so far is orange."]];
}

// What is right at a question, and what a wrong answer is told: never the result itself.
function answerOf(state, { asked, asking, run }) {
  const { graph } = state, i = graph.units[asking].node;
  if (!asked) return { right: run.values[i], sum: [inHtml(written({ ...graph, labels: graph.labels.map(() => ""), nodes: graph.nodes.map((node, j) => (j === i ? node : { value: run.values[j] })) }, i, 0, false)), " = ?"], hint: () => [[], []] };
  const [source, k] = asked.edge, right = run.messages[source][k], local = localsOf(graph, run.values, source)[k], up = run.adjoints[source];
  const rules = ruleWords(graph, run, source), close = (a, b) => Math.abs(a - b) <= 0.005 * Math.abs(b) + 1e-9, name = nameIn(graph.labels[asked.from]);
  const hint = (x) => (close(x, -right) && right ? say` The sign is the other one.` : close(x, run.values[asked.from]) ? [" ", number(x), " is ", name, " itself."] : close(x, up) ? say` ${number(x)} is what arrived.` : close(x, local) ? say` ${number(x)} is the slope alone.` : []);
  const words = graph.nodes[source].rule.op === "mul" ? say`A product **swaps**: what arrived, ${orange(up)}, times the **other** input.` : rules;
  return { right, sum: [orange(up), " · ", blue(factor(local)), " = ?"], hint: (x) => [hint(x), words] };
}

// The lines of one unit's closure, as Python runs them.
function gradLines(state, { run, gradient }, u, brief) {
  const { graph } = state, unit = graph.units[u], lines = [];
  const so = new Map();
  for (const i of [...unit.inside].sort((a, b) => b - a)) {
    const { rule, inputs } = graph.nodes[i], locals = localsOf(graph, run.values, i), up = run.adjoints[i], name = plainName(graph.labels[i] || "Σ");
    inputs.forEach((j, k) => {
      const sent = run.messages[i][k];
      if (!graph.needs[j] || sent === null || sent === undefined) return;
      const target = plainName(graph.labels[j] || "Σ"), other = rule.op === "mul" ? plainName(graph.labels[inputs[1 - k]] || factor(run.values[inputs[1 - k]])) : factor(locals[k]);
      const [before] = [so.get(j) ?? gradient(j).terms.slice(0, -graph.uses[j].filter(([m]) => m === i).length).reduce((a, b) => a + b, 0)];
      so.set(j, before + sent);
      lines.push(brief ? [`${target}.grad += ${number(up)} · ${factor(locals[k])} = `, h("span.gradient", number(sent))]
        : [`${target}.grad += ${name}.grad · ${other}\n${" ".repeat(target.length + 6)}= `, before ? [h("span.gradient", number(before)), " + "] : "", h("span.gradient", number(up)), " · ", h("span.value", factor(locals[k])), " = ", h("b.gradient", number(before + sent))]);
    });
  }
  return lines;
}
