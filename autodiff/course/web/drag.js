// A slider over frames: what is said of each, and a curve past dots, or a text. Curves that were
// shown before stay, pale.

const { label, frames, dots } = data, s = { at: 0, seen: new Set() };
const ends = [0, 1].map((k) => extent(dots.map((dot) => dot[k])));
const scaled = (v, [low, high], from, to) => from + ((to - from) * (v - low)) / (high - low);
const place = ([x, y]) => [scaled(x, ends[0], 12, 348), scaled(y, ends[1], 208, 32)];

function paint() {
  const [name, said, shown] = frames[s.at], line = (kind, k) => through(kind, frames[k][2].map(place));
  match(main, h("main.lesson", h("label", label, slider({ min: 0, max: frames.length - 1,
    value: s.at, ariaValueText: name }, (at) => {
    s.seen.add(s.at);
    s.at = at;
    paint();
  }), h("b", name)),
  dots.length > 0 && h("svg.curve", { viewBox: "0 0 360 240", role: "img", ariaLabel: said },
    [...s.seen].map((k) => line("ghost", k)), line("value thick", s.at),
    dots.map((dot) => disc("solid", place(dot), 4.5))),
  h(dots.length ? "section" : "p", { ariaLive: "polite" }, said),
  !dots.length && h("pre", shown)));
}

follow(paint);
