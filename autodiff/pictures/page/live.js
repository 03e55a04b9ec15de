// The live graph: one state, one picture of it, and what people do.

let state, timer = 0;
const FORMULA = "a=2; b=1; y=(a+b)*b";
const typing = data === null;
const byName = Object.fromEntries(rules.map((rule) => [`${rule.op}/${rule.arity}`, rule]));

// -- What is seen

function page(state) {
  const { graph, touched, problem, dragging, moving, fold } = state, { neurons } = graph;
  const run = pass(graph, state.leaves), view = viewOf(state, run);
  const asks = view.asking !== undefined, [first, second] = sentence(state, view);
  const weights = [...neurons.values()].reduce((sum, x) => sum + x.weights.length, 0);
  const copying = graph.formula ? ["link", "Python"] : ["link"];
  return h("main", { class: `page ${touched !== null && "touching"} ${moving && "moving"}` },
    typing && h("label.formula", "Type a formula", h("input", { autocapitalize: "off",
      value: state.text ?? graph.formula, "aria-invalid": problem && "true",
      "aria-describedby": "sentence", oninput: (event) => retype(event.target.value, true) })),
    h("header", h("h1", { id: "formula", class: graph.nodes.length > 12 && "long" },
      heading(state, view),
      weights > 0 && h("small", `${neurons.size} neurons, ${weights} weights`)),
    h("p.copy", copying.map((kind) => h("button", { onclick: () => copy(kind) },
      state.copied === kind ? "Copied" : `Copy ${kind}`)))),
    h("p", { id: "sentence", "aria-live": dragging ? "off" : "polite" },
      h("span.first", first), h("span.second", second)),
    graphPane(state, view), asks && askPanel(state, view), stepBar(state, asks),
    !asks && h("div.columns", inputList(state, view), explanation(state, view)),
    h("details", { open: fold, ontoggle: (event) => set({ fold: event.target.open }) },
      h("summary", "Table and lines"), fold && table(state, view)));
}

function graphPane(state, view) {
  const { whole, least } = fitOf(state);
  return h("section.pane", { "aria-label": "Graph", tabindex: whole < least && 0 },
    drawGraph(state, view));
}

function stepBar({ step, graph, playing, speed, moving }, asks) {
  const n = graph.groups.length, last = graph.last, back = step > n;
  const said = back ? `backward ${step - n} of ${n + 1}` : `forward ${step} of ${n}`;
  const kind = step < n ? "value" : "gradient";
  const dot = (k) => h("span", { class: `${k > n ? "gradient" : "value"} ${k <= step && "past"}` });
  return h("section.steps", { "aria-label": "Steps" },
    h("button", { disabled: step === 0, onclick: () => go(step - 1) }, "Back"),
    asks ? h("button.play", { onclick: () => go(step + 1) }, "Show me")
      : h("button", { class: `play ${kind}`, onclick: play },
        playing ? "❚❚ Pause" : step === last ? "↻ Again" : "▶ Play"),
    h("button", { disabled: step === last && !moving, onclick: () => go(step + 1, true) }, "Next"),
    h("label", { class: back ? "bar gradient" : "bar value" },
      h("span", { class: !back && "here" }, back ? "forward" : said),
      h("span", { class: back && "here" }, back ? said : "backward"),
      h("span.dots", n < 15 && spaced(last, 0, last).map(dot)),
      h("input", { type: "range", max: last, value: String(step), "aria-valuetext": said,
        oninput: (event) => go(Number(event.target.value)) })),
    h("button.speed", { onclick: () => set({ speed: { 1: 2, 2: 0.5, 0.5: 1 }[speed] }) },
      h("span", "speed "), `${speed}×`));
}

