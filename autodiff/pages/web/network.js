// A network that is built here, and learns points that are drawn here: the page of training with an
// editor in front, and behind it the live graph of one point. Derivatives come from the rules that
// Python printed from ops.py, steps from those of optim.py.

const live = liveGraph({ away: () => shown === null,
  back: () => (history.state === "graph" ? history.back() : leave()) });

// -- The address: it carries all that it takes to learn the same again

const FIRST_SPEC = { data: "circle", layers: "4-2", act: "tanh", by: "SGD", seed: 1, rate: 0.1 };
let spec = FIRST_SPEC;
let view, net, shown = null; // the page of spec, its network, and the point whose graph is open
const past = []; // what undoes each change
const ui = { kind: 1 }; // what is open, typed and guessed

function address() {
  const { s, t } = view;
  return `#${new URLSearchParams({ ...spec, rate: t.steps ? t.rate : s.rate, steps: t.steps,
    wire: s.wire, ...(asks() && { ask: 1 }), ...(t.strayed && { near: 1 }), ...(shown !== null && { point: shown }) })}`;
}

// What an address says; where it says nothing that can be read, it is as at first.
function readSpec(said) {
  const isData = (text) => {
    try { return rowsOf(text); } catch { return false; }
  };
  const can = { data: isData, layers: (x) => /^([1-8](-[1-8]){0,2})?$/.test(x),
    act: (x) => /^(tanh|relu)$/.test(x), by: (x) => Object.hasOwn(optimizers, x),
    seed: (x) => /^\d{1,9}$/.test(x),
    rate: (x) => x >= optimizers[spec.by].rate / 100 && x <= 300 * optimizers[spec.by].rate };
  const known = Object.keys(can).filter((key) => key in said), unread = [];
  spec = { ...FIRST_SPEC };
  for (const key of known) {
    if (can[key](said[key])) spec[key] = said[key];
    else unread.push(`${key}=${said[key]}`.slice(0, 24));
    if (key === "by") spec.rate = optimizers[spec.by].rate;
  }
  spec = { ...spec, seed: Number(spec.seed), rate: Number(spec.rate) };
  return unread.length ? `Of this address ${unread.join(", ")} was not understood. `
    : said.near && `${NEAR} `;
}

const NEAR = "This link leads nearby: it trains these points from the start.";

// -- The page

const nameOf = (wire) => net?.graph.ids[net.leaves[3 + wire]];

function build(changes) {
  const { running = false, rate, wire } = view?.s ?? {}, held = nameOf(wire);
  if (view) view.s.running = false;
  spec = { ...spec, ...(rate && { rate }), ...changes };
  ui.alarm = null;
  net = networkOf(spec.layers.match(/\d/g)?.map(Number) ?? [], spec.act);
  const { memory, move, ...by } = optimizers[spec.by], parameters = weightsOf(net, spec.seed);
  view = training({ layers: net.layers, names: [], rows: rowsOf(spec.data), held: [], features: 2,
    outputs: 1, targets: [-1, 1], axes: ["x", "y"], classes: ["sand", "blue"], column: 2,
    measures: true, ranges: [[-SPAN, SPAN], [-SPAN, SPAN]], parameters,
    memory: parameters.map(() => memory), optimizer: spec.by, ...by,
    edit: { ...EDIT, wire: ({ g }) => wireLike(held, g) } }, { ...programsOf(net), move });
  view.change({ rate: spec.rate, running });
}

// The wire of this name, if anything pulls it, or the one that is pulled most: one is always held.
function wireLike(name, g) {
  const same = g.findIndex((slope, wire) => slope && nameOf(wire) === name);
  const weights = net.layers.flatMap((layer) => layer.weights.flat());
  return same < 0 ? weights.reduce((a, b) => (Math.abs(g[b]) > Math.abs(g[a]) ? b : a)) : same;
}

// Other points for the network as it is.
function take(data) {
  const { t } = view;
  t.rows = rowsOf(data);
  t.strayed ||= t.steps > 0;
  spec.data = data;
  t.look();
  tell({ problem: null, alarm: null });
}

function edited(rows) {
  const before = spec.data;
  take(rows.map(([x, y, k]) => [near(x), near(y), k].join(" ")).join("\n"));
  past.push(() => take(before));
}

