// Sliders and curves, for any page that has inputs to drag.

const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const alike = (a, b) => Math.abs(a - b) < 1e-3 * Math.max(1, Math.abs(a));

// A row: name, slider with an arrow that says where and how strongly the output rises, field, end.
function sliderRow({ key, name, value, range: [min, max], touched, arrow, end, move, rest,
  touch }) {
  const part = (x) => clamp((x - min) / (max - min), 0, 1), at = part(value);
  const long = Math.sign(arrow) * Math.min(0.34, 0.05 + 0.04 * Math.abs(arrow));
  const tip = arrow ? clamp(at + long, 0, 1) : at, wide = Math.abs(tip - at);
  const left = (p) => `left: calc(11px + ${p} * (100% - 22px));`;
  const arrowStyle = `${left(Math.min(at, tip))} width: calc(${wide} * (100% - 22px))`;
  const field = {
    value: Number.isFinite(value) ? String(Number(value.toPrecision(5))) : "",
    onfocus: touch, onchange: rest, onblur: rest,
    oninput: ({ target }) => target.validity.valid && move(target.valueAsNumber),
  };
  const step = Number(((max - min) / 200).toPrecision(1)), said = plainName(name);
  return h("div", { class: touched ? "slider touched" : "slider", key },
    h("span.label", nameIn(name)),
    h("span.track",
      min * max < 0 && h("span.zero", { style: left(part(0)) }),
      h("input", { type: "range", min, max, step, "aria-label": said, onpointerdown: touch,
        ...field, value: String(value) }),
      wide > 0.02 && h("span", { class: tip > at ? "arrow" : "arrow back", style: arrowStyle })),
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

// The curve of f, with what stands at x: a tangent, a corner, an end.
// slope: at x, null if it is not known yet; sides: two slopes at a corner, taken: by whom;
// ends(x): the name of what has no value there.
function curvePlot({ f, samples, x, slope, sides, taken, ends, width, height, name }) {
  const { xs, ys, edges, low, high } = samples, value = f(x), span = high - low;
  const base = height - 26, [bottom, top] = heightsOf(ys, value);
  const px = (v) => (v - low) / span * width;
  const py = (v) => clamp(base - (v - bottom) / (top - bottom) * base, -1e4, 1e4);
  const inside = [], above = [], cx = px(x), cy = py(value);
  const path = (kind, d) => inside.push(h("path", { class: kind, d }));
  const line = (s, kind, from = low, to = high) =>
    path(kind, `M${px(from)} ${py(value + s * (from - x))}L${px(to)} ${py(value + s * (to - x))}`);
  const write = (kind, said, at, y, share = 0) => { // share: how much of it stands left of at
    const wide = widthOf(said, `650 16px ${SANS}`),
      left = clamp(at - share * wide, 0, width - wide);
    above.push(h("text", { class: `on ${kind}`, x: left, y: clamp(y, 18, base - 6) }, said));
  };

  const marks = [low, ...edges, high];
  marks.slice(1).forEach((to, k) => {
    const from = marks[k], middle = (from + to) / 2, at = k < edges.length ? to : from;
    if (!Number.isNaN(f(middle))) return;
    const [a, wide, y] = [px(from), px(to) - px(from), cy < base / 2 ? base - 40 : 60];
    inside.push(h("rect", { x: a, y: 0, width: wide, height: base, fill: "url(#hatch)" }));
    if (edges.length) path("wall", `M${px(at)} 0V${base}`);
    if (wide < 90) return;
    write("ink", `${ends(middle)} ends at ${number(at)}:`, a + wide / 2, y, 0.5);
    write("ink", "no value here", a + wide / 2, y + 19, 0.5);
  });
  if (bottom * top < 0) path("axis", `M0 ${py(0)}H${width}`);
  if (low * high < 0) path("axis", `M${px(0)} 0V${base}`);
  let d = "", down = false;
  xs.forEach((at, k) => {
    const ok = Number.isFinite(ys[k]), jump = down
      && Math.abs(py(ys[k]) - py(ys[k - 1])) > 3 * height;
    if (ok) d += `${down && !jump ? "L" : "M"}${px(at).toFixed(1)} ${py(ys[k]).toFixed(1)}`;
    down = ok;
  });
  path(sides ? "curve band" : "curve", d);
  if (Number.isFinite(value)) {
    path("drop", `M${cx} ${cy}V${base}`);
    write("value", number(value), cx - 8, cy - 12, 1);
    if (slope === null || Number.isNaN(slope)) write("gradient light", "slope ?", cx + 14, cy + 26);
    else if (Math.abs(slope) === Infinity) {
      path("tangent", `M${cx} 0V${base}`);
      write("gradient", `straight ${slope > 0 ? "up" : "down"}: slope ${number(slope)}`, cx + 14,
        22);
    } else line(slope, "tangent");
    if (sides && slope !== null) {
      for (const [k, s] of sides.entries()) {
        const own = alike(s, slope), tx = cx + (k ? (width - cx) * 0.45 : -cx * 0.5);
        if (!own) line(s, "tangent other", k ? x - span / 20 : low, k ? high : x + span / 20);
        const ty = py(value + s * (tx - cx) / width * span), up = s > 0;
        const [shift, share] = s === 0 ? [0, 0.5] : up ? [-14, 1] : [14, 0];
        const said = `from the ${k ? "right" : "left"}: ${number(s)}${own ? `, ${taken} takes it`
          : ""}`;
        write(own ? "gradient" : "gradient light", said, tx + shift, ty - (s ? 0 : 14), share);
      }
      if (!sides.some((s) => alike(s, slope))) {
        write("gradient", `${taken} takes ${number(slope)}`, cx + 14, cy + 24);
      }
    } else if (Number.isFinite(slope ?? NaN)) {
      const run = span >= 10 ? 1 : roundUp(span / 10), ax = px(x + run),
        ay = py(value + slope * run);
      const tall = Math.abs(ay - cy) > base * 0.8, falls = slope < 0, flat = Math.abs(ay - cy) < 30;
      if (!tall) {
        path("triangle", `M${cx} ${cy}H${ax}V${ay}Z`);
        write("light", number(run), (cx + ax) / 2, falls ? cy - 8 : cy + 18, 0.5);
      }
      const y = flat ? (falls ? cy - 14 : cy + 22) : (cy + ay) / 2 + 18;
      write("gradient", `slope ${number(slope)}`, ax + 10, y);
    }
  }
  const tick = (at, v, kind) => h("text", { class: `tick ${kind}`, x: at, y: height - 8 },
    number(v));
  const size = { width, height }, diagonal = { width: 9, height: 9,
    patternTransform: "rotate(45)" };
  return h("svg.plot", { viewBox: `0 0 ${width} ${height}`, ...size, role: "img",
    "aria-label": name },
    h("pattern", { id: "hatch", patternUnits: "userSpaceOnUse", ...diagonal },
      h("path.hatch", { d: "M0 0V9" })),
    h("svg", { width, height: base }, inside), h("path.axis", { d: `M0 ${base}H${width}` }), above,
    Number.isFinite(value) && h("circle.point", { cx, cy, r: 6 }),
    tick(0, low, ""), low * high < 0 && tick(px(0), 0, "middle"), tick(width, high, "end"));
}

// From where to where the values are shown: nearly all of them, and the one at x.
function heightsOf(ys, value) {
  const finite = [...ys, value].filter(Number.isFinite).sort((a, b) => a - b);
  const at = (p) => finite[Math.round(p * (finite.length - 1))] ?? 0;
  const more = 0.6 * (at(0.97) - at(0.03)), seen = Number.isFinite(value) ? [value] : [];
  const low = Math.min(Math.max(at(0), at(0.03) - more), ...seen);
  const high = Math.max(Math.min(at(1), at(0.97) + more), ...seen);
  const pad = high - low > 1e-9 * Math.max(1, Math.abs(high)) ? 0.12 * (high - low) : 1;
  return [low - pad, high + pad];
}
