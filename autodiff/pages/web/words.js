// What the page says: the formula, the sentence of a step, the lines of the backward pass.

// -- Formulas

// Signs that stand between, how strongly they bind, and what the right side needs to stand bare.
const SIGNS = { add: [" + ", 1, 1], sub: [" − ", 1, 2], mul: [" · ", 2, 2], div: [" / ", 2, 3],
  sum: [" + ", 1, 1], prod: [" · ", 2, 2], less: [" < ", 0, 1], less_equal: [" ≤ ", 0, 1] };

// Node i as a formula; name(j) is what stands for node j, if not its own formula.
function written(graph, i, name, lit = () => null, least = 0) {
  if (!graph.nodes[i].rule) return named(graph, i);
  const { rule: { op }, inputs } = graph.nodes[i], [x, y] = inputs, n = inputs.length / 2;
  const { loss } = graph, bare = (j) => !graph.nodes[j].rule && !graph.labels[j];
  const of = (j, need) => name(j) ?? written(graph, j, name, lit, need);
  const [sign, own, need] = SIGNS[op] ?? [", ", 0, 0], word = opOf(graph, i);
  const row = inputs.map((j, k) => [k ? sign : "", of(j, k ? need : own)]);
  const pairs = () => inputs.slice(0, n).map((j, k) =>
    [k ? " + " : "", of(j, 2), " · ", of(inputs[n + k], 2)]);
  const [parts, strength] = loss && i === graph.output
    ? [["(", name(loss.from), " − ", name(loss.target), ")", h("sup", "2")], 4]
    : SIGNS[op] ? [row, own]
    : ["power", "pow", "exponential"].includes(op) ? [[of(x, 5),
      h("sup", bare(y) ? letter(graph.nodes[y].value) : of(y, 0))], 4]
      : op === "dot" ? [pairs(), 1] : op === "neg" ? [["−", of(x, 2)], 1]
        : op === "abs" ? [["|", row, "|"], 5]
          : op === "sqrt" && name(x) ? [[word, row], 4]
            : n === 0.5 && op && name(x) && (!least || least > 4) ? [[word, " ", row], 4]
              : [[`${word}(`, row, ")"], 5];
  return h("span", { class: lit(i) }, strength < least ? ["(", parts, ")"] : parts);
}

// A node by its name, or its number.
const named = ({ nodes, labels }, i) =>
  (labels[i] ? nameIn(labels[i]) : nodes[i].rule ? "Σ" : constant(nodes[i].value));
const short = (graph, i) => written(graph, i, (j) => named(graph, j));
const inFull = (x) =>
  number(x, spaced(13, 5, 18).find((digits) => Number(x.toPrecision(digits - 1)) === x));
const inNumbers = (graph, values, i) => written(graph, i, (j) => factor(values[j]));

// The formula of the whole graph; what is used more than once stands by its name. A step in a large
// graph shows its own line.
function heading({ graph, step }, { now }) {
  const { nodes, uses, neurons, output, units } = graph;
  const kind = step > graph.half ? "now backward" : "now forward";
  const lit = (i) => now.some((u) => units[u].node === i) && kind;
  const shared = (i) => nodes[i].rule && uses[i].length > 1;
  const name = (j) => (nodes[j].rule && !shared(j) && !neurons.has(j) ? null : named(graph, j));
  const one = (i) => [named(graph, i), nodes[i].rule && [" = ", written(graph, i, name, lit)]];
  if (nodes.length > 24 && now.length && !neurons.size) {
    const { node } = units[now[0]];
    return [named(graph, node), " = ", h("span", { class: kind }, short(graph, node))];
  }
  const also = neurons.size || nodes.length > 24 ? [] : [...nodes.keys()].filter(shared).reverse();
  return [one(output), also.map((i) => h("span.where", ", ", one(i)))];
}

// -- Sentences

// A text with values and **bold** words in it.
function say(strings, ...values) {
  let bold = false;
  return strings.flatMap((text, i) => [...text.split("**").map((part, k) => {
    bold = k ? !bold : bold;
    return bold ? h("b", part) : part;
  }), bold && i < values.length ? h("b", values[i]) : values[i]]);
}

