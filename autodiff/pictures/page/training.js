// The page of training: one state, and one function that says what stands on the page.

data.drawn = data.outputs > 1 ? data.layers : data.layers.slice(0, -1); // with a small picture each
data.hidden = data.layers.slice(0, -1).reduce((n, layer) => n + layer.weights.length, 0);
const main = document.querySelector("#app");
const s = {
  data, programs, trainer: trainer(programs, data), scene: sceneOf(data),
  few: data.names.length > 0, rate: data.rate, running: false, asked: false, byHand: null,
  focus: null, chosen: null, held: null, ghosts: [], trail: [], health: [], slow: false,
  turn: 0, moved: true,
};
const { few, scene, trainer: t } = s, { features, names } = data;
const points = data.rows.length, full = t.each.reduce((a, b) => a + b);

// Sliders share one span, so that their arrows compare: `perUnit` of it for a derivative of 1.
const span = 3 * roundUp(Math.max(1, ...data.parameters.map(Math.abs)));
const lows = data.parameters.map((p) => span * (p >= span / 4 ? 0 : p <= -span / 4 ? -1 : -0.5));
const steepest = Math.max(...t.g.map(Math.abs), 1e-12);
const perUnit = (0.1 * 10 ** Math.round(Math.log10((4 * span) / steepest))) / span;

const mark = (kind, ...inside) => h(`b.${kind}`, ...inside);
const stick = data.measures === "squares" ? "squared stick" : "piece";
const neurons = data.drawn.flatMap(({ weights }, l) => weights.map((_, i) =>
  `neuron ${i + 1}${data.drawn.length > 1 ? ` of layer ${l + 1}` : ""}`));

// -- What stands on the page ----------------------------------------------------------------------

function heading() {
  const what = [, "curve", scene.classes ? "boundary" : "surface"][features] ?? "model";
  const wrong = data.measures && features === 1 ? [mark("error", "the red sticks"), " are gone."]
    : [mark("error", "the loss"), " is small."];
  const batches = data.batch ? `, batches of ${data.batch}` : "";
  const stories = [ // the first that fits
    [!few, data.title, `Your model: ${data.parameters.length} parameters, ${points} points, `,
      data.optimizer, batches, "."],
    [t.diverged, "Too large a step", mark("error", `Diverged at step ${t.steps}.`),
      " Each step lands farther away than the last. Drag the rate to the left and start again."],
    [!s.asked, data.title, data.about || big(counted(points, "point")), ", and ",
      mark("forward", `a ${what}`), " that is wrong. Drag the ",
      counted(names.length, "slider"), " until ", ...wrong],
    [!t.steps, "Which way should each go?", big(counted(names.length, "answer")),
      " from one walk backward: ",
      mark("backward", "arrows as long as the derivatives"), ", pointing to a smaller loss."],
    [true, "Nobody touched a slider", "Each step moves every slider along ",
      mark("backward", "its arrow"), ": the learning rate times the derivative."],
  ];
  const [, title, ...lead] = stories.find(([fits]) => fits);
  return [h("h1", title), h("p.lead", lead)];
}

const button = (kind, words, onclick, disabled) =>
  h("button", { class: kind, onclick, disabled }, words);

const controls = () => h("div.controls",
  button(t.diverged ? "run" : "run main", s.running ? "❚❚ Pause" : "▶ Run",
    () => run(!s.running), t.diverged),
  button("", "Step", () => { run(false); advance(1); }),
  button(t.diverged ? "main" : "", "Start again", again),
  h("label.rate", "learning rate", logSlider("learning rate", data.rate / 100, data.rate * 300,
    s.rate, (rate) => { s.rate = rate; wake(); }), h("output", amount(s.rate, 2))),
  few ? null : lossNow());

const told = () => (t.diverged ? `diverged at step ${t.steps}` : `step ${tick(t.steps)}`);
const lossNow = () => h("div.total", "loss", h("b", amount(t.loss)),
  h(t.diverged ? "span.step.error" : "span.step", few && !t.steps ? "" : told()));
const curve = (width, height) => picture("losses", seldom(8, (canvas) =>
  lossCurve(canvas, width, height, { ...t, ghosts: s.ghosts })));
