// The command line's arithmetic: numbers, names, + - * / ** and brackets, pi, e and functions; also
// as people write it, 3x⁴ or 2|x|·√a, where 6/2x is 6/(2x); and "a = 2; v = a + b; y = v*v", where
// a number makes an input and a formula names a result. What the command line reads, too, means
// the same there: tests/support/spellings.py.

const SAME = { __proto__: null, "^": "**", "·": "*", "⋅": "*", "×": "*", "÷": "/", "−": "-",
  π: "pi" };
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺"; // a run of them is an exponent
const LISTS = { sum: 1, prod: 1, logsumexp: 1, dot: 2 };
const ALSO = { __proto__: null, ln: "log", max: "maximum", min: "minimum" };
const TIMES_OR_OVER = { "*": "mul", "/": "div" }, PLUS_OR_MINUS = { "+": "add", "-": "sub" };
const BARE = ["(", "[", "+", ",", "=", ";"]; // after these a product needs no brackets
const FIRST = [2, 0.5, 1, -1, 3, -0.5]; // numbers for inputs that were given none
const LONGEST = 9000, MOST = 400;

class Unreadable extends Error {}
const refuse = (reason) => { throw new Unreadable(reason); };

// Numbers and names are those of Python, but for x·y.
const WHOLE = /\d+(?:_\d+)*/.source;
const POINT = `(?:${WHOLE}\\.?(?:${WHOLE})?|\\.${WHOLE})(?:e[-+−]?${WHOLE})?`;
const NUMBER = `0(?:x[\\da-f]+|o[0-7]+|b[01]+)|${POINT}`;
const NAME = /[\p{XID_Start}_](?:(?!·)\p{XID_Continue})*/u.source;
const SIGN = /\*\*|[-+*/()[\],;=|√^·⋅×÷−]/.source;
const TOKEN = RegExp(`\\s*(?:(${NUMBER})|(${NAME})|(${SIGN})|(.))`, "giuys");

function tokens(text) {
  const found = [...text.trimEnd().matchAll(TOKEN)].map((match) => {
    const [all, digits, name, , other] = match, typed = all.trim(), said = SAME[typed] ?? typed;
    const value = Number(digits?.replaceAll("_", "").replace("−", "-"));
    if (other) refuse(`“${other}” has no meaning in a formula`);
    if (digits && text[match.index + all.length] === "_") refuse(`Write ${value} for ${digits}_`);
    if (value === Infinity) refuse("This number is too large");
    if (/^0[\d_]*[1-9][\d_]*$/.test(digits)) refuse(`Write ${value} for ${digits}`);
    if (reserved.includes(name)) refuse(`“${name}” is a word of Python; write ${name}_`);
    const kind = digits ? "number" : name ? "name" : said;
    return { kind, value, name: name && said, typed, said, apart: all !== typed, before: "",
      after: "" };
  });
  return [...found, { kind: "end" }];
}

