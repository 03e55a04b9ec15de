// "Who pulls this weight?": of the wire that is touched, an arrow for every sample, and their sum.

const pullOf = (wire, held = false) => (wire !== null || !data.edit) // where one is always held
  && change({ wire, held, pulls: wire === s.wire ? s.pulls : null });

// The wires, and their names: w′₂₁ is of the second layer, into neuron 2, from 1.
const called = new Map(layers.flatMap(({ weights, biases }, l) => weights.flatMap((row, i) =>
  [...row, biases[i]].map((index, j) => {
    const [name, from] = j < row.length ? ["w", j + 1] : ["b", ""];
    return [index, name + "′".repeat(l) + `${i + 1}${from}`.replace(/\d/g, subscript)];
  }))));
called.delete(null);

// Whoever touches a wire sees who pulls it; a click holds it, and so do the arrow keys. A click
// beside the wires changes nothing.
const wireAt = ({ dataset }) => (dataset.wire ? Number(dataset.wire) : null);
// Where several pass under a finger, it is the nearest.
function nearest({ clientX, clientY, target }) {
  const far = (e) => Math.round(Math.min(...spaced(64, 0, e.getTotalLength()).map((way) => {
    const { x, y } = e.getPointAtLength(way).matrixTransform(e.getScreenCTM());
    return Math.hypot(x - clientX, y - clientY);
  })) / 2);
  const passing = document.elementsFromPoint(clientX, clientY).filter((e) => e.dataset.wire);
  return wireAt(passing.sort((a, b) => far(a) - far(b))[0] ?? target);
}
const wireHands = {
  onpointerover: ({ target }) => s.held || pullOf(wireAt(target)),
  onpointerleave: () => s.held || pullOf(null),
  onclick: (event) => {
    const wire = nearest(event), again = s.held && wire === s.wire;
    if (wire !== null) pullOf(again ? null : wire, !again);
  },
  onkeydown: (event) => {
    const order = [...called.keys()], at = order.indexOf(s.wire), { key } = event;
    const way = ARROWS[key];
    if (way) pullOf(order.at((at + way[0] + way[1]) % order.length), true);
    else if (key === "Escape") pullOf(null);
    else return;
    event.preventDefault();
  },
};
const wireChosen = () => ({ role: "slider", tabindex: 0, ariaLabel: "the weight that is held",
  ariaValueNow: s.wire ?? -1, ariaValueText: called.get(s.wire) ?? "none", ...wireHands });

// What each sample asks of this weight: its own derivative, turned round. The scale stays while
// points move, so that arrows grow and turn, but the longest keeps 0.08 to 0.4 of the picture, and
// as far as that lets them all end inside.
function pulled() {
  if (s.wire === null) return;
  const fresh = !s.pulls, now = performance.now();
  const slopes = t.rows.map((row) => programs.sample(row.concat(t.p))[1][s.wire]);
  s.pulls = slopes.map((slope) => clamp(-slope || 0, -1e9, 1e9));
  const one = 1 / Math.max(...s.pulls.map(Math.abs), 1e-12);
  const fits = s.pulls.map((pull, i) => { // as long as this arrow ends inside
    const at = placeOfRow(t.rows[i], i)[0] / s.plotWidth;
    return (pull < 0 ? at : 1 - at) / Math.abs(pull);
  });
  const most = clamp(Math.min(...fits), 0.1 * one, 0.4 * one);
  s.perPull = clamp(fresh ? 0.15 * one : s.perPull, 0.08 * one, most);
  if (fresh) Object.assign(s, { reach: 0, lands: s.running || calm.matches ? now : now + 1700 });
}

// An arrow as a shape; none is seen that is shorter than least.
function pointed(x, y, by, thick, least = 0) {
  if (!(Math.abs(by) > least)) return "";
  const head = Math.sign(by) * Math.min(Math.abs(by), 2.6 * thick), neck = x + by - head;
  const a = thick / 2, b = 0.53 * Math.abs(head);
  const places = [[x, -a], [neck, -a], [neck, -b], [x + by, 0], [neck, b], [neck, a], [x, a]];
  return `M${places.map(([at, up]) => `${at.toFixed(1)} ${(y + up).toFixed(1)}`).join("L")}Z`;
}

const placeOfRow = (row, i) => s.box.at([row[0], features === 2 ? row[1]
  : targets ? [targetOf(i)].flat()[0] : s.predictions[i][0]]);
const pullsAtPoints = () => s.pulls && draw("pull", t.rows.map((row, i) =>
  pointed(...placeOfRow(row, i), s.pulls[i] * s.perPull * s.plotWidth, 3.4, 3)).join(""));

