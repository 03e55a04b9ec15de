// The pass over a graph, forward and backward, with numbers that follow the sliders.
//
// Python wrote two things before this line: `score`, which says what to show and when (see
// score.py); and `program`, the function that computes the graph and its derivatives, or null.

const get = (id) => document.getElementById(id);
const all = (selector) => [...document.querySelectorAll(selector)];
const { nodes, messages, last } = score;
const half = (last - 1) / 2; // the last step of the forward half
const inputs = [...score.inputs]; // of the program; the first of them have sliders
let numbers = score.numbers;
let step = last;
let arrived = last; // the step before, while numbers are moving

// -- Numbers --------------------------------------------------------------------------------------

// All numbers, in the order of score.py. A message is the adjoint times the local derivative; the
// sum of the messages is the next adjoint. Where Python raises an error, nan is passed on.
function computed() {
  const [, , values, adjoints, locals] = program(inputs);
  const found = [...values, ...adjoints];
  for (const { sender, argument, receiver, before, silent } of messages) {
    const local = isOutside(sender, found) ? NaN : locals[sender][argument];
    const sent = silent ? 0 : found[nodes.length + sender] * local;
    const sum = before === null ? sent : found[before] + sent;
    found.push(local, sent, sum);
    found[nodes.length + receiver] = sum;
  }
  return found;
}

const isWrong = (place, found = numbers) => !Number.isFinite(found[place]);

// Whether a node is where things go wrong: it is not finite, though its parents are.
const isOrigin = (i, found) => isWrong(i, found) && !nodes[i].parents.some((p) => isWrong(p, found));

// Whether a node is outside its domain: nan, or infinite because of a 0. Else it is too large.
const isOutside = (i, found = numbers) => isOrigin(i, found) && nodes[i].domain
  && (Number.isNaN(found[i]) || nodes[i].parents.some((p) => found[p] === 0));

// x to some digits, as "1.5e+0". Of two that are equally near, it is the even one, as in Python.
function rounded(x, digits) {
  const text = x.toExponential(digits - 1);
  const halfway = new RegExp(`^-?\\d\\.?\\d{${digits - 1}}50*e`).test(x.toExponential(60));
  return halfway && /[13579]e/.test(text) ? (x * (1 - 2 ** -50)).toExponential(digits - 1) : text;
}

// x to some digits, as Python writes it.
function number(x, digits = 6) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "−inf";
  const text = rounded(x, digits);
  const [mantissa, exponent] = text.split("e").map(Number);
  const scientific = exponent < -4 || exponent >= digits;
  return (scientific ? `${mantissa}e${exponent}` : String(Number(text))).replaceAll("-", "−");
}

// x to four digits, or to fewer if that is too long.
function snug(x) {
  for (const digits of [4, 3, 2]) {
    const text = number(x, digits);
    if (text.length <= score.room) return text;
  }
  return number(x, 1);
}

// A text with the numbers in its holes; negative factors are in brackets.
function filled(text) {
  return text.map((part) => {
    if (typeof part === "string") return part;
    const isFactor = Array.isArray(part), said = number(numbers[isFactor ? part[0] : part]);
    return isFactor && said.startsWith("−") ? `(${said})` : said;
  }).join("");
}

// -- Texts and lights -----------------------------------------------------------------------------

function sum(terms) {
  const more = terms.length > score.terms ? " + …" : "";
  const said = terms.slice(0, score.terms).map((place) => snug(numbers[place])).join(" + ");
  return said && `= ${said.replaceAll("+ −", "− ")}${more}`;
}

// What each kind of text says, and whether it is wrong.
const says = {
  data: (i) => [isOutside(i) ? "outside domain" : `data ${snug(numbers[i])}`, isWrong(i)],
  value: (i) => [number(numbers[i]), isWrong(i)],
  grad: (i, { place }) => [`grad ${snug(numbers[place])}`, isWrong(place)],
  sum: (i, { terms }) => [sum(terms), terms.some((place) => isWrong(place))],
  gradient: (i, { place }) => [number(numbers[place]), isWrong(place)],
  message: (m) => [snug(numbers[messages[m].place + 1]), isWrong(messages[m].place + 1)],
};
const unknown = { data: "data", grad: "grad" }; // before it is computed

