// Trees of elements, and a document that is made to match one. Texts and attributes are set as
// data, so nothing that a formula, a label or an address says can become markup.

// h("path.wire", { d }, ...) or h("b.value", "3"): a tag with classes, attributes, what is in it.
function h(kind, ...inside) {
  const [tag, ...classes] = kind.split("."), [first] = inside;
  const given = first?.constructor === Object && !first.tag;
  const attributes = given ? inside.shift() : {};
  if (classes.length) attributes.class = classes.join(" ");
  const children = [], add = (x) => {
    if (Array.isArray(x)) x.forEach(add);
    else if (x || x === 0) children.push(x.tag ? x : String(x));
  };
  add(inside);
  return { tag, attributes, children };
}

const SVG = "http://www.w3.org/2000/svg";
function make(tree, space) {
  if (!tree.tag) return document.createTextNode(tree);
  const inside = tree.tag === "svg" ? SVG : space;
  const element = inside ? document.createElementNS(inside, tree.tag)
    : document.createElement(tree.tag);
  element.tree = { attributes: {} };
  match(element, tree, inside);
  return element;
}

const LIVE = ["value", "open"]; // what people change too
function setOne(element, key, x) {
  if (element.type === "number" && element === document.activeElement) return; // while one types
  if (key.startsWith("on") || LIVE.includes(key)) {
    if (element[key] !== x) element[key] = x;
  } else if (x === undefined || x === null || x === false) element.removeAttribute(key);
  else element.setAttribute(key, x === true ? "" : x);
}

function match(element, tree, space) {
  if (element.tree === tree) return;
  const was = element.tree.attributes, now = tree.attributes;
  for (const key in was) if (!(key in now)) setOne(element, key, null);
  for (const key in now) {
    if (was[key] !== now[key] || LIVE.includes(key)) setOne(element, key, now[key]);
  }
  element.tree = tree;
  tree.children.forEach((child, k) => {
    const old = element.childNodes[k];
    if (old?.nodeType === 3 && !child.tag) {
      if (old.data !== child) old.data = child;
    } else if (old?.tree?.tag === child.tag && child.tag
        && old.tree.attributes.key === child.attributes.key) {
      match(old, child, child.tag === "svg" ? SVG : space);
    } else {
      const fresh = make(child, space);
      if (old) old.replaceWith(fresh);
      else element.append(fresh);
    }
  });
  while (element.childNodes.length > tree.children.length) element.lastChild.remove();
}

// -- Shapes

const draw = (kind, d, more) => h("path", { class: kind, d, ...more });
const put = (kind, at, ...inside) => h("g", { class: kind, transform: `translate(${at})` }, inside);
const write = (kind, x, y, ...inside) => h("text", { class: kind, x, y }, inside);
const disc = (kind, [cx, cy], r) => h("circle", { class: kind, cx, cy, r });
const box = (kind, w, tall, rx, x = -w / 2, y = -tall / 2) =>
  h("rect", { class: kind, x, y, width: w, height: tall, rx });

// A line through points; where a number has no value, there is none.
function through(kind, points) {
  const known = points.filter((point) => !point.some(Number.isNaN));
  return known.length > 0 && draw(kind, `M${known.map((p) => p.map((v) => v.toFixed(1))).join("L")}`);
}

// -- Words

const blue = (x) => h("b.value", typeof x === "number" ? number(x) : x);
const orange = (x) => h("b.gradient", typeof x === "number" ? number(x) : x);

const SERIF = '"STIX Two Text", Cambria, Georgia, "Times New Roman", serif';
const SANS = '-apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const pen = globalThis.document?.createElement("canvas").getContext("2d");
const measured = new Map();

// The width of a text in a font, as the browser sets it.
function widthOf(text, font) {
  const key = font + text;
  if (!measured.has(key)) {
    pen.font = font;
    measured.set(key, pen.measureText(text).width);
  }
  return measured.get(key);
}

// A name in two parts: x1, x₁, x_1, x[1] and weight[0,1] have a small number.
function nameParts(name) {
  const plain = name.replace(/[₀-₉]/g, (x) => x.charCodeAt(0) - 0x2080);
  const found = plain.match(/^(?:.*\.)?(\D*?[^\d_[\s])[_[]*(\d[\d,_]*)\]?$/) ?? ["", plain, ""];
  const base = { weight: "w", bias: "b" }[found[1]] ?? found[1];
  const short = base.length > 14 ? `${base.slice(0, 13)}…` : base;
  return [short, found[2].replace(/[,_]/g, "")];
}

const subscript = (x) => String.fromCharCode(0x2080 + Number(x));
const plainName = (name) => {
  const [base, small] = nameParts(name);
  return base + small.replace(/\d/g, subscript);
};
const nameIn = (name) => { // in HTML
  const [base, small] = nameParts(name);
  return h("i", base, small && h("sub", small));
};
const nameSpans = (name, size) => { // in SVG
  const [base, small] = nameParts(name);
  const below = { "font-size": size * 0.68, dy: size * 0.18 };
  return [h("tspan.name", { "font-size": size }, base), small && h("tspan.small", below, small)];
};
const nameWidth = (name, size) => {
  const [base, small] = nameParts(name);
  return widthOf(base, `italic ${size}px ${SERIF}`) + widthOf(small, `${size * 0.68}px ${SERIF}`);
};