function inputList(state, view) {
  const { graph, leaves, touched, ranges } = state, { sliders, output } = graph;
  const shown = [...new Set([...sliders.slice(0, 8), touched ?? sliders[0]])];
  const rest = graph.inputs.length - shown.length;
  const row = (i) => {
    const { complete } = view.gradient(i), slope = view.run.adjoints[i];
    return sliderRow({ key: `in${i}`, name: graph.labels[i], value: leaves[i], range: ranges[i],
      touched: touched === i, end: complete ? h("b.gradient", number(slope)) : h("span.place"),
      slope: complete && state.step === graph.last ? slope : 0,
      move: (x) => move(i, x), rest: left, touch: () => actions.touch(i) });
  };
  return h("section.inputs", { "aria-label": "Inputs" },
    h("h2", h("span", graph.neurons.size ? "Drag an input or a weight" : "Drag an input"),
      h("span", "value"), h("span", "gradient")),
    sliders.length ? shown.map(row) : "Nothing can be dragged.",
    h("p.result", nameIn(graph.labels[output]), " = ", blue(view.run.values[output])),
    sliders.length > 0 && rest > 0
      && h("p.soft", `${rest} more: touch one in the picture to drag it.`));
}

// Beside the inputs: the curve of the one that is touched, the lines of a step, or the key.
function explanation(state, view) {
  const u = view.now.find((u) => state.graph.units[u].kind === "op");
  if (state.touched !== null) return curvePane(state, view);
  if (state.step <= state.graph.half || u === undefined) return KEY;
  return h("section.explanation", { key: "lines" }, h("h2", "This step, in Python"),
    h("pre", gradLines(state, view, u).slice(0, 6)));
}

function curvePane({ graph, touched, leaves, ranges, step, phone, width }, { run, sides }) {
  const x = leaves[touched], slope = step === graph.last ? run.adjoints[touched] : null;
  const [y, name] = [graph.labels[graph.output], graph.labels[touched]];
  const values = (at) => along(graph, leaves, touched, at), f = (at) => values(at)[graph.output];
  const key = [touched, ranges[touched], leaves.with(touched, 0)].join();
  if (graph.curve?.key !== key) graph.curve = { key, ...sampled(f, ...ranges[touched]) };
  const ends = (at) => {
    const i = values(at).findIndex(Number.isNaN);
    return graph.nodes[i].rule ? opOf(graph, i) : y;
  };
  return h("section.explanation.curve-pane", { key: "curve", "aria-label": "Curve" },
    h("h2", nameIn(y), " while only ", nameIn(name), " moves"),
    curvePlot({ f, samples: graph.curve, x, slope, sides, ends,
      taken: sides && cornerName(graph, run), width: phone ? width : (width - 48) / 2,
      height: 260 }));
}

const KEY = (() => {
  const row = (shapes, ...words) => h("p", h("svg.graph", { width: 96, height: 46,
    "aria-hidden": "true" }, shapes), h("span", words));
  return h("section.explanation", { key: "how" }, h("h2", "How to read it"),
    row([draw("wire value", "M0 23H96"), write("value", 38, 16, "3"),
      write("gradient", 38, 43, "1")],
    say`Above a wire: its ${blue("value")}. Below: its ${orange("gradient")}.`),
    row([draw("wire value", "M0 23H38C66 23 66 9 96 9M38 23C66 23 66 37 96 37"),
      h("g.fork", h("circle", { cx: 38, cy: 23, r: 5 }))],
    say`A fork: one value, used twice. Its messages **add**.`),
    row([draw("wire gradient", "M0 23H96"), draw("solid head gradient", "M36 17L22 23L36 29Z"),
      put("message", "57 23", box("", 34, 26, 13), write("middle", 0, 5, "3"))],
    "On a wire, going left: a message."));
})();

function askPanel(state, view) {
  const { graph, wrong, asked } = state, { made, hint } = answerOf(state, view);
  const op = opOf(graph, graph.units[view.asking].node), to = view.asked;
  return h("form.ask", { key: `${state.step} ${asked}`, onsubmit: (event) => {
    event.preventDefault();
    answer(event.target.elements.answer.valueAsNumber, view);
  } },
  h("label", to ? say`Message from **${op}** to ${nameIn(graph.labels[to.from])}: `
    : say`Value of **${op}**: `,
    h("input", { id: "answer", type: "number", step: "any", required: true })),
  h("p", { id: "told", role: "status" }, wrong === null ? asked > 0 && "Right. And the next?"
    : hint(wrong)),
  h("p.made", wrong !== null && made), h("button.play.gradient", "Check"));
}

