# pyright: analyzeUnannotatedFunctions=false
"""Notebook 4: the gallery that an engine has to get right; its guesses and its exercises."""

import math
import operator
import tracemalloc
from functools import cache
from itertools import combinations_with_replacement, product

from autodiff import grad, tiny
from autodiff.tiny import Value, recorded

from .verdicts import Exercise, Hint, a, after_your_guess, empty, guesses, pair, solutions

# -- The gallery: all programs of up to three lines ----------------------------------------------

INPUTS, LINES = "abcd", "pqr"
NAMES = INPUTS + LINES
DATA = (3.0, 5.0, 7.0, 11.0)
SIGNS = {"+": operator.add, "*": operator.mul}


def programs(lines):
    """All programs of that many lines with + and * on four inputs, none with an unused line."""
    operands = range(len(INPUTS), len(INPUTS) + lines)
    pairs = [combinations_with_replacement(range(before), 2) for before in operands]
    for program in product(*[list(product(SIGNS, choices)) for choices in pairs]):
        used = {i for _, pair in program for i in pair}
        if used.issuperset(operands[:-1]):  # the last line is the output
            yield program


GRAPHS = [program for lines in (1, 2, 3) for program in programs(lines)]


def listing(program):
    """A program as text: p = a + a; q = a + p."""
    lines = [f"{NAMES[i]} {sign} {NAMES[j]}" for sign, (i, j) in program]
    return "; ".join(f"{name} = {line}" for name, line in zip(LINES, lines))


MILLION = tuple(("+", (i and i + 3,) * 2) for i in range(20))  # paths, in 20 doublings
GALLERY = {listing(program): (program,) for program in GRAPHS} | {"20 doublings": (MILLION,)}


def run(program, inputs):
    """The nodes of a program: four inputs, then its lines. The last one is the output."""
    nodes = [*inputs]
    for sign, (i, j) in program:
        nodes.append(SIGNS[sign](nodes[i], nodes[j]))
    return nodes


@cache
def gradients(program):
    """The derivatives of a program with respect to its inputs, by the package."""
    return grad(lambda inputs: run(program, inputs)[-1])(DATA)


def fault(engine, program, calls=1):
    """The first input whose grad an engine gets wrong, and what belongs there; else no text."""
    nodes = run(program, map(Value, DATA))
    for _ in range(calls):
        engine(nodes[-1])
    for name, x, right in zip(INPUTS, nodes, gradients(program)):
        if x.grad != calls * right:
            return f"{listing(program)}: {name}.grad is {x.grad}, not {calls * right}"
    return ""


def examine(engine, calls=1):
    """Print how many graphs an engine gets right, and the smallest that it gets wrong."""
    faults = [text for text in (fault(engine, program, calls) for program in GRAPHS) if text]
    print(f"right on {len(GRAPHS) - len(faults):,} graphs of {len(GRAPHS):,}")
    if faults:
        print("smallest counterexample:", faults[0])


def peak_memory(work):
    """The most memory in use at any time, in kB."""
    work()  # once before, to load everything
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1000


class Watched(Value):
    """A Value that loses patience if parents are read too often."""

    looks = 0

    def __getattribute__(self, name):
        Watched.looks += name == "parents"
        if Watched.looks > 10_000:
            raise Hint(PATH_BY_PATH)
        return super().__getattribute__(name)


PATH_BY_PATH = (
    "Right on small graphs, but it goes path by path:\na graph of 20 doublings has 2²⁰ of them. Take "
    "each node once."
)


def watched(program):
    """The nodes of a program; those of the million paths are watched."""
    nodes = run(program, map(Value, DATA))
    for node in nodes if program == MILLION else []:
        node.__class__ = Watched
    Watched.looks = 0
    return nodes


