// A on the left, B above, C = A B at the corner: point at an entry of A or B, and what it moves
// lights up, with how many times as far below each number. With G, the gradient of C, in its place:
// the products that add up to the gradient of the entry.

const { A, B, G } = data;
const C = A.map((row) => B[0].map((_, j) => row.reduce((sum, a, k) => sum + a * B[k][j], 0)));
const named = (name, i, j) => `${name}[${i}, ${j}]`;
const entriesOf = (name, M) => M.flatMap((row, i) => row.map((_, j) => [name, i, j]));
const entries = [...entriesOf("A", A), ...entriesOf("B", B)];
const names = entries.map((entry) => named(...entry)), s = { at: names.indexOf("A[1, 2]"), waits: true };

function nudge(k) {
  [s.at, s.waits] = [k, false];
  paint();
}

// What lights up when entry (i, j) is nudged: its factors, and what of C moves, how far.
const slopes = {
  A: (i, j) => ({ B: (r) => r === j, C: (r, c) => r === i && B[j][c] }),
  B: (i, j) => ({ A: (r, c) => c === i, C: (r, c) => c === j && A[r][i] }),
};

function table(name, M, [of, i, j]) {
  const lights = slopes[of](i, j)[name];
  const caption = h("caption", M === G ? "G" : name);
  return h("table", { id: name }, caption, M.map((row, r) => h("tr", row.map((x, c) => {
    const k = names.indexOf(named(name, r, c)), slope = !s.waits && lights ? lights(r, c) : false;
    const kind = k === s.at ? "nudged" : slope === false ? "" : "lit";
    const sign = G ? "· " : slope < 0 ? "" : "+";
    const far = name === "C" && kind === "lit" && [h("br"), sign, minus(`${slope}`)];
    return h("td", { class: kind, onpointerenter: k >= 0 && (() => nudge(k)) },
      minus(`${x}`), far);
  }))));
}

// The products that add up to the gradient of an entry.
function sum([of, i, j]) {
  const pairs = of === "A" ? B[j].map((b, c) => [G[i][c], b]) : A.map((row, r) => [G[r][j], row[i]]);
  const total = pairs.reduce((added, [g, x]) => added + g * x, 0);
  return `${pairs.map(([g, x]) => `${g} · ${x}`).join(" + ")} = ${total}`.replaceAll("-", "−");
}

function paint() {
  const nudged = entries[s.at], [of, i, j] = nudged;
  const [mover, factor] = of === "A" ? [`row ${i}`, `row ${j} of B`]
    : [`column ${j}`, `column ${i} of A`];
  match(main, h("main.lesson", h("div.corner", h("span"), table("B", B, nudged),
    table("A", A, nudged), table("C", G ?? C, nudged)),
  h("p", { ariaLive: "polite" }, s.waits ? `${G ? "" : `${names[s.at]} is nudged. `}Point at ${names[s.at]} when you have guessed.`
    : G ? `The gradient of ${names[s.at]} adds up ${mover} of G times ${factor}: ${sum(nudged)}.`
    : `Nudge ${names[s.at]}, and ${mover} of C moves. The number below each entry says how many `
      + `times as far: together they are ${factor}.`),
  h("label", "Point at an entry of A or B, or drag", slider({ min: 0,
    max: entries.length - 1, value: s.at }, nudge))));
}

follow(paint);
