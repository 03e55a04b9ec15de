// Sliders and curves, for any page that has inputs to drag.

const alike = (a, b) => Math.abs(a - b) < 1e-3 * Math.max(1, Math.abs(a));

// A row: name, slider with an arrow that says where and how strongly the output rises, field, end.
function sliderRow({ key, name, value, range: [min, max], touched, arrow, end, move, rest,
  touch }) {
  const part = (x) => clamp((x - min) / (max - min), 0, 1), at = part(value);
  const long = Math.sign(arrow) * Math.min(0.34, 0.05 + 0.04 * Math.abs(arrow));
  const tip = arrow ? clamp(at + long, 0, 1) : at, wide = Math.abs(tip - at);
  const field = { value: Number.isFinite(value) ? String(Number(value.toPrecision(5))) : "",
    onfocus: touch, onchange: rest, onblur: rest,
    oninput: ({ target }) => target.validity.valid && move(target.valueAsNumber) };
  const step = Number(((max - min) / 200).toPrecision(1)), said = plainName(name);
  return h("div", { class: touched ? "slider touched" : "slider", key },
    h("span.label", nameIn(name)),
    h("span.track", min * max < 0 && h("span.zero", { style: `--at: ${part(0)}` }),
      h("input", { type: "range", min, max, step, "aria-label": said, onpointerdown: touch,
        ...field, value: String(value) }),
      wide > 0.02 && h("span", { class: tip > at ? "arrow" : "arrow back",
        style: `--at: ${Math.min(at, tip)}; --wide: ${wide}` })),
    h("input.field", { type: "number", step: "any", required: true,
      "aria-label": `${said}, as a number`, ...field }),
    h("span.end", end));
}

// Points of f between low and high, and the edges: where its values end, found by halving.
function sampled(f, low, high) {
  const edges = [], lost = (x) => Number.isNaN(f(x));
  const even = Array.from({ length: 121 }, (_, k) => low + (high - low) * k / 120);
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
// slope: at x, null if it is not known yet; sides: two slopes at a corner, taken: by whom;
// ends(x): the name of what has no value there.
function curvePlot({ f, samples, x, slope, sides, taken, ends, width, height, name }) {
  const { xs, ys, edges, low, high } = samples, value = f(x), span = high - low;
  const base = height - 26, [bottom, top] = heightsOf(ys, value), shapes = [], texts = [];
  const px = (v) => (v - low) / span * width;
  const py = (v) => clamp(base - (v - bottom) / (top - bottom) * base, -1e4, 1e4);
  const cx = px(x), cy = py(value), path = (kind, d) => shapes.push(h("path", { class: kind, d }));
  const line = (s, kind, from = low, to = high) =>
    path(kind, `M${px(from)} ${py(value + s * (from - x))}L${px(to)} ${py(value + s * (to - x))}`);
  const write = (kind, said, at, y, share = 0) => { // share: how much of it stands left of at
    const wide = widthOf(said, `650 16px ${SANS}`), left = clamp(at - share * wide, 0, width - wide);
    texts.push(h("text", { class: `on ${kind}`, x: left, y: clamp(y, 18, base - 6) }, said));
  };

  const marks = [low, ...edges, high];
  marks.slice(1).forEach((to, k) => {
    const from = marks[k], middle = (from + to) / 2, end = k < edges.length ? to : from;
    if (!Number.isNaN(f(middle))) return;
    const left = px(from), wide = px(to) - left, y = cy < base / 2 ? base - 40 : 60;
    shapes.push(h("rect.zone", { x: left, width: wide, height: base }));
    if (edges.length) path("wall", `M${px(end)} 0V${base}`);
    if (wide < 90) return;
    write("", `${ends(middle)} ends at ${number(end)}:`, left + wide / 2, y, 0.5);
    write("", "no value here", left + wide / 2, y + 19, 0.5);
  });
  if (bottom * top < 0) path("axis", `M0 ${py(0)}H${width}`);
  if (low * high < 0) path("axis", `M${px(0)} 0V${base}`);
  const jumps = (k) => !k || !Number.isFinite(ys[k - 1])
    || Math.abs(py(ys[k]) - py(ys[k - 1])) > 3 * height;
  path(sides ? "curve band" : "curve", xs.map((at, k) => Number.isFinite(ys[k])
    && `${jumps(k) ? "M" : "L"}${px(at).toFixed(1)} ${py(ys[k]).toFixed(1)}`).filter(Boolean).join(""));
  if (Number.isFinite(value)) {
    path("drop", `M${cx} ${cy}V${base}`);
    if (!sides) write("value", number(value), cx - 8, cy - 12, 1);
    const run = span >= 10 ? 1 : roundUp(span / 10), ax = px(x + run), ay = py(value + slope * run);
    const known = slope !== null && !Number.isNaN(slope), steep = known && !Number.isFinite(slope);
    if (steep) path("tangent", `M${cx} 0V${base}`);
    else if (known) line(slope, "tangent");
    if (!known) write("gradient light", "slope ?", cx + 14, cy + 26);
    else if (sides) {
      sides.forEach((s, k) => {
        const own = alike(s, slope), tx = cx + (k ? (width - cx) * 0.45 : -cx * 0.5);
        if (!own) line(s, "tangent other", k ? x - span / 20 : low, k ? high : x + span / 20);
        const said = `from the ${k ? "right" : "left"}: ${number(s)}${own ? `, ${taken} takes it` : ""}`;
        write(own ? "gradient" : "gradient light", said, tx - 14 * Math.sign(s),
          py(value + s * (tx - cx) / width * span) - (s ? 0 : 14), (1 + Math.sign(s)) / 2);
      });
    } else {
      const fits = Math.abs(ay - cy) < base * 0.8, flat = Math.abs(ay - cy) < 30;
      if (fits) path("triangle", `M${cx} ${cy}H${ax}V${ay}Z`);
      if (fits) write("light", number(run), (cx + ax) / 2, slope < 0 ? cy - 8 : cy + 18, 0.5);
      write("gradient", `slope ${number(slope)}`, (fits ? ax : cx) + 10,
        steep ? 22 : flat ? cy + (slope < 0 ? -14 : 22) : (cy + ay) / 2 + 18);
    }
  }
  const tick = (v, kind) => h("text", { class: `tick ${kind}`, x: px(v), y: height - 8 }, number(v));
  const hatch = { id: "hatch", patternUnits: "userSpaceOnUse", width: 9, height: 9,
    patternTransform: "rotate(45)" };
  return h("svg.plot", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": name }, h("pattern", hatch, h("path.hatch", { d: "M0 0V9" })),
  h("svg", { width, height: base }, shapes), h("path.axis", { d: `M0 ${base}H${width}` }), texts,
  Number.isFinite(value) && h("circle.point", { cx, cy, r: 6 }),
  tick(low, ""), low * high < 0 && tick(0, "middle"), tick(high, "end"));
}

// From where to where the values are shown: nearly all of them, and the one at x.
function heightsOf(ys, value) {
  const finite = ys.filter(Number.isFinite).sort((a, b) => a - b), n = finite.length - 1;
  const [least, low, high, most] = [0, 0.03, 0.97, 1].map((p) => finite[Math.round(p * n)] ?? 0);
  const more = 0.6 * (high - low), seen = Number.isFinite(value) ? value : low;
  const bottom = Math.min(Math.max(least, low - more), seen);
  const top = Math.max(Math.min(most, high + more), seen);
  const pad = top - bottom > 1e-9 * Math.max(1, Math.abs(top)) ? 0.12 * (top - bottom) : 1;
  return [bottom - pad, top + pad];
}