predict = guesses(
    {
        135: "Right: small nudges do not get in one another's way, so their effects add.",
        ...: "Each path brings its own share of the nudge to y.",
    },
    {
        18: "Right: u moves 6 times as far as x, and y 3 times as far as u. Rates multiply.",
        9: "Rates multiply along a chain; they do not add.",
        27: "That is the value of y, not how fast it moves.",
        ...: "How fast does u move with x, and y with u? Multiply.",
    },
    {
        5: "Right: x2 stands still, so it is a factor like any other.",
        2: "That is how far y moves with x2. Here x1 moves.",
        ...: "x2 stands still, at 5: it is a factor like any other.",
    },
    {
        10: "Right: the inner function remembers a = 2. That is a closure.",
        2: "That is a, which the function remembers. It multiplies it by 5.",
        ...: "times(2) is a function that remembers a = 2, and it is called with 5.",
    },
    {
        1: "Right: the product sends x1 times the adjoint of y, which is 1.",
        ...: "Which message to x2 has x1 as a factor? Drag, and see.",
    },
    {
        1: "Right: of two messages of 1 one is lost.",
        ...: "Two messages of 1 are sent. What happens to each?",
    },
    {
        8: "Right: p sends its whole grad of 2 along two edges, and does that twice.",
        ...: "How often is p in the queue, and what does it send each time?",
    },
    {
        8: "Right: p sends 1 in the first call, and 2 in the second, along two edges each.",
        6: "p still has its grad from the first call, and adds to it.",
        ...: "Add them up: what do p and q send to a in the first call, and in the second?",
    },
    {
        40: "Right: two for each doubling.",
        ...: "Count the edges: one message goes along each.",
    },
)

ADJOINTS = {"u": "v sends it v̄·u twice, and w sends it w̄·b.", "b": "u sends it ū, and w w̄·u."}


def solution_1():
    v_bar, w_bar = 1.0, -1.0  # y = v - w
    u_bar = v_bar * 5.0 + v_bar * 5.0 + w_bar * 3.0  # v = u * u, w = u * b
    b_bar = u_bar * 1.0 + w_bar * 5.0  # u = a + b, w = u * b
    return u_bar, b_bar


check_1 = Exercise(
    solution_1(),
    ask=pair(u="adjoint of u", b="adjoint of b"),
    praise="Right: u gets 5 + 5 - 3 = 7 and b 7 - 5 = 2. And y is (a + b)·a, whose slope in b is a.",
    otherwise=lambda part, _: f"{part}: {ADJOINTS[part]}",
    slips={
        "u: v = u * u sends two messages, one along each edge. You have one of them.": (2.0, 2.0),
        "u: those are the messages from v. There is one from w too.": (10.0, 2.0),
        "u: all three messages are there, but y = v - w gives w the adjoint -1.": (13.0, 2.0),
        "b: that is the message from u = a + b. But w = u * b uses b as well.": (7.0, 7.0),
    },
)


def result_and_messages(rule, inputs, upstream, names="xy"):
    """What a rule returns, and what its closure sends."""
    found = rule(*inputs)
    if not isinstance(found, tuple) or len(found) != 2 or not callable(found[1]):
        raise Hint("Return a pair: the result, and the closure.")
    yield "the result", found[0]
    messages = found[1](upstream)
    if empty(messages):
        messages = (...,) * len(inputs)
    if not isinstance(messages, (tuple, list)) or len(messages) != len(inputs):
        count = "one message. Mind the comma: (message,)" if len(inputs) == 1 else "two messages."
        raise Hint(f"The closure returns a tuple of {count}")
    for name, message in zip(names, messages):
        yield f"the message for {name}", message


def solution_2(x):
    y = math.tanh(x)
    return y, lambda grad: (grad * (1 - y * y),)


check_2 = Exercise(
    solution_2,
    ask=lambda answer, x, grad: result_and_messages(answer, (x,), grad),
    at=[(0.5, 2.0), (0.5, -3.0), (-1.0, 1.0), (0.0, 4.0), (2.0, 0.5)],
    praise="Right: 1 - tanh² x, from the result that is there already, times grad.",
    otherwise="The message is grad times 1 - y².",
    slips={
        "That is the local derivative. A message is grad times that.": "grad * ( → (",
        "1 - x² should be 1 - y², with the result y = tanh x.": "y * y → x * x",
        "Python multiplies first: put brackets around 1 - y².": "(1 - y * y) → 1 - y * y",
    },
)


def sent(send, program):
    nodes = run(program, map(Value, DATA))
    nodes[0].grad, nodes[-1].grad = 100.0, 2.0
    send(nodes[-1])
    yield "the node's own grad", nodes[-1].grad
    for name, node in zip(NAMES, nodes[:-1]):
        yield f"{name}.grad", node.grad


