// The command line's arithmetic: numbers, names, + - * / ** and brackets, pi, e and functions; also
// as people write it, 3x² or 2|x|·√a, where 6/2x is 6/(2x); and "a = 2; v = a + b; y = v*v", where
// a number makes an input and a formula names a result.

const SAME = { "^": "**", "²": "**2", "³": "**3", "·": "*", "×": "*", "÷": "/", "−": "-", π: "pi" };
const LISTS = { sum: 1, prod: 1, logsumexp: 1, dot: 2 };
const ALSO = { __proto__: null, ln: "log", max: "maximum", min: "minimum" };
const BARE = ["(", "[", "+", ",", "=", ";"]; // after these a product needs no brackets
const FIRST = [2, 1, 0.5, -1, 3, -0.5]; // numbers for inputs that were given none
const LONGEST = 2000, MOST = 120;

class Unreadable extends Error {}
const refuse = (reason) => { throw new Unreadable(reason); };

const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/u.source;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/u.source, SIGN = /\*\*|[-+*/()[\],;=|√]/.source;
const TOKEN = RegExp(`\\s*(?:(${NUMBER})|(${NAME})|(${SIGN})|(.))`, "giuys");

function tokens(text) {
  const found = [...text.trimEnd().matchAll(TOKEN)].map((match) => {
    const [all, digits, name, sign, other] = match, value = Number(digits);
    if (other) refuse(`${other} has no meaning in a formula`);
    if (value === Infinity) refuse("this number is too large");
    const kind = digits ? "number" : name ? "name" : sign;
    return { kind, value, name, said: all.trim(), before: "", after: "" };
  });
  return [...found, { kind: "end" }];
}

