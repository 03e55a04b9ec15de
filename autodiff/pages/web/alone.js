// The live graph as a page of its own.

addEventListener("hashchange", start);
addEventListener("click", closeMenu);
addEventListener("keydown", onKey);
follow(paint, false);
start();
paint();
new ResizeObserver(paint).observe(main.querySelector(".stage"));
