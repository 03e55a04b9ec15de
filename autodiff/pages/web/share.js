// What leaves the page: a link, a program, the page, a picture.

function shareMenu({ graph, share, copied }) {
  const item = (kind, words) => h("button", { onclick: () => { void send(kind); } },
    copied === kind ? "Copied" : words), toggle = () => set({ share: !share });
  const link = graph.formula && published();
  return h("div.share", h("button", { ariaExpanded: share, onclick: toggle }, "Share"),
    share && h("div.menu", link && item("link", "Copy link"),
      graph.formula && item("Python", "Copy Python"), item("page", "Page, a file"),
      item("SVG", "Picture, SVG"), item("PNG", "Picture, PNG"),
      h("a", { href: home && new URL("..", home).href }, "Made with autodiff")));
}

async function send(kind) {
  if (kind === "page") return download(new Blob([pageNow()]), "html");
  if (kind === "SVG") return download(new Blob([picture()]), "svg");
  if (kind === "PNG") return download(await pixels(picture()), "png");
  const text = kind === "link" ? published() + addressOf(state) : python(state);
  return copy(text, (done) => set({ copied: done && kind }));
}

function python({ graph, leaves }) {
  const lines = graph.formula.split(";").map((x) => x.trim().replace("=", " = "));
  const free = (k = "") => (graph.ids.includes(`y${k}`) ? free(Number(k) + 1) : `y${k}`);
  const last = lines.pop();
  const name = last.match(/^(\S+)\s+=/)?.[1] ?? free();
  const inputs = graph.inputs.map((i) =>
    `${graph.ids[i]} = Value(${leaves[i]}, label=${JSON.stringify(graph.labels[i])})`);
  return ["from math import e, pi", "from autodiff import *", "", ...inputs, ...lines,
    last.startsWith(`${name} `) ? last : `${name} = ${last}`, `${name}.label = "${name}"`,
    `show_steps(${name})`, ""].join("\n");
}

// This page as it stands now.
function pageNow() {
  root.dataset.address = addressOf(state);
  return `<!DOCTYPE html>${root.outerHTML}`;
}

// The whole graph as it stands, with its formula, as a file that needs no style sheet.
function picture() {
  const { view, fit } = seen, place = placed(state.graph, 1, fit.place.units[0].closed);
  const w = place.length + 24;
  const tall = place.high - place.low + 64;
  const whole = { x: place.length / 2, y: (place.low + place.high) / 2 - 24, scale: 1 };
  const holder = main.appendChild(document.createElement("div"));
  const formula = textOf(h("i", heading({ ...state, step: -1 }, { ...view, now: [] })));
  const drawn = { ...fit, place, height: tall };
  const svg = make(drawGraph({ ...state, width: w }, view, drawn, whole), null);
  holder.append(svg);
  svg.firstChild.setAttribute("transform", `translate(12 ${56 - place.low})`);
  svg.append(make(write("name", 12, 32, formula), SVG));
  svg.lastChild.setAttribute("style", "font-size: 24px");
  const text = inlined(svg, [], { viewBox: `0 0 ${w} ${tall}` });
  holder.remove();
  return text;
}
