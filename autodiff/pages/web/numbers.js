// Numbers, and names with numbers, as people write them.

const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const minus = (text) => text.replaceAll("-", "−");
const raise = (n) => String(n).replace(/[-\d]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);

// x as people write it: 4 significant digits, 3 below 1; integers whole.
function number(x, digits = 4) {
  if (Number.isNaN(x)) return "no value";
  if (!Number.isFinite(x)) return x > 0 ? "infinity" : "−infinity";
  const size = Math.abs(x), whole = Math.floor(Math.log10(size)) + 1;
  if (size > 0 && (size < 1e-4 || size >= 1e6)) {
    const [mantissa, power] = x.toExponential(Math.max(0, digits - 2)).split("e").map(Number);
    return minus(`${mantissa}·10`) + raise(power);
  }
  return minus(String(Number(x.toPrecision(size < 1 ? digits - 1 : Math.max(digits, whole)))));
}

const factor = (x) => (x < 0 ? `(${number(x)})` : number(x)); // after a sign: 1 · (−4)
const letter = (x) => (x === Math.E ? "e" : x === Math.PI ? "π" : number(x));
const constant = (x) => (x < 0 ? factor(x) : letter(x)); // as a formula has it
const total = (terms) => terms.map((x) => number(x)).join(" + ").replaceAll("+ −", "− ");

// The least and the greatest of those numbers that are finite.
function extent(numbers) {
  const known = numbers.filter(Number.isFinite);
  return [Math.min(...known), Math.max(...known)];
}

// 1, 2 or 5 times a power of ten, at least size.
function roundUp(size) {
  const power = 10 ** Math.floor(Math.log10(size));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= size * (1 - 1e-12)) ?? size;
}

// To three digits, and to two places, whether they are 0 or not, so that nothing jumps.
const amount = (x, digits = 3) => (Math.abs(x) >= 1e-4 && Math.abs(x) < 10 ** digits - 0.5
  ? minus(x.toPrecision(digits)) : number(x, digits));
const places = (x) => (Math.abs(x) < 0.995
  ? minus((Math.abs(x) < 0.005 ? 0 : x).toFixed(2)) : amount(x));

// A name with its small number: x1, x_1 and x[1] are x₁, and layer.weight[0,1] is w₀₁.
const subscript = (x) => String.fromCharCode(0x2080 + Number(x));
function plainName(name) {
  const digits = name.replace(/[₀-₉]/g, (x) => x.charCodeAt(0) - 0x2080);
  const [, long, small] =
    digits.match(/^(?:.*\.)?(\D*?[^\d_[\s])[_[]*(\d[\d,_]*)\]?$/) ?? ["", digits, ""];
  const base = long.replace(/^weight$/, "w").replace(/^bias$/, "b");
  const short = base.length > 14 ? `${base.slice(0, 13)}…` : base;
  return short + small.replace(/[,_]/g, "").replace(/\d/g, subscript);
}
