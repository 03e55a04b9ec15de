// The live graph: one state, one picture of it, and what people do. Whatever they do ends in
// `set`, which paints all anew; core.js draws the way from a formula to the page.

let state, timer = 0;
const typing = data === null;

// -- What is seen

let seen = {}; // what is on the stage: the fit and the camera

function page(state) {
  const { graph, dragging, moving } = state, run = pass(graph, state.leaves);
  const view = viewOf(state, run), [first, second] = sentence(state, view);
  const fit = fitOf(state), eye = cameraOf(state, view, fit), { zoomed } = fit;
  const beyond = zoomed && eye.scale > fit.scale;
  seen = { view, fit, eye };
  const wide = zoomed && fit.tall * eye.scale <= fit.height; // a finger can scroll the page
  return h("main", { class: `page ${moving && "moving"}`,
    style: `--low: ${panelOf(state)}px; --tall: ${tallOf(state)}px` },
    h("header", data?.back && h("button.out", { onclick: data.back }, "← the network"),
      title(state, view), shareMenu(state)), typing && examples(state),
    h("p", { id: "sentence", ariaLive: dragging ? "off" : "polite" },
      h("span.first", first), h("span.second", second)),
    h("section", { ariaLabel: "Graph", 
      class: `stage ${zoomed && "zoomed"} ${wide && "wide"}`, ...HAND },
      state.height && [h(beyond ? "div.beyond" : "div", { style: fadesOf(state, fit, eye) },
        drawGraph(state, view, fit, eye)),
        beyond && fit.map > 0 && drawMap(state, view, fit, eye)]),
    stepBar(state, view), h("div.panel", inputList(state, view), placeOf(state, view)));
}

// The sides on which there is more to see fade out.
function fadesOf({ width }, { place: { length, low, high }, height }, { x, y, scale }) {
  const [across, down] = [width, height].map((size) => size / 2 / scale);
  const fade = (more, size) => `${more ? size : 0}px`;
  return `--left: ${fade(x > across, 56)}; --right: ${fade(x + across < length, 56)}; --top: ${
    fade(y - down > low, 24)}; --bottom: ${fade(y + down < high, 24)}`;
}

// How high the panel is: as its sliders, up to four, or three below what is said on a phone.
function panelOf({ graph: { neurons, sliders: { length } }, phone }) {
  const rows = neurons.size ? 4 : clamp(length, 1, 4);
  return phone ? 204 + 50 * Math.min(3, rows) : Math.max(188, 42 + 50 * rows, innerHeight / 3 - 96);
}

function textOf(tree) {
  if (!tree.tag) return String(tree);
  const text = tree.children.map(textOf).join("");
  if (tree.tag !== "sup") return text;
  return /^−?\d+$/.test(text) ? raise(text.replace("−", "-")) : `^${text}`;
}

function title(state, view) {
  const { graph, problem, editing } = state;
  if (editing) {
    return h("h1.formula", h("input", { id: "typed", autocapitalize: "off", spellcheck: "false",
      value: state.text ?? graph.formula, ariaLabel: "a formula", "aria-describedby": "sentence",
      ariaInvalid: problem && "true", oninput: ({ target }) => retype(target.value, true),
      onblur: doneTyping,
      onkeydown: (event) => { if (event.key === "Enter") doneTyping(); } }));
  }
  const shown = h("span", heading(state, view));
  const size = textOf(shown).length / Math.min(44, state.width / 18);
  return h("h1", { id: "formula", class: size > 1.8 ? "small" : size > 1 && "long",
    onclick: typing && edit }, shown);
}

function stepBar({ step, graph, playing, ask }, { asking, lost }) {
  const n = graph.groups.length, last = graph.last, back = step > n, asks = asking !== undefined;
  const said = back ? `backward ${step - n} of ${n + 1}` : `forward ${step} of ${n}`;
  const kind = step < n ? "value" : "gradient";
  const dot = (k) => h("span", { class: `${k > n ? "gradient" : "value"} ${k <= step && "past"}` });
  return h("section.steps", { ariaLabel: "Steps" },
    h("button", { disabled: step === 0, onclick: () => go(step - 1) }, "Back"),
    h("button", { class: `play ${asks ? "" : kind}`, disabled: lost,
      onclick: asks ? () => go(step + 1) : play },
      asks ? "Show me" : playing ? "❚❚ Pause" : step === last ? "↻ Again" : "▶ Play"),
    step === last ? h("button", { class: "descend", ...HOLD }, "Descend")
      : h("button", { disabled: lost, onclick: () => go(step + 1, true) }, "Next"),
    h("label", { class: back ? "bar gradient" : "bar value" },
      h("span", { class: !back && "here" }, back ? "forward" : said),
      h("span", { class: back && "here" }, back ? said : "backward"),
      h("span.dots", n < 15 && spaced(last, 0, last).map(dot)),
      slider({ max: last, value: String(step), ariaValueText: said }, go)),
    h("button.quiz", { ariaPressed: ask, disabled: lost && !ask, onclick: quiz },
      ask ? "No quiz" : "Quiz me"));
}