function table(state, view) {
  const { graph, hover } = state, { run, valued } = view, owner = (i) => graph.owner[i] ?? 0;
  const rows = [...new Set([...graph.inputs, ...graph.nodes.keys()])];
  const lines = graph.groups.flat().reverse().filter(view.sent);
  const row = (i) => h("tr", { ...actions.linked(i), tabindex: 0,
    onkeydown: (event) => event.key === "Enter" && actions.choose(i),
    class: (hover === i || view.now.includes(graph.owner[i])) && "now" },
  h("td", nameIn(graph.labels[i])),
  h("td.math", graph.nodes[i].rule ? short(graph, i) : "input"),
  h("td.value", valued(owner(i)) && number(run.values[i])),
  h("td.gradient", view.gradient(i).complete && number(run.adjoints[i])));
  return h("div.fold", h("table", h("caption", "Every node: what it is, its value, its gradient"),
    h("tr", ["name", "is", "value", "gradient"].map((x) => h("th", { scope: "col" }, x))),
    rows.filter((i) => graph.labels[i] && graph.needs[i]).map(row)),
  h("div", h("h2", "The backward pass, line by line"), h("pre", state.step > graph.half
    ? [`${plainName(graph.labels[graph.output])}.grad = `, h("b.gradient", "1"), "\n",
      lines.map((u) => gradLines(state, view, u))] : "It has not begun.")));
}

// -- What people do

function set(changes) {
  state = { ...state, ...changes };
  if (!state.ranges) scale();
  render();
}

function render() {
  [state.phone, state.width] = sizes();
  match(main, page(state));
}

// Ranges for the sliders: one size for all, less where the domain ends; kept during a drag.
function scale() {
  const { graph, leaves } = state, sizes = graph.inputs.map((i) => Math.abs(leaves[i]));
  const size = Math.max(5, roundUp(1.5 * Math.max(...sizes.filter((x) => x < 1e300), 1e-9)));
  const lost = (i) => leaves[i] > -0.4 * size
    && Number.isNaN(along(graph, leaves, i, -size)[graph.output]);
  state.ranges = leaves.map((_, i) => [lost(i) ? -0.4 * size : -size, size]);
}

const MOVES = { forward: 820, backward: 2000 }; // how long a step takes, with a rest, in ms

function go(to, moving = false) {
  const step = clamp(to, 0, state.graph.last), same = step === state.step;
  clearTimeout(timer);
  const playing = state.playing && moving && !same;
  set({ step, playing, moving: moving && !same, touched: null, asked: 0, wrong: null });
  remember();
  document.getAnimations().forEach((x) => { x.playbackRate = state.speed; });
  const pane = document.querySelector(".pane"), now = pane.querySelector(".unit.now");
  if (pane.scrollWidth > pane.clientWidth) now?.scrollIntoView({ block: "nearest",
    inline: "center" });
  if (!playing) return;
  const next = unitsAt(state.graph, step + 1)[0];
  // a question
  if (state.ask && state.graph.units[next]?.kind === "op") return set({ playing: false });
  const rest = step > state.graph.half ? MOVES.backward : MOVES.forward;
  timer = setTimeout(() => go(step + 1, true), rest / state.speed);
}

function play() {
  const { step, playing, graph } = state;
  set({ playing: !playing, touched: null });
  clearTimeout(timer);
  if (!playing) go((step === graph.last ? graph.half : step) + 1, true);
}

function move(node, x) {
  actions.touch(node);
  set({ leaves: state.leaves.with(node, x), dragging: true });
}

// A number is left alone: only now the address follows.
function left() {
  const { touched, ranges, leaves } = state, [low, high] = ranges[touched] ?? [-Infinity, Infinity];
  const out = leaves[touched] < low || leaves[touched] > high; // the range grows
  set({ dragging: false, ranges: out ? null : ranges });
  remember();
}

