// A picture of the page as a file that needs no style sheet.

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family",
  "font-size", "font-style", "font-weight", "text-anchor",
  "vector-effect"];

// The text of an SVG that is shown here; below: what stands under it, on paper.
function inlined(shown, below, more = {}) {
  const svg = shown.cloneNode(true), copies = svg.querySelectorAll("*");
  shown.querySelectorAll("*").forEach((element, k) => {
    const style = getComputedStyle(element), copy = copies[k];
    if (style.display === "none" || style.fill === "rgba(0, 0, 0, 0)") return copy.remove();
    STYLES.forEach((name) => copy.setAttribute(name, style[name]));
    if (copy.matches("text, tspan")) copy.setAttribute("stroke", "none"); // no halo
    return ["class", "style", "tabindex", "role"].forEach((name) => copy.removeAttribute(name));
  });
  const { backgroundColor: fill } = getComputedStyle(root);
  const paper = h("rect", { width: "100%", height: "100%", fill, stroke: "none" });
  svg.prepend(...[paper, ...below].map((each) => make(each, SVG)));
  ["class", "role", "aria-labelledby"].forEach((name) => svg.removeAttribute(name));
  Object.entries(more).forEach(([name, x]) => svg.setAttribute(name, x));
  return new XMLSerializer().serializeToString(svg);
}

// A picture in pixels, twice as large.
async function pixels(text) {
  const image = new Image(), canvas = document.createElement("canvas");
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done); });
}

function download(blob, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `graph.${ending}`;
  link.click();
}