def solution_3(node):
    for parent, message in zip(node.parents, node.closure(node.grad)):
        parent.grad += message


def two_parents(node):
    (a, b), (to_a, to_b) = node.parents, node.closure(node.grad)
    a.grad += to_a
    b.grad += to_b


check_3 = Exercise(
    solution_3,
    ask=sent,
    at={
        f"{listing(program)}, with {NAMES[len(program) + 3]}.grad = 2 and a.grad = 100,": (program,)
        for program in GRAPHS[11:12] + GRAPHS[:1] + GRAPHS[30:60:10] + [()]
    },
    praise="Right: one message along each edge, added to what has arrived before.",
    otherwise="Every parent gets one message of node.closure(node.grad), added.",
    slips={
        "A message is not the adjoint, but what the closure makes of it.": "parent.grad += message → parent.grad += node.grad",
        "The closure returns all the messages together: give each parent its own.": "+= message → += node.closure(node.grad)",
        "An input has no parents: go through as many as there are.": two_parents,
        "No grad has changed: assign the sum, parent.grad += ...": "+= → +",
        "A message replaced what was there. Add it: +=": "+= → =",
        "Give the closure the node's grad, neither 1 nor its data.": [
            "node.grad → 1.0",
            "(node.grad → (node.data",
        ],
        "Each message is for a parent: the node's own grad stays.": "parent.grad += → node.grad +=",
        "A node that is a parent twice gets two messages: one for each edge.": (
            "zip(node.parents, node.closure(node.grad)) → "
            "dict(zip(node.parents, node.closure(node.grad))).items()"
        ),
        "Send to the parents only, no further.": "+= message → += message; solution_3(parent)",
    },
)


def placed(order, program):
    nodes = watched(program)
    found = order(nodes[-1])
    if not isinstance(found, (list, tuple, dict)):
        raise Hint(f"Expected a list of the nodes, found {a(found)}.")
    if not all(isinstance(x, Value) for x in found):
        raise Hint("Return a list of the nodes themselves.")
    if not {*found} <= {*nodes}:
        raise Hint("There are nodes of another graph. Begin with an empty list in each call.")
    names = dict(zip(nodes, NAMES))
    place = {x: i for i, x in enumerate(found)}
    at = place.get(nodes[-1])
    yield "the root", {None: "missing", 0: "first", len(found) - 1: "last"}.get(at, "in between")
    yield "each node", "once" if len(place) == len(found) else "more than once"
    edges = [(x, parent) for x in place for parent in x.parents]
    lost = [names.get(parent) for _, parent in edges if parent not in place]
    yield "the parents", f"without {lost[0]}" if lost else "there"
    late = [f"{names.get(x)} before its parent" for x, p in edges if place[p] > place[x]]
    yield "the order", late[0] if late else "each node after its parents"


def by_queue(root):
    queue = [root]
    for node in queue:
        queue += [x for x in dict.fromkeys(node.parents) if x not in queue]
    return queue[::-1]


def all_paths(root):
    return [x for parent in root.parents for x in all_paths(parent)] + [root]


def solution_4(root):
    found = {}  # a dict remembers the order in which its keys came

    def visit(node):
        if node not in found:
            for parent in node.parents:
                visit(parent)
            found[node] = None

    visit(root)
    return list(found)


check_4 = Exercise(
    solution_4,
    ask=placed,
    at=GALLERY,
    praise=f"Right on all {len(GRAPHS):,} graphs: each node once, after its parents.",
    slips={
        "{at} the root is missing: it follows its parents.": "list(found) → list(found)[:-1]",
        "{at} the root comes first. Enter it after its parents.": "list(found) → list(found)[::-1]",
        "{at} a node is there {found}. Skip what is in the list.": [
            all_paths,
            "[*root.parents, root]",
        ],
        "{at} the parents are missing: visit each of them, and theirs.": "[root]",
        "{at} the list has {found}. Enter a node only when its parents are in.": by_queue,
        PATH_BY_PATH: "if node not in found: → if True:",
    },
)

send, order = solution_3, solution_4  # the names that solution_5 uses


def walked(engine, program):
    nodes = watched(program)
    for calls in ("", ", called twice,"):
        engine(nodes[-1])
        yield f"the grad of the root{calls}", nodes[-1].grad
        for name, node in zip(INPUTS, nodes):
            yield f"{name}.grad{calls}", node.grad


