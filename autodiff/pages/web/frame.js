// A page in a notebook: the frame around it is told how high it is, and tells it about the dark.

const main = document.querySelector("#app"), root = document.documentElement;

const calm = matchMedia("(prefers-reduced-motion: reduce)");

// Paint anew when the page has another width or colours. A page that fills its frame does
// not tell its height: the frame would grow without end.
function follow(paint, grows = true) {
  const again = () => {
    paint();
    parent.postMessage({ autodiff: "height", height: grows && document.body.offsetHeight + 8 }, "*");
  };
  main.tree = { attributes: {} };
  matchMedia("(prefers-color-scheme: dark)").onchange = again;
  addEventListener("message", ({ data: told, source }) => {
    const scheme = told?.dark ? "dark" : "light", { style } = root;
    if (source !== parent || told?.dark === undefined || style.colorScheme === scheme) return;
    style.colorScheme = scheme;
    again();
  });
  if (grows) new ResizeObserver(again).observe(main);
  else parent.postMessage({ autodiff: "height" }, "*");
}
