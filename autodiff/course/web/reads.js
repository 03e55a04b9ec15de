// The page that reads digits. `program`, which the reader's engine has written, gives the scores,
// and the derivatives of any sum of them by the pixels and by the network's numbers. The canvas,
// the counting of ink, softmax and Adam are written by hand, here.

const $ = (id) => document.getElementById(id);
const TEN = [...Array(10).keys()], NONE = TEN.map(() => 0);
const s = { strokes: [], example: true, why: 0, rival: null, hand: [], busy: false, told: null,
  teaching: false, cleared: null, taps: [] };
const learnt = data.hundredths.match(/-?\w+/g).map((x) => parseInt(x, 36) / 100);
let w = learnt, pixels = null, frame = null;
const strangers = data.strangers.match(/.{33}/g)
  .map(([digit, ...signs]) => [unpacked(signs), +digit]);

// Two pixels in a sign, in eighths.
function unpacked(signs) {
  const codes = signs.map((sign) => sign.charCodeAt(0) - 35);
  return codes.flatMap((code) => [Math.floor(code / 9) / 8, (code % 9) / 8]);
}

// Strokes as 64 numbers: drawn on 32 by 32 dots, the ink counted in blocks, as the images were
// made from which it learnt. frame: the square of the pad that these dots cover.
function seenAs(strokes) {
  const radius = 2.75, xs = strokes.flat().map(([x]) => x), ys = strokes.flat().map(([, y]) => y);
  const [left, right, top, bottom] = [xs, ys].flatMap((x) => [Math.min(...x), Math.max(...x)]);
  const scale = (31 - 2 * radius) / Math.max(right - left, bottom - top, 3.4);
  const x0 = 15.5 - ((left + right) / 2) * scale, y0 = 15.5 - ((top + bottom) / 2) * scale;
  frame = [(-0.5 - x0) / scale, (-0.5 - y0) / scale, 4 / scale];
  const lines = strokes.flatMap((stroke) => {
    const points = stroke.map(([x, y]) => [x * scale + x0, y * scale + y0]);
    return points.map((point, i) => [points[i - 1] ?? point, point]);
  });
  const ink = Array(64).fill(0);
  for (let k = 0; k < 1024; k++) {
    const black = lines.some((line) => distance(k % 32, k >> 5, ...line) <= radius);
    ink[(k >> 7) * 8 + ((k % 32) >> 2)] += black / 16;
  }
  return ink;
}

// From a point to a line between two points.
function distance(x, y, [a, b], [to, under]) {
  const c = to - a, d = under - b, along = ((x - a) * c + (y - b) * d) / (c * c + d * d || 1);
  const t = Math.min(1, Math.max(0, along));
  return Math.hypot(x - a - t * c, y - b - t * d);
}

function softmax(scores) {
  const most = Math.max(...scores), powers = scores.map((z) => Math.exp(z - most));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}
const largest = (numbers) => numbers.indexOf(Math.max(...numbers));
const scoresOf = (x, by = w) => program(x, by, NONE)[0];
const reading = (x, by) => largest(scoresOf(x, by));

// -- What is painted

// As the style sheet has it, in the light or the dark.
function colour(name) {
  $("probe").style.color = `var(${name})`;
  return getComputedStyle($("probe")).color;
}

function tiles(canvas, x) {
  const { width } = canvas, side = width / 8, pen = canvas.getContext("2d");
  pen.clearRect(0, 0, width, width);
  pen.fillStyle = colour("--blue");
  x.forEach((ink, i) => {
    pen.globalAlpha = ink;
    pen.fillRect((i % 8) * side, (i >> 3) * side, side - 1, side - 1);
  });
}

// Under the drawing: where a little more ink would count.
function paintSlopes(pen, slopes) {
  const most = Math.max(...slopes.map(Math.abs)), [left, top, side] = frame;
  const [more, less, ink, value] = ["--more", "--less", "--ink", "--blue"].map(colour);
  // large enough for a number, or for a sign
  const size = side * pad.clientWidth, number = size > 3100;
  pen.textAlign = "center";
  pen.font = `600 ${side * (number ? 0.36 : 0.5)}px sans-serif`;
  slopes.forEach((slope, i) => {
    const strength = Math.abs(slope) / most, x = left + (i % 8) * side, y = top + (i >> 3) * side;
    pen.globalAlpha = strength;
    pen.fillStyle = slope > 0 ? more : less;
    pen.fillRect(x, y, side * 0.97, side * 0.97);
    pen.globalAlpha = 0.8;
    pen.fillStyle = ink;
    const sign = (slope > 0 ? "+" : "−") + (number ? Math.abs(slope).toFixed(1) : "");
    if (strength > 0.35 && size > 2200) pen.fillText(sign, x + side / 2, y + side * 0.65);
    // an eighth of the cell for each tap
    pen.fillStyle = value;
    const taps = s.taps.filter((k) => k === i).length;
    pen.fillRect(x, y + side * 0.8, (side * taps) / 8, side * 0.17);
  });
}