const seldom = (n, draw) => (canvas) => (s.moved || s.turn % n === 0) && draw(canvas);

function plot() {
  const model = scene.chance ? "the chance of a 1, says the model" : "what the model says";
  const paintAll = features === 1 ? paintCurve : paintMap;
  return h("div.plot", { tabindex: "0", role: "application",
    "aria-label": "the data: N chooses a point, arrows move it",
    onpointerdown: grab, onpointermove: (event) => s.held !== null && put(s.held, spot(event)),
    onpointerup: drop, onpointercancel: drop, onkeydown: nudge,
    ontouchstart: (event) => nearest(event.touches[0], 22) >= 0 && event.preventDefault() },
  few ? null : h("div.caption", s.focus === null ? model
    : `what ${neurons[s.focus]} makes of the ${features > 1 ? "plane" : "input"}`),
  h("div", picture("picture", (canvas) => paintAll(s, canvas, s.plotWidth, s.plotHeight)),
    picture("points", seldom(4, (canvas) => paintPoints(s, canvas, s.plotWidth, s.plotHeight)))));
}

function panel() {
  const more = t.each.reduce((a, b) => a + b) > full * 1.02;
  return h(s.asked ? "div.panel.asked" : "div.panel", lossNow(),
    h("div.bar", t.each.map((loss) => h("i", { style: `flex: 0 0 ${(100 * loss) / full}%` }))),
    h("p.note", `${counted(points, stick)}, ${more ? "more than fit here" : "end to end"}`),
    data.formula && h("p.formula", formula()), s.asked && h("div.derivative", "derivative"),
    names.map(parameter), h("p.tell", s.asked && telling()),
    s.asked ? [controls(), t.steps > 0 && curve(s.side, 112)]
      : button("ask", "Which way should each go?", ask));
}

// The formula, with the parameters in bold.
function formula() {
  const known = names.map((name) => name.split(" ")[0]), output = bare(data.axes[features]);
  const parts = data.formula.replaceAll("·", " ").split(/([\p{L}\p{M}\d₀-₉_]+)/u);
  const bold = (part) => (known.includes(part) ? h("b", part) : part);
  return [output && `${output} = `, parts.map(bold)];
}

// A slider for a parameter, and its arrow: where it has no room it is cut off, with two heads.
function parameter(label, k) {
  const [name, ...rest] = label.split(" "), p = t.p[k], g = t.g[k];
  const at = clip((p - lows[k]) / span, [0, 1]), far = Math.abs(g) * perUnit;
  const room = g < 0 ? 1 - at : at, way = `arrow${g < 0 ? "" : " left"}${far > room ? " cut" : ""}`;
  return h("div.row", h("span.name", nameIn(name), h("small", rest.join(" "))),
    h("div.track", h(at > 0 && at < 1 ? "input.slider" : "input.slider.off", {
      type: "range", min: 0, max: 1, step: "any", value: at, "aria-label": label,
      "aria-valuetext": places(p),
      oninput: ({ target }) => byHand(k, lows[k] + target.value * span),
    }), s.asked && h("span", { class: way, style: `--at: ${at}; --long: ${Math.min(far, room)}` })),
    h("output", places(p), s.asked && h("small", slope(g))));
}

function telling() {
  const k = t.g.reduce((best, g, i) => (Math.abs(g) > Math.abs(t.g[best]) ? i : best), 0);
  if (s.byHand !== null && t.steps && !s.running && t.loss < s.byHand) {
    const [hand, now] = [s.byHand, t.loss].map((x) => amount(x));
    return `By hand you came to ${hand}; following the arrows comes to ${now}.`;
  }
  if (Math.abs(t.g[k]) < 0.005 || t.diverged) return "";
  return [t.g[k] < 0 ? "Raise " : "Lower ", nameIn(names[k].split(" ")[0]),
    " a little, and the loss falls ", mark("backward", amount(Math.abs(t.g[k]))),
    " times as much."];
}