// Undo brings back the network of now, as far as it is trained now.
function keep() {
  const was = [spec, net, view], { rows, ...training } = view.t, losses = [...training.losses];
  past.splice(0, past.length - 49); // pictures of neurons are large
  past.push(() => {
    view.s.running = false;
    [spec, net, view] = was;
    Object.assign(view.t, training, { losses }).look();
    tell({ problem: null, alarm: null });
    view.change({ pulls: null });
  });
}
const undo = () => past.pop()();

function anew(changes) {
  keep();
  build(changes);
}

function erase(i) {
  try {
    edited(view.t.rows.toSpliced(i, 1));
    clearTimeout(ui.timer);
    tell({ gone: view.t.rows });
    ui.timer = setTimeout(tell, 8000, { gone: null });
  } catch ({ message }) {
    take(spec.data);
    tell({ alarm: `${message}: this one stays. ` });
  }
}

function choose(data) {
  ui.problem = null;
  anew({ data });
}

const tell = (changes) => view.change({}, Object.assign(ui, changes));
const press = (words, onclick, pressed, more) =>
  h("button", { onclick, ariaPressed: pressed, ...more }, words);
const pick = (key, all) => h("span.pick", all.map((x) => press(x, () =>
  anew({ [key]: x, ...(key === "by" && { rate: optimizers[x].rate }) }), spec[key] === x)));
const thumbs = Object.keys(SETS).map((set) => [set, h("svg", { viewBox: "-6.6 -6.6 13.2 13.2" },
  rowsOf(set, 70).map(([x, y, k]) => disc(k > 0 ? "value" : "sand", [x, -y], 0.6)))]);

function typed({ target: { value } }) {
  try {
    if (rowsOf(value)) choose(value);
  } catch (error) {
    tell({ problem: error.message, text: value });
  }
}

const nearby = () => ui.copied && view.t.strayed;
const seePlane = () => main.querySelector(".plane").scrollIntoView({ block: "nearest" });

const wayOf = (x) => (x > 0 ? "larger →" : "← smaller");
const asks = () => ui.asked && !view.t.steps;
// What the guess was worth, until something changes.
function verdict() {
  const { s, t } = view, { seen } = ui, g = t.g[s.wire];
  return !s.running && seen?.g === t.g && seen.wire === s.wire
    && h("span", [seen.guess * g < 0 ? "You saw it" : "Not so", ": they pull it ",
      orange(g ? wayOf(-g) : "neither way"), ". Now run."]);
}
const guesses = () => [h("span.asks", "All arrows added up:"), h("span.guess",
  [-1, 1].map((guess) => press(wayOf(guess), () => {
    const { s, t } = view;
    s.pulls = null;
    Object.assign(ui, { seen: { guess, g: t.g, wire: s.wire }, asked: false });
    view.repaint();
    main.querySelector(".pulls").scrollIntoView({ block: "nearest" });
    view.repaint(); // copies fly from where the picture is now
  })))];
