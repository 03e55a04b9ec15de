// The inputs of the live graph: a slider for each, and the curve over the one that is touched.

// A row: name, slider with an arrow downhill, the longer the steeper, field, gradient.
function sliderRow({ graph, leaves, ranges, touched, step, proof }, view, i) {
  const name = graph.labels[i], value = leaves[i], range = ranges[i], [min, max] = range;
  const said = plainName(name), slope = view.run.adjoints[i], { complete } = view.gradient(i);
  const downhill = complete && step === graph.last
    ? -Math.sign(slope) * Math.min(0.34, 0.05 + 0.04 * Math.abs(slope)) : 0;
  const self = { node: i }, touch = () => actions.touch(i);
  const proves = { ariaPressed: isSame(proof, self),
    disabled: view.lost, onclick: () => actions.prove(self) };
  const shown = Number(Math.abs(value) < 1 ? value.toPrecision(4) : value.toFixed(4));
  const leave = ({ target }) => left(target.validity.valid);
  const field = { value: Number.isFinite(value) ? String(shown) : "",
    onfocus: touch, onchange: leave, onblur: leave,
    oninput: ({ target }) => target.validity.valid && move(i, target.valueAsNumber) };
  const by = Number(((max - min) / 200).toPrecision(1));
  return h("div", { class: touched === i ? "slider touched" : "slider", key: `in${i}` },
    h("span.label", { title: said }, nameIn(name)),
    track(value, range, downhill, // a value meets its steps
      { step: by, ...field, ariaLabel: said, onpointerup: touch },
      min * max < 0 && h("span.zero", { style: `--at: ${min / (min - max)}` })),
    h("input.field", { type: "number", step: "any", required: true,
      ariaLabel: `${said}, as a number`, ...field }),
    h("span.end", complete ? h("button.gradient.proves", proves, fitted(slope, 64, 17))
      : h("span.place")));
}

// Points of f between low and high, and the edges: where its values end, found by halving.
function sampled(f, low, high) {
  const edges = [], lost = (x) => Number.isNaN(f(x)), even = spaced(120, low, high);
  const ends = even.map(lost);
  for (let k = 1; k < even.length; k++) {
    let [a, b] = [even[k - 1], even[k]];
    if (ends[k] === ends[k - 1]) continue;
    for (let n = 0; n < 50; n++) {
      const middle = (a + b) / 2;
      if (lost(middle) === ends[k]) b = middle;
      else a = middle;
    }
    edges.push(Math.abs(a) < 1e-9 ? 0 : ends[k] ? a : b);
  }
  const xs = [...even, ...edges].sort((a, b) => a - b);
  return { xs, ys: xs.map(f), edges, low, high };
}

