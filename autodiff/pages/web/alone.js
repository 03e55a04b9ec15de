// The live graph as a page of its own: what is typed, and what an address says.

let complaint = 0;

const EXAMPLES = ["a = 2; b = 3; (a + b)·b", "ln(x) + x·z − sin(z)", "tanh(w·x + b)",
  "1/(1 + e^(−x))", "max(a, b)·2", "|a|·√b"];
const formulaOf = remembered((text) => parse(text, byName).formula);
const examples = ({ graph }) => h("p.examples", h("button", { onclick: edit }, "✎ your own"),
  EXAMPLES.map((x) => h("button.math", { ariaPressed: formulaOf(x) === graph.formula,
    onclick: () => { set({ editing: false }); retype(x, true, true); } }, x.split("; ").at(-1))));

// The graph of a typed text; numbers that it does not give stay as they were.
function retype(text, typed = false, fresh = false) {
  const { graph: before, leaves, ask, editing, kept } = state;
  clearTimeout(complaint);
  try {
    const graph = graphOf(parse(text, byName));
    if (graph.units.length > 60) throw new Unreadable("More than 60 boxes cannot be shown");
    for (const i of graph.inputs) {
      const j = before.inputs.find((j) => before.labels[j] === graph.labels[i]);
      const stays = !fresh && j !== undefined && !graph.given.includes(graph.labels[i]);
      if (stays) graph.start[i] = leaves[j];
    }
    set({ ...opened(graph, { text, ask, ranges: null }), editing, kept });
    if (typed) remember();
  } catch (error) {
    const deep = error instanceof RangeError; // of the stack
    if (!deep && !(error instanceof Unreadable)) throw error;
    const unread = deep ? "The formula is nested too deep" : error.message;
    const now = !typed || fresh; // in the middle of a formula nobody complains
    set({ ...kept, text, kept, unread, editing: true, problem: now ? unread : null });
    if (!now) complaint = setTimeout(() => set({ problem: unread }), 600);
  }
}

function edit() {
  set({ editing: true, share: false, kept: { ...state, kept: null } });
  main.querySelector("#typed").select();
}

// What cannot be read stays in its field, unless that is being taken away.
function doneTyping() {
  const { editing, unread } = state;
  if (editing) set({ editing: Boolean(unread), problem: unread });
}

// -- The start

// What an address says, as data: text, step and ask. Nothing in it is run.
function readAddress(hash) {
  const [first, ...settings] = hash.slice(1).split("&");
  let text = "";
  try { text = decodeURIComponent(first); } catch { /* not an address that we made */ }
  const step = settings.join("&").match(/(?:^|&)step=(\d{1,3})(?!\d)/)?.[1];
  return { text, step: step && Number(step), ask: settings.includes("ask") };
}

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
  const { text, step, ask } = readAddress(location.hash || root.dataset.address || "");
  const graph = typing ? graphOf(parse(EXAMPLES[0], byName)) : sentGraph(data, text);
  state = opened(graph, { ask: ask || Boolean(data?.ask), ranges: null });
  if (typing && text) retype(text);
  set(step === undefined ? {} : { step: Math.min(step, state.graph.last) });
}

function closeMenu({ target }) {
  if (state.share && !target.closest(".share")) set({ share: false });
}

addEventListener("hashchange", start);
addEventListener("click", closeMenu);
addEventListener("keydown", onKey);
follow(paint, false);
start();
paint();
new ResizeObserver(paint).observe(main.querySelector(".stage"));
