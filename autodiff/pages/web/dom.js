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
  if (/^(on|aria)\w/.test(key) || LIVE.includes(key)) {
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
  const before = element.tree.children ?? [];
  element.tree = tree;
  let old = element.firstChild;
  for (let k = 0, next; k < tree.children.length; k++, old = next) {
    const child = tree.children[k];
    next = old?.nextSibling;
    if (old && child === before[k]) continue; // as it was
    const same = old?.tree?.tag === child.tag && child.tag
      && old.tree.attributes.key === child.attributes.key;
    if (old?.nodeType === 3 && !child.tag) {
      if (old.data !== child) old.data = child;
    } else if (same) match(old, child, child.tag === "svg" ? SVG : space);
    else {
      const fresh = make(child, space);
      if (old) old.replaceWith(fresh);
      else element.append(fresh);
    }
  }
  for (let next; old; old = next) {
    next = old.nextSibling;
    old.remove();
  }
}

// What f gave for the same key before: handlers and trees that stay the same are passed over.
function remembered(f) {
  const known = new Map();
  return (key, ...more) => known.get(key) ?? known.set(key, f(key, ...more)).get(key);
}

// What a thing has under a name, such as a tree, made anew where its key changes.
function kept(thing, name, key, made) {
  const all = thing.kept ??= {};
  if (all[name]?.key !== key) all[name] = { key, what: made() };
  return all[name].what;
}

// -- A finger on a slider

// It may mean to scroll: until it goes sideways or is lifted, nobody is told where the slider is.
let finger = null;
const early = (type, act) => globalThis.addEventListener?.(type, act, true);
early("pointerdown", ({ target, pointerType, clientX: x, clientY: y }) => {
  const was = target.value, slides = pointerType === "touch" && target.type === "range";
  finger = slides ? { target, x, y, was, now: was } : null;
});
early("input", (event) => {
  if (event.target !== finger?.target) return;
  finger.now = finger.target.value;
  event.stopImmediatePropagation();
});
early("pointermove", ({ clientX, clientY }) =>
  finger && Math.abs(clientX - finger.x) > Math.abs(clientY - finger.y) && lifted(finger.now));
early("pointerup", () => finger && lifted(finger.now));
early("pointercancel", () => finger && lifted(finger.was, false));
function lifted(value, tells = true) {
  const { target } = finger;
  finger = null;
  target.value = value;
  if (tells) target.dispatchEvent(new Event("input"));
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
  const d = known.map((point) => point.map((v) => v.toFixed(1))).join("L");
  return d && draw(kind, `M${d}`);
}

// -- What people move

const slider = (about, moved) => h("input", { type: "range", ...about,
  oninput: ({ target }) => moved(Number(target.value)) });

// Where an event is in its element, from the left and from the top.
function placeIn({ currentTarget, clientX, clientY }) {
  const { x, y } = currentTarget.getBoundingClientRect();
  return [clientX - x, clientY - y];
}

// -- Words

const bold = (kind) => (x) => h(kind, typeof x === "number" ? number(x) : x);
const blue = bold("b.value"), orange = bold("b.gradient");

// The width of a text as the browser sets it, in a font of the style sheet.
const pen = globalThis.document?.createElement("canvas").getContext("2d");
const widths = new Map(), families = {};
function widthIn(style, font, text) {
  const key = `${style} ${font} ${text}`;
  if (widths.size > 9999) widths.clear();
  if (!widths.has(key)) {
    families[font] ??= getComputedStyle(root).getPropertyValue(font);
    pen.font = `${style} ${families[font]}`;
    widths.set(key, pen.measureText(text).width);
  }
  return widths.get(key);
}
const widthOf = (text, size) => widthIn(`650 ${size}px`, "--sans", text);

const nameIn = (name) => h("i", plainName(name)); // in HTML
const nameSpan = (name, size) => h("tspan.name", { "font-size": size }, plainName(name)); // in SVG
const nameWidth = (name, size) => widthIn(`italic ${size}px`, "--serif", plainName(name));
