// The live graph: one state, one picture of it, and what people do.

let state;
const FORMULA = "a=2; b=1; y=(a+b)*b";
const main = document.getElementById("app"), typing = data === null;
const byName = Object.fromEntries(rules.filter((rule) => rule.op).map((rule) => [`${rule.op}/${rule.arity}`, rule]));

// -- What is seen -------------------------------------------------------------------------------

function page(state) {
  const { graph } = state, run = pass(graph, state.leaves), view = viewOf(state, run), [first, second] = sentence(state, view);
  const parts = heading(state, view), length = inText(written(graph, graph.output)).length;
  const weights = [...graph.neurons.values()].reduce((sum, x) => sum + x.rows.length + (x.bias === undefined ? 0 : 1), 0);
  return h("main", { class: `page${state.touched === null ? "" : " touching"}` },
    typing && formulaField(state),
    h("header", {},
      h("h1", { id: "formula", class: length > 110 ? "long" : length > 56 ? "middling" : "" }, parts,
        graph.neurons.size ? h("small", `${graph.inputs.filter((i) => graph.units.place.has(i)).length} inputs, ${graph.neurons.size} neurons, ${weights} weights`) : ""),
      h("p.copy", h("button", { onclick: () => copy("link") }, state.copied === "link" ? "Copied" : "Copy link"), graph.formula ? h("button", { onclick: () => copy("python") }, state.copied === "python" ? "Copied" : "Copy Python") : "")),
    h("p", { id: "sentence", class: state.problem ? "problem" : "", "aria-live": state.dragging ? "off" : "polite" }, h("span.first", first), h("span.second", second)),
    graphPane(state, view), state.ask && view.asking !== undefined && askPanel(state, view), stepBar(state, view),
    (!state.ask || view.asking === undefined) && h("div.columns", inputList(state, view), explanation(state, view)),
    h("details", { open: state.fold, ontoggle: (event) => event.target.open !== state.fold && set({ fold: event.target.open }) }, h("summary", "Table and lines"), state.fold && table(state, view)));
}

function formulaField(state) {
  const mark = state.problem && h("span.caret", { "aria-hidden": "true" }, h("span", state.text.slice(0, state.problem.at)), h("mark", state.text.slice(state.problem.at, state.problem.end) || " "));
  return h("label.formula", h("span", "Type a formula"), h("span.line", h("input", {
    type: "text", spellcheck: "false", autocapitalize: "off", autocomplete: "off", value: state.text ?? state.graph.formula,
    "aria-invalid": state.problem ? "true" : undefined, "aria-describedby": "sentence", oninput: (event) => retype(event.target.value),
  }), mark));
}

function graphPane(state, view) {
  const { whole, least, pane } = fitOf(state), wide = whole < least - 1e-6 || state.zoom !== 1;
  return h("section.pane", { style: pane > state.width ? `width: ${pane}px; margin-left: ${(state.width - pane) / 2}px` : undefined, "aria-label": "Graph", tabindex: wide ? 0 : undefined, onpointerdown: pan },
    drawGraph(state, view, actions),
    wide && h("p.zoom", [["−", 1 / 1.25, "smaller"], ["+", 1.25, "larger"]].map(([sign, by, name]) => h("button", { "aria-label": name, onclick: () => set({ zoom: Math.max(Math.min(1, whole / least), Math.min(3, state.zoom * by)) }) }, sign))));
}