function network() {
  const { spots, size, tall, end } = s.places, top = s.phone ? 4 : 26;
  const gap = spots[1][0].x - spots[0][0].x;
  const captions = ["input", ...data.drawn.map((layer) => layer.name)];
  const place = ({ x, y }) =>
    `left: ${x}px; top: ${y - size / 2}px; width: ${size}px; height: ${size}px`;
  const small = (k) => picture("small", (canvas) => {
    const share = s.moved ? 1 : s.slow ? 4 : 2; // of the pictures in a frame
    if (k % share === s.turn % share) paintNeuron(s, canvas, k, size - 2);
  });
  const inputs = spots[0].map((at, i) => h("div.neuron", { style: place(at) }, small(i),
    h("span.axis", nameIn(bare(data.axes[i]) || (features > 1 ? `x${i + 1}` : "x")))));
  const hidden = spots.slice(1).flat().map((at, k) => neuron(k, place(at), small(features + k)));
  return h("div.net", { style: `height: ${tall + top}px` },
    captions.map((words, l) => h("div.caption",
      { style: `left: ${spots[l][0].x + (size - gap) / 2}px; width: ${gap}px` }, words)),
    h("div.wires", { style: `top: ${top}px` },
      picture("", (canvas) => paintWires(s, canvas, end?.x ?? s.width)), inputs, hidden,
      end && h("span.end", { style: `left: ${end.x}px; top: ${end.y}px` })));
}

function neuron(k, style, inside) {
  const health = s.health[k] ?? "", show = () => look(k), hide = () => look(null);
  return h("button", { class: `neuron ${health}`, style, "aria-label": `${neurons[k]} ${health}`,
    onpointerenter: show, onpointerleave: hide, onfocus: show, onblur: hide, onclick: show },
  inside, s.places.size > 36 && h("span.health", health));
}

function key() {
  const sick = (kind) => s.health.filter((x) => x === kind).length;
  const signs = [ // where the last is true
    ["forward", "━━ ", "positive weight", true],
    ["sand", "– – ", "negative; thicker: larger", true],
    ["forward", "● ", `class ${scene.classes?.[1]}`, scene.classes],
    ["sand", "◆ ", `class ${scene.classes?.[0]}`, scene.classes],
    ["error", "○ ", "wrong side", scene.classes],
    ["error", `${sick("dead")} dead: `, "0 for every point, no derivative passes", sick("dead")],
    ["error", `${sick("saturated")} saturated: `,
      "flat for nearly every point, hardly any derivative passes", sick("saturated")],
  ];
  return h("div.key", signs.filter(([, , , shown]) => shown).map(([kind, sign, words]) =>
    h("span", mark(kind, sign), words)));
}

function frame() {
  const large = features < 3 ? plot() : h("div.caption", "the loss of each step");
  const inside = data.groups.length ? h("div.net",
    picture("", (canvas) => paintWeights(s, canvas, s.side - 20))) : network();
  const wide = few ? s.plotWidth : s.side;
  const columns = { style: s.phone ? null : `grid-template-columns: ${wide}px 1fr` };
  const losses = curve(s.plotWidth, features < 3 ? 112 : 320);
  const source = [
    `// the loss of a sample, and its derivatives\nconst sample = ${programs.sample};`,
    `// a step of the optimiser\nconst move = ${programs.move};`, trainer,
  ].join("\n\n");
  return h("div", { class: `learning${few ? " few" : ""}${s.phone ? " phone" : ""}` }, heading(),
    few ? h("div.columns", columns, features < 3 ? large : inside, panel())
      : [controls(), h("div.columns", columns, inside, h("div.right", large, losses)), key()],
    h("details", h("summary", "The program that runs here"), h("pre", { tabindex: "0" }, source)),
    h("p.said", { role: "status" }, s.running ? "" : `${told()}, loss ${amount(t.loss)}`));
}

function measure() {
  [s.phone, s.width] = sizes(main);
  const most = s.phone ? s.width : s.width * (few ? 0.57 : 0.5);
  s.plotWidth = Math.min(most, features === 2 ? (few ? 570 : 440) : 640);
  s.plotHeight = features === 2 ? s.plotWidth : s.phone ? 250 : few ? 570 : 440;
  s.side = s.phone ? s.width : s.width - s.plotWidth - (few ? 40 : 0); // what is left beside it
  s.plotMiddle = features === 1 ? 220 : s.plotHeight / 2 + 1;
  if (data.drawn.length) s.places = placed(s, s.side, 536);
}