// The sampled curve of f, with what stands at x: a tangent, a corner, an end.
// slope: at x, null if it is not known yet; sides: two slopes at a corner;
// ends(x): the name of what has no value there; foretold: a ghost, and how far it is off.
function curvePlot({ f, samples, x, slope, sides, ends, foretold, width, height }) {
  const { xs, ys, edges, low, high } = samples, value = f(x), span = high - low;
  const { x: px, y: py, line, bottom: base, picture } =
    chart(width, height, [low, high], heightsOf(ys, value), { room: [0, 0, 0, 26] });
  const cx = px(x), cy = py(value), shapes = [], texts = [];
  const path = (kind, d) => shapes.push(draw(kind, d));
  const slant = (s, kind, from = low, to = high) =>
    shapes.push(line(kind, [from, to].map((at) => [at, value + s * (at - x)])));
  const spots = xs.map((at, k) => [px(at), py(ys[k])]), { first } = boxesOf();
  const tangent = sides ? [] : xs.map((at) => [px(at), py(value + slope * (at - x))]);
  const crossed = ([left, top, wide, tall]) => [...spots, ...tangent].some(([x, y]) =>
    x > left && x < left + wide && y > top && y < top + tall);
  const say = (kind, said, at, y, share = 0) => { // share: how much of it stands left of at
    const wide = widthOf(said, 16), left = clamp(at - share * wide, 0, width - wide);
    const rows = (kind ? [0, 20, -20, 40, -40, 60, -60] : [0])
      .map((by) => [left, clamp(y + by, 18, base - 6) - 14, wide + 6, 18]);
    const bare = kind === "gradient" ? rows.filter((row) => !crossed(row)) : [];
    const spot = first([...bare, ...rows]); // beside what stands
    if (spot) texts.push(write(kind, left, spot[1] + 14, said));
  };

  const marks = [low, ...edges, high];
  marks.slice(1).forEach((to, k) => {
    const from = marks[k], middle = (from + to) / 2, end = k < edges.length ? to : from;
    if (!Number.isNaN(f(middle))) return;
    const left = px(from), wide = px(to) - left, y = cy < base / 2 ? base - 40 : 60;
    shapes.push(box("zone", wide, base, 0, left, 0));
    if (edges.length) path("wall", `M${px(end)} 0V${base}`);
    if (wide < 90) return;
    say("", `${ends(middle)} ends at ${number(end)}:`, left + wide / 2, y, 0.5);
    say("", "no value here", left + wide / 2, y + 19, 0.5);
  });
  if (py(0) < base) path("axis", `M0 ${py(0)}H${width}`);
  if (low * high < 0) path("axis", `M${px(0)} 0V${base}`);
  const jumps = (k) => !k || !Number.isFinite(ys[k - 1])
    || Math.abs(spots[k][1] - spots[k - 1][1]) > 3 * height;
  path(sides ? "curve band" : "curve", xs.map((_, k) => (Number.isFinite(ys[k])
    ? `${jumps(k) ? "M" : "L"}${spots[k].map((v) => v.toFixed(1)).join(" ")}` : "")).join(""));
  if (Number.isFinite(value)) {
    path("drop", `M${cx} ${cy}V${base}`);
    if (Number.isFinite(foretold)) {
      path("gradient dotted", `M${cx} ${cy}V${py(foretold)}`);
      shapes.push(disc("gradient ghostly", [cx, py(foretold)], 5));
    }
    if (!sides) say("value", number(value), cx - 8, cy - 12, 1);
    const run = span >= 10 ? 1 : roundUp(span / 10), ax = px(x + run), ay = py(value + slope * run);
    const known = slope !== null && !Number.isNaN(slope), steep = known && !Number.isFinite(slope);
    if (steep) path("tangent", `M${cx} 0V${base}`);
    else if (known) slant(slope, "tangent");
    if (!known) say("gradient light", "slope ?", cx + 14, cy + 26);
    else if (sides) {
      sides.forEach((s, k) => {
        const own = takenOf(sides, slope) === k, tx = cx + (k ? (width - cx) * 0.45 : -cx * 0.5);
        if (!own) slant(s, "tangent dashed", k ? x - span / 20 : low, k ? high : x + span / 20);
        const side = `from the ${k ? "right" : "left"}: ${number(s)}`;
        say(own ? "gradient" : "gradient light", own ? `${side}, as the gradient` : side,
          tx - 14 * Math.sign(s),
          py(value + s * (tx - cx) / width * span) - (s ? 0 : 14), (1 + Math.sign(s)) / 2);
      });
    } else {
      const fits = Math.abs(ay - cy) < base * 0.8, flat = Math.abs(ay - cy) < 30;
      if (fits) path("triangle", `M${cx} ${cy}H${ax}V${ay}Z`);
      say("gradient", `slope ${number(slope)}`, (fits ? ax : cx) + 10,
        steep ? 22 : flat ? cy + (slope < 0 ? -14 : 22) : (cy + ay) / 2 + 18);
      if (fits) say("", number(run), (cx + ax) / 2, slope < 0 ? cy - 8 : cy + 18, 0.5);
    }
  }
  const tick = (v, kind) => write(kind, px(v), height - 8, number(v));
  const hatch = { id: "hatch", patternUnits: "userSpaceOnUse", width: 9, height: 9,
    patternTransform: "rotate(45)" };
  return picture([h("pattern", hatch, draw("hatch", "M0 0V9")), shapes],
    draw("axis", `M0 ${base}H${width}`), texts,
    Number.isFinite(value) && disc("value", [cx, cy], 6),
    tick(low, ""), low * high < 0 && tick(0, "middle"), tick(high, "end"));
}

// Which of two slopes at a corner the gradient is; or -1.
const takenOf = (sides, slope) =>
  sides.findIndex((s) => Math.abs(s - slope) < 1e-3 * Math.abs(sides[1] - sides[0]));

// From where to where the values are shown: nearly all of them, and the one at x.
function heightsOf(ys, value) {
  const finite = ys.filter(Number.isFinite).sort((a, b) => a - b), n = finite.length - 1;
  const [low, high] = [0.03, 0.97].map((p) => finite[Math.round(p * n)] ?? 0);
  const seen = Number.isFinite(value) ? value : low, pad = 0.2 * (high - low) || 1;
  return [Math.min(low, seen) - pad, Math.max(high, seen) + pad];
}
