// Numbers as people write them.

// x as people write it: 4 significant digits, 3 below 1; integers whole.
function number(x, digits = 4) {
  if (Number.isNaN(x)) return "no value";
  if (!Number.isFinite(x)) return x > 0 ? "infinity" : "−infinity";
  const size = Math.abs(x);
  const whole = Math.min(6, 1 + Math.floor(Math.log10(size)));
  const places = size < 1 ? digits - 1 : Math.max(digits, whole);
  const near = Number(x.toPrecision(places));
  const plain = near === 0 || (Math.abs(near) >= 1e-4 && Math.abs(near) < 1e6);
  const short = () => Number(x.toPrecision(digits - 1)).toExponential().replace("e+", "e");
  const text = plain ? String(near) : short();
  return (near === 0 ? "0" : text).replaceAll("-", "−");
}

const factor = (x) => (x < 0 ? `(${number(x)})` : number(x)); // after a sign: 1 · (−4)
const total = (terms) => terms.map((x) => number(x)).join(" + ").replaceAll("+ −", "− ");

// 1, 2 or 5 times a power of ten, at least size.
function roundUp(size) {
  const power = 10 ** Math.floor(Math.log10(size));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= size * (1 - 1e-12)) ?? size;
}

// -- With as many digits whether they are 0 or not, so that nothing jumps ------------------------

const minus = (text) => text.replace("-", "−");
const raise = (n) => String(n).replace(/[-\d]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);

// x to three digits: 4.10, 0.0122, 14,300, 1.2·10⁻⁹
function amount(x, digits = 3) {
  if (Number.isNaN(x)) return "no value";
  if (!Number.isFinite(x)) return x > 0 ? "infinite" : "−infinite";
  const size = Math.abs(x);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e6) {
    const [mantissa, power] = x.toExponential(1).split("e");
    return minus(`${mantissa}·10`) + raise(Number(power));
  }
  const text = x.toPrecision(digits);
  return minus(size >= 10 ** digits - 0.5 ? Number(text).toLocaleString("en-US") : text);
}

// x to two places, or to three digits: 0.90, 1.32, 10.2, 827
const places = (x) =>
  (Math.abs(x) < 0.995 ? minus((Math.abs(x) < 0.005 ? 0 : x).toFixed(2)) : amount(x));
const slope = (x) => (Math.abs(x) < 0.005 ? "0.00" : amount(x));