const KEPT = [0, 1, 3, 8, 20, 60]; // the steps whose curves stay
function paint() {
  measure();
  if (features < 3) s.grid = evaluated(s);
  if (s.moved || s.turn % 4 === 0) examined(s);
  if (data.drawn.length) scales(s);
  if (few && features === 1 && KEPT[s.trail.length] === t.steps) {
    s.trail.push({ step: t.steps, ys: s.grid[data.hidden] });
  }
  show(main, frame());
  s.moved = false;
}

// -- Events ---------------------------------------------------------------------------------------

let waiting = 0, last = 0, took = 16;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const wake = () => { waiting ||= requestAnimationFrame(tickOn); };
const refresh = () => { s.moved = true; wake(); };
const look = (k) => { s.focus = k; refresh(); };

function tickOn(now) {
  waiting = 0;
  took += 0.1 * (Math.min(now - last, 100) - took); // milliseconds a frame, on average
  last = now;
  s.turn += 1;
  if (s.running) {
    s.slow ||= took > 27;
    if (!few) advance(1 + Math.min(8, Math.floor(t.steps / 60)), 6);
    else if (t.steps >= 12 || s.turn % 8 === 0) advance(t.steps < 100 ? 1 : 2);
  }
  paint();
  if (s.running && calm.matches) setTimeout(() => { s.running && advance(10); wake(); }, 400);
  else if (s.running) wake();
}

// Some steps, but no longer than some milliseconds.
function advance(n, most = 1000) {
  const until = performance.now() + most;
  while (n-- > 0 && !t.diverged && performance.now() < until) t.step(s.rate);
  if (t.diverged) s.running = false;
  if (!s.running) refresh();
}

function run(on) {
  s.running = on;
  refresh();
}

function again() {
  if (t.steps) s.ghosts = [...s.ghosts, t.losses].slice(-4);
  t.start();
  Object.assign(s, { running: false, trail: [], byHand: null });
  refresh();
}

function ask() {
  if (t.p.some((p, k) => p !== data.parameters[k])) s.byHand = t.loss;
  s.asked = true;
  refresh();
}

function byHand(k, p) {
  t.start(t.p.map((old, i) => (i === k ? p : old)));
  Object.assign(s, { running: false, trail: [], byHand: s.asked ? t.loss : null });
  refresh();
}

// -- Data points that can be dragged --------------------------------------------------------------

const spotOf = (i) =>
  [s.box.x(t.rows[i][0]), s.box.y(features === 2 ? t.rows[i][1] : targetOf(s, i))];
function spot({ clientX, clientY }) {
  const box = main.querySelector(".picture").getBoundingClientRect();
  return [clientX - box.left, clientY - box.top];
}

// The data point at a place on the screen, or undefined.
function nearest(event, within) {
  const [x, y] = spot(event), far = t.rows.map((_, i) => {
    const [px, py] = data.targets ? spotOf(i) : [NaN, NaN];
    return Math.hypot(px - x, py - y);
  });
  const i = far.indexOf(Math.min(...far));
  return far[i] < within ? i : undefined;
}

function put(i, [px, py]) {
  const [x, y] = s.box.back(px, py);
  t.rows[i][0] = clip(x, scene.x);
  if (features === 2) t.rows[i][1] = clip(y, scene.y);
  else if (data.column !== null) t.rows[i][data.column] = clip(y, scene.range);
  t.look();
  refresh();
}

function grab(event) {
  s.focus = null;
  s.held = nearest(event, event.pointerType === "mouse" ? 12 : 22) ?? null;
  if (s.held !== null) event.currentTarget.setPointerCapture(event.pointerId);
}
const drop = () => { s.held = null; };

function nudge(event) {
  const ways = { ArrowLeft: [-6, 0], ArrowRight: [6, 0], ArrowUp: [0, -6], ArrowDown: [0, 6] };
  const way = ways[event.key];
  if (event.key === "n" && data.targets) s.chosen = ((s.chosen ?? -1) + 1) % points;
  else if (way && s.chosen !== null) put(s.chosen, spotOf(s.chosen).map((x, k) => x + way[k]));
  else return;
  event.preventDefault();
  refresh();
}

follow(main, () => {
  s.tables = null;
  s.moved = true;
  paint();
});
