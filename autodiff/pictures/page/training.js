// -- The page: one state, one function that says what stands on the page, one painter.

data.drawn = data.outputs > 1 ? data.layers : data.layers.slice(0, -1); // with a small picture each
data.hidden = data.layers.slice(0, -1).reduce((n, layer) => n + layer.weights.length, 0);
const main = document.querySelector("#app"), still = matchMedia("(prefers-reduced-motion: reduce)");
const s = {
  data, programs, trainer: trainer(programs, data), scene: sceneOf(data), few: data.names.length > 0,
  rate: data.rate, running: false, asked: false, byHand: null, focus: null, pinned: null, chosen: null,
  ghosts: [], trail: [], slow: false, frames: [], turn: 0, moved: true, seen: 0, told: "",
};
const named = (k) => data.names[k].split(/\s+/);
const size = Math.max(1, ...data.parameters.map(Math.abs)), span = 3 * roundUp(size);
const ends = data.parameters.map((p) => (p >= span / 4 ? [0, span] : p <= -span / 4 ? [-span, 0] : [-span / 2, span / 2]));
const steepest = Math.max(...s.trainer.g.map(Math.abs), 1e-12);
const perUnit = 0.1 * 10 ** Math.round(Math.log10((0.4 * span) / steepest / 0.1)); // of slider, for 1 of derivative

const words = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const count = (n) => words[n] ?? String(n);
const big = (text) => text[0].toUpperCase() + text.slice(1);
const mark = (kind, ...inside) => h("b", { class: kind }, ...inside);
const story = (title, ...inside) => [h("h1", {}, title), h("p", { class: "lead" }, ...inside)];

// -- What stands on the page --------------------------------------------------------------------

function heading() {
  const { trainer } = s, n = data.rows.length;
  if (!s.few) {
    const shape = data.layers.length ? `, ${[data.features, ...data.layers.map((x) => x.weights.length)].join("–")}` : "";
    const acts = [...new Set(data.layers.slice(0, -1).map((x) => x.name.split(" ")[1]))].filter((x) => x !== "linear");
    const points = data.features === 1 ? "" : `, ${n} points`;
    const batches = data.batch ? `, batches of ${data.batch}` : "";
    return story(data.title, `Your model${shape}${acts.length ? ` with ${acts.join(" and ")}` : ""}: ${data.parameters.length} parameters${points}, ${data.optimizer}${batches}.`);
  }
  const what = data.features === 1 ? "a curve" : data.features === 2 ? "a boundary" : "a model";
  const sliders = count(data.names.length), arrows = data.names.length > 1 ? `its ${sliders} arrows` : "its arrow";
  if (trainer.diverged) {
    return story("Too large a step", mark("error", `Diverged at step ${trainer.steps}.`), " Each step overshoots and lands farther away than the last. Drag the rate to the left and start again.");
  }
  if (!s.asked) {
    const gone = data.measures ? [mark("error", "the red sticks"), " are gone."] : [mark("error", "the loss"), " is small."];
    return story(data.title, `${data.about || `${big(count(n))} points`}, and `, mark("forward", what), ` that is wrong. Drag the ${sliders} sliders until `, ...gone);
  }
  if (!trainer.steps) {
    return story("Which way should each go?", `${big(sliders)} answers from one walk backward: `, mark("backward", "arrows as long as the derivatives"), ", pointing to a smaller loss.");
  }
  if (trainer.g.every((g) => Math.abs(g) * perUnit < 0.012 * span)) {
    return story("Nobody touched a slider", `The ${what.slice(2)} followed `, mark("backward", arrows), `, and ${data.names.length > 1 ? "they are" : "it is"} now too short to see.`);
  }
  return story("Following the arrows", "Each step moves every slider along ", mark("backward", "its arrow"), ": the learning rate times the derivative.");
}

