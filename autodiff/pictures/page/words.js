// What the page says: the formula, the sentence of a step, the lines of the backward pass.

// -- Formulas -------------------------------------------------------------------------------------

// Signs that stand between, how strongly they bind, and what the right side needs to stand bare.
const SIGNS = { add: [" + ", 1, 1], sub: [" − ", 1, 2], mul: [" · ", 2, 2], div: [" / ", 2, 3],
  sum: [" + ", 1, 1], prod: [" · ", 2, 2], less: [" < ", 0, 1], less_equal: [" ≤ ", 0, 1] };

// Node i as a formula; name(j) is what stands for node j, if not its own formula.
function written(graph, i, name, lit = () => null, least = 0) {
  const { rule: { op }, inputs } = graph.nodes[i], n = inputs.length / 2;
  const of = (j, need) => name(j) ?? written(graph, j, name, lit, need);
  const [sign, own, need] = SIGNS[op] ?? [", ", 0, 0], word = opOf(graph, i);
  const all = inputs.map((j, k) => [k ? sign : "", of(j, k ? need : own)]);
  const row = () => inputs.slice(0, n).map((j, k) =>
    [k ? " + " : "", of(j, 2), " · ", of(inputs[n + k], 2)]);
  const power = () => [of(inputs[0], 5), h("sup", of(inputs[1], 0))];
  const [parts, strength] = SIGNS[op] ? [all, own]
    : ["power", "pow", "exponential"].includes(op) ? [power(), 4]
      : op === "dot" ? [row(), 1] : op === "neg" ? [["−", of(inputs[0], 2)], 1]
        : op === "abs" ? [["|", all, "|"], 5]
          : n === 0.5 && op && name(inputs[0]) ? [[word, op === "sqrt" ? "" : " ", all], 5]
            : [[`${word}(`, all, ")"], 5];
  return h("span", { class: lit(i) }, strength < least ? ["(", parts, ")"] : parts);
}

// A node by its name, or its number.
const named = ({ nodes, labels }, i) =>
  (labels[i] ? nameIn(labels[i]) : nodes[i].rule ? "Σ" : factor(nodes[i].value));
const short = (graph, i) => written(graph, i, (j) => named(graph, j));
const inNumbers = (graph, values, i) => written(graph, i, (j) => factor(values[j]));

// The formula of the whole graph; what is used more than once stands by its name.
function heading({ graph, step }, view) {
  const { nodes, uses, neurons, output } = graph, pass = step > half({ graph }) ? "backward"
    : "forward";
  const now = view.now.map((u) => graph.units[u].node);
  const name = (j) => (!nodes[j].rule || uses[j].length > 1 || neurons.has(j) ? named(graph, j)
    : null);
  const one = (i) => [nameIn(graph.labels[i]), nodes[i].rule && [" = ",
    written(graph, i, name, (j) => now.includes(j) && `now ${pass}`)]];
  const shared = nodes.flatMap(({ rule }, i) => (rule && uses[i].length > 1 ? [i] : []));
  const also = neurons.size || nodes.length > 24 ? [] : shared.reverse();
  return [one(output), also.map((i) => h("span.where", ", ", one(i)))];
}

// -- Sentences ------------------------------------------------------------------------------------

function say(strings, ...values) {
  let bold = false;
  return strings.flatMap((text, i) => [...text.split("**").map((part, k) => {
    bold = k ? !bold : bold;
    return bold ? h("b", part) : part;
  }), bold && i < values.length ? h("b", values[i]) : values[i]]);
}
const blue = (x) => h("b.value", typeof x === "number" ? number(x) : x);
const orange = (x) => h("b.gradient", typeof x === "number" ? number(x) : x);
const TIMES = { 2: ["twice", "two"], 3: ["three times", "three"] };