function inputList(state, view) {
  const { graph, touched } = state, { sliders } = graph;
  const own = graph.neurons.get(state.neuron)?.weights ?? []; // of the neuron that is open
  const others = sliders.filter((i) => !own.length || graph.place.has(i));
  const shown = [...new Set([...own, ...others, touched ?? own[0] ?? sliders[0]])];
  const target = Number(graph.inputs.includes(graph.loss?.target));
  const rest = graph.inputs.length - shown.length - target;
  const widest = (size) => Math.max(44, ...shown.map((i) => nameWidth(graph.labels[i], size))) + 6;
  const size = widest(22) < 90 ? 22 : 17;
  return h("section.inputs", { ariaLabel: "Inputs", tabindex: 0,
    style: `--size: ${size}px; --names: ${widest(size)}px` },
    h("h2", h("span", graph.neurons.size ? "Drag an input or a weight" : "Drag an input"),
      h("span", "value"), h("span", "gradient")),
    shown.map((i) => sliderRow(state, view, i)),
    rest > 0 && h("p.soft", `${rest} weights: touch a neuron to drag its own.`));
}

const pane = (key, title, ...inside) =>
  h("section.place-of", { key }, title && h("h2", title), inside);

// Beside the inputs: a question, a proof, the curve of what is touched, the lines of a step.
function placeOf(state, view) {
  const { graph, step, touched } = state, { half, last } = graph;
  if (state.proof) return proofPane(state, view);
  if (view.asking !== undefined) return askPane(state, view);
  const still = touched === null || state.leaves === state.before; // what is touched
  const question = step === half && still && !view.now.length && questionPane(state, view);
  if (question) return question;
  if (touched !== null) return curvePane(state, view);
  if (state.trail.length) return descentPane(state, view);
  if (view.drawn !== null) return curvePane(state, view);
  const lines = view.now.flatMap((u) => (step > half ? gradLines : valueLine)(state, view, u));
  return pane("lines", lines.length > 0 && "This step, line by line", h("pre", lines));
}

function curvePane(state, { run, sides, drawn }) {
  const { graph, leaves, ranges, step, phone, width } = state, foretold = foretoldOf(state);
  const x = leaves[drawn], slope = step === graph.last ? run.adjoints[drawn] : null;
  const [y, name] = [graph.labels[graph.output], graph.labels[drawn]];
  const values = (at) => along(graph, leaves, drawn, at), f = (at) => values(at)[graph.output];
  const key = [drawn, ranges[drawn], leaves.with(drawn, 0)].join();
  const samples = kept(graph, "curve", key, () => sampled(f, ...ranges[drawn]));
  const ends = (at) => {
    const i = values(at).findIndex(Number.isNaN);
    return graph.nodes[i].rule ? opOf(graph, i) : y;
  };
  return pane("curve", [nameIn(y), " while only ", nameIn(name), " moves",
    Number.isFinite(foretold) && [": ", orange(foretold), " was foretold"]],
  curvePlot({ f, samples, x, slope, sides, ends, foretold, ...plotSize(state) }));
}

const plotSize = (state) => ({ width: state.phone ? state.width - 32 : paneWidth(state),
  height: state.phone ? 132 : panelOf(state) - 48 });
const paneWidth = ({ width }) => Math.min(1504, width) / 2 - 68;

// A question and its answer: one element for all, so that the focus stays.
function askPane(state, view) {
  const { graph, wrong, asked } = state, { made, hint } = answerOf(state, view), to = view.asked;
  const from = unitName(graph, graph.units[view.asking]);
  const kind = state.step < graph.half ? "value" : "gradient";
  return h("form.place-of.ask", { key: "ask", onsubmit: (event) => {
    event.preventDefault();
    answer(event.target.elements.answer, view);
  } },
  h("label", h("span", !to ? say`Value of ${from}:`
    : to.edge ? say`Message from ${from} to ${named(graph, to.from)}:`
      : say`Gradient of ${named(graph, to.sum)}:`),
  h("input", { id: "answer", class: kind, type: "number", step: "any", required: true })),
  h("button", { class: `play ${kind}` }, "Check"),
  h("p", { id: "told", role: "status" }, wrong === null ? asked > 0 && "Right. And the next?"
    : hint(wrong)),
  h("p.made", wrong !== null && made));
}

// -- What people do

function set(changes) {
  state = { ...state, ...changes };
  if (!state.ranges) scale();
  paint();
}

