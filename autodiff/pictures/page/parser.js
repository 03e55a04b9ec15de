// The command line's language: numbers, names, + - * / ** and brackets, pi, e and functions; and
// "a = 2; v = a + b; y = v*v", where a number makes an input and a formula names a result.

const SAME = { "^": "**", "²": "**2", "³": "**3", "·": "*", "×": "*", "÷": "/", "−": "-", π: "pi" };
const TAKES = { where: 3, maximum: 2, minimum: 2, less: 2, less_equal: 2, atan2: 2 };
const LISTS = { sum: 1, prod: 1, logsumexp: 1, dot: 2 };
const INSTEAD = { __proto__: null, ln: "log", arcsin: "asin", arccos: "acos", arctan: "atan", max: "maximum", min: "minimum" };
const FIRST = [2, 1, 0.5, -1, 3, -0.5]; // numbers for inputs that were given none
const LONGEST = 2000, MOST = 60;

class Unreadable extends Error {
  constructor(reason, at, end = at + 1) {
    super(reason);
    Object.assign(this, { at, end });
  }
}

function tokens(text) {
  const found = [];
  const sign = /\s*(?:((?:0x[\da-f]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?))|([\p{L}_][\p{L}\p{N}_]*)|(\*\*|[-+*/()[\],;=]))/iuy;
  while (text.slice(sign.lastIndex).trim()) {
    const start = sign.lastIndex, match = sign.exec(text);
    if (!match) {
      const at = start + text.slice(start).search(/\S/);
      throw new Unreadable(`${[...text.slice(at)][0]} has no meaning in a formula`, at);
    }
    const [, digits, name, mark] = match, at = sign.lastIndex - (digits ?? name ?? mark).length;
    if (digits && /[\p{L}_]/u.test(text[sign.lastIndex] ?? "")) {
      throw new Unreadable("a product needs its sign: 2*x", at, sign.lastIndex + 1);
    }
    const value = digits && Number(digits.replaceAll("_", ""));
    if (value === Infinity) throw new Unreadable("this number is too large", at, sign.lastIndex);
    found.push({ kind: digits ? "number" : name ? "name" : mark, value, name, at, end: sign.lastIndex });
  }
  return [...found, { kind: "end", at: text.length, end: text.length + 1 }];
}