// What an operation does on the way back.
const RULES = {
  mul: () => say`A product **swaps**: each input gets what arrived, times the other.`,
  dot: () => say`A product **swaps**: each input gets what arrived, times its partner.`,
  add: () => say`A sum **copies**: both inputs get what arrived.`,
  sum: () => say`A sum **copies**: every input gets what arrived.`,
  sub: () => say`A difference **copies**, with the sign turned for what is taken away.`,
  maximum: () => say`A maximum **chooses**: the larger input gets what arrived.`,
  minimum: () => say`A minimum **chooses**: the smaller input gets what arrived.`,
  where: () => say`A choice **passes** what arrived to the input that was chosen.`,
  relu: (local) => (local ? say`relu is **open** above 0: what arrived passes.`
    : say`relu is **shut** up to 0: nothing passes back.`),
};
function ruleWords(graph, { values }, i) {
  const [local, ...others] = localsOf(graph, values, i), { op } = graph.nodes[i].rule;
  if (RULES[op]) return RULES[op](local);
  const slope = others.some((x) => x !== null) ? "" : [" here: ", blue(local)];
  return say`${opOf(graph, i)} sends back what arrived, times its **slope**${slope}.`;
}

// The sentence, and a smaller one below it.
function sentence(state, view) {
  const { graph, step, touched, problem } = state, { run, now, asking, asked } = view;
  const n = half(state), y = nameIn(graph.labels[graph.output]), unit = graph.units[now[0]];
  if (problem) return [problem, "The picture shows the formula before."];
  const lost = graph.nodes.findIndex(({ rule, inputs }, i) =>
    rule && Number.isNaN(run.values[i]) && !inputs.some((j) => Number.isNaN(run.values[j])));
  if (lost >= 0) {
    const at = graph.nodes[lost].inputs.map((j, k) =>
      [k ? ", " : "", named(graph, j), graph.labels[j] && ` = ${number(run.values[j])}`]);
    return [say`${opOf(graph, lost)} has **no value** at ${at}.`, touched !== null && "Drag back."];
  }
  if (asking !== undefined) {
    const op = opOf(graph, graph.units[asking].node), from = asked
      && nameIn(graph.labels[asked.from]);
    return [asked ? say`Which message goes from **${op}** back to ${from}?`
      : say`Which value does **${op}** compute?`, "Blue is known. What has come back is orange."];
  }
  if (touched !== null) return touchedWords(state, run, y);
  if (step === 0 || (step === n && !unit)) {
    return [step === n ? say`The values have run forward, in ${blue("blue")}. Press **Play** to send
      the gradients back, in ${orange("orange")}.`
      : say`The inputs hold their numbers. Press **Play** to run the values
        forward, in ${blue("blue")}.`];
  }
  if (step === n + 1
    && n) return [say`The way back starts at the end: ${y} changes ${orange("1")}
      for 1 with itself.`];
  if (!unit) return endWords(state, run, y);
  if (unit.kind === "card") {
    return [step > n
      ? say`Each weight gets what arrived, times the **slope** of its neuron, times its input.`
      : "Each neuron adds up weights times inputs, and bends the sum."];
  }
  const i = unit.node;
  if (step <= n) {
    return [[nameIn(graph.labels[i]), " = ", short(graph, i), " = ",
      inNumbers(graph, run.values, i),
      " = ", blue(run.values[i])]];
  }
  const met = unit.edges.map((edge) => edge.from).find((j) =>
    graph.needs[j] && view.gradient(j).complete && view.gradient(j).of > 1);
  const { terms, of } = met === undefined ? {} : view.gradient(met);
  const [times, count] = TIMES[of] ?? [`${of} times`, of];
  return [ruleWords(graph, run, i), met !== undefined && h("span.big",
    say`${named(graph, met)} is used ${times}, so its ${count} messages **add**:
      ${orange(`${number(run.adjoints[met])} = ${total(terms)}`)}.`)];
}

function endWords({ graph, leaves }, run, y) {
  const size = (i) => Math.abs(run.adjoints[i]),
    j = graph.inputs.reduce((a, b) => (size(b) > size(a) ? b : a));
  if (graph.neurons.size) {
    const moved = leaves.map((x, i) => (graph.needs[i] && !graph.place.has(i)
      ? x - 0.1 * run.adjoints[i] : x));
    return [say`Every weight has its gradient. A step of 0.1 against all of them takes ${y} from
      ${blue(run.values[graph.output])} to ${blue(pass(graph, moved, true)[graph.output])}.`,
    "Thick: large. Dashed: negative. Touch a number in a table to drag it."];
  }
  if (!Number.isFinite(run.adjoints[j])) return steepWords(graph, leaves, run, y, j);
  return [say`All gradients are here. Move ${nameIn(graph.labels[j])} by 0.01, and ${y} moves by
    ${orange(0.01 * run.adjoints[j])}.`, "Drag an input and see."];
}