// The graph of a text, with the rules of the operations by name; throws Unreadable.
function parse(given, rules) {
  if (given.length > LONGEST) refuse(`At most ${LONGEST} characters are read`);
  const power = (run) => ` ^${[...run].map((x) => "0123456789-+"[RAISED.indexOf(x)]).join("")} `;
  const text = given.replace(RegExp(`[${RAISED}]+`, "g"), power).normalize("NFKC");
  const list = tokens(text), unsure = [];
  const nodes = [], labels = [], names = new Map(), inputs = [], formula = [];
  let place = 0, open = false; // whether a bar would close
  const next = () => list[place], is = (...kinds) => kinds.includes(next().kind);
  const take = (kind, wanted = kind) => {
    if (is(kind)) return list[place++];
    const found = is("end") ? "The formula ends" : `“${next().typed}” stands`;
    const ends = [";", ")"].includes(kind);
    const remedy = ends && is("name", "number") ? "; a product needs its sign: x*y"
      : kind === ";" && is(",") ? "; formulas stand apart by ; as in a=2; b=3" : "";
    return refuse(`${found} where ${wanted} is expected${remedy}`);
  };
  const add = (node, label = "") => {
    if (nodes.length >= MOST) refuse(`More than ${MOST} nodes cannot be shown`);
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
  const apply = (from, op, ...xs) => { // from: the place in the list where it begins
    const rule = rules[`${op}/${xs.length}`];
    if (!rule) refuse(`“${op}” of ${xs.length} numbers is too long for this page`);
    if (xs.every(isNumber)) {
      const value = rule.value(...xs);
      const typed = list.slice(from, place).map((x) => x.typed).join("");
      return Number.isFinite(value) ? value : refuse(`“${typed}” has no value, or one too large`);
    }
    return add({ rule, inputs: xs.map((x) => (isNumber(x) ? add({ value: x }) : x).i) });
  };
  const row = (first, last, ended = () => {}) => {
    const outside = open;
    open = false;
    take(first);
    const xs = [sum()];
    while (is(",")) {
      place++;
      xs.push(sum());
      ended();
    }
    take(last);
    open = outside;
    return xs;
  };
  const ruleOf = (name) => Object.values(rules).find(({ op }) => op === (ALSO[name] ?? name));
  const call = (said) => {
    const low = said.toLowerCase(), known = ruleOf(low), from = place - 1, word = list[from];
    if (!known) refuse(`There is no function ${word.typed}; ${names.has(said)
      ? `write ${word.typed}*(…)` : "there are exp, ln, sin, tanh, relu, max and others"}`);
    const { op: name, arity } = known;
    word.said = name;
    if (!is("(")) return bare(said, name);
    if (ALSO[low] && arity === 2) { // max(a, b, c) is maximum(maximum(a, b), c)
      const xs = row("(", ")", () => list[place - 1].after += ")");
      if (xs.length < 2) refuse(`“${said}” takes at least two numbers`);
      list[place - 1].said = "";
      word.said = Array(xs.length - 1).fill(name).join("(");
      return xs.reduce((x, y) => apply(from, name, x, y));
    }
    if (!LISTS[name]) {
      const xs = row("(", ")");
      if (rules[`${name}/${xs.length}`]) return apply(from, name, ...xs);
      return refuse(`“${said}” takes ${arity === 1 ? "one number" : `${arity} numbers`}`);
    }
    take("(");
    const first = row("[", "]"), second = LISTS[name] === 2 ? take(",") && row("[", "]") : [];
    take(")");
    if (second.length && second.length !== first.length) refuse("The two lists differ in length");
    return apply(from, name, ...first, ...second);
  };
  // sin x: what follows is a name, or a function of something; sin x² would be two things.
  const bare = (said, name) => {
    const one = rules[`${name}/1`] && !LISTS[name];
    const remedy = `“${said}” is a function; write ${said}${one ? "(x)" : "(…)"}`;
    if (!one || !is("name", "|", "√")) return refuse(remedy);
    const from = place - 1;
    list[from].after = "(";
    const x = atom();
    list[place - 1].after += ")";
    return is("**") ? refuse(`${remedy}^2, or ${said}(x^2)`) : apply(from, name, x);
  };
  const atom = () => {
    if (is("number")) return list[place++].value;
    if (is("(")) {
      const [x, ...others] = row("(", ")");
      return others.length ? refuse("“,” stands where ) is expected") : x;
    }
    if (is("|", "√")) return marked(list[place++]);
    const { name } = take("name", "a number, a name or a bracket");
    if (/^(nan|inf|infinity)$/i.test(name)) refuse(`“${name}” is no number that an input can have`);
    if (is("(")) return call(name);
    if (names.has(name)) return names.get(name);
    if (name === "pi" || name === "e") return name === "e" ? Math.E : Math.PI;
    if (ruleOf(name)) return call(name);
    if (/^\p{L}{2}$/u.test(name)) unsure.push(name);
    return input(name, FIRST[inputs.length % FIRST.length]);
  };
  const marked = (sign) => { // |x| and √x
    const bars = sign.kind === "|", outside = open, from = place - 1;
    sign.said = bars ? "abs(" : "sqrt(";
    open = bars;
    const x = bars ? sum() : atom();
    open = outside;
    if (bars) take("|").said = ")";
    else list[place - 1].after += ")";
    return apply(from, bars ? "abs" : "sqrt", x);
  };
  const raised = () => {
    const from = place, x = atom();
    if (!is("**")) return x;
    place++;
    const y = signed(raised);
    return apply(from, isNumber(y) ? "power" : isNumber(x) ? "exponential" : "pow", x, y);
  };
  // 3x, 2(a + b), (a + b)(a - b): what stands side by side is one factor
  const beside = () => {
    const from = place, bare = BARE.includes(list[place - 1]?.said ?? "(");
    let x = raised(), one = true;
    while (["number", ")", "|"].includes(list[place - 1].kind)
        && (is("name", "(", "√") || (is("|") && !open))) {
      if (!bare && next().apart) refuse("After / or * a space is read in two ways; write 1/(2*x)");
      list[place].before = "*";
      x = apply(from, "mul", x, raised());
      one = false;
    }
    if (!one && !bare) {
      list[from].before += "(";
      list[place - 1].after += ")";
    }
    return x;
  };
  const signed = (operand) => (is("-", "+")
    ? apply(place, list[place++].kind === "-" ? "neg" : "pos", signed(operand)) : operand());
  const chain = (operand, ops) => () => {
    const from = place;
    let x = operand();
    while (ops[next().kind]) x = apply(from, ops[list[place++].kind], x, operand());
    return x;
  };
  const product = chain(() => signed(beside), TIMES_OR_OVER);
  const sum = chain(product, PLUS_OR_MINUS);

  const numbers = [];
  let result = null;
  while (!is("end")) {
    const { name } = next(), from = place, named = name && list[place + 1].kind === "=";
    if (named) place += 2;
    const before = named && names.get(name);
    if (named && ruleOf(name)) refuse(`“${name}” is a function; give the result another name`);
    const x = sum();
    if (before && isNumber(x) && inputs.includes(before.i) && !numbers.includes(name)) {
      nodes[before.i].value = x; // its number stands after its formula
      numbers.push(name);
    } else if (before) {
      refuse(`“${name}” is ${numbers.includes(name) ? "given twice"
        : "used before it is given; put its formula first"}`);
    } else if (named && names.has(name)) {
      refuse(`“${name}” stands on both sides; give the result another name`);
    } else if (named && isNumber(x)) numbers.push(name) && input(name, x);
    else {
      result = x;
      const said = list.slice(from, place).map((x) => x.before + x.said + x.after).join("");
      formula.push({ said, i: x.i });
      if (named) names.set(name, x), labels[x.i] ||= name;
    }
    if (!is("end")) take(";", "a sign");
  }
  if (result === null && numbers.length) {
    result = names.get(numbers[0]);
    formula.push({ said: numbers[0], i: result.i });
  }
  result ??= 0;
  if (isNumber(result)) {
    refuse(text.trim() ? "A formula needs a name, such as x*y"
      : "Type a formula, such as tanh(w*x + b)");
  }
  return ordered({ nodes, inputs, labels, formula, given: numbers,
    unsure: unsure.filter((name) => !numbers.includes(name)) }, result.i);
}

// The nodes that the output needs, in the order in which Python walks them.
function ordered({ nodes, inputs, labels, formula, ...more }, output) {
  const place = new Map(), order = [];
  const visit = (i) => {
    if (place.has(i)) return;
    (nodes[i].inputs ?? []).forEach(visit);
    place.set(i, order.push(i) - 1);
  };
  visit(output);
  const moved = ({ inputs: from, ...node }) =>
    ({ ...node, inputs: from?.map((j) => place.get(j)) });
  const needed = formula.filter(({ i }) => place.has(i)).map(({ said }) => said);
  return { ...more, formula: needed.join(";"), nodes: order.map((i) => moved(nodes[i])),
    labels: order.map((i) => labels[i]),
    inputs: inputs.filter((i) => place.has(i)).map((i) => place.get(i)) };
}