// What an operation does on the way back, as its printed slopes say.
function ruleWords(graph, run, i) {
  const ends = graph.loss && i === graph.output, at = ends ? graph.loss.power : i;
  const { inputs, rule } = graph.nodes[at], all = (kind) => rule.slopes.every((x) => kind.test(x));
  if (inputs.length > 1 && all(/^x\d+$/)) {
    return say`A product **swaps**: an input gets what arrived, times the other.`;
  }
  if (inputs.length > 1 && all(/^1$/)) return say`A sum **copies**: an input gets what arrived.`;
  if (inputs.length > 1 && all(/^-?1$/)) {
    return say`A difference **copies**, with the sign turned for what is taken away.`;
  }
  const slopes = ends ? [madeOf(graph, run, graph.loss.edge).local]
    : localsOf(graph, run.values, i);
  const said = slopes.flatMap((x, k) => (x === null || !graph.needs[inputs[k]] ? [] : [[
    rule.slopes[k] && minus(rule.slopes[k]) !== number(x)
      && [slopeOf(graph, at, rule.slopes[k]), " = "], blue(x)]]));
  return say`Here ${opOf(graph, i)} sends back what arrived, times its **slope**:
    ${said.map((x, k) => [k ? " and " : "", x])}.`;
}

// A printed slope, with the names of its inputs x1, x2 and its result z.
function slopeOf(graph, i, text) {
  const { nodes, loss } = graph, { inputs } = nodes[i];
  const squared = text.replace(/\b(\w+)·\1\b/g, "$1**2");
  return squared.split(/(\bx\d+\b|\bz\b|\*\*(?:2|\(x2 - 1\)))/).map((part) => {
    if (part === "**2") return h("sup", "2");
    const j = inputs[part.match(/x(\d+)/)?.[1] - 1], n = nodes[j]?.value - 1;
    if (part.startsWith("**")) {
      return n !== 1 && h("sup", Number.isNaN(n) ? [named(graph, j), " − 1"] : number(n));
    }
    if (j === undefined) return part === "z" ? named(graph, i) : minus(part.replaceAll("·", " · "));
    return loss && j === nodes[loss.power]?.inputs[0]
      ? ["(", named(graph, loss.from), " − ", named(graph, loss.target), ")"] : named(graph, j);
  });
}

// The sentence, and a smaller one below it.
function sentence(state, view) {
  const { graph, step, touched, problem } = state, { run, now, asking, asked, proof } = view;
  const { nodes, labels, units, output } = graph, n = graph.half, y = named(graph, output);
  if (problem) return [problem, ["The picture shows ", written(graph, output, () => null), "."]];
  const lost = nodes.findIndex(({ rule }, i) => rule && Number.isNaN(run.values[i]));
  if (lost >= 0) {
    const unit = units[graph.owner[lost]];
    if (unit.kind === "card") {
      return [say`${nameIn(unit.name)} has **no value**: its numbers are too large.`];
    }
    const { rule, inputs } = nodes[lost], xs = inputs.map((j) => run.values[j]);
    const large = [0, 0.5].every((by) => // beside a pole at 0 it is not
      Math.abs(rule.value(...xs.map((x) => x || by))) === Infinity);
    const at = [...new Set(inputs)].filter((j) => nodes[j].rule || labels[j]).map((j, k) =>
      [k ? ", " : "", named(graph, j), ` = ${inFull(run.values[j])}`]);
    return [say`${short(graph, lost)} ${large ? say`is **too large**` : say`has **no value**`} at
      ${at}.`, touched !== null && "Drag back."];
  }
  if (asking !== undefined) {
    const from = unitName(graph, units[asking]);
    if (asked?.sum !== undefined) {
      return [say`${named(graph, asked.sum)} is used ${times(graph.uses[asked.sum].length)},
        and all its messages are here. What is its **gradient**?`];
    }
    return [asked ? say`Which message goes from ${from} back to ${named(graph, asked.from)}?`
      : say`Which value does ${from} compute?`, "Blue is known. What has come back is orange."];
  }
  if (proof) {
    const x = nameIn(labels[proof.source] || "Σ"), by = signed(proof.far);
    const only = state.proof.edge ? "this one use of" : "only";
    return [[say`Move ${only} ${x} by ${blue(by)}, and ${y} `, Number.isNaN(proof.measured)
      ? say`has **no value**.` : say`moves by ${blue(signed(proof.measured))}.`],
    aboutOf(graph, run)];
  }
  if (touched !== null) return touchedWords(state, view, y);
  const unit = units[now[0]], i = unit?.node, { unsure: [odd] = [] } = graph;
  if (!unit && step === n && odd) {
    return [say`**${odd}** is one name. A product is ${odd[0]}·${odd[1]}.`];
  }
  if (!unit && step === n) {
    return [say`The values ran forward, in ${blue("blue")}. Press **Play** to send
      gradients back, in ${orange("orange")}: how fast ${y} moves with each.`];
  }
  if (step === 0) {
    return [say`The inputs hold their numbers. Press **Play** to run the values
      forward, in ${blue("blue")}.`];
  }
  if (step === n + 1 && n) {
    return [say`The way back starts at the end: ${y} changes ${orange("1")} for 1 with itself.`];
  }
  if (!unit) return endWords(state, view, y);
  if (unit.kind === "card") {
    const bends = unit.neuron.act ? ", and bends the sum" : "";
    return [step <= n ? `Each neuron adds up weights times inputs${bends}.`
      : say`Each weight gets what arrived, times the **slope** of its neuron, times its input.`];
  }
  if (step <= n) {
    return [[nameIn(labels[i]), " = ", short(graph, i), " = ", inNumbers(graph, run.values, i),
      " = ", blue(run.values[i])]];
  }
  const met = unit.edges.map((edge) => edge.from).find((j) =>
    graph.needs[j] && view.gradient(j).complete && view.gradient(j).of > 1);
  if (met === undefined) return [ruleWords(graph, run, i)];
  const { terms, of } = view.gradient(met), all = total(terms), sum = number(run.adjoints[met]);
  return [ruleWords(graph, run, i), h("span.big", say`At ${named(graph, met)}
    ${of > 2 ? `all ${of}` : "both"} messages **add**: ${
    orange(state.phone && all.length > 15 ? sum : `${sum} = ${all}`)}.`)];
}