function stepBar(state, view) {
  const { step, graph } = state, n = half(state), end = lastStep(graph), playing = state.playing;
  const bar = (name, from, size, pass) => {
    const at = step - from, here = at >= 0 && at <= size && (pass === "forward" || step > n), label = pass === "forward" ? at : at + 1, of = pass === "forward" ? size : size + 1;
    const spot = (k) => `${size ? 100 * k / size : 0}%`, past = Math.max(0, Math.min(size, at));
    return h("div", { class: `bar ${pass}${here ? " here" : ""}${size > 14 ? " fine" : ""}`, onclick: (event) => {
      const box = event.currentTarget.querySelector(".dots").getBoundingClientRect();
      go(from + Math.round(Math.max(0, Math.min(1, (event.clientX - box.left) / (box.width || 1))) * size));
    } },
    h("span.name", here ? `${name} ${label} of ${of}` : name),
    h("span.dots", at >= 0 && h("span.done", { style: `width: ${spot(past)}` }), Array.from({ length: size + 1 }, (_, k) => h("span", { class: k === at && here ? "dot now" : k <= at ? "dot past" : "dot", style: `left: ${spot(k)}` }))));
  };
  const said = playing ? "❚❚ Pause" : step === end ? "↻ Again" : "▶ Play", color = step >= n ? "gradient" : "value";
  const middle = state.ask && view.asking !== undefined ? h("button.play", { onclick: () => go(step + 1) }, "Show me") : h("button", { class: `play ${color}`, onclick: play }, said);
  return h("section.steps", { "aria-label": "Steps" },
    h("div.buttons", h("button", { disabled: step === 0, onclick: () => go(step - 1) }, "Back"), middle, h("button", { disabled: step === end && state.rest, onclick: () => go(step + 1, true) }, "Next"),
      h("button.speed", { "aria-label": `speed ${state.speed}×`, onclick: () => set({ speed: { 1: 2, 2: 0.5, 0.5: 1 }[state.speed] }) }, h("span", "speed "), `${state.speed === 0.5 ? "½" : state.speed}×`)),
    h("div.bars", { role: "slider", tabindex: 0, "aria-label": "step", "aria-valuemin": 0, "aria-valuemax": end, "aria-valuenow": step, "aria-valuetext": step <= n ? `forward ${step} of ${n}` : `backward ${step - n} of ${n + 1}` },
      bar("forward", 0, n, "forward"), bar("backward", n + 1, n, "backward")));
}

function inputList(state, view) {
  const { graph, leaves, touched } = state, shown = [...graph.sliders.slice(0, 8), ...state.more];
  const size = state.size, wide = fitOf(state).whole < fitOf(state).least;
  const gradient = (i) => (view.gradient(i).complete ? h("b.gradient", number(view.run.adjoints[i])) : h("span.place", {}));
  const rest = graph.inputs.length - shown.length;
  return h("section.inputs", { "aria-label": "Inputs" },
    h("h2", h("span", graph.neurons.size ? "Drag an input or a weight" : shown.length ? "Drag an input" : "Nothing can be dragged"), h("span.over", "value"), h("span.end", "gradient")),
    shown.map((i) => sliderRow({
      key: `in${i}`, name: graph.labels[i], value: leaves[i], range: state.ranges[i] ?? [-size, size], field: state.field?.node === i ? state.field : null, touched: touched === i,
      arrow: view.gradient(i).complete && state.step === lastStep(graph) ? view.run.adjoints[i] : 0, end: gradient(i),
      onslide: (x) => move(i, x, { field: null }), onrest: () => rest_(i), onfocus: () => state.touched !== i && (state.step >= half(state)) && set({ touched: i }),
      ontype: (text) => (typed(text) === null ? set({ touched: i, field: { node: i, text, refused: true } }) : move(i, typed(text), { field: { node: i, text } })),
    })),
    wide && h("p.result", nameIn(graph.labels[graph.output]), " = ", view.value[graph.units.place.get(graph.output)] ? blue(view.run.values[graph.output]) : "?"),
    rest > 0 && shown.length && !graph.neurons.size ? h("p.rest", `${rest} more: touch one in the picture to drag it.`) : "");
}

