// The pass over a graph, forward and backward, at numbers that follow the sliders.
//
// Python wrote two things before this line: `score`, what is shown and when, as score.py describes
// it; and `program`, the function that computes the graph and its derivatives, or null.

const get = (id) => document.getElementById(id);
const all = (selector) => [...document.querySelectorAll(selector)];
const { nodes, messages, last } = score;
const half = (last - 1) / 2; // the last step of the forward half
const inputs = [...score.inputs]; // of the program; the first of them have sliders
let numbers = score.numbers;
let step = last;
let arrived = last; // the step before, while what is sent is on its way

// -- Numbers --------------------------------------------------------------------------------------

// All numbers, in the order of score.py. What is sent is the adjoint times the local derivative.
function computed() {
  const [, , values, adjoints, locals] = program(inputs);
  const found = [...values, ...adjoints];
  for (const { sender, argument, before } of messages) {
    const local = locals[sender][argument];
    const sent = adjoints[sender] * local;
    found.push(local, sent, before === null ? sent : found[before] + sent);
  }
  return found;
}

// x to some digits, as Python writes it.
function number(x, digits = 6) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "−inf";
  const [mantissa, exponent] = x.toExponential(digits - 1).split("e").map(Number);
  const scientific = exponent < -4 || exponent >= digits;
  const text = scientific ? `${mantissa}e${exponent}` : String(Number(x.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

// x to four digits, or fewer if that would need more room than there is.
function snug(x) {
  const texts = [4, 3, 2, 1].map((digits) => number(x, digits));
  return texts.find((text) => text.length <= score.room) ?? texts[3];
}

// A text with the numbers in its holes; those that are factors in brackets if they are negative.
function filled(text) {
  return text.map((part) => {
    if (typeof part === "string") return part;
    const said = number(numbers[part]);
    return Array.isArray(part) && said.startsWith("−") ? `(${said})` : said;
  }).join("");
}

// -- What is seen ---------------------------------------------------------------------------------

const wrong = (place) => !Number.isFinite(numbers[place]);

// Whether a node is where things go wrong: it is no number, though its parents are.
const isOrigin = (i) => wrong(i) && !nodes[i].parents.some(wrong);

function sum(terms) {
  const more = terms.length > score.terms ? " + …" : "";
  const said = terms.slice(0, score.terms).map((place) => snug(numbers[place])).join(" + ");
  return said && `= ${said.replaceAll("+ −", "− ")}${more}`;
}

// What each kind of text says, and whether that is wrong.
const says = {
  data: (i) => [isOrigin(i) && nodes[i].limited ? "outside domain" : `data ${snug(numbers[i])}`, wrong(i)],
  value: (i) => [number(numbers[i]), wrong(i)],
  grad: (i, { place }) => [`grad ${snug(numbers[place])}`, wrong(place)],
  sum: (i, { terms }) => [sum(terms), terms.some(wrong)],
  gradient: (i, { place }) => [number(numbers[place]), wrong(place)],
  message: (m) => [snug(numbers[messages[m].place + 1]), wrong(messages[m].place + 1)],
};
const unknown = { data: "data", grad: "grad" }; // before it is computed

const texts = all("[data-node], [data-message]").map((element) => {
  const kind = element.classList[0];
  return { element, kind, i: Number(element.dataset.node ?? element.dataset.message) };
});
const lights = all("[data-lit]").map((element) => {
  return { element, steps: element.dataset.lit.split(" ").map(Number) };
});

// What a text says at the step that has arrived, and whether that is wrong.
function said(kind, i) {
  if (kind === "message") return nodes[messages[i].sender].backward <= arrived ? says[kind](i) : [""];
  if (kind === "data" || kind === "value") {
    return nodes[i].forward <= arrived ? says[kind](i) : [unknown[kind] ?? ""];
  }
  const stage = nodes[i].stages.findLast(({ step }) => step <= arrived);
  return stage ? says[kind](i, stage) : [unknown[kind] ?? ""];
}

// The first thing that is no finite number, in words.
function trouble() {
  const node = nodes.findIndex((each, i) => each.trouble && each.forward <= arrived && isOrigin(i));
  if (node >= 0) return filled(nodes[node].trouble);
  const sent = messages.find(({ sender, place }) =>
    nodes[sender].backward <= arrived && wrong(place) && !wrong(sender));
  return sent ? filled(sent.trouble) : "";
}

function show() {
  for (const { element, kind, i } of texts) {
    const [text, isWrong = false] = said(kind, i);
    if (element.textContent !== text) element.textContent = text;
    element.classList.toggle("wrong", isWrong);
    if (kind === "data") element.parentNode.classList.toggle("wrong", isWrong);
  }
  for (const { element, steps } of lights) element.classList.toggle("lit", steps.includes(step));
  const [name, i] = step <= half ? ["forward", step] : ["backward", step - half - 1];
  get("step").textContent = `${name} ${i} of ${half}`;
  get("slider").value = step;
  get("lines").replaceChildren(...score.lines[step].map((line) => {
    const element = document.createElement("div");
    element.textContent = filled(line);
    return element;
  }));
  get("trouble").textContent = trouble();
}

// Scroll a pane so far that a part of it is in sight.
function bring(pane, parts) {
  const frame = pane.getBoundingClientRect();
  const boxes = parts.map((element) => element.getBoundingClientRect());
  for (const [start, end, scroll] of [["left", "right", "scrollLeft"], ["top", "bottom", "scrollTop"]]) {
    let first = Math.min(...boxes.map((box) => box[start]));
    let after = Math.max(...boxes.map((box) => box[end]));
    const room = frame[end] - frame[start];
    if (after - first > room) [first, after] = [boxes[0][start], boxes[0][end]];
    if (after - first > room) pane[scroll] += first - frame[start];
    else if (first < frame[start] || after > frame[end]) {
      pane[scroll] += (first + after - frame[start] - frame[end]) / 2;
    }
  }
}

function follow() {
  for (const pane of [get("picture"), get("table")]) {
    const lit = [...pane.querySelectorAll(".lit")];
    if (lit.length) bring(pane, lit);
  }
}

// -- Motion ---------------------------------------------------------------------------------------

const reduced = matchMedia("(prefers-reduced-motion: reduce)");
const DURATION = 900; // milliseconds
let frame = 0;

// Values move along the arrows to the operation; messages move from it against the arrows.
function move() {
  const forward = step <= half;
  const parcels = messages.flatMap(({ sender, receiver, place }, m) => {
    if (nodes[sender][forward ? "forward" : "backward"] !== step) return [];
    return [parcel(snug(numbers[forward ? receiver : place + 1]), all(`[data-path="${m}"] path`))];
  });
  const start = performance.now();
  const draw = (now) => {
    const t = Math.max(0, Math.min(1, (now - start) / DURATION));
    parcels.forEach((each) => each.place(forward ? t : 1 - t));
    if (t < 1) frame = requestAnimationFrame(draw);
    else land();
  };
  if (parcels.length) draw(start);
  else land();
}

// A number on its way along the two halves of an edge: place(0) is at its tail, place(1) at its head.
function parcel(said, halves) {
  const group = get("parcel").content.querySelector("g").cloneNode(true);
  const width = 6 * said.length + 8;
  group.querySelector("text").textContent = said;
  group.querySelector("rect").setAttribute("width", width);
  group.querySelector("rect").setAttribute("x", -width / 2);
  halves[0].closest("svg > g").append(group);
  const [one, other] = halves.map((path) => path.getTotalLength());
  const place = (t) => {
    const way = t * (one + other);
    const { x, y } = way < one ? halves[0].getPointAtLength(way) : halves[1].getPointAtLength(way - one);
    group.setAttribute("transform", `translate(${x} ${y})`);
  };
  return { place };
}

function land() {
  cancelAnimationFrame(frame);
  all(".parcel").forEach((element) => element.remove());
  arrived = step;
  show();
}

function go(to, moving = false) {
  land();
  step = Math.max(0, Math.min(last, to));
  if (moving && step === arrived + 1 && !reduced.matches) {
    show();
    follow();
    move();
  } else {
    land();
    follow();
  }
}

// -- Controls -------------------------------------------------------------------------------------

let timer = null;

// Long enough to read what a step computes.
const pause = () => 1800 + Math.min(6000, 35 * get("lines").textContent.length);

function tick() {
  if (step === last) return stop();
  go(step + 1, true);
  timer = setTimeout(tick, pause());
}

function stop() {
  clearTimeout(timer);
  timer = null;
  get("play").textContent = "Play";
}

get("play").addEventListener("click", () => {
  if (timer !== null) return stop();
  if (step === last) go(0);
  get("play").textContent = "Pause";
  timer = setTimeout(tick, 600);
});

function take(to, moving) {
  stop();
  go(to, moving);
}

get("back").addEventListener("click", () => take(step - 1));
get("on").addEventListener("click", () => take(step + 1, true));
get("slider").addEventListener("input", (event) => take(Number(event.target.value)));
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("#inputs input")) return;
  const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: last }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  take(to, true);
});