const button = (kind, label, onclick, disabled = false) => h("button", { class: kind, onclick, disabled, type: "button" }, label);
function controls() {
  const { trainer } = s;
  return h("div", { class: "controls" },
    button(trainer.diverged ? "run" : "run main", s.running ? "❚❚ Pause" : "▶ Run", () => run(!s.running), trainer.diverged),
    button("", "Step", () => { run(false); advance(1); }),
    button(trainer.diverged ? "main" : "", "Start again", again),
    h("label", { class: "rate" }, h("span", {}, "learning rate"),
      logSlider("learning rate", data.rate / 100, data.rate * 300, s.rate, (rate) => { s.rate = rate; wake(); }),
      h("span", {}, amount(s.rate, 2))),
    s.few ? null : lossNow());
}
const lossNow = () => h("div", { class: "total" },
  s.few ? null : steps(), h("span", {}, "loss"), h("b", {}, amount(s.trainer.loss)), s.few ? steps() : null);
const steps = () => h("span", { class: s.trainer.diverged ? "step error" : "step" },
  s.trainer.diverged ? `diverged at step ${s.trainer.steps}` : s.few && !s.trainer.steps ? "" : `step ${s.trainer.steps.toLocaleString("en-US")}`);
const canvas = (kind) => h("canvas", { class: kind });

function plot() {
  const label = data.features === 1 ? "the data and the curve" : "the plane of both inputs, and the data";
  return h("div", { class: "plot", tabindex: "0", role: "application",
    "aria-label": `${label}. Keys: N chooses a data point, arrows move it.`, onpointerdown: grab, onkeydown: nudge },
    s.few ? null : h("div", { class: "caption" }, s.focus === null
      ? (data.measures && data.features === 1 ? "what the model says, and how far off it is" : s.scene.chance ? "the chance of a 1, says the model" : "what the model says")
      : `what ${nameOf(s.focus)} makes of ${data.features === 1 ? "the input" : "the plane"}`),
    h("div", {}, canvas("picture"), canvas("points")));
}

function panel() {
  const { trainer } = s, many = count(data.rows.length);
  const bar = data.measures === "squares" ? `the ${many} sticks, squared and laid end to end` : `the losses of the ${many} points, laid end to end`;
  const more = trainer.each.reduce((a, b) => a + b) > s.full * 1.02;
  return h("div", { class: s.asked ? "panel asked" : "panel" }, lossNow(), canvas("bar"),
    h("p", { class: "note" }, more ? `${many} ${data.measures === "squares" ? "squared sticks" : "losses"}: more than fit here` : bar),
    data.formula && h("p", { class: "formula" }, ...formula()),
    s.asked ? h("div", { class: "derivative" }, "derivative") : null,
    ...data.names.map(parameter), s.asked ? h("p", { class: "tell" }, ...telling()) : h("p", { class: "tell" }),
    ...(s.asked ? [controls(), trainer.steps ? canvas("losses") : null] : [button("ask", "Which way should each go?", ask)]));
}

function formula() {
  const known = new Set(data.names.map((name) => name.split(/\s+/)[0]));
  const output = bare(data.axes[data.features] ?? "");
  const parts = data.formula.split(/([\p{L}_][\p{L}\p{M}\d₀-₉_[\],]*)/u).map((part, i, all) => (
    known.has(part) ? h("b", {}, part) : i % 2 && !all[i + 1].startsWith("(") ? h("i", {}, part) : part));
  return [output ? `${output} = ` : "", ...parts.map((x) => (x.tag ? x : x.replaceAll("·", " ")))];
}

function parameter(_, k) {
  const p = s.trainer.p[k], [name, ...rest] = named(k), [low, high] = ends[k];
  return h("div", { class: "row", key: String(k) }, h("span", { class: "name" }, nameIn(name), h("small", {}, rest.join(" "))),
    h("input", { type: "range", class: p < low || p > high ? "slider off" : "slider", min: String(low), max: String(high), step: "any",
      value: String(Math.min(high, Math.max(low, p))), "aria-label": data.names[k], "aria-valuetext": places(p),
      oninput: (event) => byHand(k, Number(event.target.value)) }),
    h("output", {}, places(p), s.asked ? h("small", {}, slope(s.trainer.g[k])) : null), canvas("arrow"));
}

