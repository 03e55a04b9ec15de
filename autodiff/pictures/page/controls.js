// Sliders and curves, for any page that has inputs to drag.

// A row: name, slider with an arrow that says where and how strongly the output rises, field, more.
function sliderRow({ key, name, value, range: [low, high], field, touched, arrow, end, onslide, onrest, ontype, onfocus }) {
  const part = (x) => Math.max(0, Math.min(1, (x - low) / (high - low))), said = plainName(name);
  const length = arrow ? Math.sign(arrow) * Math.min(0.34, 0.05 + 0.04 * Math.abs(arrow)) : 0, reach = Math.max(0, Math.min(1, part(value) + length)) - part(value);
  const left = (p) => `calc(11px + ${p} * (100% - 22px))`, step = Number(((high - low) / 200).toPrecision(1));
  return h("div", { class: touched ? "slider touched" : "slider", key },
    h("span.label", nameIn(name)),
    h("span.track", {},
      low < 0 && high > 0 && h("span.zero", { style: `left: ${left(part(0))}` }),
      h("span", { class: Number.isFinite(value) ? "thumb" : "", style: `left: ${left(part(value))}` }),
      Math.abs(reach) > 0.02 && h("span", { class: reach > 0 ? "arrow" : "arrow back", style: `left: ${left(part(value) + Math.min(reach, 0))}; width: calc(${Math.abs(reach)} * (100% - 22px))` }),
      h("input", {
        type: "range", min: low, max: high, step, value: String(value), "aria-label": said, "aria-valuetext": number(value),
        oninput: (event) => onslide(Number(event.target.value)), onchange: onrest, onfocus, onpointerdown: onfocus,
      })),
    h("input", {
      class: "field", type: "text", inputmode: "decimal", "aria-label": `${said}, as a number`, "aria-invalid": field?.refused ? "true" : undefined,
      value: field?.text ?? (Number.isFinite(value) ? String(Number(value.toPrecision(6))) : number(value)).replace("-", "−"),
      oninput: (event) => ontype(event.target.value), onchange: onrest, onblur: onrest, onfocus,
    }),
    h("span.end", end));
}

