// The page of training: one state, and one function that says what stands on the page.

// Sliders share one span, so that their arrows compare: `perUnit` of it for a derivative of 1.
const span = 3 * roundUp(Math.max(1, ...data.parameters.map(Math.abs)));
const lows = data.parameters.map((p) => span * (p >= span / 4 ? 0 : p <= -span / 4 ? -1 : -0.5));
const steepest = Math.max(...t.g.map(Math.abs), 1e-12);
const perUnit = (0.1 * 10 ** Math.round(Math.log10((4 * span) / steepest))) / span;

const full = t.each.reduce((a, b) => a + b);
const stick = data.measures ? "squared stick" : "piece";
const neurons = drawn.flatMap(({ weights }, l) => weights.map((_, i) =>
  `neuron ${i + 1}${drawn.length > 1 ? ` of layer ${l + 1}` : ""}`));

// -- What stands on the page ----------------------------------------------------------------------

function heading() {
  const batches = data.batch ? `, batches of ${data.batch}` : "", p = data.parameters.length;
  const wrong = data.measures && features === 1 ? [mark("error", "the red sticks"), " are gone."]
    : [mark("error", "the loss"), " is small."];
  const stories = [ // the first that fits
    [!few, data.title, `Your model: ${p} parameters, ${points} points, `, data.optimizer, batches],
    [t.diverged, "Too large a step", mark("error", `Diverged at step ${t.steps}.`),
      " Each step lands farther away than the last. Drag the rate to the left and start again."],
    [!s.asked, data.title, data.about || big(counted(points, "point")), ", and ",
      mark("forward", features === 1 ? "a curve" : "a model"), " that is wrong. Drag the ",
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
    () => change({ running: !s.running }), t.diverged),
  button("", "Step", () => { s.running = false; advance(1); }),
  button(t.diverged ? "main" : "", "Start again", again),
  h("label.rate", "learning rate", logSlider("learning rate", data.rate / 100, data.rate * 300,
    s.rate, (rate) => change({ rate })), h("output", amount(s.rate, 2))),
  few ? null : lossNow());

const told = () => (t.diverged ? `diverged at step ${t.steps}` : `step ${tick(t.steps)}`);
const lossNow = () => h("div.total", "loss", h("b", amount(t.loss)),
  h(t.diverged ? "span.step.error" : "span.step", few && !t.steps ? "" : told()));
const curve = (width, height) => picture("losses", (canvas) =>
  lossCurve(canvas, width, height, { ...t, ghosts: s.ghosts }), 8);

const plot = () => h("div.plot",
  few ? null : h("div.caption", s.focus !== null
    ? `what ${neurons[s.focus]} makes of the ${features > 1 ? "plane" : "input"}`
    : chance ? "the chance of a 1, says the model" : "what the model says"),
  h("div", { role: "group", "aria-label": "the data: arrows move a point, N goes to the next",
    onpointerdown: grab, onpointermove: drag, onkeydown: nudge },
  picture("picture", features === 1 ? paintCurve : paintMap), targets && t.rows.map(point)));

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
  return [output && `${output} = `, parts.map((x) => (known.includes(x) ? h("b", x) : x))];
}

// A slider for a parameter, and its arrow: where it has no room it is cut off, with two heads.
function parameter(label, k) {
  const [name, ...rest] = label.split(" "), p = t.p[k], g = t.g[k];
  const at = clip((p - lows[k]) / span, [0, 1]), far = Math.abs(g) * perUnit;
  const room = g < 0 ? 1 - at : at, way = `arrow${g < 0 ? "" : " left"}${far > room ? " cut" : ""}`;
  return h("div.row", h("span.name", nameIn(name), h("small", rest.join(" "))),
    h("div.track", h(at > 0 && at < 1 ? "input.slider" : "input.slider.off", {
      type: "range", min: lows[k], max: lows[k] + span, step: "any", value: p,
      "aria-label": label, "aria-valuetext": places(p),
      oninput: ({ target }) => byHand(k, Number(target.value)),
    }), s.asked && h("span", { class: way, style: `--at: ${at}; --long: ${Math.min(far, room)}` })),
    h("output", places(p), s.asked && h("small", slope(g))));
}