function explanation(state, view) {
  const { graph, touched } = state, y = graph.labels[graph.output];
  if (touched !== null) {
    const others = graph.inputs.filter((i) => i !== touched && graph.units.place.has(i)), [low, high] = state.ranges[touched] ?? [-state.size, state.size];
    const known = state.step === lastStep(graph), slope = known ? view.run.adjoints[touched] : null, inner = Math.min(1072, state.page);
    const sides = known && Number.isFinite(slope) ? corner(graph, state.leaves, touched, state.leaves[touched]) : null;
    return h("section.explanation.curve-pane", { key: "curve", "aria-label": "Curve" },
      h("h2", nameIn(y), " while only ", nameIn(graph.labels[touched]), " moves", others.length > 0 && others.length < 4 && !graph.neurons.size ? others.map((i) => [", ", nameIn(graph.labels[i]), ` = ${number(state.leaves[i])}`]) : ""),
      curvePlot({
        f: (x) => along(graph, state.leaves, touched, x)[graph.output], low, high, x: state.leaves[touched], slope, width: inner < 720 ? inner : (inner - 48) / 2, height: inner < 720 ? 270 : 250,
        sides, taken: sides && cornerName(graph, view.run), name: `${plainName(y)} as a curve over ${plainName(graph.labels[touched])}`,
        ends: (x) => { const values = along(graph, state.leaves, touched, x), i = values.findIndex(Number.isNaN); return graph.nodes[i]?.rule ? NAMES[graph.nodes[i].rule.op] ?? graph.nodes[i].rule.name : plainName(y); },
      }));
  }
  if (view.now.length && state.step > half(state) && graph.units[view.now[0]].kind === "op") {
    return h("section.explanation", { key: "lines" }, h("h2", "This step, in Python"), h("pre", gradLines(state, view, view.now[0]).slice(0, 6).map((line) => [line, "\n"])));
  }
  const late = state.step === lastStep(graph);
  const small = (parts, ...words) => h("p", h("svg.graph", { width: 96, height: 46, viewBox: "0 0 96 46", "aria-hidden": "true" }, parts), h("span", words));
  return h("section.explanation", { key: "how" }, h("h2", "How to read it"),
    small([h("path.wire.value", { d: "M0 22H96" }), h("text.value", { x: 38, y: 15, "font-size": 16 }, "3"), late ? h("text.gradient", { x: 38, y: 42, "font-size": 16 }, "1") : h("rect.place", { x: 28, y: 28, width: 32, height: 17, rx: 5 })], say`Above a wire: its ${blue("value")}.`, h("br"), late ? say`Below: its ${orange("gradient")}.` : say`Below: the place of its ${orange("gradient")}.`),
    small([h("path.wire.value", { d: "M0 23H38C66 23 66 9 96 9M38 23C66 23 66 37 96 37" }), late ? h("g.fork.sum", { transform: "translate(38 23)" }, h("circle", { r: 8 }), h("path", { d: "M-4 0H4M0-4V4" })) : h("g.fork", { transform: "translate(38 23)" }, h("circle", { r: 5 }))], late ? say`A fork: messages meet and **add**.` : "A fork: one value, used twice."),
    graph.neurons.size ? small([h("path.wire.value", { d: "M0 16H96", "stroke-width": 5 }), h("path.wire.gradient", { d: "M0 30H96", "stroke-dasharray": "6 4" })], "Thick: large. Dashed: negative.")
      : small([h("path.wire.gradient", { d: "M0 23H96" }), h("path.head.gradient", { d: "M36 17L22 23L36 29Z" }), h("g.message", { transform: "translate(57 23)" }, h("rect", { x: -17, y: -13, width: 34, height: 26, rx: 13 }), h("text", { y: 5 }, "3"))], "On a wire, going left: a message."));
}

function askPanel(state, view) {
  const { right, sum, hint } = answerOf(state, view), { graph } = state, wrong = state.wrong, [own, rule] = wrong ? hint(wrong.x) : [[], []];
  const check = (event) => { event.preventDefault(); answer(right, view); };
  const what = view.asked ? say`Message from **${signWord(graph, view.asking)}** to ${nameIn(graph.labels[view.asked.from])}:` : say`Value of ${nameIn(graph.labels[graph.units[view.asking].node])}:`;
  return h("form.ask", { onsubmit: check, novalidate: true },
    h("label", { for: "answer" }, what), h("input", { id: "answer", type: "text", inputmode: "decimal", autocomplete: "off", value: state.answer, "aria-describedby": "told", oninput: (event) => set({ answer: event.target.value }) }),
    h("p", { id: "told", role: "status" }, wrong ? [h("b", `Not yet${own.length ? ":" : "."}`, own), h("br"), rule] : state.note),
    h("p.made", wrong ? sum : ""), h("button.play.gradient", { type: "submit" }, "Check"));
}

