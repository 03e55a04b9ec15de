// What is copied.

// Where this page can be opened by others, or null.
const published = (page = "graph.html") => (location.protocol === "https:"
  ? location.href.split("#")[0] : home && new URL(page, home).href);

// A text, to the clipboard, which is told; where that may not be, it is shown.
async function copy(text, tell) {
  try { await navigator.clipboard.writeText(text); } catch { return prompt("To copy:", text); }
  tell(true);
  return setTimeout(tell, 1500, false);
}