const TWO = "-3 0 A\n3 0 B";
const EDIT = {
  keep,
  gone: () => (ui.out ? h("b.error", "Let go, and this point is gone.")
    : ui.gone === view.t.rows && h("span", { role: "status" }, "1 point gone · ",
      press("↶ Undo", undo))),
  heading() {
    const { s, t } = view, { alarm } = ui;
    return [asks() ? "Which way will this weight move?" : "Who pulls this weight?",
      alarm && h("b.error", alarm),
      asks() ? "Each point pulls the orange weight to lower its own loss. "
        : t.loss > t.first ? h("b.error", "The loss has grown: lower the rate, and start again.")
          : "Touch a wire, and every point pulls it. Touch a point, and its graph opens.",
      asks() && s.phone && guesses()];
  },
  verdict,
  numbers: ({ x, y, bottom }) => [-4, 4].map((v) => [
    write("middle", x(v), bottom - 6, v < 0 ? number(v) : "x = 4"),
    write("", 6, y(v) + 4, v < 0 ? number(v) : "y = 4")]),
  idle: () => asks() && guesses(),
  choices: (rate) => h("div.choices",
    h("span.pick", thumbs.map(([set, picture]) => press(picture, () => {
      Object.assign(ui, { open: false, kind: ui.kind || 1 });
      choose(set);
    }, spec.data === set, { class: "thumb", ariaLabel: set })),
    press("✎ your own", () => tell({ open: !ui.open }), Boolean(ui.open))),
    ui.open && [h("span.pick", press("Clear", () => {
      choose(TWO);
      seePlane();
    }), press("✕ Erase", () => {
      tell({ kind: 0 });
      seePlane();
    }, ui.kind === 0)), h("textarea", { rows: 2, oninput: typed, ariaLabel: "points",
      value: ui.problem ? ui.text : Object.hasOwn(SETS, spec.data) ? "" : spec.data }),
    h("p.note", { role: "status" }, ui.problem ? h("b.error", `${ui.problem}.`) : nearby() ? NEAR
      : spec.data === TWO ? "Two points stay: each class needs one."
      : rowsOf(spec.data).told
        ?? "A formula of x, such as sin(x): blue above it. Or a table, a line each: 1.5 -2 A.")],
    pick("act", ["tanh", "relu"]), pick("by", Object.keys(optimizers)), rate,
    h("span.pick", press("↻ Other weights", () => anew({ seed: spec.seed + 1 })),
      press("↶ Undo", undo, null, { disabled: !past.length }),
      press(ui.copied ? "Copied" : "Copy link", () => void copy((published("network.html")
        ?? location.href.split("#")[0]) + address(), (copied) => tell({ copied })))),
    h("span.note", { role: "status" }, !ui.open && nearby() && NEAR)),
  layers(placeAt) {
    const sizes = net.layers.map(({ weights }) => weights.length).slice(0, -1);
    const set = (l, n) => anew({ layers: sizes.with(l, n).filter(Boolean).join("-") });
    const last = sizes.length, full = last > 2;
    const even = last && placeAt(last + 1) - placeAt(last) < 141; // no room beside the last
    return h(even ? "div.layers.even" : "div.layers", sizes.map((n, l) => {
      const to = (sign, words, by) => press(sign, () => set(l, Math.min(8, n + by)), null,
        { ariaLabel: `${words} neurons in layer ${l + 1}` });
      return h("span.size", { style: `left: ${placeAt(l + 1)}px` }, to("−", "fewer", -1),
        h("b", n), to("+", "more", 1));
    }), press(full ? "3 at most" : "+ layer", () => anew({ layers:
      [...sizes, 4].join("-") }), null, { class: "deeper", disabled: full }));
  },
  kinds: () => h("span.pick", [[1, "blue", h("b.value", "●")], [-1, "sand", h("b.sand", "◆")]]
    .map(([kind, name, sign]) => press(sign, () => tell({ kind }), ui.kind === kind,
      { ariaLabel: `add ${name}` }))),
  // A click adds a point, or opens the graph of one; a point is dragged, or dragged out and gone.
  hands: {
    onpointerdown(event) {
      ui.from = [event.clientX, event.clientY];
      Object.assign(ui, { since: event.timeStamp, moved: null });
      view.grab(event);
    },
    onpointermove(event) {
      if (!ui.from || !far(event) || swiped(event)) return;
      ui.moved = event.target.dataset.i;
      ui.out = ui.moved && isOut(placeIn(event));
      view.drag(event);
    },
    onpointercancel() { // a swipe that scrolls moves no point
      ui.from = ui.out = null;
      if (!ui.moved) return;
      view.t.rows = rowsOf(spec.data);
      view.t.look();
      view.change();
    },
    onpointerup(event) {
      if (!ui.from) return;
      const { target: { dataset: { i } } } = event, { s, t } = view, at = placeIn(event);
      const moved = far(event), out = isOut(at);
      ui.from = ui.out = null;
      ui.opens = moved || !ui.kind ? null : i;
      const fresh = [...s.box.back(...at), ui.kind];
      if (!moved && !i && ui.kind) edited([...t.rows, fresh].slice(0, MANY));
      else if (i && (moved ? out : !ui.kind)) erase(i);
      else if (moved && i) edited(t.rows);
    },
    // not before: the graph would get the click that ends a tap
    onclick: () => ui.opens && down(Number(ui.opens)),
    onkeydown(event) {
      const { key, target: { dataset: { i } } } = event, { rows } = view.t;
      if (key === "Enter") down(Number(i));
      else if (key === "Delete") erase(i);
      else view.nudge(event);
      if (key.startsWith("Arrow")) edited(rows);
    },
  },
  away: (s) => shown !== null || s !== view.s, // of a network that was
  neuron: (event, k) => {
    view.s.focus = k;
    down(worst());
  },
  painted() {
    clearTimeout(ui.later);
    ui.later = setTimeout(store, 300, "replaceState", history.state);
  },
};
const far = ({ clientX, clientY }) => Math.hypot(clientX - ui.from[0], clientY - ui.from[1]) > 5;
// A quick way up or down, which scrolls; after a short press the finger drags.
const swiped = ({ pointerType, timeStamp, clientX, clientY }) => pointerType === "touch"
  && timeStamp - ui.since < 150 && Math.abs(clientY - ui.from[1]) > Math.abs(clientX - ui.from[0]);