function table(state, view) {
  const { graph } = state, { run } = view, n = half(state), rows = [...new Set([...graph.inputs, ...graph.nodes.keys()])].filter((i) => graph.labels[i] && graph.needs[i]);
  const lines = graph.groups.flat().reverse().filter((u) => view.sent(u, "open") > 0);
  return h("div.fold", {},
    h("div.scroll", { tabindex: 0, "aria-label": "Table", role: "region" }, h("table", h("caption", "Every node: what it is, its value, its gradient"), h("thead", h("tr", ["name", "is", "value", "gradient"].map((x) => h("th", { scope: "col" }, x)))),
      h("tbody", rows.map((i) => {
        const u = view.owner[i], known = u === undefined || view.value[u], { complete } = view.gradient(i);
        return h("tr", { class: `${state.hover === i ? "hover" : ""}${view.now.includes(u) ? " now" : ""}`, tabindex: 0, onclick: () => actions.choose(i), onkeydown: (event) => event.key === "Enter" && actions.choose(i), onpointerenter: () => actions.hover(i), onpointerleave: () => actions.hover(null) },
          h("td", nameIn(graph.labels[i])), h("td", graph.nodes[i].rule ? h("span.math", inHtml(written(graph, i, 0, graph.neurons.has(i)))) : "input"), h("td.value", known ? number(run.values[i]) : ""), h("td.gradient", complete ? number(run.adjoints[i]) : ""));
      })))),
    h("div", h("h2", "The backward pass, line by line"), h("pre", state.step > n ? [`${plainName(graph.labels[graph.output])}.grad = `, h("span.gradient", "1"), "\n", lines.map((u) => gradLines(state, view, u, true).map((line) => [line, "\n"]))] : "It has not begun.")));
}

// -- What people do -----------------------------------------------------------------------------

function set(changes) {
  const before = state;
  state = { ...state, ...changes };
  if (!state.ranges || before.graph !== state.graph) scale();
  render(before);
}

function render(before) {
  const width = main.clientWidth, inner = Math.min(1072, width - (width < 760 ? 32 : 128));
  Object.assign(state, { page: inner, width: inner, room: width - 64, seen: width });
  match(main, h("div", page(state)));
  if (before && before.step !== state.step) follow();
  if (parent !== window) parent.postMessage({ autodiff: "height", height: main.offsetHeight + 8 }, "*");
}

// Ranges for the sliders: one size for all, kept while a number is dragged.
function scale() {
  const { graph, leaves } = state, finite = graph.inputs.map((i) => Math.abs(leaves[i])).filter((x) => x < 1e300);
  state.size = Math.max(5, roundUp(Math.max(...finite, 1e-9) * 1.5));
  state.ranges = {};
  graph.inputs.forEach((i) => { state.ranges[i] = rangeOf(graph, leaves, i, state.size); });
}

function go(step, moving = false) {
  clearTimeout(timer);
  const to = Math.max(0, Math.min(lastStep(state.graph), step)), still = matchMedia("(prefers-reduced-motion: reduce)").matches || !moving;
  cancelAnimationFrame(frame);
  set({ step: to, t: still || to === state.step ? null : 0, rest: !moving || to === state.step, touched: null, asked: 0, answer: "", wrong: null, note: "", playing: state.playing && moving });
  if (state.t !== null) animate_();
  else arrived();
}

let frame = 0, timer = 0;
function animate_() {
  const start = performance.now(), { speed } = state;
  const draw = (now) => {
    const t = Math.max(0, now - start) * speed;
    if (t < duration(state)) {
      set({ t });
      frame = requestAnimationFrame(draw);
    } else {
      set({ t: null });
      arrived();
    }
  };
  frame = requestAnimationFrame(draw);
}

