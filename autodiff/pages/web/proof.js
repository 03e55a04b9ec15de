// A gradient that proves itself: one value, or one use of it, is moved, and the output is
// computed anew. And the question that comes first.

const isSame = (a, b) => Boolean(a && b) && a.node === b.node && a.edge?.join() === b.edge?.join();
const signed = (x, digits = 4) => (x > 0 ? "+" : "") + number(x, digits);

// What moves with what is touched, and how far: foretold by the gradient, and measured.
function proofOf({ graph, leaves, proof: { node, edge, by } }, run) {
  const [i, k] = edge ?? [], { values } = run, y = values.at(-1);
  const slope = edge ? run.messages[i][k] : run.adjoints[node];
  const there = (by, forward) => pass(graph, leaves, { node, edge, by }, forward);
  const f = (by) => there(by, true).at(-1), far = Number.isNaN(f(by)) ? -by : by;
  const miss = (by) => Math.abs(f(by) - y - slope * by), gap = miss(far);
  const sides = corner((by) => (edge ? there(by).messages[i][k] : there(by).adjoints[node]), 0);
  const noise = 1e-14 * Math.min(Number.MAX_VALUE, Math.max(...values.map((x, j) =>
    (Number.isFinite(run.adjoints[j]) && Math.abs(x * run.adjoints[j])) || 0)));
  const straight = (by) => miss(by) <= Math.max(1e-9 * Math.abs(slope * by), noise);
  const all = [1, ...spaced(12, 0.01, 0.97)].every((part) => straight(part * far));
  const source = node ?? graph.nodes[i].inputs[k];
  const near = Math.sign(far) * 1e-7 * (Math.abs(values[source]) || 1);
  const leap = miss(near / 1e4), grows = (power, near) => { // with this power of the distance
    const misses = [near, near / 100, near / 1e4].map(miss);
    return misses[2] > 1e3 * noise
      && misses.every((x, k) => Math.abs(x / misses[2] / 100 ** (power * (2 - k)) - 1) < 0.01);
  };
  const kind = !Number.isFinite(slope) ? "steep" : Number.isNaN(gap) ? "nowhere"
    : grows(0, near) ? "jump" : sides && !grows(0, -near) ? "corner"
      : gap > 0.5 * Math.abs(slope * far) && gap <= noise ? "lost"
        : all ? "straight" : grows(1, near) ? "untrue" : "bends";
  const after = there(far, true), moved = (j) => after[j] !== values[j];
  const order = new Map([...graph.nodes.keys()].filter((j) => moved(j) && graph.place.has(j))
    .map((j, turn, { length }) => [j, turn * Math.min(1, 10 / length)]));
  return { kind, slope, sides, far, f, y, gap, miss, straight, leap, noise, moved, order,
    own: (f(near) - y) / near, after: after.at(-1), source, by: after.map((x, j) => x - values[j]),
    foretold: slope * far, measured: after.at(-1) - y };
}

// The kinds of a move up and of one down.
const kindsOf = (state, run, node) =>
  [1, -1].map((by) => proofOf({ ...state, proof: { node, by } }, run).kind);

// Two numbers with as many digits as tell them apart.
function apart(a, b) {
  const fits = (digits) => Math.abs(Number(b.toPrecision(digits)) - b) < 1e-3 * Math.abs(b - a);
  const digits = spaced(11, 4, 15).find(fits) ?? 4;
  return [a, b].map((x) => number(x, digits + (Math.abs(x) < 1)));
}

// What the comparison says.
function verdict({ proof: { by } }, { proof }, y) {
  const { kind, slope, sides, far, f, gap, miss, straight, leap, noise } = proof;
  const turned = far !== by && kind !== "nowhere"
    ? say`There ${y} has **no value**, so it moves the other way. ` : "";
  if (kind === "nowhere") return say`So far to either side, ${y} has no **value**.`;
  if (kind === "lost") return say`The move is too small: it is **lost** behind the last digits.`;
  if (kind === "steep") {
    return [turned, say`The slope here is ${orange(slope)}: **nothing can be foretold**.`];
  }
  if (kind === "jump") {
    return say`Off by ${number(leap, 2)}, however small the move: here ${y} **jumps**.`;
  }
  if (kind === "untrue") {
    return [turned, say`**Corners meet** here: the slope is ${number(proof.own)}, and the gradient
      ${orange(slope)} is not that.`];
  }
  if (kind === "corner") {
    const own = takenOf(sides, slope) >= 0 ? "one of"
      : (sides[0] - slope) * (sides[1] - slope) < 0 ? "between" : "neither of";
    const [up, down] = [by, -by].map((by) => signed(f(by) - proof.y)
      .replace("no value", "to where it has no value"));
    return say`A **corner**: up, it moves ${up}; down, ${down}. There are two slopes, and
      the gradient is ${own} them, ${orange(slope)}.`;
  }
  if (kind === "straight") {
    return [turned, "Exactly as foretold: as far as it moved, the output is a straight line."];
  }
  const times = gap / miss(far / 10), said = number(Number(times.toPrecision(2)));
  if (gap <= noise) return [turned, say`Met **by chance**: on the way, the curve is not straight.`];
  return [turned, say`Off by ${number(gap, 3)}: the curve is not **straight**. `,
    straight(far / 10) ? "Ten times smaller, and nothing is missed."
      : times > 1.5 && `Ten times smaller misses ${said} times less.`];
}

