// The tree of a formula, which folds into its graph, row by row.

const s = { folded: 0 }, nodes = [], keys = []; // a key for each row: equal parts have the same
let leaves = 0;
function place([text, ...parts], above, y) {
  const node = { text, above: above ?? null, y }, key = JSON.stringify([text, parts]);
  nodes.push(node);
  node.below = parts.map((part) => place(part, node, y + 1));
  if (!keys.includes(key)) keys.push(key);
  node.row = keys.indexOf(key);
  node.x = parts.length ? (node.below[0].x + node.below.at(-1).x) / 2 : leaves++;
  return node;
}
place(data.tree, null, 0);
const width = Math.max(...nodes.map(({ x }) => x)) + 1;
const depth = Math.max(...nodes.map(({ y }) => y)) + 1;
// The others of a row move to its first; leaves go below the last node that uses them, to the bottom.
const firsts = keys.map((_, row) => nodes.find((node) => node.row === row));
const ends = firsts.map((first) => {
  const last = nodes.findLast(({ row, above }) => row === first.row && firsts.includes(above));
  return first.below.length ? first : { x: (last ?? first).x, y: depth - 1 };
});
const rows = firsts.map(({ text, row, below }) => {
  const parts = below.map((part) => `v${part.row}`);
  const called = text + parts.map((v) => `(${v})`);
  return `v${row} = ${parts.length < 2 ? called : parts.join(` ${text} `)}`;
});

// Where a node stands: on its way to the first of its row.
function spot({ x, y, row }) {
  const part = clamp(s.folded - row, 0, 1), to = ends[row];
  return [32 * (x + part * (to.x - x)) + 16, 58 * (y + part * (to.y - y)) + 29];
}

function paint() {
  const left = nodes.filter((node) => node.below.length
    && (s.folded < node.row + 1 || node === firsts[node.row]));
  match(main, h("main.lesson", h("label", "fold", slider({ min: 0, max: rows.length,
    step: 0.05, value: s.folded }, (folded) => { s.folded = folded; paint(); })),
  h("svg.tree", { viewBox: `0 0 ${32 * width} ${58 * depth}`, role: "img",
    ariaLabel: "the tree of a formula, folding into its graph" },
  nodes.map((node) => through("soft thin", [spot(node), spot(node.above ?? node)])),
  nodes.map((node) => put(s.folded < node.row + 1 ? "" : "one", spot(node), disc("", [0, 0], 13),
    write("", 0, 5.5, node.text.replace("*", "×")), write("small", 22, 5, `v${node.row}`)))),
  h("section", h("b", left.length), " operations",
    h("pre", { ariaLive: "polite" }, rows.slice(0, Math.floor(s.folded)).join("\n")))));
}

follow(paint);