function arrived() {
  remember();
  if (!state.playing) return;
  const [next] = unitsAt(state, state.step + 1) ?? [];
  if (state.ask && state.graph.units[next]?.kind === "op") return set({ playing: false }); // a question waits
  if (state.step === lastStep(state.graph)) timer = setTimeout(() => set({ playing: false, rest: true }), 1800 / state.speed);
  else timer = setTimeout(() => go(state.step + 1, true), (state.step <= half(state) ? 350 : 1100) / state.speed);
}

function play() {
  if (state.playing) {
    clearTimeout(timer);
    return set({ playing: false });
  }
  set({ playing: true, touched: null });
  go((state.step === lastStep(state.graph) ? half(state) : state.step) + 1, true);
}

function move(node, x, more) {
  const leaves = [...state.leaves];
  leaves[node] = x;
  clearTimeout(timer);
  cancelAnimationFrame(frame);
  const step = state.step < half(state) ? half(state) : state.step;
  set({ leaves, touched: node, dragging: true, playing: false, t: null, step, ...more });
}

// A number is left alone: only now the range may grow, and the address follow.
function rest_(node) {
  const [low, high] = state.ranges[node] ?? [0, 0], x = state.leaves[node];
  if (state.ranges[node] && (x < low || x > high)) scale();
  set({ dragging: false, field: null });
  remember();
}

const actions = {
  hover: (node) => state.hover !== node && set({ hover: node }),
  touch: (node) => {
    const { graph } = state;
    if (!graph.inputs.includes(node) || graph.note) return;
    set({ touched: node, step: Math.max(state.step, half(state)), t: null, playing: false, more: graph.sliders.slice(0, 8).includes(node) ? state.more : [node] });
  },
  choose: (node) => {
    const { graph } = state, u = graph.units.findIndex((unit) => unit.inside.includes(node));
    if (!graph.nodes[node].rule) return actions.touch(node);
    const [forward, backward] = stepsOf(graph, u);
    return u >= 0 && go(state.step > half(state) ? backward : forward);
  },
};

function answer(right, view) {
  const x = typed(state.answer);
  if (x === null) return set({ note: "Type a number." });
  if (Math.abs(x - right) > 0.006 * Math.abs(right) + 5e-4) return set({ wrong: { x, text: number(x) }, note: "" });
  const { graph } = state, unit = graph.units[view.asking];
  const count = view.asked ? unit.edges.filter(({ from, edge: [i, k] }) => graph.needs[from] && view.run.messages[i][k] !== null).length : 1;
  if (state.asked + 1 < count) return set({ asked: state.asked + 1, answer: "", wrong: null, note: "Right. And the next?" });
  go(state.step + 1, true);
  set({ note: "Right." });
}

function retype(text) {
  try {
    const graph = graphOf(parse(text, byName)), known = new Map(state.graph.inputs.map((i) => [state.graph.labels[i], state.leaves[i]]));
    const given = new Set(text.split(";").map((x) => x.split("=")[0].trim()).filter(Boolean));
    graph.inputs.forEach((i) => { if (known.has(graph.labels[i]) && !given.has(graph.labels[i])) graph.start[i] = known.get(graph.labels[i]); });
    set({ ...opened(graph), ranges: null, text, problem: null, speed: state.speed });
    remember();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    set({ text, problem: { message: error.message, at: error.at, end: error.end } });
  }
}

// The state goes into the address, if the page has one.
function remember() {
  try { history.replaceState(null, "", addressOf(state)); } catch { /* a frame without an address */ }
}