function telling() {
  const { g, loss, steps } = s.trainer, k = g.reduce((best, x, i) => (Math.abs(x) > Math.abs(g[best]) ? i : best), 0);
  if (s.byHand !== null && steps && !s.running && loss < s.byHand) {
    return [`By hand you came to ${amount(s.byHand)}; following the ${count(g.length)} arrows comes to ${amount(loss)}.`];
  }
  if (Math.abs(g[k]) < 0.005 || s.trainer.diverged) return [""];
  return [g[k] < 0 ? "Raise " : "Lower ", nameIn(named(k)[0]), " a little, and the loss falls ", mark("backward", amount(Math.abs(g[k]))), " times as much."];
}

// A neuron's name, by its number among the hidden ones.
function nameOf(k) {
  let layer = 0;
  while (k >= data.layers[layer].weights.length) k -= data.layers[layer++].weights.length;
  return data.drawn.length > 1 ? `neuron ${k + 1} of layer ${layer + 1}` : `neuron ${k + 1}`;
}

function network() {
  const { spots, size } = s.places, labels = ["x₁", "x₂"];
  const at = (spot) => `left:${spot.x}px;top:${spot.y - size / 2}px;width:${size}px;height:${size}px`;
  const captions = ["input", ...data.drawn.map((layer) => layer.name)];
  if (data.features === 2) captions[0] = "inputs";
  const roomy = spots[1][0].x - spots[0][0].x >= 64; // else the ends alone have a caption
  const captioned = (l) => roomy || l === 0 || l === captions.length - 1;
  let k = 0;
  return h("div", { class: "net", style: `height:${s.places.tall + (s.phone ? 8 : 26)}px` },
    ...(s.phone ? [] : captions.map((words, l) => captioned(l) && h("div", { class: "caption", style: `position:absolute;left:${spots[l][0].x - 40}px;width:${size + 80}px` }, words))),
    h("div", { style: `position:absolute;top:${s.phone ? 4 : 26}px;left:0` }, canvas("wires"),
      ...spots[0].map((spot, i) => h("div", { key: `x${i}` },
        h("span", { class: "axis", style: `left:${spot.x}px;top:${spot.y}px` }, nameIn(bare(data.axes[i]) || (spots[0].length > 1 ? labels[i] : "x"))),
        h("div", { class: "neuron", style: at(spot) }, canvas("small")))),
      ...spots.slice(1).flat().map((spot) => neuron(k++, at(spot))),
      s.places.end && !s.phone ? h("svg", { width: "16", height: "16", style: `position:absolute;left:${s.places.end.x - 8}px;top:${s.places.end.y - 8}px` },
        h("circle", { cx: "8", cy: "8", r: "6", fill: "var(--paper)", stroke: "var(--ink)", "stroke-width": "2" })) : null));
}

function neuron(k, style) {
  const health = s.health[k] ?? "";
  return h("button", { class: `neuron ${health}`, key: `n${k}`, style, type: "button", "aria-label": `${nameOf(k)}${health && `, ${health}`}`,
    "aria-pressed": String(s.pinned === k), onpointerenter: (e) => e.pointerType === "mouse" && look(k), onpointerleave: () => look(s.pinned),
    onfocus: () => look(k), onblur: () => look(s.pinned = null), onclick: () => look(s.pinned = s.pinned === k ? null : k) },
    canvas("small"), health && s.places.size > 36 && h("span", {}, health));
}