function recompute() {
  numbers = computed();
  show();
}

// A slider, a number field beside it, and what sets both to a number.
function control({ name, bound }, i) {
  const label = document.createElement("label"), said = document.createElement("span");
  const slider = document.createElement("input"), field = document.createElement("input");
  said.textContent = name;
  slider.setAttribute("aria-label", name);
  field.setAttribute("aria-label", `${name}, as a number`);
  Object.assign(slider, { type: "range", min: -bound, max: bound, step: bound / 100 });
  Object.assign(field, { type: "number", step: "any" });
  const set = (x, from) => {
    inputs[i] = x;
    if (from !== slider) slider.value = x;
    if (from !== field) field.value = Number(x.toPrecision(6));
  };
  for (const from of [slider, field]) {
    from.addEventListener("input", () => {
      if (from.value === "") return; // a number that is being typed
      set(Number(from.value), from);
      recompute();
    });
  }
  set(inputs[i]);
  label.append(said, slider, field);
  get("inputs").append(label);
  return set;
}

const setters = score.sliders.map(control);
get("reset").hidden = setters.length === 0;
get("reset").addEventListener("click", () => {
  setters.forEach((set, i) => set(score.inputs[i]));
  recompute();
});
document.body.classList.add("scripts");
show();
new ResizeObserver(follow).observe(get("picture")); // it may get its width only later