const texts = all("[data-node], [data-message]").map((element) => {
  const kind = element.classList[0];
  return { element, kind, i: Number(element.dataset.node ?? element.dataset.message) };
});
const lights = all("[data-lit]").map((element) => {
  return { element, steps: element.dataset.lit.split(" ").map(Number) };
});

// What a text says at the step that has arrived, and whether it is wrong.
function said(kind, i) {
  if (kind === "message") return nodes[messages[i].sender].backward <= arrived ? says[kind](i) : [""];
  if (kind === "data" || kind === "value") {
    return nodes[i].forward <= arrived ? says[kind](i) : [unknown[kind] ?? ""];
  }
  const stage = nodes[i].stages.findLast(({ step }) => step <= arrived);
  return stage ? says[kind](i, stage) : [unknown[kind] ?? ""];
}

// The first number that is not finite, in words.
function trouble() {
  const node = nodes.findIndex((each, i) => each.trouble && each.forward <= arrived && isOrigin(i));
  if (node >= 0) {
    const limits = isOutside(node) ? `: the domain is ${nodes[node].domain}` : "";
    return filled(nodes[node].trouble) + limits;
  }
  const sent = messages.find(({ sender, place }) =>
    nodes[sender].backward <= arrived && isWrong(place) && !isWrong(sender));
  return sent ? filled(sent.trouble) : "";
}

// Only what has changed is written: a page of sixty nodes has some three hundred texts.
function show() {
  for (const each of texts) {
    const [text, red = false] = said(each.kind, each.i);
    if (text !== each.text) each.element.textContent = each.text = text;
    if (red !== each.red) {
      each.red = red;
      each.element.classList.toggle("wrong", red);
      if (each.kind === "data") each.element.parentNode.classList.toggle("wrong", red);
    }
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
  get("hint").hidden = get("trouble").textContent !== "";
}

// Scroll a pane until a box is in sight; both are in coordinates of the window.
function scroll(pane, box) {
  const frame = pane.getBoundingClientRect();
  if (box.left < frame.left || box.right > frame.right) {
    pane.scrollLeft += (box.left + box.right - frame.left - frame.right) / 2;
  }
  if (box.top < frame.top || box.bottom > frame.bottom) {
    pane.scrollTop += (box.top + box.bottom - frame.top - frame.bottom) / 2;
  }
}

// The box around some elements.
function around(elements) {
  const boxes = elements.map((element) => element.getBoundingClientRect());
  const [left, top] = ["left", "top"].map((side) => Math.min(...boxes.map((box) => box[side])));
  const [right, bottom] = ["right", "bottom"].map((side) => Math.max(...boxes.map((box) => box[side])));
  return { left, top, right, bottom };
}

// Bring what is lit into sight: with its edges if there is room for them, else the node itself.
function follow() {
  const picture = get("picture"), row = document.querySelector("tr.lit");
  const whole = around(all("#picture .lit"));
  const fits = whole.right - whole.left <= picture.clientWidth
    && whole.bottom - whole.top <= picture.clientHeight;
  const node = all("#picture .node.lit").at(-1) ?? document.querySelector("#picture .node");
  scroll(picture, fits && whole.right > whole.left ? whole : around([node]));
  if (row) scroll(get("table"), around([row.cells[0]]));
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
    const halves = [1, 2].map((i) => document.querySelector(`[data-half="${m} ${i}"] path`));
    return [parcel(snug(numbers[forward ? receiver : place + 1]), halves)];
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

// A number that moves along the two halves of an edge: place(0) is at its tail, place(1) at its head.
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
  go(step + 1, true);
  if (step === last) stop();
  else timer = setTimeout(tick, pause());
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

// A slider with a number field beside it; returns the function that sets both.
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
      if (from.value === "") return; // a number is being typed
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
all(".live").forEach((element) => { element.hidden = false; });
get("still").hidden = true;
show();
new ResizeObserver(follow).observe(get("picture")); // it may have no width yet