function steepWords(graph, leaves, run, y, j) {
  const x = nameIn(graph.labels[j]), slope = run.adjoints[j], at = number(leaves[j]);
  return [Number.isNaN(slope) ? say`At ${x} = ${at} the slope of ${y} is **not defined**.`
    : say`At ${x} = ${at}, ${y} ${slope > 0 ? "rises straight up" : "falls straight down"}:
      its slope is ${orange(slope)}.`, say`Drag ${x} away from here.`];
}

// While an input is touched.
function touchedWords({ graph, leaves, step, touched }, run, y) {
  const x = nameIn(graph.labels[touched]), slope = run.adjoints[touched];
  if (step < lastStep(graph)) {
    return [say`${x} moves, and ${y} follows: ${blue(run.values[graph.output])}.`,
      "How fast? Press Play: the gradients come back and say it."];
  }
  if (!Number.isFinite(slope)) return steepWords(graph, leaves, run, y, touched);
  const sides = corner((at) => slopeAt(graph, leaves, touched, at), leaves[touched]);
  if (sides) {
    return [say`At the corner there are two slopes, ${orange(sides[0])} and ${orange(sides[1])}.
      **${cornerName(graph, run)} takes ${number(slope)}**${slope ? "" : ": nothing passes back"}.`,
    say`Drag ${x} either way and only one slope is left.`];
  }
  const far = slope
    ? say`moves ${orange(Math.abs(slope))} times as far${slope < 0 ? ", the other way" : ""}`
    : say`stays where it is: the slope is ${orange(0)}`;
  return [say`Move ${x} a little and ${y} ${far}.`,
    say`That number is the slope of the curve, and the gradient that came back to ${x}.`];
}

const cornerName = (graph, run) => {
  const at = ({ rule }, i) => rule && peculiar(graph, run.values, i) === "corner";
  const i = graph.nodes.findIndex(at);
  return i < 0 ? plainName(graph.labels[graph.output]) : opOf(graph, i);
};

// What is right at a question, and what a wrong answer is told: never the result itself.
function answerOf({ graph }, { asked, asking, run }) {
  const i = graph.units[asking].node;
  if (!asked) return { right: run.values[i], made: [inNumbers(graph, run.values, i), " = ?"],
    hint: () => "" };
  const [source, k] = asked.edge, up = run.adjoints[source], right = run.messages[source][k];
  const made = [orange(up), " · ", blue(factor(localsOf(graph, run.values, source)[k])), " = ?"];
  const itself = run.values[asked.from], rule = ruleWords(graph, run, source);
  const hint = (x) => [h("b", "Not yet", Math.abs(x - itself) < 0.005 * Math.abs(x)
    && [`: ${number(x)} is `, nameIn(graph.labels[asked.from]), " itself"], ". "), rule];
  return { right, made, hint };
}

// The lines of one unit's closure, as Python runs them.
function gradLines({ graph }, { run }, u) {
  const name = (j) => plainName(graph.labels[j] || "Σ"),
    { inside = [graph.units[u].node] } = graph.units[u].neuron ?? {};
  return [...inside].sort((a, b) => b - a).flatMap((i) => {
    const { rule, inputs } = graph.nodes[i], locals = localsOf(graph, run.values, i);
    return inputs.flatMap((j, k) => {
      const sent = run.messages[i][k] ?? null, other = inputs[1 - k],
        local = factor(locals[k] ?? 0);
      if (!graph.needs[j] || sent === null) return [];
      const by = rule.op === "mul" && graph.labels[other] ? name(other) : local;
      return [[`${name(j)}.grad += ${name(i)}.grad · ${by} = `,
        h("span.gradient", number(run.adjoints[i])),
        " · ", h("span.value", local), " = ", h("b.gradient", number(sent)), "\n"]];
    });
  });
}