// The graph of a text, with the rules of the operations by name; throws Unreadable.
function parse(given, rules) {
  const text = given.replace(/[\^²³·×÷−π]/g, (x) => SAME[x]).normalize("NFKC");
  if (text.length > LONGEST) throw new Unreadable(`at most ${LONGEST} characters are read`, LONGEST);
  const list = tokens(text), nodes = [], labels = [], names = new Map(), inputs = [], formula = [];
  const aliases = new Set();
  let place = 0;
  const next = () => list[place], is = (...kinds) => kinds.includes(next().kind);
  const take = (kind, wanted = kind) => {
    if (is(kind)) return list[place++];
    const found = is("end") ? "the formula ends" : `“${text.slice(next().at, next().end)}” stands`;
    const sign = kind === ";" && is("name", "number", "(") ? "; a product needs its sign: 2*x" : "";
    throw new Unreadable(`${found} where ${wanted} is expected${sign}`, next().at, next().end);
  };
  const add = (node, label = "") => {
    if (nodes.length >= MOST) throw new Unreadable(`more than ${MOST} nodes cannot be shown`, next().at, next().end);
    labels.push(label);
    return { i: nodes.push(node) - 1 };
  };
  const input = (name, value) => {
    const x = add({ value }, name);
    inputs.push(x.i);
    names.set(name, x);
    return x;
  };
  // Plain numbers stay numbers, as in Python: 2*3*x is 6*x.
  const apply = (op, xs, token) => {
    if (op === "where" && typeof xs[0] === "number") return xs[xs[0] ? 1 : 2];
    const rule = rules[`${op}/${xs.length}`];
    if (!rule) throw new Unreadable(`${op} of ${xs.length} numbers is too long for this page`, token.at, token.end);
    if (xs.every((x) => typeof x === "number")) return rule.value(...xs);
    return add({ rule, inputs: xs.map((x) => (typeof x === "number" ? add({ value: x }) : x).i) });
  };
  const power = (x, y, token) => {
    const op = typeof y === "number" ? "power" : typeof x === "number" ? "exponential" : "pow";
    return apply(op, [x, y], token);
  };
  const rows = (count) => Array.from({ length: count }, (_, i) => {
    if (i) take(",");
    take("[");
    const row = [sum()];
    while (is(",")) place++, row.push(sum());
    take("]");
    return row;
  });
  const call = (token) => {
    const { name } = token, known = (op) => Object.keys(rules).some((key) => key.startsWith(`${op}/`));
    if (!known(name) || ["power", "add", "sub", "mul", "div", "neg", "pos", "pow", "exponential", "largest"].includes(name)) {
      const close = INSTEAD[name] ?? (names.has(name) ? `${name}*(…)` : null);
      throw new Unreadable(`there is no function ${name}${close ? `; write ${close}` : ""}`, token.at, token.end);
    }
    take("(");
    let xs;
    if (LISTS[name]) {
      const lists = rows(LISTS[name]);
      if (lists.some((row) => row.length !== lists[0].length)) throw new Unreadable("the two lists differ in length", token.at, token.end);
      xs = lists.flat();
    } else {
      xs = [sum()];
      while (is(",")) place++, xs.push(sum());
      const wanted = name === "hypot" ? xs.length : TAKES[name] ?? 1;
      if (xs.length !== wanted) throw new Unreadable(`${name} takes ${wanted === 1 ? "one number" : `${wanted} numbers`}`, token.at, token.end);
    }
    take(")");
    return apply(name, xs, token);
  };
  const atom = () => {
    const token = next();
    if (is("number")) return list[place++].value;
    if (is("(")) {
      place++;
      const x = sum();
      take(")");
      return x;
    }
    const { name } = take("name", "a number, a name or a bracket");
    if (is("(")) return call(token);
    if (names.has(name)) return names.get(name);
    if (name === "pi" || name === "e") return name === "e" ? Math.E : Math.PI;
    if (rules[`${name}/1`]) throw new Unreadable(`${name} is a function; write ${name}(x)`, token.at, token.end);
    return input(name, FIRST[inputs.length % FIRST.length]);
  };
  const raised = () => {
    const x = atom(), token = next();
    if (!is("**")) return x;
    place++;
    return power(x, signed(), token);
  };
  const signed = () => {
    const token = next();
    if (!is("-", "+")) return raised();
    place++;
    return apply(token.kind === "-" ? "neg" : "pos", [signed()], token);
  };
  const chain = (operand, ops) => () => {
    let x = operand();
    while (ops[next().kind]) {
      const token = list[place++];
      x = apply(ops[token.kind], [x, operand()], token);
    }
    return x;
  };
  const product = chain(signed, { "*": "mul", "/": "div" });
  const sum = chain(product, { "+": "add", "-": "sub" });

  let result = null;
  while (!is("end")) {
    const start = place, token = next(), named = is("name") && list[place + 1].kind === "=";
    if (named) place += 2;
    if (named && names.has(token.name)) throw new Unreadable(`${token.name} is given twice`, token.at, token.end);
    const x = sum();
    if (named && typeof x === "number") input(token.name, x);
    else {
      result = x;
      formula.push(text.slice(list[start].at, list[place].at).trim());
      if (named) names.set(token.name, x);
      if (named && labels[x.i]) aliases.add(token.name);
      if (named) labels[x.i] ||= token.name;
    }
    if (!is("end")) take(";", "a sign");
  }
  if (inputs.length && result === null) result = names.get(labels[inputs[0]]);
  if (result === null || typeof result === "number") {
    throw new Unreadable(text.trim() ? "a formula needs a name, such as x*y" : "type a formula, such as tanh(w*x + b)", 0);
  }
  return ordered({ nodes, inputs, labels, formula: formula.join(";") }, result.i);
}

// The nodes that the output needs, in the order in which Python walks them.
function ordered({ nodes, inputs, labels, formula }, output) {
  const place = new Map(), order = [];
  const visit = (i) => {
    if (place.has(i)) return;
    (nodes[i].inputs ?? []).forEach(visit);
    place.set(i, order.push(i) - 1);
  };
  visit(output);
  const moved = ({ rule, inputs: from, value }) => (rule ? { rule, inputs: from.map((j) => place.get(j)) } : { value });
  return {
    nodes: order.map((i) => moved(nodes[i])), labels: order.map((i) => labels[i]), formula,
    inputs: inputs.filter((i) => place.has(i)).map((i) => place.get(i)),
  };
}
