// The page of training: one state, and one function that says what stands on the page.

const edit = data.edit ?? {}; // what a page with an editor adds
const neurons = drawn.flatMap(({ weights }, l) => weights.map((_, i) =>
  `neuron ${i + 1}${drawn.length > 1 ? ` of layer ${l + 1}` : ""}`));
const wired = !few && (features < 3 ? layers : drawn).length > 0; // the network is drawn

// -- What stands on the page

function heading() {
  const facts = `${data.parameters.length} parameters, ${t.rows.length} points, ${data.optimizer}`
    + (data.batch ? `, batches of ${data.batch}` : "");
  const wrong = red(data.measures && features === 1 ? "the red sticks" : "the loss");
  const samples = ["Each sample leans to ", classes ? "a corner" : "the diagonal", " as far as ",
    blue("the model"), classes ? " holds it for that class. " : " comes to the truth. ", facts];
  const stories = [ // the first that fits
    [t.diverged, "Too large a step", red(`Diverged at step ${t.steps}.`),
      " The loss has grown a thousandfold. Drag the rate to the left and start again."],
    [edit.heading, ...edit.heading?.() ?? []],
    [!few && features > 2 && targets, data.title, samples],
    [!few, data.title, "Your model: ", facts],
    [!s.asked, data.title, data.about || big(counted(t.rows.length, "point")), ", and ",
      blue(features === 1 ? "a curve" : "a model"), " to fit. Drag the ",
      counted(names.length, "slider"), ": how small can you make ", wrong, "?"],
    [!t.steps, "Which way should each go?", big(counted(names.length, "answer")),
      " from one walk backward: ",
      orange("arrows as long as the derivatives"), ", pointing to a smaller loss."],
    [true, "The arrows move the sliders", "Each step moves every slider, guided by ",
      orange("its derivative"), `. How far, the optimiser decides: here ${data.optimizer}.`],
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
  s.narrow && edit.choices ? null : rate(), few ? null : lossNow());
const rate = () => h("label.rate", "learning rate", logSlider("learning rate", data.rate / 100,
  data.rate * 300, s.rate, (rate) => change({ rate })), h("output", amount(s.rate, 2)));

const told = () => (t.diverged ? `diverged at step ${t.steps}` : `step ${tick(t.steps)}`);
const lossNow = () => h("div.total", "loss", h("b", amount(t.loss)),
  classes && !few && [h("b.hits.value", s.right), h("span.ink", `of ${t.rows.length} right`)],
  h(t.diverged ? "span.step.error" : "span.step", few && !t.steps ? "" : told()));
const curve = (width, height) => lossCurve(width, height, t);

const plot = () => h("div.view",
  few ? null : h("div.caption", edit.gone?.() || h("span", s.pulls ? whoPulls() : s.focus !== null
    ? `what ${neurons[s.focus]} makes of the ${features > 1 ? "plane" : "input"}`
    : chance ? "the chance of a 1, says the model" : "what the model says"), edit.kinds?.()),
  h(s.pulls ? "div.plane.pulled" : "div.plane", { style: `width: ${s.plotWidth}px`, role: "group",
    ariaLabel: `the data: arrows move a point, N goes to the next${
      data.edit ? ", Enter opens its graph, Delete erases it" : ""}`,
    onpointerdown: grab, onpointermove: drag, onkeydown: nudge, ...edit.hands },
  features === 1 ? curvePicture() : mapPicture(), targets && t.rows.map(point)));

function network() {
  let k = 0;
  const around = (l, i) => ({ style: standing(placeOf(l, i)) });
  const inputs = ramps.map((ramp, i) => h("div.neuron", around(0, i), small(ramp),
    h("span.axis", nameIn(bare(data.axes[i]) || (features > 1 ? `x${i + 1}` : "x")))));
  const names = ["input", ...drawn.map(({ name }) => name)]; // a deep net has room for few
  const caption = (name, l) => h("span.caption", { style: `left: ${placeOf(l, 0)[0]}px` },
    drawn.length > 5 && (!l || name === names[l - 1]) ? "" : name);
  const style = `--size: ${s.size}px; height: ${s.netHeight}px`;
  return [edit.layers?.((l) => placeOf(l, 0)[0]), h("div.net", { style },
    h("svg", { width: "100%", height: "100%", ...wireChosen() }, layers.map(wires), layers.map(dots)),
    edit.layers ? null : names.map(caption), inputs,
    drawn.map(({ weights }, l) => weights.map((_, i) =>
      neuron(k, around(l + 1, i), small(s.scaled[k++])))),
    end && h("span.output", around(columns.length, 0)))];
}

function neuron(k, place, inside) {
  const health = s.health[k] ?? "", show = () => look(k), hide = () => look(null);
  return h("button", { class: `neuron ${health}`, ariaLabel: `${neurons[k]} ${health}`, ...place,
    onpointerenter: show, onpointerleave: hide, onfocus: show, onblur: hide,
    onclick: (event) => (edit.neuron ?? show)(event, k) },
  inside, s.size > 40 && h("span.health", health));
}

function key() {
  const sick = { dead: "0 for every point, no derivative passes",
    stuck: "flat for every point, no derivative passes",
    saturated: "flat for nearly every point, hardly any derivative passes" };
  const some = (way) => wired && [...called.keys()].some((k) => way * t.p[k] > 0);
  const signs = [ // where the last is true
    ["value", "━━ ", "positive weight; the larger, the thicker", some(1)],
    ["sand", "– – ", "negative weight", some(-1)],
    ["value", "● ", data.classes[1], features === 2 && classes],
    ["sand", "◆ ", data.classes[0], features === 2 && classes],
    ...(data.classes ?? []).slice(2).map((name, k) => ["ink", `${k + 2} `, name, features === 2]),
    ["ink", "○ ", "held back: no step sees it", features < 3 && data.held.length],
    ["ink", matchMedia("(pointer: coarse)").matches ? "tap " : "click ",
      "adds a point; drag it out, and it is gone", data.edit],
    ["error", "◎ ", features === 2 ? "wrong side" : "wrong: held for another class",
      classes && s.right < t.rows.length],
    ...Object.entries(sick).map(([kind, words]) => {
      const n = s.health.filter((x) => x.startsWith(kind)).length;
      return ["error", `${n} ${kind}: `, words, n];
    }),
  ];
  return h("div.key", signs.filter((sign) => sign[3]).map(([kind, sign, words]) =>
    h("span", h("b", { class: kind }, sign), words)));
}

function frame() {
  const large = features < 3 ? plot() : h("div.caption", "the loss of each step");
  const inside = wired ? network() : features < 3 || !targets ? h("div")
    : (classes ? samplesPicture : numbersPicture)(s.side - 40 * !s.phone,
      s.phone ? 0.84 * s.side : 470);
  const wide = few ? s.plotWidth : s.side;
  const sides = { style: s.phone ? null : `grid-template-columns: ${wide}px minmax(0, 1fr)` };
  const source = [
    `// the loss of a sample, and its derivatives\nconst sample = ${programs.sample};`,
    `// a step of the optimiser\nconst move = ${programs.move};`, trainer,
  ].join("\n\n");
  const said = h("p.said", { role: "status" },
    s.running ? "" : `${told()}, loss ${amount(t.loss)}`);
  if (s.low) { // a phone that lies: the picture stays, and all else scrolls beside it
    return h("main.page.low", h("div", { style: `width: ${s.side}px` }, heading(), controls(),
      inside[1], pulls(), inside[0], edit.choices(rate()), curve(s.side - 16, 112), key(), said),
    large);
  }
  return h("main", { class: `page ${few ? "few" : ""} ${s.phone ? "phone" : ""}` }, heading(),
    few ? h("div.columns", sides, features < 3 ? large : inside, panel())
      : [controls(), !s.narrow && edit.choices?.(),
        h("div.columns", sides,
        wired ? h("div.left", inside, !s.phone && curve(s.side - 40, 112)) : inside,
        h("div.right", large, wired ? pulls() : curve(s.plotWidth, features < 3 ? 112 : 220),
          features > 2 && classes && confusion())), s.narrow && edit.choices?.(rate()),
        wired && s.phone && curve(s.width, 112), key()],
    program(source), said);
}

function measure() {
  [s.narrow, s.width] = sizes();
  const { clientHeight: tall } = root;
  s.low = Boolean(data.edit) && tall < 440 && s.width > 500;
  s.narrow ||= s.low || (s.width < 990 && Boolean(data.edit));
  s.phone = s.narrow && !s.low && (s.width < 560 || few || features > 2); // all in one column
  const most = s.phone ? s.width : Math.floor(s.width * (few || s.narrow ? 0.57 : 0.5));
  const plane = few ? 570 : !data.edit ? 440 : s.low ? tall - 54
    : Math.max(240, tall - (s.phone ? 332 : s.narrow ? 345 : 412));
  s.plotWidth = Math.min(most, features === 2 ? plane : 640);
  s.plotHeight = features === 2 ? s.plotWidth : s.phone ? 250 : few ? 570 : 440;
  s.side = s.phone ? s.width : s.width - Math.max(240, s.plotWidth) - (few ? 40 : 0); // beside it
  s.size = Math.min(s.phone ? 34 : data.edit ? 150 : 52, 0.5 * s.side / columns.length,
    Math.max(22, (plane - (s.low ? 172 : 20)) / tallest / 1.29));
  s.netHeight = (s.phone || s.low ? 16 : 52) + (1.29 * tallest - 0.29) * s.size;
}

function paint() {
  measure();
  examined();
  if (features < 3) {
    s.grid = evaluated();
    s.says = s.grid.slice(hidden.length);
    s.scaled = scaled();
    s.box = framed();
  }
  pulled();
  show(frame());
  if (main.querySelector(".slide")) aim();
  edit.painted?.();
}

// -- Events

let waiting = 0;
const wake = () => { waiting ||= requestAnimationFrame(next); };
function change(changes) {
  Object.assign(s, changes);
  wake();
}
const look = (focus) => change({ focus });

function next() {
  waiting = 0;
  if (edit.away?.(s)) return;
  s.turn += 1;
  const slow = t.steps < 12 && s.turn % 8;
  if (s.running && !slow) advance(1 + Math.min(8, Math.floor(t.steps / 60)));
  paint();
  if (s.running && calm.matches) setTimeout(() => { s.running && advance(10); wake(); }, 400);
  else if (s.running) wake();
}

// Some steps, as far as they fit into a frame.
function advance(n) {
  const until = performance.now() + 6;
  while (n-- > 0 && !t.diverged && performance.now() < until) t.step(s.rate);
  if (t.diverged) s.running = false;
  if (!s.running) change();
}

function again() {
  edit.keep?.();
  t.start();
  change({ running: false, pulls: null });
}

function byHand(k, p) {
  t.start(t.p.with(k, p));
  change({ running: false });
}

// -- Data points that can be dragged

function movePoint(i, px, py) {
  const [x, y] = s.box.back(px, py), row = t.rows[i];
  row[0] = x;
  if (features === 2) row[1] = y;
  else if (data.column !== null) row[data.column] = y;
  t.look();
  change();
}

// The nearest point: what one can touch of each is larger than the point.
function grab({ clientX, clientY, pointerId }) {
  const far = (e) => {
    const { x, y, width } = e.getBoundingClientRect();
    return Math.hypot(x + width / 2 - clientX, y + width / 2 - clientY);
  };
  const under = document.elementsFromPoint(clientX, clientY).filter((e) => e.dataset.i);
  under.sort((a, b) => far(a) - far(b))[0]?.setPointerCapture(pointerId);
}
function drag(event) {
  const { target, pointerId } = event;
  if (target.hasPointerCapture(pointerId)) movePoint(target.dataset.i, ...placeIn(event));
}

function nudge(event) {
  const { target, key } = event, { left, top } = target.style, way = ARROWS[key];
  if (key === "n") (target.nextSibling ?? main.querySelector(".point")).focus();
  else if (way) {
    movePoint(target.dataset.i, parseFloat(left) + 6 * way[0], parseFloat(top) + 6 * way[1]);
  } else return;
  event.preventDefault();
}

const repaint = () => {
  table = null;
  paint();
};