function paint() {
  if (data?.away?.()) return;
  const stage = main.querySelector(".stage");
  state.phone = main.clientWidth < (innerHeight < 480 ? 560 : 760);
  if (stage && !state.dragging) {
    [state.width, state.height] = [stage.clientWidth, stage.clientHeight];
  }
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

const MOVES = { forward: 820, seed: 900, backward: 2000 }; // how long a step takes, in ms

function go(to, moving = false) {
  const step = clamp(to, 0, state.graph.last), moves = moving && step !== state.step;
  const playing = state.playing && moves, { half } = state.graph;
  const { ask, tries } = state; // a quiz ends with the last step
  const field = main.querySelector("#answer");
  if (field) field.value = "";
  rest({ step, playing, moving: moves, asked: 0, wrong: null, tries: ask ? tries : [],
    ask: ask && step < state.graph.last });
  remember();
  if (!playing) return;
  if (state.ask && seen.view.asking !== undefined) return set({ playing: false }); // a question
  const pause = step > half + 1 ? MOVES.backward : step > half ? MOVES.seed : MOVES.forward;
  timer = setTimeout(() => go(step + 1, true), pause);
}

// All comes to rest before something else begins.
function rest(changes) {
  clearTimeout(timer);
  set({ ...AT_REST, problem: state.unread, ...changes });
}

function quiz() {
  const { step, ask, graph: { half, last } } = state;
  rest({ ask: !ask, asked: 0, wrong: null, tries: [] });
  if (!ask) go(step === half || step === last ? half + 1 : step);
  remember();
  main.querySelector("#answer")?.focus();
}

const reveal = (what) => main.querySelector(what).scrollIntoView({ block: "nearest" });

function play() {
  const { step, playing, graph } = state;
  rest({ playing: !playing });
  reveal("#sentence");
  if (!playing) go((step === graph.last ? graph.half : step) + 1, true);
}

function move(node, x) {
  actions.touch(node);
  set({ leaves: state.leaves.with(node, x), dragging: true, problem: state.unread });
}

// A number is left alone: only now the address and the ranges follow; or what was typed is none.
function left(valid = true) {
  const { touched, ranges, leaves, graph } = state, x = leaves[touched];
  const [low, high] = ranges[touched] ?? [-Infinity, Infinity], out = x < low || x > high;
  const wide = high > 5 && graph.inputs.every((i) => Math.abs(leaves[i]) < high / 100);
  set({ dragging: false, ranges: out || wide ? null : ranges, problem: valid ? state.problem
    : say`${named(graph, touched)} stays ${number(x)}: that is no number, or too large.` });
  remember();
}

const hover = (node) => state.hover !== node && set({ hover: node });
const actions = {
  linked: remembered((node) => ({ onclick: () => actions.choose(node),
    onpointerleave: () => hover(null), onpointerenter: () => hover(node) })),
  touch: (node) => {
    const { graph, step } = state;
    if (!graph.inputs.includes(node) || state.touched === node) return;
    rest({ touched: node, before: state.leaves, step: Math.max(step, graph.half),
      problem: state.problem });
  },
  choose: (node) => {
    const { graph, step } = state;
    if (graph.neurons.has(node)) set({ neuron: state.neuron === node ? null : node });
    else if (!graph.nodes[node].rule) actions.touch(node);
    else go(graph.units[graph.owner[node]].at[Number(step > graph.half)]);
  },
  prove: (target) => {
    const by = state.proof?.by ?? 0.1;
    rest({ proof: isSame(state.proof, target) ? null : { ...target, by } });
    if (state.proof) reveal(".place-of");
  },
  end: () => rest({ share: false }),
};

function answer(field, view) {
  const { right } = answerOf(state, view), { asked, step, wrong } = state, x = field.valueAsNumber;
  const rounded = `${x}`.replace(/^[-0.]+|\./g, "").length > 1 // as numbers of two digits give it
    && x === Number(right.toPrecision(2));
  if (!rounded && Math.abs(x - right) > 0.006 * Math.abs(right) + 5e-4) {
    set({ wrong: x });
    return reveal(".place-of");
  }
  field.value = "";
  state.tries = [...state.tries, wrong === null];
  if (asked + 1 < view.questions) set({ asked: asked + 1, wrong: null });
  else go(step + 1, step + 1 < state.graph.last);
}

// The state goes into the address, if the page has one.
function remember() {
  try { history.replaceState(history.state, "", addressOf(state)); } catch { /* a frame has no address */ }
}

function onKey(event) {
  const { altKey, ctrlKey, metaKey, target, key } = event, { step, graph } = state;
  const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: graph.last }[key];
  if (altKey || ctrlKey || metaKey) return;
  if (key === "Escape") return actions.end();
  if (target.matches("input")) return;
  const zoom = { "+": 1.25, "=": 1.25, "-": 0.8 }[key], way = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (key === " " && !target.matches("button, .proves")) main.querySelector(".play").click();
  else if (to !== undefined) go(to, key === "ArrowRight");
  else if (zoom) shift(0, 0, zoom);
  else if (key === "0") set({ eye: null });
  else if (way) walk(way);
  else return;
  event.preventDefault();
}

// To the next orange number of the picture.
function walk(way) {
  const all = [...main.querySelectorAll(".graph .proves")];
  const at = all.indexOf(document.activeElement);
  const next = all.at(at < 0 && way < 0 ? -1 : (at + way) % (all.length || 1));
  if (next) set({ look: Number(next.dataset.at), eye: null, moving: false });
  next?.focus({ preventScroll: true });
}