function endWords(state, { run }, y) {
  const { graph, leaves } = state;
  const j = steepest(graph.inputs, run), x = named(graph, j);
  const prove = say`Touch an **${orange("orange number")}**, and it proves itself.`;
  const { tries } = state, first = tries.filter(Boolean).length;
  if (tries.length) return [`Done: ${first} of ${tries.length} right at the first try.`, prove];
  if (graph.about) return [aboutOf(graph, run), prove];
  if (graph.neurons.size) {
    const moved = leaves.map((x, i) => (graph.needs[i] && !graph.place.has(i)
      ? x - 0.1 * run.adjoints[i] : x));
    const [from, to] = [run.values[graph.output], pass(graph, moved, null, true)[graph.output]];
    const worse = to > from && "Too large a step: it lands higher.";
    return [say`Weights step 0.1 against their gradients: ${y} goes from ${blue(from)} to
      ${blue(to)}.`, worse || prove];
  }
  if (!Number.isFinite(run.adjoints[j])) return steepWords(graph, leaves, run, y, j);
  const odd = oddWords(state, run, y, j);
  if (odd) return [odd, prove];
  const [y0, slope] = [run.values[graph.output], run.adjoints[j]];
  const far = (by) => along(graph, leaves, j, leaves[j] + by)[graph.output] - y0;
  const by = [0.01, 1e-4, 1e-6].find((by) => // near enough to be foretold
    Math.abs(far(by) - by * slope) < 0.05 * by * (Math.abs(slope) || 0.3));
  return [by ? say`All gradients are here. Move ${x} by ${number(by)}, and ${y} moves by about
    ${orange(by * slope)}.` : "All gradients are here.", prove];
}

// The point whose graph a network opened.
const aboutOf = ({ about, says }, { values }) => about && say`${about}: output
  ${blue(values[says])}, loss ${blue(values.at(-1))}.`;

function steepWords(graph, leaves, run, y, j) {
  const x = named(graph, j), slope = run.adjoints[j], at = number(leaves[j]);
  return [Number.isNaN(slope) ? say`At ${x} = ${at} the gradient of ${y} has **no value**.`
    : say`At ${x} = ${at}, ${y} ${slope > 0 ? "rises straight up" : "falls straight down"}:
      its slope is ${orange(slope)}.`, say`Drag ${x} away from here.`];
}