const isOut = (at) => at.some((v) => v < -16 || v > view.s.plotWidth + 16);
addEventListener("touchmove", (event) => {
  if (ui.from && event.target.dataset.i && event.timeStamp - ui.since > 150) event.preventDefault();
}, { passive: false });

// -- The graph of one point, where the weight that is held is touched

const [, ...sheets] = document.querySelectorAll("style");
const wear = (deep) => sheets.forEach((sheet, k) => { sheet.disabled = deep !== (k > 1); });

function store(how, state) {
  try { history[how](state, "", address()); } catch { /* a frame has no address */ }
}

// The point that the network gets most wrong.
const worst = () => view.t.each.indexOf(Math.max(...view.t.each));

function down(i) {
  shown = i;
  ui.scrolled = scrollY;
  store("pushState", "graph");
  enter();
}

function enter() {
  const { t, s } = view, { graph, leaves, neurons } = net;
  const node = leaves[3 + s.wire];
  [...t.rows[shown], ...t.p].forEach((x, k) => { graph.start[leaves[k]] = x; });
  graph.says = neurons.at(-1);
  graph.about = `Point ${shown + 1}, ${t.rows[shown][2] > 0 ? "blue" : "sand"}${
    shown === worst() ? ", the most wrong of all" : ""}`;
  s.running = false;
  wear(true);
  const own = (i) => graph.neurons.get(i).weights.includes(node);
  const neuron = neurons[s.focus] ?? [...graph.neurons.keys()].find(own) ?? null;
  live.open(graph, { neuron, touched: neuron === null || own(neuron) ? node : null });
  scrollTo(0, 0);
}

// What was dragged there comes along.
function leave() {
  const { t } = view, row = t.rows[shown], numbers = live.numbers();
  const [x, y, , ...p] = net.leaves.map((i) => numbers[i]);
  if (p.some((v, k) => v !== t.p[k])) {
    keep();
    Object.assign(t, { p, strayed: true });
  }
  if (x !== row[0] || y !== row[1]) edited(t.rows.with(shown, [x, y, row[2]]));
  shown = view.s.focus = null;
  wear(false);
  match(main, h("main")); // nothing of the graph is measured
  t.look();
  view.repaint();
  scrollTo({ top: ui.scrolled, behavior: "instant" });
}

addEventListener("popstate", () => (shown === null ? openAddress() : leave()));
addEventListener("keydown", (event) => shown !== null && live.onKey(event));

function openAddress() {
  const hash = location.hash || root.dataset.address || "";
  const said = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  const { steps = 0, wire = hash ? NaN : 14, point } = said;
  wear(false);
  const alarm = readSpec(said);
  build(spec);
  Object.assign(ui, { alarm, asked: !hash || said.ask });
  const { t, s } = view, until = performance.now() + 4000;
  while (t.steps < steps && !t.diverged && performance.now() < until) t.step(spec.rate);
  t.strayed = t.steps < steps;
  if (t.p[Number(wire)] !== undefined) s.wire = Number(wire);
  view.repaint();
  if (t.rows[Number(point)]) shown = Number(point), enter();
}
function paint() {
  if (shown === null) view.repaint();
  else live.paint();
}
follow(paint, false);
openAddress();
addEventListener("resize", paint);
