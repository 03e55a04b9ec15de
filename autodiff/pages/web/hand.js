// A model of few parameters, which is fitted by hand: a slider for each.

// Sliders share one span, so that their arrows compare: `perUnit` of it for a derivative of 1.
const span = 3 * roundUp(Math.max(1, ...data.parameters.map(Math.abs)));
const lows = data.parameters.map((p) => span * (p >= span / 4 ? 0 : p <= -span / 4 ? -1 : -0.5));
const steepest = Math.max(...t.g.map(Math.abs), 1e-12);
const perUnit = (0.1 * 10 ** Math.round(Math.log10((4 * span) / steepest))) / span;

const full = t.loss * t.rows.length;
const stick = data.measures ? "squared stick" : "piece";

function panel() {
  const more = t.loss * t.rows.length > 1.02 * full;
  const line = more ? "more than fit here" : "end to end: half as long, half the loss";
  return h(s.asked ? "div.panel.asked" : "div.panel", lossNow(),
    h("div.bar", t.each.map((loss) => h("i", { style: `flex: 0 0 ${(100 * loss) / full}%` }))),
    h("p.note", `${counted(t.rows.length, stick)}, ${line}`),
    data.formula && h("p.formula", formula()), s.asked && h("div.derivative", "derivative"),
    names.map(parameter), h("p.tell", s.asked && telling()),
    s.asked ? [controls(), t.steps > 0 && curve(s.side, 112)]
      : button("ask", "Which way should each go?", () => change({ asked: true })));
}

// The formula, with the parameters in bold.
function formula() {
  const known = names.map((name) => name.split(" ")[0]), output = bare(data.axes[features]);
  const parts = data.formula.replaceAll("·", " ").split(/([\p{L}\p{M}\d₀-₉_]+)/u);
  return [output && `${output} = `, parts.map((x) => (known.includes(x) ? h("b", x) : x))];
}

// A slider for a parameter, and its arrow.
function parameter(label, k) {
  const [name, ...rest] = label.split(" "), p = t.p[k], ends = [lows[k], lows[k] + span];
  return h("div", { class: p > ends[0] && p < ends[1] ? "row slider" : "row slider off" },
    h("span.name", nameIn(name), h("small", rest.join(" "))),
    track(p, ends, s.asked && -t.g[k] * perUnit, { step: "any", ariaLabel: label,
      ariaValueText: places(p), oninput: ({ target }) => byHand(k, Number(target.value)) }),
    h("output", places(p), s.asked && h("small", places(t.g[k]))));
}

function telling() {
  const far = t.g.map(Math.abs), most = Math.max(...far), k = far.indexOf(most);
  if (most < 0.005 || t.diverged) return "";
  return [t.g[k] < 0 ? "Raise " : "Lower ", nameIn(names[k].split(" ")[0]),
    " a little, and the loss falls ", orange(amount(most)), " times as much."];
}