function key() {
  const swatch = (...marks) => h("svg", { width: String(14 * marks.length + 14), height: "12" }, ...marks);
  const stroke = (kind, dash) => swatch(h("path", { d: "M0 6h28", stroke: `var(--${kind})`, "stroke-width": "4", "stroke-dasharray": dash }));
  const sick = (kind) => s.health.filter((x) => x === kind).length;
  const classes = s.scene.classes ? [h("span", {}, swatch(h("circle", { cx: "5", cy: "6", r: "5", fill: "var(--blue-deep)" }), h("path", { d: "M20 0l6 6-6 6-6-6z", fill: "var(--sand-deep)" })), data.outputs > 2 ? "the classes" : "the two classes"),
    h("span", {}, h("svg", { width: "12", height: "12" }, h("circle", { cx: "6", cy: "6", r: "4", fill: "none", stroke: "var(--red)", "stroke-width": "2" })), "wrong side")] : [];
  return h("div", { class: "key" },
    h("span", {}, stroke("blue"), "positive weight"), h("span", {}, stroke("sand", "7 4"), "negative"),
    data.layers.length ? h("span", {}, "thicker: larger") : null, ...classes,
    sick("dead") ? h("div", {}, mark("error", `${sick("dead")} dead`), ": zero for every point, so no derivative reaches it") : null,
    sick("saturated") ? h("div", {}, mark("error", `${sick("saturated")} saturated`), ": flat for nearly every point; hardly any derivative passes") : null);
}

const program = () => h("details", {}, h("summary", {}, "The program that runs here"),
  h("pre", { tabindex: "0" }, `// the loss of a sample, and its derivatives\nconst sample = ${programs.sample};\n\n// a step of the optimiser, for one parameter\nconst move = ${programs.move};\n\n${trainer}`));

function frame() {
  const said = h("p", { class: "said", role: "status" }, s.told);
  if (s.few) {
    const left = data.features < 3 ? plot() : h("div", { class: "net" }, canvas("weights"));
    return h("div", {}, ...heading(), h("div", { class: "columns", style: s.phone ? null : `grid-template-columns: ${s.plotWidth}px minmax(0, 420px)` }, left, panel()), program(), said);
  }
  const areas = s.phone ? '"plot" "curve" "net"' : '"net plot" "net curve"';
  const inside = data.groups.length ? h("div", { class: "net" }, h("div", { class: "caption" }, "the parameters"), canvas("weights")) : network();
  return h("div", {}, ...heading(), controls(),
    h("div", { class: "stage", style: `grid-template-areas:${areas};grid-template-columns:${s.phone ? "minmax(0,1fr)" : `${s.width - s.plotWidth}px ${s.plotWidth}px`}` },
      data.features < 3 ? plot() : h("div", { class: "plot caption" }, "the loss of each step"), h("div", { class: "curve" }, canvas("losses")), inside),
    key(), program(), said);
}

// -- Painting -----------------------------------------------------------------------------------

function measure() {
  const style = getComputedStyle(main);
  s.width = main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  s.phone = s.width < 680;
  s.plotWidth = s.phone ? s.width : data.features === 1 ? Math.min(590, s.width * 0.53) : Math.min(440, s.width * 0.46);
  s.plotHeight = s.few ? (s.phone ? 244 : 570) : s.phone ? 250 : 440;
  if (data.features === 2) s.plotHeight = s.plotWidth = Math.min(s.plotWidth, 480);
  if (s.few) {
    s.plotWidth = s.phone ? s.width : Math.min(640, s.width - 340);
    if (data.features === 2) s.plotHeight = s.plotWidth = Math.min(s.plotWidth, 570);
  }
  s.plotMiddle = data.features === 1 ? 220 : s.plotHeight / 2;
  if (data.drawn.length && data.features < 3) s.places = placed(s, s.phone ? s.width : s.width - s.plotWidth, 536);
}