def again(part, _):
    if "root" in part:
        return "The root's adjoint is 1."
    if "twice" in part:
        return "Inputs accumulate, and every other node starts at 0."
    return "Which node sends before its last message has come? Follow it with a pencil."


def unordered(root):
    root.grad, queue = 1.0, [root]
    for node in queue:
        send(node)
        queue.extend(node.parents)


def solution_5(root):
    nodes = order(root)
    for node in nodes:
        if node.parents:  # inputs accumulate, all others start afresh
            node.grad = 0.0
    root.grad = 1.0
    for node in reversed(nodes):
        send(node)


check_5 = Exercise(
    solution_5,
    ask=walked,
    at=GALLERY,
    praise=f"Right on all {len(GRAPHS):,} graphs, twice in a row, and on one with a million paths.",
    otherwise=again,
    slips={
        "The root's adjoint is 1, not {found}: is it set, and kept?": "root.grad = 1.0 → pass",
        "{at} a.grad is {found}, not {expected}. Every node sends, last to first.": [
            "reversed(nodes) → [root]",
            "reversed(nodes) → nodes",
        ],
        "{at} a.grad is {found}, not {expected}. Take the nodes in order(root), reversed.": [
            unordered,
            "order(root) → by_queue(root)",
        ],
        "{at} a.grad is {found}, not {expected}. The nodes between still hold the grad of the first "
        "call: set it to 0.": "if node.parents: → if False:",
        "{at} a.grad is {found}, not {expected}. Inputs accumulate: leave their grad alone.": "if node.parents: → if True:",
        PATH_BY_PATH: "order(root) → list(dict.fromkeys(all_paths(root)))",
    },
)

HEIGHTS = [17.93, 36.36, 67.76, 98.10, 131.00, 169.50, 205.50, 228.30, 247.10, 250.50, 253.80]
HEIGHTS += [254.50]  # centimetres, after 7, 14, ... 84 days
SUNFLOWER = [(week / 3 - 2, height / 100) for week, height in enumerate(HEIGHTS, start=1)]


def trained(train, points, rate):
    found = train(points, 4, rate)
    try:
        parameters, losses = found
        data = [float(x.data) for x in parameters]
    except (TypeError, ValueError, AttributeError):
        raise Hint("Return the parameters (four nodes) and the list of losses.") from None
    yield "the first loss", losses[0]
    yield "each parameter", "where it was" if losses[0] == losses[-1] else "moving"
    for name, x in zip("abcd", data):
        yield f"{name} after 4 steps", x


def solution_6(points, steps=300, rate=0.02):
    parameters = a, b, c, d = Value(1.0), Value(1.0), Value(0.0), Value(1.0)
    losses = []
    for _ in range(steps):
        loss = Value(0.0)
        for time, height in points:
            error = a * recorded(tanh)(b * time + c) + d - height
            loss = loss + error * error
        losses.append(loss.data)
        backward(loss)
        for parameter in parameters:
            parameter.data -= rate * parameter.grad
            parameter.grad = 0.0
    return parameters, losses


tanh, backward = solution_2, solution_5


def praise_6(train):
    _, losses = train(SUNFLOWER, 300, 0.02)
    if not losses[-1] < 0.02:
        raise Hint(f"The first steps are right, but after 300 the loss is {losses[-1]:.4f}.")
    return f"It learns! The loss falls from {losses[0]:.4f} to {losses[-1]:.4f}. And the engine is yours."


check_6 = Exercise(
    solution_6,
    ask=trained,
    at={f"three points and a rate of {rate}": (SUNFLOWER[4:7], rate) for rate in (0.02, 0.01)},
    praise=praise_6,
    otherwise="Each parameter moves by -rate times its grad, and its grad goes back to 0.",
    slips={
        "Nothing here yet that moves a parameter. Walk back from the loss, assign to parameter.data, and "
        "only then set the grad to 0.": "parameter.data -= → parameter.data -",
        "The loss grows: you walk uphill. Go against the gradient: -=": "-= → +=",
        "Each step adds to the last gradients: set them to 0.": "parameter.grad = 0.0 → pass",
        "The learning rate should be `rate`.": ["-= rate → -= 0.02", "-= rate * → -="],
    },
)

solution = solutions(globals())