function telling() {
  const far = t.g.map(Math.abs), most = Math.max(...far), k = far.indexOf(most);
  if (s.byHand !== null && t.steps && !s.running && t.loss < s.byHand) {
    return `By hand you came to ${amount(s.byHand)}; following the arrows comes to ${amount(t.loss)}.`;
  }
  if (most < 0.005 || t.diverged) return "";
  return [t.g[k] < 0 ? "Raise " : "Lower ", nameIn(names[k].split(" ")[0]),
    " a little, and the loss falls ", mark("backward", amount(most)), " times as much."];
}

function network() {
  const size = Math.min(s.phone ? 44 : 52, 0.6 * s.side / (drawn.length + 1),
    420 / Math.max(...drawn.map(({ weights }) => weights.length)));
  const small = (k) => picture("", (canvas) => paintNeuron(canvas, k, size - 2), 4, k);
  const layer = (name, inside) => h("div.layer", { "data-name": name }, inside);
  const inputs = Array.from({ length: features }, (_, i) => h("div.neuron", small(i),
    h("span.axis", nameIn(bare(data.axes[i]) || (features > 1 ? `x${i + 1}` : "x")))));
  const deep = drawn.length > 5;
  let k = 0;
  return h("div.net", { style: `--size: ${size}px` }, picture("wires", paintWires),
    layer(deep ? "" : "input", inputs), drawn.map(({ name, weights }, l) =>
      layer(deep && name === drawn[l - 1]?.name ? "" : name, // where they would not fit side by side
        weights.map(() => neuron(k, small(features + k++))))),
    outputs === 1 && h("span.end"));
}

function neuron(k, inside) {
  const health = s.health[k] ?? "", show = () => look(k), hide = () => look(null);
  return h("button", { class: `neuron ${health}`, "aria-label": `${neurons[k]} ${health}`,
    onpointerenter: show, onpointerleave: hide, onfocus: show, onblur: hide, onclick: show },
  inside, h("span.health", health));
}

const weights = () => h("div.groups", data.groups.map(([name, rows]) => h("div",
  h("div.note", name), picture("", (canvas) => paintWeights(canvas, rows, s.side - 20)))));

function key() {
  const sick = (kind) => s.health.filter((x) => x === kind).length;
  const signs = [ // where the last is true
    ["forward", drawn.length ? "━━ " : "■ ", "positive weight", true],
    ["sand", drawn.length ? "– – " : "◆ ", "negative; the larger, the thicker", true],
    ["forward", "● ", `class ${classes?.[1]}`, classes],
    ["sand", "◆ ", `class ${classes?.[0]}`, classes],
    ["error", "○ ", "wrong side", classes],
    ["error", `${sick("dead")} dead: `, "0 for every point, no derivative passes", sick("dead")],
    ["error", `${sick("saturated")} saturated: `,
      "flat for nearly every point, hardly any derivative passes", sick("saturated")],
  ];
  return h("div.key", signs.filter((sign) => sign[3]).map(([kind, sign, words]) =>
    h("span", mark(kind, sign), words)));
}

function frame() {
  const large = features < 3 ? plot() : h("div.caption", "the loss of each step");
  const inside = drawn.length ? network() : weights();
  const wide = few ? s.plotWidth : s.side;
  const columns = { style: s.phone ? null : `grid-template-columns: ${wide}px minmax(0, 1fr)` };
  const source = [
    `// the loss of a sample, and its derivatives\nconst sample = ${programs.sample};`,
    `// a step of the optimiser\nconst move = ${programs.move};`, trainer,
  ].join("\n\n");
  return h("div", { class: `learning${few ? " few" : ""}${s.phone ? " phone" : ""}` }, heading(),
    few ? h("div.columns", columns, features < 3 ? large : inside, panel())
      : [controls(), h("div.columns", columns, inside,
        h("div.right", large, curve(s.plotWidth, features < 3 ? 112 : 320))), key()],
    program(source),
    h("p.said", { role: "status" }, s.running ? "" : `${told()}, loss ${amount(t.loss)}`));
}

