// Where everything stands. A unit is a box with ports for its inputs, in columns from left to
// right; "along" is that way, "across" is down a column. (On phones networks run downwards: then
// the page reads along as y.) Longest path, inputs in their order, few crossings, straight wires.

// units: {kind, edges: [{unit, port}], column (half its length), up, down}, port and up, down being
// distances across; gap(layer) is the room after a column. Sets layer, x and y of each unit and the
// points of each edge; returns {length, low, high}.
function layOut(units, gap) {
  const items = columnsOf(units);
  const layers = [];
  items.forEach((item) => (layers[item.layer] ??= []).push(item));
  putInOrder(layers);
  settleAll(layers);
  let x = 0;
  const ends = layers.map((layer, l) => {
    const size = Math.max(...layer.map((item) => item.unit?.column ?? 0));
    layer.forEach((item) => { item.x = x + size; });
    const start = x;
    x += 2 * size + gap(l);
    return { start, end: start + 2 * size, fork: x - gap.curve };
  });
  items.forEach(({ unit, x, y, layer }) => unit && Object.assign(unit, { x, y, fork: ends[layer].fork }));
  for (const item of items) {
    for (const { edge, way } of item.unit ? item.ways : []) {
      const from = units[edge.unit];
      edge.points = [[from.fork, from.y]];
      way.forEach((dummy) => edge.points.push([ends[dummy.layer].start, dummy.y], [ends[dummy.layer].fork, dummy.y]));
      edge.points.push([item.x - item.unit.column - gap.run, item.y + edge.port], [item.x - item.unit.column, item.y + edge.port]);
    }
  }
  const low = Math.min(...items.map((item) => item.y - item.up)), high = Math.max(...items.map((item) => item.y + item.down));
  return { length: x, low, high };
}

// Items for the units and for each column that an edge crosses.
function columnsOf(units) {
  const sources = units.filter((u) => u.edges.length === 0), items = [];
  const late = new Set();
  const uses = units.map(() => []);
  units.forEach((unit) => unit.edges.forEach((edge) => uses[edge.unit].push(unit)));
  const order = [], seen = new Set();
  const visit = (u) => {
    if (seen.has(u)) return;
    seen.add(u);
    units[u].edges.forEach((edge) => visit(edge.unit));
    order.push(u);
  };
  units.forEach((_, u) => visit(u));
  for (const u of order) {
    const unit = units[u];
    unit.layer = unit.edges.length ? 1 + Math.max(...unit.edges.map((edge) => units[edge.unit].layer)) : 0;
    const single = uses[u].length === 1 && sources.length > 6;
    if (!unit.edges.length && (unit.kind === "constant" || single)) late.add(u);
  }
  for (const u of late) units[u].layer = Math.max(0, Math.min(...uses[u].map((v) => v.layer)) - 1);
  const of = units.map((unit, u) => {
    const item = { unit, layer: unit.layer, up: unit.up, down: unit.down, left: [], right: [], ways: [], weight: 1, fixed: unit.layer === 0 && !late.has(u) };
    items.push(item);
    return item;
  });
  units.forEach((unit, v) => unit.edges.forEach((edge) => {
    let last = of[edge.unit];
    const way = [];
    const link = (to, port) => {
      last.right.push({ item: to, port });
      to.left.push({ item: last, port });
      last = to;
    };
    for (let l = last.layer + 1; l < unit.layer; l++) {
      const dummy = { layer: l, up: 9, down: 9, left: [], right: [], weight: 3 };
      items.push(dummy);
      way.push(dummy);
      link(dummy, 0);
    }
    link(of[v], edge.port);
    of[v].ways.push({ edge, way });
  }));
  return items;
}

const mean = (xs) => xs.reduce((a, b) => a + b, 0) / xs.length;

// Crossings between what two neighbours a (above) and b are joined to.
function crossings(a, b) {
  let count = 0;
  for (const side of ["left", "right"]) {
    const height = ({ item, port }) => item.place + (side === "right" ? port / 1e4 : 0);
    const own = (x) => x[side].map((e) => [height(e), side === "left" ? e.port : 0]);
    for (const [p] of own(a)) for (const [q] of own(b)) count += (p > q) - (p < q) * 0;
  }
  return count;
}

function putInOrder(layers) {
  const number = () => layers.forEach((layer) => layer.forEach((item, k) => { item.place = k; }));
  const count = () => layers.reduce((sum, layer) => sum + layer.reduce((n, a, i) => n + layer.slice(i + 1).reduce((m, b) => m + crossings(a, b), 0), 0), 0);
  const wish = (item, side) => {
    const ends = item[side];
    return ends.length ? mean(ends.map((e) => e.item.place + (side === "right" ? e.port / 1e3 : 0))) : item.place;
  };
  number();
  let best = null;
  for (let sweep = 0; sweep < 12; sweep++) {
    const side = sweep % 2 ? "right" : "left";
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      if (!layer.some((item) => item.fixed)) {
        const at = new Map(layer.map((item) => [item, wish(item, side)]));
        layer.sort((a, b) => at.get(a) - at.get(b));
      }
      layer.forEach((item, k) => { item.place = k; });
      for (let again = true, round = 0; again && round < 8; round++) {
        again = false;
        for (let k = 1; k < layer.length; k++) {
          const [a, b] = [layer[k - 1], layer[k]];
          if ((a.fixed && b.fixed) || crossings(a, b) <= crossings(b, a)) continue;
          [layer[k - 1], layer[k]] = [b, a];
          [a.place, b.place, again] = [k, k - 1, true];
        }
      }
    }
    const crossed = count();
    if (!best || crossed < best.crossed) best = { crossed, layers: layers.map((layer) => [...layer]) };
  }
  layers.forEach((layer, l) => { layers[l] = best.layers[l]; });
  number();
}

// Heights as wished, but in order and apart: isotonic regression.
function settle(layer, wish) {
  const blocks = [];
  let offset = 0;
  layer.forEach((item, k) => {
    if (k) offset += layer[k - 1].down + item.up + (item.unit && layer[k - 1].unit ? 16 : 12);
    item.offset = offset;
    let block = { sum: (wish(item) - offset) * item.weight, weight: item.weight, items: [item] };
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).weight >= block.sum / block.weight) {
      const above = blocks.pop();
      block = { sum: above.sum + block.sum, weight: above.weight + block.weight, items: [...above.items, ...block.items] };
    }
    blocks.push(block);
  });
  for (const { sum, weight, items } of blocks) for (const item of items) item.y = sum / weight + item.offset;
}

function settleAll(layers) {
  layers.forEach((layer) => settle(layer, () => 0));
  for (let sweep = 0; sweep < 24; sweep++) {
    const sides = sweep > 15 ? ["left", "right"] : [sweep % 2 ? "right" : "left"];
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      settle(layer, (item) => {
        const wishes = [];
        if (sides.includes("left")) item.left.forEach((e) => wishes.push(e.item.y - e.port));
        if (sides.includes("right")) item.right.forEach((e) => wishes.push(e.item.y + e.port));
        return wishes.length ? mean(wishes) : item.y;
      });
    }
  }
}