// The curve of f between low and high, with what stands at x: a tangent, a corner, an end.
// value: f(x) of an x; slope: at x, null if it is not known yet; sides: two slopes at a corner.
function curvePlot({ f, low, high, x, slope, sides, taken, ends, width, height, name }) {
  const count = 80, value = f(x), edges = [];
  let xs = Array.from({ length: count + 1 }, (_, k) => low + (high - low) * k / count), ys = xs.map(f);
  // Where the values end, found by halving, and closer points beside it.
  for (let k = 1; k <= count; k++) {
    let [a, b] = [xs[k - 1], xs[k]];
    if (Number.isNaN(ys[k]) === Number.isNaN(ys[k - 1])) continue;
    const right = Number.isNaN(ys[k - 1]); // the values are on the right
    for (let n = 0; n < 50; n++) [a, b] = Number.isNaN(f((a + b) / 2)) === right ? [(a + b) / 2, b] : [a, (a + b) / 2];
    edges.push({ at: Math.abs(a) < 1e-9 ? 0 : right ? b : a, right });
  }
  const beside = edges.flatMap(({ at, right }) => Array.from({ length: 12 }, (_, k) => at + (right ? 1 : -1) * (high - low) * 0.6 ** k / 50));
  xs = [...xs, ...beside, ...edges.map((edge) => edge.at)].filter((v) => v >= low && v <= high).sort((a, b) => a - b);
  ys = xs.map(f);
  const finite = [...ys, value].filter(Number.isFinite).sort((a, b) => a - b);
  const cut = (p) => finite[Math.round(p * (finite.length - 1))] ?? 0, rough = cut(0.97) - cut(0.03);
  let [bottom, top] = [Math.max(finite[0] ?? -1, cut(0.03) - 0.6 * rough), Math.min(finite.at(-1) ?? 1, cut(0.97) + 0.6 * rough)];
  if (Number.isFinite(value)) [bottom, top] = [Math.min(bottom, value), Math.max(top, value)];
  if (top - bottom < 1e-9 * Math.max(1, Math.abs(top))) [bottom, top] = [bottom - 1, top + 1];
  const pad = 0.12 * (top - bottom), base = height - 26, px = (v) => (v - low) / (high - low) * width;
  [bottom, top] = [bottom - pad, top + pad];
  const py = (v) => Math.max(-1e4, Math.min(1e4, base - (v - bottom) / (top - bottom) * base)), out = [], zones = [];
  if (Number.isNaN(ys[0])) zones.push([low, edges[0]?.at ?? high, false, edges.length > 0]);
  edges.forEach(({ at, right }, k) => right || zones.push([at, edges[k + 1]?.at ?? high, true, false]));
  for (const [from, to, left, right] of zones) {
    const [a, b] = [px(from), px(to)], at = right ? to : from, word = ends(at + (right ? -1e-9 : 1e-9) * Math.max(1, Math.abs(at)));
    out.push(h("rect.zone", { x: a, y: 0, width: b - a, height: base, fill: "url(#hatch)" }));
    if (left || right) out.push(h("path.wall", { d: `M${right ? b : a} 0V${base}` }));
    const zy = py(value) < base * 0.5 ? base - 76 : 46;
    if (b - a > 96) out.push(h("rect.paper", { x: (a + b) / 2 - Math.min(72, (b - a) / 2 - 6), y: zy, width: Math.min(144, b - a - 12), height: 44, rx: 8 }),
      h("text.strong", { x: (a + b) / 2, y: zy + 19, "text-anchor": "middle" }, left || right ? `${word} ends at ${number(at)}:` : word), h("text", { x: (a + b) / 2, y: zy + 37, "text-anchor": "middle" }, "no value here"));
  }
  if (bottom < 0 && top > 0) out.push(h("path.axis", { d: `M0 ${py(0)}H${width}` }));
  if (low < 0 && high > 0) out.push(h("path.axis", { d: `M${px(0)} 0V${base}` }));
  let d = "", pen = false;
  xs.forEach((at, k) => {
    const ok = Number.isFinite(ys[k]) && Math.abs(py(ys[k])) < 9e3;
    const jump = pen && ok && Math.abs(py(ys[k]) - py(ys[k - 1])) > 3 * height;
    if (ok) d += `${pen && !jump ? "L" : "M"}${px(at).toFixed(1)} ${py(ys[k]).toFixed(1)}`;
    pen = ok;
  });
  out.push(h("path", { class: sides ? "curve band" : "curve", d }));
  const [cx, cy] = [px(x), py(value)], line = (s, from, to, kind) => h("path", { class: kind, d: `M${px(from)} ${py(value + s * (from - x))}L${px(to)} ${py(value + s * (to - x))}` });
  const labels = [];
  const label = (text, lx, ly, kind, anchor = "start") => labels.push(h("text", { class: `on ${kind}`, x: lx, y: ly, "text-anchor": anchor }, text));
  if (Number.isFinite(value)) {
    out.push(h("path.drop", { d: `M${cx} ${cy}V${base}` }));
    if (sides && slope !== null) {
      sides.forEach((s, k) => {
        const own = Math.abs(s - slope) < 1e-3 * Math.max(1, Math.abs(s)), side = k ? "right" : "left";
        if (!own) out.push(line(s, k ? x - (high - low) * 0.05 : low, k ? high : x + (high - low) * 0.05, "tangent other"));
        const tx = cx + (k ? (width - cx) * 0.45 : -cx * 0.5), ty = py(value + s * (tx - cx) / width * (high - low)), up = k ? s > 0 : s >= 0;
        label(`from the ${side}: ${number(s)}${own && width > 440 ? `, ${taken} takes it` : ""}`, s === 0 ? tx : tx + (up ? -14 : 14), Math.max(16, s === 0 ? ty - 14 : ty + 5), own ? "gradient" : "gradient light", s === 0 ? "middle" : up ? "end" : "start");
      });
      out.push(line(slope, low, high, "tangent"));
      if (!sides.some((s) => Math.abs(s - slope) < 1e-3 * Math.max(1, Math.abs(s)))) label(`${taken} takes ${number(slope)}`, Math.min(width - 90, cx + 14), cy - 14, "gradient");
    } else if (slope !== null && Math.abs(slope) === Infinity) {
      out.push(h("path.tangent", { d: `M${cx} 0V${base}` }));
      label(`straight ${slope > 0 ? "up" : "down"}: slope ${number(slope)}`, cx + 14 > width - 200 ? cx - 14 : cx + 14, 22, "gradient", cx + 14 > width - 200 ? "end" : "start");
    } else if (slope !== null && Number.isFinite(slope)) {
      out.push(line(slope, low, high, "tangent"));
      const room = (high - low) / 10, run = room >= 1 ? 1 : roundUp(room), [ax, ay] = [px(x + run), py(value + slope * run)], flip = ax > width - 110;
      const tall = Math.abs(ay - cy) > base * 0.8;
      if (!tall) out.push(h("path.triangle", { d: `M${cx} ${cy}H${ax}V${ay}Z` }));
      label(`slope ${number(slope)}`, flip ? width - 4 : ax + 8, Math.max(18, Math.min(base - 6, flip ? cy + (slope < 0 ? -10 : 40) : slope < 0 ? cy - 8 : (cy + ay) / 2 + 18)), "gradient", flip ? "end" : "start");
      if (!tall && ax - cx > 22) label(number(run), (cx + ax) / 2, slope < 0 ? cy - 8 : cy + 18, "", "middle");
    } else label("slope ?", Math.min(cx + 14, width - 70), Math.max(18, cy + 26), "gradient light");
    label(number(value), Math.max(30, cx - 6), Math.max(18, cy - 12), "value", "end");
    out.push(h("circle.point", { cx, cy, r: 6 }));
  }
  return h("svg.plot", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": name },
    h("defs", h("pattern", { id: "hatch", width: 9, height: 9, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, h("path.hatch", { d: "M0 0V9" })),
      h("clipPath", { id: "frame" }, h("rect", { x: 0, y: 0, width, height: base }))),
    h("g", { "clip-path": "url(#frame)" }, out.filter((x) => x.attributes.class !== "point")), h("path.axis", { d: `M0 ${base}H${width}` }),
    out.filter((x) => x.attributes.class === "point"), labels,
    [[low, 0, "start"], [low < 0 && high > 0 ? 0 : null, px(0), "middle"], [high, width, "end"]].filter(([v]) => v !== null).map(([v, at, anchor]) => h("text.tick", { x: at, y: height - 8, "text-anchor": anchor }, number(v))));
}