function paintDrawing(slopes) {
  const pen = $("pad").getContext("2d");
  // the pad is 100 wide
  pen.setTransform(8.8, 0, 0, 8.8, 0, 0);
  pen.clearRect(0, 0, 100, 100);
  if (slopes) paintSlopes(pen, slopes);
  pen.strokeStyle = colour("--ink");
  pen.lineCap = pen.lineJoin = "round";
  pen.globalAlpha = slopes ? 0.45 : 1;
  pen.lineWidth = slopes ? 1.8 : 5;
  for (const stroke of s.strokes) {
    pen.beginPath();
    // a dot is a line too
    pen.moveTo(stroke[0][0], stroke[0][1] + 0.01);
    for (const point of stroke) pen.lineTo(...point);
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

// with a tenth where it counts: 0.4, 99.6
const percent = (share) => +(100 * share).toFixed(Math.min(share, 1 - share) < 0.0995 ? 1 : 0);
const percentage = (share) => `${percent(share)}\xa0%`;

function paintBars(shares, first, rival) {
  [...$("bars").children].forEach((row, k) => {
    row.className = `row ${k === first ? "win" : s.why === 2 && k === rival ? "rival" : ""}`;
    row.disabled = !pixels;
    row.querySelector(".track span").style.transform = `scaleY(${shares[k]})`;
    row.firstChild.dataset.share = pixels ? percent(shares[k]) : "";
    row.ariaLabel = `${k}: ${percentage(shares[k])}. Why${k === first ? "" : " not"}?`;
  });
}

function paintQuestions(first, rival, slopes, weights) {
  [...$("ask").children].forEach((button, i) => {
    const question = [`Why ${first}?`, `Why not ${rival}?`, s.told ? "Teach again" : "Teach it"][i];
    button.textContent = pixels ? question : question.replace(/ ?-?\d/, "");
    button.disabled = !pixels || s.busy;
    button.ariaPressed = i === 2 ? s.teaching : s.why === i + 1;
  });
  const minus = s.why === 2 ? ` minus ${rival}'s` : "";
  const right = (of) => s.hand.filter((x) => of(x) === x.digit).length;
  const most = (sign) => Math.max(...slopes.map((slope) => sign * slope)).toFixed(1);
  $("key").innerHTML = slopes ? `Derivatives: ink raises ${first}'s score${minus} at
    <b>orange</b> (to +${most(1)}), lowers it at <b>sand</b> (to −${most(-1)}).
    ${s.taps.length ? foretold(weights) : "Tap a cell to add an eighth."}`
    : s.teaching ? `Say what it is: ${w.length} numbers move until it leads. Each digit
    once helps most.`
    : s.hand.length ? `Untaught, it reads ${right((x) => x.took)} of your ${s.hand.length}; now: ${
      right(({ x }) => reading(x))}. A lesson may cost other digits; Undo takes it back.`
    : "It knows ten digits and nothing else: it names a scribble, too.";
}

// The drawing as it is seen, with a little more ink in the cells that were tapped.
function inked(taps) {
  const x = seenAs(s.strokes);
  for (const k of taps) x[k] = Math.min(1, x[k] + 1 / 8);
  return x;
}

// What the last tap was to do to a sum of scores, by its derivative, and what it did.
function foretold(weights) {
  const k = s.taps.at(-1), before = inked(s.taps.slice(0, -1)), more = pixels[k] - before[k];
  const score = (x) => scoresOf(x).reduce((sum, z, i) => sum + weights[i] * z, 0);
  const [told, found] = [program(before, w, weights)[1][k] * more, score(pixels) - score(before)]
    .map((x) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(2));
  return `Foretold ${told}, came ${found}.`;
}

function paint() {
  pixels = s.strokes.length ? inked(s.taps) : null;
  // a drawing of less than a tenth of the pad
  if (frame?.[2] < 1.6) pixels = null;
  s.teaching &&= pixels !== null;
  const shares = pixels ? softmax(scoresOf(pixels)) : NONE, first = pixels ? largest(shares) : -1;
  const second = largest(shares.map((share, k) => (k === first ? -1 : share)));
  const rival = s.rival === null || s.rival === first ? second : s.rival;
  const weights = TEN.map((k) => (k === first) - (s.why === 2 && k === rival));
  const slopes = pixels && s.why && program(pixels, w, weights)[1];
  paintDrawing(slopes);
  tiles($("grid"), pixels ?? []);
  paintBars(shares, first, rival);
  paintQuestions(first, rival, slopes, weights);
  pad.style.opacity = s.busy ? 0.4 : 1;
  $("big").textContent = pixels ? first : "?";
  const sure = shares[first] > 0.95 ? "It is sure." : `Or is it ${second}?`;
  $("sure").textContent = s.busy ? "It is learning." : s.teaching ? "Which digit is it?"
    : s.told ?? (pixels ? `${percentage(shares[first])}. ${sure}`
      : s.strokes.length ? "Too little ink yet." : "Draw one of your own.");
  // what it may be taught stands where the bars were
  $("labels").hidden = !s.teaching;
  $("bars").hidden = s.teaching;
  $("undo").disabled = s.busy || !(s.cleared || s.taps.length
    || (!s.example && (s.strokes.length || s.hand.length)));
  $("clear").disabled = $("forget").disabled = s.busy;
  $("teach").hidden = !s.hand.length;
  $("hand").replaceChildren(...s.hand.map(pictured));
}

// A small picture of a drawing that was taught: read as what without lessons, and now.
function pictured({ x, digit, took }) {
  const figure = document.createElement("figure"), canvas = document.createElement("canvas");
  const now = reading(x);
  canvas.width = canvas.height = 96;
  tiles(canvas, x);
  figure.className = now === digit ? "" : "wrong";
  figure.append(canvas, took === now ? now : `${took}→${now}`, now === digit ? " ✓" : "");
  return figure;
}

// -- Teaching

// Twelve steps of Adam, or up to sixty, until the last drawing leads clearly. In each, one drawing
// of every digit taught, and sixteen strangers: without them it would forget all others, and with
// all drawings a digit drawn often would pull.
function learn(last, digit, then) {
  const m = w.map(() => 0), v = [...m], pick = (x) => x[Math.floor(Math.random() * x.length)];
  const drawn = TEN.map((k) => s.hand.filter(({ digit }) => digit === k)).filter((x) => x.length);
  const step = (t) => {
    const batch = drawn.map(pick).map(({ x, digit }) => [x, digit]);
    for (let i = 0; i < 16; i++) batch.push(pick(strangers));
    const gradient = w.map(() => 0);
    for (const [x, digit] of batch) {
      const slopes = softmax(scoresOf(x)).map((q, k) => (q - (k === digit)) / batch.length);
      program(x, w, slopes)[2].forEach((slope, i) => { gradient[i] += slope; });
    }
    w = w.map((weight, i) => {
      m[i] = 0.9 * m[i] + 0.1 * gradient[i];
      v[i] = 0.999 * v[i] + 0.001 * gradient[i] ** 2;
      return weight - (0.003 * m[i]) / (1 - 0.9 ** t) / (Math.sqrt(v[i] / (1 - 0.999 ** t)) + 1e-8);
    });
    s.busy = t < 12 || (t < 60 && softmax(scoresOf(last))[digit] < 0.8);
    paint();
    if (s.busy) setTimeout(step, 30, t + 1); // slowly enough to be seen
    else then();
  };
  s.busy = true;
  step(1);
}

// Again: the lesson goes on; or, with another digit, the last was a slip.
function teach(digit) {
  const again = s.told && s.hand.at(-1).digit === digit;
  if (s.told && !again) undo();
  const x = pixels, took = reading(x, learnt), share = () => softmax(scoresOf(x))[digit];
  const before = percent(share());
  if (!again) s.hand.push({ x, digit, took, strokes: s.strokes, before: w });
  s.teaching = false;
  learn(x, digit, () => {
    s.told = `${before} → ${percentage(share())}. ${reading(x) === digit ? "Draw the next."
      : `Still read as ${reading(x)}.`}`;
    paint();
    $("undo").focus({ preventScroll: true });
  });
}

// What was cleared comes back; or a tap, the last lesson, whose drawing stands there again, or the
// last stroke is forgotten.
function undo() {
  if (s.cleared && !s.strokes.length) {
    w = s.cleared.w;
    Object.assign(s, s.cleared.state);
  } else if (s.taps.length) s.taps.pop();
  else if (s.told || !s.strokes.length) {
    const { strokes, before } = s.hand.pop();
    Object.assign(s, { strokes, told: null, teaching: true });
    w = before;
  } else s.strokes.pop();
  paint();
}

function forget() {
  clear();
  w = learnt;
  s.hand = [];
  paint();
  $("undo").focus();
}

async function copy() {
  const box = $("json");
  box.value = JSON.stringify(s.hand.map(({ x, digit }) => [x.map((ink) => 16 * ink), digit]));
  box.hidden = false;
  box.select();
  const done = await navigator.clipboard?.writeText(box.value).then(() => true, () => false);
  $("copy").textContent = done ? "Copied" : "Copy it below";
}

// -- Drawing

// For good where a new drawing begins; else Undo brings back what stood there.
function clear(forGood) {
  Object.assign(s, { strokes: [], example: false, told: null, why: 0, rival: null,
    teaching: false, taps: [], cleared: forGood ? null : { w, state: { ...s } } });
  $("json").hidden = true;
  $("copy").textContent = "Copy for the notebook";
  paint();
}
const wipe = () => s.strokes.length && clear();

const pad = $("pad");
function point({ clientX, clientY }) {
  const { left, top, width } = pad.getBoundingClientRect();
  return [clientX - left, clientY - top].map((x) => (x / width) * 100);
}
let stroke = null;
function begin() {
  if (s.example || s.told) clear(true);
  s.strokes.push(stroke);
}
pad.onpointerdown = (event) => {
  if (s.busy || !event.isPrimary) return;
  stroke = [point(event)];
  pad.setPointerCapture(event.pointerId);
  if (!s.why || !pixels) begin(); // else it may be a tap on a cell
  paint();
};
pad.onpointermove = (event) => {
  if (!stroke || !event.isPrimary) return;
  const here = point(event), last = stroke.at(-1);
  if (Math.hypot(here[0] - last[0], here[1] - last[1]) < 1) return;
  if (s.strokes.at(-1) !== stroke) begin();
  stroke.push(here);
  paint();
};
pad.onpointercancel = () => { stroke = null; };
pad.onpointerup = () => {
  if (stroke && s.strokes.at(-1) !== stroke) {
    const [x, y] = stroke[0].map((at, i) => Math.floor((at - frame[i]) / frame[2]));
    if ([x, y].every((at) => at >= 0 && at < 8) && pixels[8 * y + x] < 1) s.taps.push(8 * y + x);
    paint();
  }
  stroke = null;
};
// else a browser takes the tap after a fast stroke for the end of a scroll
pad.addEventListener("touchstart", (event) => event.preventDefault());

function button(parent, inside, act, label) {
  const made = document.createElement("button");
  made.innerHTML = inside;
  made.ariaLabel = label;
  made.onclick = act;
  $(parent).append(made);
}
const ask = (why, rival, teaching = false) => { Object.assign(s, { why, rival, teaching }); paint(); };
for (const k of [1, 2]) button("ask", "", () => ask(s.why === k ? 0 : k, null));
// the first 4 is nobody's hand
button("ask", "", () => (s.example ? wipe() : ask(0, null, !s.teaching)));
for (const k of TEN) {
  button("bars", `<span class="share"></span><span class="track"><span></span></span>
    <span class="name">${k}</span>`, () => ask(k === reading(pixels) ? 1 : 2, k));
  button("labels", k, () => teach(k), `It is ${k}`);
}
Object.entries({ clear: wipe, undo, forget, copy }).forEach(([id, act]) => { $(id).onclick = act; });
onkeydown = (event) => (event.ctrlKey || event.metaKey) && event.key === "z" && $("undo").click();
const by = document.createElement("i");
by.textContent = data.by;
$("lead").replaceChildren(`Trained in ${data.seconds} s by an engine that `, by,
  ` wrote in ${data.lines} lines, without a library.`);
$("code").textContent = String(program).split("\n")[0].replace("let", "\n$&")
  .replace(/,(v\d+=)/g, ",\n$1");
follow(paint);
paint();

// A digit draws itself, until somebody else does.
const FOUR = [[38, 15], [35, 27], [31, 42], [28, 55], [42, 55], [58, 55], [74, 55],
  [62, 40], [61, 56], [59, 72], [58, 88]];
function example(count) {
  if (!s.example) return;
  s.strokes = [FOUR.slice(0, Math.min(count, 7)), FOUR.slice(7, count)].filter((x) => x.length);
  paint();
  if (count < 11) setTimeout(example, 70, count + 1);
}
example(calm.matches ? 11 : 1);