const find = (kind) => main.querySelector(`.${kind}`);
function paint() {
  if (data.features < 3) s.grid = evaluated(s);
  if (s.turn % 4 === 0 || s.moved) examined(s);
  if (data.drawn.length) scales(s);
  const kept = s.trail.at(-1), { steps } = s.trainer;
  if (s.few && data.features === 1 && !kept?.done && (steps === 0 ? !kept : steps === [1, 3, 8, 20, 60][s.trail.length - 1])) {
    s.trail.push({ step: steps, ys: s.grid[data.hidden] });
  }
  match(main, h("div", { class: s.few ? "learning few" : "learning" }, frame()));
  if (data.features === 1) paintCurve(s, find("picture"), s.plotWidth, s.plotHeight);
  if (data.features === 2) paintMap(s, find("picture"), s.plotHeight);
  if (s.moved || s.turn % 4 === 0) data.features < 3 && paintPoints(s, find("points"), s.plotWidth, s.plotHeight);
  if (find("wires")) {
    paintWires(s, find("wires"), s.places.end?.x ?? s.width);
    const share = s.moved ? 1 : s.slow ? 4 : 2;
    main.querySelectorAll(".neuron canvas").forEach((small, k) => {
      if (k % share === s.turn % share) paintNeuron(s, small, k, s.places.size - 2);
    });
  }
  if (find("weights")) paintWeights(s, find("weights"), s.phone ? s.width : s.width - s.plotWidth - 40);
  if (find("losses") && (s.moved || s.turn % 8 === 0)) {
    const wide = s.few ? (s.phone ? s.width : 420) : s.phone ? s.width : s.plotWidth;
    lossCurve(find("losses"), wide, data.features > 2 ? 320 : 112, { losses: s.trainer.losses, diverged: s.trainer.diverged, ghosts: s.ghosts });
  }
  if (s.few) paintPanel();
  s.moved = false;
}

function paintPanel() {
  const wide = find("panel").clientWidth, bar = find("bar"), c = surface(bar, wide, 10), { each } = s.trainer;
  c.fillStyle = colour("grid");
  c.fillRect(0, 0, wide, 10);
  s.full ??= each.reduce((a, b) => a + b);
  let x = 0;
  for (const loss of each) {
    const long = (wide * loss) / s.full, end = Math.min(wide, x + long);
    c.fillStyle = colour("red");
    if (x < wide) c.fillRect(x, 0, Math.max(end - x - (long > 2 ? 1 : 0), 0.5), 10);
    x += long;
  }
  main.querySelectorAll(".arrow").forEach((each, k) => {
    const track = each.parentNode.querySelector("input").clientWidth, a = surface(each, track + 16, 32);
    if (!s.asked) return;
    const [low, high] = ends[k], scale = (track - 22) / span, p = Math.min(high, Math.max(low, s.trainer.p[k]));
    const from = 8 + 11 + (p - low) * scale, g = s.trainer.g[k] * perUnit * scale, way = -Math.sign(g);
    if (Math.abs(g) > 0.8) arrow(a, from + way * 13, from + way * 13 - g, 16, [7, track + 20]);
  });
}

// -- Events -------------------------------------------------------------------------------------

let waiting = 0, last = 0;
const wake = () => { waiting ||= requestAnimationFrame(tickOn); };
const refresh = () => { s.moved = true; wake(); };
const look = (k) => { s.focus = k; refresh(); };

function tickOn(now) {
  waiting = 0;
  const took = now - last;
  last = now;
  if (s.running) {
    s.frames = [...s.frames.slice(-20), took];
    s.slow ||= s.frames.length > 20 && s.frames.reduce((a, b) => a + b) / 21 > 27;
    const { steps } = s.trainer;
    if (!s.few) advance(1 + Math.min(8, Math.floor(steps / 60)), 6);
    else if (steps < 12) s.turn % 8 === 0 && advance(1);
    else advance(steps < 100 ? 1 : 2);
  }
  s.turn += 1;
  paint();
  if (s.running && still.matches) setTimeout(() => { s.running && advance(10); wake(); }, 400);
  else if (s.running) wake();
}

