// A network of any size as a graph, and as the programs that trainer.js runs.

// The graph is read from its formula, as if one typed it.
function networkOf(sizes, act) {
  const names = [], lines = [], layers = [], outs = [];
  let from = ["x", "y"];
  [...sizes, 1].forEach((n, k) => {
    const units = [...Array(n).keys()], f = k < sizes.length ? act : "tanh";
    const called = (letter, at) => `${letter}${[k, ...at].map((x) => x + 1).join("_")}`;
    const named = (letter, ...at) => names.push(called(letter, at)) - 1;
    const weights = units.map((i) => from.map((_, j) => named("w", i, j)));
    const biases = units.map((i) => named("b", i)), own = units.map((i) => called("h", [i]));
    units.forEach((i) => lines.push(`${own[i]}=${f}(dot([${from}],[${
      weights[i].map((w) => names[w])}])+${names[biases[i]]})`));
    layers.push({ act: 0, weights, biases });
    outs.push(...own);
    from = own;
  });
  const said = parse(`${lines.join(";")};(${from}-t)^2`, byName), ids = said.labels;
  const labels = ids.map((x) => x.replace(/^h.*/, "").replace(/^(.)\d_/, "$1"));
  const [leaves, neurons] = [["x", "y", "t", ...names], outs].map((all) =>
    all.map((name) => ids.indexOf(name)));
  return { graph: graphOf({ ...said, ids, labels }), layers, leaves, neurons };
}

// What trainer.js runs. The pass of the live graph is unrolled: the same rules in the same order,
// but 20 times as fast. Where a page may make no programs, it is the pass itself.
function programsOf({ graph, leaves, neurons }) {
  const { nodes, needs, output, ids } = graph, act = nodes[neurons[0]].rule;
  const v = Float64Array.from(graph.start), g = v.slice(); // values and gradients
  const line = (i, kind, result) => { // a rule as it is printed, of the numbers of this node
    const made = String(nodes[i].rule[kind]).replace(/^.*?=> ?/, "").replace(/\bgrad\b/g, `g[${i}]`)
      .replace(/\bx(\d+)\b/g, (_, k) => `v[${nodes[i].inputs[k - 1]}]`);
    return made[0] === "{" ? made.replace("return", `${result} =`) : `${result} = ${made};`;
  };
  const inner = [...nodes.keys()].filter((i) => nodes[i].rule);
  const forward = inner.map((i) => line(i, "value", `v[${i}]`));
  const back = inner.filter((i) => needs[i]).reverse().flatMap((i) => [
    line(i, "back", "m"),
    ...nodes[i].inputs.flatMap((j, k) => (needs[j] ? `g[${j}] += m[${k}];` : []))]);
  let run = (whole) => {
    const found = pass(graph, [...v], null, !whole);
    v.set(found.values ?? found);
    g.set(found.adjoints ?? g);
  };
  try {
    run = Function("v", "g", "pow", ["return (whole) => {",
      "// v: values, g: gradients", ...forward, "if (!whole) return;",
      "let m;", "g.fill(0);", `g[${output}] = 1;`, ...back, "}"].join("\n"))(v, g, pow);
  } catch { /* a content policy */ }
  const given = (places, xs) => places.forEach((i, k) => { v[i] = xs[k]; });
  const free = leaves.toSpliced(2, 1), sums = neurons.slice(0, -1).map((i) => nodes[i].inputs[0]);
  const sample = (xs) => {
    given(leaves, xs);
    run(true);
    return [v[output], leaves.slice(3).map((i) => g[i])];
  };
  sample.toString = () => String(run).replace(/([vg])\[(\d+)\]/g, // what the page shows
    (at, of, i) => (ids[i] ? `${of}.${ids[i]}` : nodes[i].value ?? at));
  return { sample, slopes: [([z]) => [act.value(z), act.back(1, z)]], neurons(xs) {
    given(free, xs);
    run(false);
    return [...neurons, ...sums].map((i) => v[i]);
  } };
}

// Evenly spread, smaller where more arrive.
function weightsOf({ layers }, seed) {
  const dice = diceOf(seed);
  return layers.flatMap(({ weights, biases }) => [...weights.flat(), ...biases]
    .map(() => 1.2 * (2 * dice() - 1) / Math.sqrt(weights[0].length)));
}