// The graph of a text, with the rules of the operations by name; throws Unreadable.
function parse(given, rules) {
  if (given.length > LONGEST) refuse(`at most ${LONGEST} characters are read`);
  const text = given.replace(/[\^²³·×÷−π]/g, (x) => SAME[x]).normalize("NFKC"), list = tokens(text);
  const nodes = [], labels = [], names = new Map(), inputs = [], formula = [];
  let place = 0, open = false; // whether a bar would close
  const next = () => list[place], is = (...kinds) => kinds.includes(next().kind);
  const take = (kind, wanted = kind) => {
    if (is(kind)) return list[place++];
    const found = is("end") ? "the formula ends" : `“${next().said}” stands`;
    const beside = [";", ")"].includes(kind) && is("name", "number");
    const remedy = beside ? "; a product needs its sign: x*y" : "";
    return refuse(`${found} where ${wanted} is expected${remedy}`);
  };
  const add = (node, label = "") => {
    if (nodes.length >= MOST) refuse(`more than ${MOST} nodes cannot be shown`);
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
  const isNumber = (x) => typeof x === "number";
  const apply = (op, ...xs) => {
    const rule = rules[`${op}/${xs.length}`];
    if (!rule) refuse(`${op} of ${xs.length} numbers is too long for this page`);
    if (xs.every(isNumber)) return rule.value(...xs);
    return add({ rule, inputs: xs.map((x) => (isNumber(x) ? add({ value: x }) : x).i) });
  };
  const row = (first, last) => {
    const outside = open;
    open = false;
    take(first);
    const xs = [sum()];
    while (is(",")) place++, xs.push(sum());
    take(last);
    open = outside;
    return xs;
  };
  const call = (said) => {
    const name = ALSO[said] ?? said, known = Object.values(rules).find(({ op }) => op === name);
    const remedy = names.has(name) ? `; write ${name}*(…)` : "";
    if (!known) refuse(`there is no function ${name}${remedy}`);
    list[place - 1].said = name;
    if (!LISTS[name]) {
      const xs = row("(", ")"), { arity } = known;
      if (rules[`${name}/${xs.length}`]) return apply(name, ...xs);
      return refuse(`${name} takes ${arity === 1 ? "one number" : `${arity} numbers`}`);
    }
    take("(");
    const first = row("[", "]"), second = LISTS[name] === 2 ? take(",") && row("[", "]") : [];
    take(")");
    if (second.length && second.length !== first.length) refuse("the two lists differ in length");
    return apply(name, ...first, ...second);
  };
  const atom = () => {
    if (is("number")) return list[place++].value;
    if (is("(")) {
      const [x, ...others] = row("(", ")");
      return others.length ? refuse("“,” stands where ) is expected") : x;
    }
    if (is("|", "√")) return marked(list[place++]);
    const { name } = take("name", "a number, a name or a bracket");
    if (/^(nan|inf|infinity)$/i.test(name)) refuse(`${name} is no number that an input can have`);
    if (is("(")) return call(name);
    if (names.has(name)) return names.get(name);
    if (name === "pi" || name === "e") return name === "e" ? Math.E : Math.PI;
    if (rules[`${ALSO[name] ?? name}/1`]) refuse(`${name} is a function; write ${name}(x)`);
    return input(name, FIRST[inputs.length % FIRST.length]);
  };
  const marked = (sign) => { // |x| and √x
    const bars = sign.kind === "|", outside = open;
    sign.said = bars ? "abs(" : "sqrt(";
    open = bars;
    const x = bars ? sum() : atom();
    open = outside;
    if (bars) take("|").said = ")";
    else list[place - 1].after += ")";
    return apply(bars ? "abs" : "sqrt", x);
  };
  const raised = () => {
    const x = atom();
    if (!is("**")) return x;
    place++;
    const y = signed(raised);
    return apply(isNumber(y) ? "power" : isNumber(x) ? "exponential" : "pow", x, y);
  };
  // 3x, 2(a + b), (a + b)(a - b): what stands side by side is one factor
  const beside = () => {
    const from = list[place], bare = BARE.includes(list[place - 1]?.said ?? "(");
    let x = raised(), one = true;
    while (["number", ")", "|"].includes(list[place - 1].kind)
        && (is("name", "(", "√") || (is("|") && !open))) {
      list[place].before = "*";
      x = apply("mul", x, raised());
      one = false;
    }
    if (!one && !bare) {
      from.before += "(";
      list[place - 1].after += ")";
    }
    return x;
  };
  const signed = (operand) => (is("-", "+")
    ? apply(list[place++].kind === "-" ? "neg" : "pos", signed(operand)) : operand());
  const chain = (operand, ops) => () => {
    let x = operand();
    while (ops[next().kind]) x = apply(ops[list[place++].kind], x, operand());
    return x;
  };
  const product = chain(() => signed(beside), { "*": "mul", "/": "div" });
  const sum = chain(product, { "+": "add", "-": "sub" });

  const numbers = [];
  let result = null;
  while (!is("end")) {
    const { name } = next(), from = place, named = name && list[place + 1].kind === "=";
    if (named) place += 2;
    if (named && names.has(name)) refuse(`${name} is given twice`);
    const x = sum();
    if (named && names.has(name)) {
      refuse(`${name} stands on both sides; give the result another name`);
    }
    if (named && isNumber(x)) numbers.push(name) && input(name, x);
    else {
      result = x;
      formula.push(list.slice(from, place).map(({ before, said, after }) =>
        before + said + after).join(""));
      if (named) names.set(name, x), labels[x.i] ||= name;
    }
    if (!is("end")) take(";", "a sign");
  }
  result ??= names.get(numbers[0]) ?? 0;
  if (isNumber(result)) {
    refuse(text.trim() ? "a formula needs a name, such as x*y"
      : "type a formula, such as tanh(w*x + b)");
  }
  return ordered({ nodes, inputs, labels, formula: formula.join(";"), given: numbers }, result.i);
}

// The nodes that the output needs, in the order in which Python walks them.
function ordered({ nodes, inputs, labels, ...more }, output) {
  const place = new Map(), order = [];
  const visit = (i) => {
    if (place.has(i)) return;
    (nodes[i].inputs ?? []).forEach(visit);
    place.set(i, order.push(i) - 1);
  };
  visit(output);
  const moved = ({ inputs: from, ...node }) =>
    ({ ...node, inputs: from?.map((j) => place.get(j)) });
  return { ...more, nodes: order.map((i) => moved(nodes[i])), labels: order.map((i) => labels[i]),
    inputs: inputs.filter((i) => place.has(i)).map((i) => place.get(i)) };
}