// Some steps, but no longer than some milliseconds.
function advance(n, most = 1000) {
  const until = performance.now() + most;
  for (let i = 0; i < n && !s.trainer.diverged && (i === 0 || performance.now() < until); i++) s.trainer.step(s.rate);
  if (s.trainer.diverged) run(false);
  if (!s.running) tell();
  refreshUnlessRunning();
}
const refreshUnlessRunning = () => { if (!s.running) refresh(); };
const tell = () => { s.told = s.trainer.diverged ? `diverged at step ${s.trainer.steps}` : `step ${s.trainer.steps}, loss ${amount(s.trainer.loss)}`; };

function run(on) {
  s.running = on && !s.trainer.diverged;
  s.frames = [];
  if (!s.running) tell();
  refresh();
}

function again() {
  if (s.trainer.steps) s.ghosts = [...s.ghosts, s.trainer.losses].slice(-4);
  s.trainer.start();
  Object.assign(s, { running: false, trail: [], byHand: null });
  refresh();
}

function ask() {
  if (s.trainer.p.some((p, k) => p !== data.parameters[k])) s.byHand = s.trainer.loss;
  s.asked = true;
  refresh();
}

function byHand(k, p) {
  s.running = false;
  const parameters = [...s.trainer.p];
  parameters[k] = p;
  s.trainer.start(parameters);
  s.trail = [];
  if (s.asked) s.byHand = s.trainer.loss;
  refresh();
}

// -- Data points that can be dragged ---------------------------------------------------------------

function spot(event) {
  const box = find("picture").getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}
const placeOf = (i) => [s.box.x(s.trainer.rows[i][0]), s.box.y(data.features === 2 ? s.trainer.rows[i][1] : targetOf(s, i))];

function put(i, [px, py]) {
  const row = s.trainer.rows[i], [x, y] = s.box.back(px, py), other = data.features === 2 ? 1 : data.column;
  const clip = (v, [low, high]) => Math.min(high, Math.max(low, v));
  row[0] = clip(x, s.scene.x);
  if (other !== null) row[other] = clip(y, data.features === 2 ? s.scene.y : s.scene.range);
  s.trainer.look();
  refresh();
}

function grab(event) {
  if (!data.targets) return;
  const at = spot(event), far = (i) => Math.hypot(...placeOf(i).map((x, k) => x - at[k]));
  const nearest = data.rows.map((_, i) => i).reduce((a, b) => (far(b) < far(a) ? b : a));
  if (!(far(nearest) < (event.pointerType === "mouse" ? 12 : 22))) return;
  event.preventDefault();
  find("plot").setPointerCapture(event.pointerId);
  find("plot").onpointermove = (moved) => put(nearest, spot(moved));
  find("plot").onpointerup = find("plot").onpointercancel = () => { find("plot").onpointermove = null; };
}

function nudge(event) {
  const ways = { ArrowLeft: [-6, 0], ArrowRight: [6, 0], ArrowUp: [0, -6], ArrowDown: [0, 6] }[event.key];
  if (event.key.toLowerCase() === "n" && data.targets) s.chosen = ((s.chosen ?? -1) + 1) % data.rows.length;
  else if (ways && s.chosen !== null) put(s.chosen, placeOf(s.chosen).map((x, k) => x + ways[k]));
  else return;
  event.preventDefault();
  refresh();
}

// A touch on a point drags it; elsewhere it scrolls.
main.addEventListener("touchstart", (event) => {
  if (!event.target.closest(".plot") || !s.box || !data.targets) return;
  const at = spot(event.touches[0]);
  if (data.rows.some((_, i) => Math.hypot(...placeOf(i).map((x, k) => x - at[k])) < 22)) event.preventDefault();
}, { passive: false });

main.tree = { attributes: {} };
main.replaceChildren();
main.className = "learning";
s.health = [];
s.full = s.trainer.each.reduce((a, b) => a + b);
follow(main, () => {
  s.tables = null;
  measure();
  s.moved = true;
  paint();
});
