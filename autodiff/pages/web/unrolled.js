// A network of any size as a graph, and as the programs that trainer.js runs.

// The graph is read from its formula, as if one typed it.
function networkOf(sizes, act) {
  const names = [], lines = [], layers = [], hidden = [], named = (name) => names.push(name) - 1;
  let from = ["x1", "x2"];
  [...sizes, 1].forEach((n, l) => {
    const units = spaced(n, 1, n + 1).slice(0, n), last = l === sizes.length;
    const weights = units.map((i) => from.map((_, j) => named(`w${l + 1}_${i}_${j + 1}`)));
    const biases = units.map((i) => named(`b${l + 1}_${i}`));
    const outs = units.map((i, k) => {
      const out = last ? "o" : `h${l + 1}_${i}`, row = weights[k].map((w) => names[w]);
      lines.push(`${out}=${last ? "tanh" : act}(dot([${from}],[${row}])+${names[biases[k]]})`);
      return out;
    });
    if (!last) hidden.push(...outs);
    layers.push({ name: "", act: 0, weights, biases });
    from = outs;
  });
  const said = parse(`${lines.join(";")};(o-t)^2`, byName), ids = said.labels;
  const labels = ids.map((x) => x.replace(/^h.*/, "").replace(/^(.)\d_/, "$1"));
  const places = (all) => all.map((name) => ids.indexOf(name));
  return { graph: graphOf({ ...said, ids, labels }), layers, hidden: places(hidden),
    leaves: places(["x1", "x2", "t", ...names]), output: places(["o"]), rule: byName[`${act}/1`] };
}

// What trainer.js runs. The pass of the live graph is unrolled: the same rules in the same order,
// but 20 times as fast. Where a page may make no programs, it is the pass itself.
function programsOf({ graph, leaves, hidden, output, rule }) {
  const { nodes, needs } = graph, values = Float64Array.from(graph.start), slopes = values.slice();
  const call = (i, kind, first) => `nodes[${i}].rule.${kind}(${
    [...first, ...nodes[i].inputs.map((j) => `v[${j}]`)]})`;
  const forward = nodes.map(({ rule }, i) => (rule ? `v[${i}] = ${call(i, "value", [])};` : ""));
  const back = nodes.map(({ rule, inputs }, i) => (rule && needs[i]
    ? `m = ${call(i, "back", [`g[${i}]`])}; ${inputs.map((j, k) => (needs[j]
      ? `g[${j}] += m[${k}];` : "")).join(" ")}` : "")).reverse();
  let run = (whole) => {
    const found = pass(graph, [...values], null, !whole);
    values.set(whole ? found.values : found);
    if (whole) slopes.set(found.adjoints);
  };
  try {
    run = Function("nodes", "v", "g", `return (whole) => {\n  ${forward.join("\n  ")}
  if (!whole) return;\n  let m;\n  g.fill(0);\n  g[${graph.output}] = 1;\n  ${back.join("\n  ")}\n}`)(nodes, values, slopes);
  } catch { /* a content policy */ }
  const given = (places, xs) => places.forEach((i, k) => { values[i] = xs[k]; });
  const free = leaves.toSpliced(2, 1), sums = hidden.map((i) => nodes[i].inputs[0]);
  return {
    sample(xs) {
      given(leaves, xs);
      run(true);
      return [values[graph.output], leaves.slice(3).map((i) => slopes[i])];
    },
    neurons(xs) {
      given(free, xs);
      run(false);
      return [...hidden, ...output, ...sums].map((i) => values[i]);
    },
    slopes: [([z]) => [rule.value(z), rule.back(1, z)]],
  };
}

// Evenly spread, smaller where more arrive.
function weightsOf({ layers }, seed) {
  const dice = diceOf(seed);
  return layers.flatMap(({ weights, biases }) => [...weights.flat(), ...biases]
    .map(() => 1.2 * (2 * dice() - 1) / Math.sqrt(weights[0].length)));
}