// The question, what the arrows mean, and an arrow of a round number.
function whoPulls() {
  const one = roundUp(0.06 / s.perPull), long = s.perPull * s.plotWidth, width = one * long;
  const seen = s.pulls.some((pull) => Math.abs(pull * long) > 3);
  return ["Who pulls ", h("i", called.get(s.wire)), ` = ${places(t.p[s.wire])}? `,
    !seen ? "nobody pulls" : h("span.ways", orange("←"), " smaller, ", orange("→"), " larger",
      h("svg", { width, height: 10 }, draw("pull", pointed(0, 5, width, 3.4))),
      ` is ${number(one)}`)];
}

// Beside the picture: all arrows tip to tail, each as long as its share, so that they end at their
// mean; and what the optimiser makes of it.
function pulls() {
  const width = s.phone ? s.side : s.low ? s.side - 16 : Math.max(240, s.plotWidth);
  const height = s.low ? 72 : 112, base = height - 24, n = t.rows.length;
  const idle = edit.idle?.() || (!s.pulls && "Touch a wire: who pulls it?");
  if (idle) return h("p.pulls.wait", { style: `width: ${width}px` }, idle);
  const sorted = [...s.pulls.keys()].sort((a, b) => s.pulls[b] - s.pulls[a]);
  const room = s.pulls.map((pull) => Math.sqrt(Math.abs(pull))); // the longer, the thicker
  const perRoom = (base - 8) / (room.reduce((a, b) => a + b) || 1), spots = [], ends = [0];
  let top = 4;
  sorted.forEach((i, k) => {
    const tall = perRoom * room[i], from = ends.at(-1);
    spots[i] = { from, tall, y: top + tall / 2, turn: k / n };
    ends.push(from + s.pulls[i] / n);
    top += tall;
  });
  const [low, high] = extent(ends), flies = performance.now() < s.lands;
  s.reach = clamp(s.reach, high - low || 1e-12, 3 * (high - low));
  const x = (v) => 14 + (width - 28) * (v - low) / s.reach, zero = x(0), tip = x(ends.at(-1));
  const shapes = spots.map(({ from, tall, y }, i) => pointed(x(from), y,
    x(from + s.pulls[i] / n) - x(from), clamp(0.62 * tall, 1.8, 9), 0.4));
  // as long as at its point, until it is only an nth of it
  const share = s.perPull * s.plotWidth * n * s.reach / (width - 28);
  const slide = ({ from, y, turn }, i) => {
    const [px, py] = placeOfRow(t.rows[i], i);
    return draw("pull slide", shapes[i], { style: `--x: ${px - x(from)}px; --y: ${
      py - y}px; --turn: ${turn}; transform-origin: ${x(from)}px ${y}px` });
  };
  const p = t.p[s.wire], [next] = programs.move([p, t.g[s.wire], s.rate, ...t.memory[s.wire]]);
  const [right, left] = [1, -1].map((way) => s.pulls.filter((v) => way * v > 0).length);
  const hill = sorted.map((i, k) => `L${x(ends[k + 1])} ${spots[i].y}`).join("");
  return h("div.pulls", { style: `width: ${width}px`, key: `wire${s.wire}` },
    h("svg", { width, height, style: `--long: ${share}` },
      draw("hill", `M${zero} 4${hill}H${zero}Z`),
      draw("axis", `M${zero} 0V${height}M${tip} ${base - 8}V${height}`),
      flies ? spots.map(slide) : draw("pull", shapes.join("")),
      draw("pull sum", pointed(zero, base + 11, tip - zero, 9))),
    h("p", h("span", `${right} larger, ${left} smaller`), orange(`mean ${signed(-t.g[s.wire])}`),
      data.batch && h("span.soft", `All ${n} pull here; a step sees ${data.batch} of them.`)),
    h("p", edit.verdict?.() || [h("span", data.edit && (next - p) * t.g[s.wire] > 0
      ? "Momentum wins:" : `Each ÷ ${n}, tip to tail`),
      h("span", `${data.optimizer} steps `, blue(signed(next - p)))]));
}

// Where copies fly from.
function aim() {
  const [from, to] = [".plane", ".pulls"].map((x) => main.querySelector(x).getBoundingClientRect());
  main.style.setProperty("--right", `${from.x - to.x}px`);
  main.style.setProperty("--down", `${from.y - to.y}px`);
}
const signed = (x) => (x < 0 ? "" : "+") + amount(x);