function measure() {
  [s.phone, s.width] = sizes(main);
  const most = s.phone ? s.width : s.width * (few ? 0.57 : 0.5);
  s.plotWidth = Math.min(most, features === 2 ? (few ? 570 : 440) : 640);
  s.plotHeight = features === 2 ? s.plotWidth : s.phone ? 250 : few ? 570 : 440;
  s.side = s.phone ? s.width : s.width - s.plotWidth - (few ? 40 : 0); // what is left beside it
}

const KEPT = [0, 1, 3, 8, 20, 60]; // the steps whose curves stay
function paint() {
  measure();
  if (features < 3) s.grid = evaluated();
  if (s.moved || s.turn % 4 === 0) examined();
  if (drawn.length) measureNeurons();
  if (features < 3) {
    s.frame = framed();
    s.box = scales(...s.frame);
  }
  if (few && features === 1 && KEPT[s.trail.length] === t.steps) s.trail.push(s.grid[hidden.length]);
  show(frame());
  s.moved = false;
}

// -- Events ---------------------------------------------------------------------------------------

let waiting = 0;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const wake = () => { waiting ||= requestAnimationFrame(next); };
function change(changes) {
  Object.assign(s, changes, { moved: true });
  wake();
}
const look = (focus) => change({ focus });

function next() {
  waiting = 0;
  s.turn += 1;
  if (s.running && !few) advance(1 + Math.min(8, Math.floor(t.steps / 60)), 6);
  else if (s.running && (t.steps >= 12 || s.turn % 8 === 0)) advance(t.steps < 100 ? 1 : 2);
  paint();
  if (s.running && calm.matches) setTimeout(() => { s.running && advance(10); wake(); }, 400);
  else if (s.running) wake();
}

// Some steps, but no longer than some milliseconds.
function advance(n, most = 1000) {
  const until = performance.now() + most;
  while (n-- > 0 && !t.diverged && performance.now() < until) t.step(s.rate);
  if (t.diverged) s.running = false;
  if (!s.running) change();
}

function again() {
  const ghosts = t.steps ? [...s.ghosts, t.losses].slice(-4) : s.ghosts;
  t.start();
  change({ running: false, trail: [], byHand: null, ghosts });
}

function ask() {
  const moved = t.p.some((p, k) => p !== data.parameters[k]);
  change({ asked: true, byHand: moved ? t.loss : null });
}

function byHand(k, p) {
  t.start(t.p.with(k, p));
  change({ running: false, trail: [], byHand: s.asked ? t.loss : null });
}

// -- Data points that can be dragged --------------------------------------------------------------

function put(i, px, py) {
  const [x, y] = s.box.back(px, py), row = t.rows[i];
  row[0] = x;
  if (features === 2) row[1] = y;
  else if (data.column !== null) row[data.column] = y;
  t.look();
  change();
}

const grab = ({ target, pointerId }) => target.dataset.i && target.setPointerCapture(pointerId);
function drag({ target, currentTarget, pointerId, clientX, clientY }) {
  const { x, y } = currentTarget.getBoundingClientRect();
  if (target.hasPointerCapture(pointerId)) put(target.dataset.i, clientX - x, clientY - y);
}

function nudge(event) {
  const ways = { ArrowLeft: [-6, 0], ArrowRight: [6, 0], ArrowUp: [0, -6], ArrowDown: [0, 6] };
  const { target, key } = event, { left, top } = target.style, [right, down] = ways[key] ?? [];
  if (key === "n") (target.nextSibling ?? main.querySelector(".point")).focus();
  else if (ways[key]) put(target.dataset.i, parseFloat(left) + right, parseFloat(top) + down);
  else return;
  event.preventDefault();
}

follow(() => {
  shown.clear();
  s.moved = true;
  paint();
});