const hover = (node) => state.hover !== node && set({ hover: node });
const actions = {
  linked: (node) => ({ onclick: () => actions.choose(node), onpointerleave: () => hover(null),
    onpointerenter: () => hover(node) }),
  touch: (node) => {
    const { graph, step } = state;
    if (!graph.inputs.includes(node) || state.touched === node) return;
    clearTimeout(timer);
    set({ touched: node, step: Math.max(step, graph.half), moving: false, playing: false });
  },
  choose: (node) => {
    const { graph, step } = state;
    if (!graph.nodes[node].rule) actions.touch(node);
    else go(graph.units[graph.owner[node]].at[Number(step > graph.half)]);
  },
};

function answer(x, view) {
  const { right } = answerOf(state, view), { asked, step } = state;
  if (Math.abs(x - right) > 0.006 * Math.abs(right) + 5e-4) set({ wrong: x });
  else if (asked + 1 < view.questions) set({ asked: asked + 1, wrong: null });
  else go(step + 1, true);
}

// The graph of a typed text; numbers that it does not give stay as they were.
function retype(text, typed = false) {
  const { graph: before, leaves, speed, ask } = state;
  try {
    const graph = graphOf(parse(text, byName));
    for (const i of graph.inputs) {
      const j = before.inputs.find((j) => before.labels[j] === graph.labels[i]);
      if (j !== undefined && !graph.given.includes(graph.labels[i])) graph.start[i] = leaves[j];
    }
    set(opened(graph, { text, speed, ask, ranges: null }));
    if (typed) remember();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    set({ text, problem: error.message });
  }
}

// The state goes into the address, if the page has one.
function remember() {
  try { history.replaceState(null, "",
    addressOf(state)); } catch { /* a frame without an address */ }
}

function python({ graph, leaves }) {
  const lines = graph.formula.split(";").map((x) => x.trim().replace("=", " = "));
  const last = lines.pop(), name = last.match(/^(\S+)\s+=/)?.[1] ?? "y";
  const inputs = graph.inputs.map((i) =>
    `${graph.ids[i]} = Value(${leaves[i]}, label=${JSON.stringify(graph.labels[i])})`);
  return ["from math import e, pi", "from autodiff import *", "", ...inputs, ...lines,
    last.startsWith(`${name} `) ? last : `y = ${last}`, `${name}.label = "${name}"`,
    `show_steps(${name})`, ""].join("\n");
}

async function copy(kind) {
  const base = location.protocol === "about:" ? "" : location.href.split("#")[0];
  const text = kind === "link" ? base + addressOf(state) : python(state);
  try { await navigator.clipboard.writeText(text); } catch { prompt("To copy:", text); }
  set({ copied: kind });
  setTimeout(() => set({ copied: null }), 1500);
}

// -- The start

// The graph that Python sent, with the numbers of the address.
function sentGraph({ nodes, ...more }, text) {
  const made = ([rule, ...inputs]) => ({ rule: rules[rule], inputs });
  const graph = graphOf({ ...more, nodes: nodes.map((x) => (x?.length ? made(x) : { value: x })) });
  for (const [id, said = ""] of text.split(";").map((x) => x.split("="))) {
    const i = graph.inputs.find((i) => graph.ids[i] === id), x = Number(said);
    if (i !== undefined && said && Number.isFinite(x)) graph.start[i] = x;
  }
  return graph;
}

function start() {
  const { text, step, ask } = readAddress(location.hash);
  const graph = typing ? graphOf(parse(FORMULA, byName)) : sentGraph(data, text);
  state = opened(graph, { ask: ask || Boolean(data?.ask), ranges: null });
  if (typing && text) retype(text);
  set(step === undefined ? {} : { step: Math.min(step, state.graph.last) });
}

addEventListener("hashchange", start);
addEventListener("keydown", (event) => {
  const { altKey, ctrlKey, metaKey, target, key } = event, { step, graph } = state;
  const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: graph.last }[key];
  if (altKey || ctrlKey || metaKey || target.matches("input, .pane")) return;
  if (key === " " && !target.matches("button, summary, tr")) play();
  else if (to !== undefined) go(to, key === "ArrowRight");
  else return;
  event.preventDefault();
});
follow(render);
start();