function python(state) {
  const { graph, leaves } = state, called = graph.formula.match(/[a-z]\w*(?=\()/g) ?? [], names = [...new Set(called)].filter((x) => x !== "abs" && byName[`${x}/1`] | rules.some((r) => r.op === x));
  const id = (i) => graph.ids?.[i] ?? graph.labels[i], lines = graph.formula.split(";").map((x) => x.trim().replace(/^([^=]+)=(.*)$/, "$1 = $2"));
  const name = graph.formula.split(";").at(-1).match(/^\s*([\p{L}_][\p{L}\p{N}_]*)\s*=/u)?.[1];
  if (!name) lines.push(`y = ${lines.pop()}`);
  const last = name ?? "y", constants = ["pi", "e"].filter((x) => new RegExp(`\\b${x}\\b`).test(graph.formula) && !graph.labels.includes(x));
  return [...(constants.length ? [`from math import ${constants.join(", ")}`, ""] : []), `from autodiff import ${["Value", "show_steps", ...names].sort().join(", ")}`, "",
    ...graph.inputs.map((i) => `${id(i)} = Value(${leaves[i]}, label=${JSON.stringify(graph.labels[i])})`), ...lines, `${last}.label = ${JSON.stringify(last)}`, `show_steps(${last})`, ""].join("\n");
}

async function copy(kind) {
  const base = location.protocol === "about:" ? "" : location.href.split("#")[0], text = kind === "link" ? base + addressOf(state) : python(state);
  let done = true;
  try { await navigator.clipboard.writeText(text); } catch {
    const field = document.body.appendChild(document.createElement("textarea"));
    field.value = text;
    field.select();
    done = document.execCommand("copy");
    field.remove();
  }
  set({ copied: done ? kind : null });
  setTimeout(() => set({ copied: null }), 1500);
}

// A wide picture follows the step, and the mouse that pulls it.
function follow() {
  const pane = document.querySelector(".pane"), now = document.querySelector(".unit.now");
  if (!now || pane.scrollWidth <= pane.clientWidth) return;
  const [a, b] = [pane.getBoundingClientRect(), now.getBoundingClientRect()];
  if (b.left < a.left + 40 || b.right > a.right - 40) pane.scrollLeft += (b.left + b.right - a.left - a.right) / 2;
}

function pan(event) {
  const pane = event.currentTarget, from = event.clientX + pane.scrollLeft;
  if (event.pointerType !== "mouse" || pane.scrollWidth <= pane.clientWidth) return;
  const pull = (e) => { pane.scrollLeft = from - e.clientX; };
  addEventListener("pointermove", pull);
  addEventListener("pointerup", () => removeEventListener("pointermove", pull), { once: true });
}

// -- The start ----------------------------------------------------------------------------------

function start() {
  const { text, step, ask } = readAddress(location.hash), settings = { ask: ask || Boolean(data?.ask) };
  let graph, problem = null, typedText = null;
  if (typing) {
    try { graph = graphOf(parse(text || FORMULA, byName)); } catch (error) {
      graph = graphOf(parse(FORMULA, byName));
      [problem, typedText] = [{ message: error.message, at: error.at, end: error.end }, text.slice(0, LONGEST)];
    }
  } else {
    graph = graphOf({ ...data, nodes: data.nodes.map((node) => (Array.isArray(node) ? { rule: rules[node[0]], inputs: node.slice(1) } : { value: node })) });
    graph.ids = data.ids;
    graph.note = data.note;
    const given = new Map(text.split(";").map((x) => x.split("=")));
    graph.inputs.forEach((i) => { const x = typed(given.get(data.ids[i]) ?? ""); if (x !== null) graph.start[i] = x; });
  }
  state = opened(graph, { ...settings, problem, text: typedText });
  if (step !== null) state.step = Math.min(step, lastStep(graph));
  scale();
  main.tree = { attributes: {} };
  main.replaceChildren();
  render();
}

addEventListener("hashchange", start);
addEventListener("message", ({ data: told, source }) => {
  if (source === parent && typeof told?.dark === "boolean") document.documentElement.style.colorScheme = told.dark ? "dark" : "light";
});
addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input, .pane, .scroll") || !state) return;
  const to = { ArrowLeft: state.step - 1, ArrowRight: state.step + 1, Home: 0, End: lastStep(state.graph) }[event.key];
  if (event.key === " " && !event.target.matches("button, summary, tr")) play();
  else if (to !== undefined) go(to, event.key === "ArrowRight");
  else return;
  event.preventDefault();
});
new ResizeObserver(() => state && main.clientWidth !== state.seen && (state.seen = main.clientWidth) && render()).observe(main);
start();