// The proof in words and numbers, beside the inputs.
function proofPane(state, view) {
  const { graph, proof: asked, step } = state, { proof } = view;
  const { slope, far, foretold, measured } = proof, said = asked.said !== undefined;
  const y = named(graph, graph.output), known = !said || step === graph.last;
  const [before, after] = apart(proof.y, proof.after), fits = Number.isFinite(slope);
  const most = Math.max(Math.abs(foretold), Math.abs(measured));
  const row = (kind, name, how, by, shown = true) => h("div.fact", h("span", { class: kind }, name),
    h("span.how", how), shown ? h("b", { class: kind }, signed(by)) : h("span.place"),
    shown && kind && h("span", { class: `part ${kind}`,
      style: `--part: ${Math.min(1, Math.abs(by) / most) || 0}` }));
  const right = said && asked.said === slope;
  const how = !known ? `gradient · ${factor(far)}` : fits && `${number(slope)} · ${factor(far)}`;
  const sizes = [1, 0.1, 0.01].map((by) => h("button", { ariaPressed: by === asked.by,
    onclick: () => set({ proof: { ...asked, by } }) }, String(by)));
  return h("section.place-of", { key: "proof", ariaLabel: "Proof" },
    h("h2.nudges", h("span", "Only ", named(graph, proof.source),
      " moves by ", blue(signed(far))),
    h("span.sizes", sizes), h("button.close", { ariaLabel: "end the proof",
      onclick: () => actions.end() }, "✕")),
    row("gradient", "foretold", how, foretold, known && fits),
    row("value", "measured", [y, ` ${before} → ${after}`], measured),
    said && row("", "you said", "", asked.said * asked.by),
    h("p", known ? verdict(state, view, y) : [right && h("b", "Right. "), say`Press **Play**: the
      ${orange("gradient")} of ${named(graph, proof.source)} comes back, and
      ${right ? "tells you so." : "would have told you."}`]));
}

// -- The question that comes first

// Which input, by how much, and three slopes to choose from; or null.
function questionOf(state, run) {
  const { graph } = state, { uses } = graph, size = (j) => Math.abs(run.adjoints[j]);
  const inputs = graph.sliders.filter((j) => Number.isFinite(size(j)));
  if (!inputs.length || !Number.isFinite(run.values.at(-1))) return null;
  const node = inputs.reduce((a, b) =>
    (uses[b].length - uses[a].length || size(b) - size(a)) > 0 ? b : a);
  const by = [0.1, 0.01].find((by) => {
    const { kind, gap, measured } = proofOf({ ...state, proof: { node, by } }, run);
    return kind === "straight"
      || (kind === "bends" && gap < 0.1 * Math.max(Math.abs(measured), 0.05 * by));
  });
  if (!by) return null;
  const slope = run.adjoints[node], sent = uses[node].map(([i, k]) => run.messages[i][k] ?? 0);
  const far = (a, b) => Math.abs(a - b) > 0.2 * Math.max(0.5, Math.abs(a), Math.abs(b));
  const wrong = [...uses[node].length > 1 ? sent : [], 1, -slope, 2 * slope, slope / 2, -1];
  const choices = wrong.reduce((all, x) =>
    (all.length < 3 && all.every((y) => far(x, y)) ? [...all, x] : all), [slope]);
  return { node, by, choices: choices.sort((a, b) => a - b) };
}

const times = (n) => ["", "once", "twice"][n] ?? `${n} times`;

function questionPane(state, view) {
  const { graph } = state, question = questionOf(state, view.run);
  if (!question) return null;
  const { node, by, choices } = question, n = graph.uses[node].length;
  const x = named(graph, node);
  const choose = (slope) => set({ proof: { node, by, said: slope }, moving: false });
  return pane("question", "What do you think?",
    h("p", n > 1 && say`${x} is used ${times(n)}. `, say`If only ${x} goes up by **${number(by)}**,
      ${named(graph, graph.output)} moves by about …`),
    h("p.choices", choices.map((slope) => h("button.value", { onclick: () => choose(slope) },
      Math.abs(slope) < 0.05 ? "almost 0" : signed(slope * by)))));
}
