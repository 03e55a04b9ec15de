// Where everything stands. A unit is a box with ports for its inputs, in columns from left to
// right. Longest path, inputs in their order, few crossings, straight wires.

// units: {kind, edges: [{unit, port}], column (half its width), up, down}, port and up, down being
// heights; gap(layer) is the room after a column, rows that between two rows. Sets layer, x, y and
// room (of its numbers) of each unit and the points of each edge; returns {length, low, high}.
function layOut(units, gap, rows) {
  const items = itemsOf(units), layers = [];
  items.forEach((item) => (layers[item.layer] ??= []).push(item));
  putInOrder(layers);
  settleAll(layers, rows);
  let length = 0;
  const spans = layers.map((layer, l) => {
    const start = length, size = Math.max(...layer.map((item) => item.unit?.column ?? 0));
    length += 2 * size + gap(l);
    return { start, end: length, middle: start + size, fork: length - gap.curve };
  });
  items.forEach(({ unit, y, layer }) => {
    const { middle: x, fork, end } = spans[layer];
    if (unit) Object.assign(unit, { x, y, fork, room: end - x - unit.column });
  });
  for (const { unit, ways, y } of items) {
    for (const { edge, way } of unit ? ways : []) {
      const from = units[edge.unit], end = unit.x - unit.column, port = y + edge.port;
      edge.points = [[from.fork, from.y], ...way.flatMap((dummy) =>
        [[spans[dummy.layer].start, dummy.y], [spans[dummy.layer].fork, dummy.y]]),
      [end - gap.run, port], [end, port]];
      // where a wire has bent as far as the numbers beside it
      const [x, to] = edge.points[1], bent = Math.sqrt(3 / Math.abs(to - from.y));
      from.room = Math.min(from.room, from.fork + (x - from.fork) * bent - from.x - from.column);
    }
  }
  const [low, high] = extent(items.flatMap(({ y, up, down }) => [y - up, y + down]));
  return { length, low, high };
}

// Items for the units and for each column that an edge crosses.
function itemsOf(units) {
  const uses = units.map(() => []), single = units.filter((unit) => !unit.edges.length).length > 6;
  units.forEach((unit) => unit.edges.forEach((edge) => uses[edge.unit].push(unit)));
  const layerOf = (unit) =>
    (unit.layer ??= Math.max(-1, ...unit.edges.map((edge) => layerOf(units[edge.unit]))) + 1);
  units.forEach(layerOf);
  const items = units.map((unit, u) => { // a constant, or one of many inputs, stands by its use
    const late = !unit.edges.length && (unit.kind === "constant"
      || (single && uses[u].length === 1));
    if (late) unit.layer = Math.max(0, Math.min(...uses[u].map((use) => use.layer)) - 1);
    const { layer, up, down } = unit, fixed = layer === 0 && !late;
    return { unit, layer, up, down, fixed, left: [], right: [], ways: [] };
  });
  units.forEach((unit, v) => unit.edges.forEach((edge) => {
    const way = [], link = (from, to, port) => {
      from.right.push({ item: to, port });
      to.left.push({ item: from, port });
      return to;
    };
    let last = items[edge.unit];
    for (let layer = last.layer + 1; layer < unit.layer; layer++) {
      const dummy = { layer, up: 9, down: 9, left: [], right: [] };
      items.push(dummy);
      way.push(dummy);
      last = link(last, dummy, 0);
    }
    link(last, items[v], edge.port);
    items[v].ways.push({ edge, way });
  }));
  return items;
}

const mean = (xs) => xs.reduce((a, b) => a + b, 0) / xs.length;
const heightsAt = (item, side) =>
  item[side].map((end) => end.item.place + (side === "right" ? end.port / 1e4 : 0));

// Crossings between what two neighbours a (above) and b are joined to.
const crossings = (a, b) => ["left", "right"].reduce((sum, side) => {
  const below = heightsAt(b, side);
  return heightsAt(a, side).reduce((n, p) => n + below.filter((q) => p > q).length, sum);
}, 0);

// Each by the mean height of what it is joined to, from left to right and back; then two that
// stand side by side change places where that saves crossings.
function putInOrder(layers) {
  const number = (layer) => layer.forEach((item, k) => { item.place = k; });
  layers.forEach(number);
  for (const side of ["left", "right", "left"]) {
    const wish = (item) => (item[side].length ? mean(heightsAt(item, side)) : item.place);
    for (const layer of side === "left" ? layers : layers.toReversed()) {
      if (!layer.some((item) => item.fixed)) layer.sort((a, b) => wish(a) - wish(b));
      number(layer);
      for (const k of [...layer.keys(), ...layer.keys()].filter(Boolean)) {
        const [a, b] = layer.slice(k - 1);
        if ((a.fixed && b.fixed) || crossings(a, b) <= crossings(b, a)) continue;
        layer.splice(k - 1, 2, b, a);
        number(layer);
      }
    }
  }
}

// Heights as wished, but in order and apart: isotonic regression.
function settle(layer, rows, wish) {
  const blocks = [], level = (block) => mean(block.map((item) => item.wish));
  let offset = 0;
  layer.forEach((item, k) => {
    if (k) offset += layer[k - 1].down + item.up + rows;
    Object.assign(item, { offset, wish: wish(item) - offset });
    let block = [item];
    while (blocks.length && level(blocks.at(-1)) >= level(block)) {
      block = [...blocks.pop(), ...block];
    }
    blocks.push(block);
  });
  for (const block of blocks) {
    const top = level(block);
    block.forEach((item) => { item.y = top + item.offset; });
  }
}

function settleAll(layers, rows) {
  layers.forEach((layer) => settle(layer, rows, () => 0));
  for (let sweep = 0; sweep < 24; sweep++) {
    for (const layer of sweep % 2 ? layers.toReversed() : layers) {
      settle(layer, rows, ({ left, right, y }) => {
        const wishes = [...left.map((end) => end.item.y - end.port),
          ...right.map((end) => end.item.y + end.port)];
        return wishes.length ? mean(wishes) : y;
      });
    }
  }
}