// Where the gradient does not tell how y moves: at a jump, or where corners meet.
function oddWords(state, run, y, node) {
  const kinds = kindsOf(state, run, node);
  return kinds.includes("jump") ? say`Here ${y} **jumps**.` : kinds.includes("untrue")
    && say`Corners meet here: ${y} has a slope, and the gradient is **not** that.`;
}

// While an input is touched.
function touchedWords(state, { run, sides }, y) {
  const { graph, leaves, step, touched } = state;
  const x = named(graph, touched), slope = run.adjoints[touched];
  if (step < graph.last) {
    return [say`At ${x} = ${blue(leaves[touched])}, ${y} is ${blue(run.values[graph.output])}.`,
      say`How fast does ${y} follow? Press Play, and the gradient says it.`];
  }
  if (!Number.isFinite(slope)) return steepWords(graph, leaves, run, y, touched);
  if (sides) {
    return [say`At the corner there are two slopes, ${orange(sides[0])} and ${orange(sides[1])}.
      **The gradient is ${number(slope)}**.`,
    say`Drag ${x} either way and only one slope is left.`];
  }
  const odd = oddWords(state, run, y, touched), size = Math.abs(slope);
  if (graph.about && !odd) {
    return [aboutOf(graph, run), say`Touch ${x}’s ${orange(slope)}: it proves itself.`];
  }
  return [odd || say`Move ${x} a little and ${y} ${size === 0 ? "stands almost still"
    : size === 1 ? "moves just as far" : [`moves `, orange(size), " times as far"]}${slope < 0
    ? ", the other way" : ""}.`, odd ? say`Drag ${x} away from here.`
    : "It is the slope of the curve."];
}

// What is right at a question, and what a wrong answer is told: never the result itself.
function answerOf({ graph }, { asked, asking, run }) {
  const i = graph.units[asking].node, j = asked?.sum;
  if (!asked) return { right: run.values[i], made: [inNumbers(graph, run.values, i), " = ?"],
    hint: () => h("b", "Not yet.") };
  if (j !== undefined) {
    const terms = graph.uses[j].map(([i, k]) => run.messages[i][k])
      .filter((x) => x != null).reverse();
    return { right: run.adjoints[j], made: [orange(total(terms)), " = ?"],
      hint: () => say`**Not yet.** At a fork the messages **add**.` };
  }
  const { at, arrived, local, sent } = madeOf(graph, run, asked.edge);
  const made = [orange(arrived), " · ", blue(factor(local)), " = ?"];
  const itself = run.values[asked.from];
  const hint = (x) => [h("b", "Not yet", Math.abs(x - itself) < 0.005 * Math.abs(x)
    && [`: ${number(x)} is `, named(graph, asked.from), " itself"], ". "),
  ruleWords(graph, run, at)];
  return { right: sent, made, hint };
}

// The lines of one unit's closure, as Python runs them.
function gradLines({ graph }, { run }, u) {
  const name = (j) => plainName(graph.labels[j]
    || (graph.nodes[j].rule.op === "dot" ? "dot" : "Σ")); // Σ is a dot and a bias
  const { neuron, edges } = graph.units[u];
  const all = neuron ? neuron.inside.toSorted((a, b) => b - a)
    .flatMap((i) => graph.nodes[i].inputs.map((_, k) => [i, k])) : edges.map(({ edge }) => edge);
  return all.map(([i, k]) => {
    const { rule, inputs } = graph.nodes[i], j = inputs[k];
    const other = inputs[/^x(\d+)$/.exec(rule.slopes[k])?.[1] - 1]; // in a product
    const { at, arrived, local, sent } = madeOf(graph, run, [i, k]);
    if (!graph.needs[j] || sent == null) return null;
    const by = graph.labels[other] ? name(other) : factor(local);
    return [`${name(j)}.grad += ${name(at)}.grad · ${by} = `, h("span.gradient", number(arrived)),
      " · ", h("span.value", factor(local)), " = ", h("b.gradient", number(sent)), "\n"];
  });
}

// The line of Python that computes a unit.
function valueLine({ graph }, { run }, u) {
  const { node, neuron } = graph.units[u];
  const sum = neuron && (neuron.weights.length > neuron.rows.length ? "w @ x + b" : "w @ x");
  const by = !neuron ? short(graph, node) : neuron.act ? `${neuron.act.name}(${sum})` : sum;
  return [plainName(graph.labels[node]), " = ", by, " = ", blue(run.values[node]), "\n"];
}
