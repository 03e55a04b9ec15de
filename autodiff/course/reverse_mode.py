# pyright: analyzeUnannotatedFunctions=false
"""Notebook 4: what it measures, its guesses and its exercises."""

import math
import tracemalloc

from autodiff.tiny import Value, recorded

from . import our_engine as solution_7
from .gallery import (
    DATA,
    GALLERY,
    GRAPHS,
    INPUTS,
    NAMES,
    PATH_BY_PATH,
    examine,
    listing,
    patience,
    run,
)
from .verdicts import (
    Edit,
    Exercise,
    Hint,
    after_your_guess,
    edits,
    empty,
    expect,
    guesses,
    plain,
    solutions,
)
from .your_engine import check_7


def peak_memory(work):
    """The most memory in use at any time, in kB."""
    work()  # once before, to load everything
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1000


class Counted(float):
    """A number that counts the arithmetic done with it, here and wherever its results go."""

    operations = 0


def counted(method):
    def on_numbers(*numbers):
        Counted.operations += 1
        return Counted(method(*numbers))

    return on_numbers


for sign in ("neg", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    setattr(Counted, f"__{sign}__", counted(getattr(float, f"__{sign}__")))


predict = guesses("""
    1. 135: Right: small nudges do not get in one another's way, so their effects add.
       63: Those are two of the three paths. Which is missing?
       81: Those are two of the three paths. Which is missing?
       126: Those are two of the three paths. Which is missing?
       9 to 72: Is that one path alone? Each of the three brings its own share of the nudge to y.
       34992: Rates multiply along a path. These are three paths side by side.
       else: Multiply along each path. And each brings its own share of the nudge to y.
    2. 18: Right: u moves 6 times as far as x, and y 3 times as far as u. Rates multiply.
       9: Rates multiply along a chain; they do not add.
       27: That is the value of y, not how fast it moves.
       else: How fast does u move with x, and y with u? Multiply.
    3. 5: Right: x2 stands still, so it is a factor like any other.
       2: That is how far y moves with x2. Here x1 moves.
       else: x2 stands still, at 5: it is a factor like any other.
    4. 10: Right: the inner function remembers a = 2. That is a closure.
       2: That is a, which the function remembers. It multiplies it by 5.
       else: times(2) is a function that remembers a = 2, and it is called with 5.
    5. 7: Right: the product sends 5's factor, 7, to the sum, and the sum copies it to a and b.
       2: That is a itself. What does the product send to the sum?
       5: That is what the maximum gets. The sum gets the *other* factor.
       35: That is y. What does the product send to the sum?
       else: What does the product send to the sum? And what does the sum do with it?
    6. 0: Right: d is the larger, so y does not depend on c at all.
       else: Nudge c alone by a hair: does the maximum move?
    7. 1: Right: of two messages of 1 one is lost.
       2: Two messages of 1 are sent, but these engines have a fault: follow them line by line.
       else: Two messages of 1 are sent. What happens to each?
    8. 8: Right: p sends its whole grad of 2 along two edges, and does that twice.
       else: How often is p in the queue, and what does it send each time?
    9. 8: Right: p sends 1 in the first call, and 2 in the second, along two edges each.
       6: p still has its grad from the first call, and adds to it.
       else: Add them up: what do p and q send to a in the first call, and in the second?
    10. 40: Right: two for each doubling.
       20: Nearly. How many edges has y + y?
       1048576: So many paths there are. But the walk goes along each edge once.
       else: Count the edges: one message goes along each.
    11. 7: Right: one for the value, four for the messages, two to add them.
       6: Nearly. Does your count have the minus?
       5: And to add the messages where they arrive?
       else: Count: the value, both messages, the minus, and adding the messages where they arrive.
    12. 3.5 to 4.5: Right: the closures of every round wait for the way back.
       1: That is forward mode, which forgets as it goes. Here every closure is kept.
       else: Each round makes as many closures as the one before, and all are kept.
""")

ADJOINTS = {"u": "v sends it v̄·u twice, and w sends it w̄·b.", "b": "u sends it ū, and w w̄·u."}


def solution_1():
    v_bar, w_bar = 1.0, -1.0  # y = v - w
    u_bar = v_bar * 5.0 + v_bar * 5.0 + w_bar * 3.0  # v = u * u, w = u * b
    b_bar = u_bar * 1.0 + w_bar * 5.0  # u = a + b, w = u * b
    return u_bar, b_bar


def adjoints_of_u_and_b(answer):
    entries = plain(answer)
    if not isinstance(entries, list) or len(entries) != 2:
        raise Hint("Expected two numbers: (adjoint of u, adjoint of b).")
    if entries == [2.0, 7.0]:
        raise Hint("Both numbers are right, in the other order: first the adjoint of u.")
    yield from zip("ub", entries)


check_1 = Exercise(
    solution_1(),
    ask=adjoints_of_u_and_b,
    praise="Right: u gets 5 + 5 - 3 = 7 and b 7 - 5 = 2. And y is (a + b)·a, whose slope in b is a.",
    otherwise=lambda part, _: f"{part}: {ADJOINTS[part]}",
    slips={
        "u: v = u * u sends two messages, one along each edge. You have one of them.": (2.0, 2.0),
        "u: those are the messages from v. There is one from w too.": (10.0, 2.0),
        "u: all three messages are there, but y = v - w gives w the adjoint -1.": (13.0, 2.0),
        "b: that is the message from u = a + b. But w = u * b uses b as well.": (7.0, 7.0),
        "b: both messages are there, but w has the adjoint -1.": (7.0, 12.0),
    },
)


def result_and_messages(rule, inputs, upstream, names="xy"):
    """What a rule returns, and what its closure sends."""
    found = rule(*inputs)
    if not isinstance(found, (tuple, list)) or len(found) != 2 or not callable(found[1]):
        raise Hint("Return a pair: the result, and the closure.")
    yield "the result", found[0]
    messages = found[1](upstream)
    if empty(messages):
        messages = (...,) * len(inputs)
    if not isinstance(messages, (tuple, list)) or len(messages) != len(inputs):
        comma = "" if isinstance(messages, (tuple, list)) else " Mind the comma: (message,)"
        count = f"one message.{comma}" if len(inputs) == 1 else "two messages."
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
    otherwise="By the chain rule it has two factors. For one of them, y is at hand.",
    slips="""
        That is the local derivative: multiply it by grad.
            grad * →
        1 - x² should be 1 - y², with y = tanh x.
            y * y → x * x
        Python multiplies first: 1 - y² needs brackets.
            (1 - y * y) → 1 - y * y
    """,
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


def by_two(node):
    x, y = node.parents
    for parent, message in zip((x, y), node.closure(node.grad)):
        parent.grad += message


def sent_on(node):
    solution_3(node)
    for parent in node.parents:
        sent_on(parent)


check_3 = Exercise(
    solution_3,
    ask=sent,
    at={
        f"{listing(program)}, with {NAMES[len(program) + 3]}.grad = 2 and a.grad = 100,": (program,)
        for program in GRAPHS[11:12] + GRAPHS[:1] + GRAPHS[30:60:10] + [()]
    },
    praise="Right: one message along each edge, added to what has arrived before.",
    otherwise="Every parent gets its own message, added to what it has.",
    slips=edits("""
        That is the adjoint, not what the closure makes of it.
            += message → += node.grad
        The closure returns all the messages together: give each parent its own.
                       → += node.closure(node.grad)
        No grad has changed: assign the sum, parent.grad += ...
            += → +
        A message replaced what was there. Add it: +=
               → =
        Give the closure the node's grad, neither 1 nor its data.
            node.grad → 1.0
                      → node.data
        A node that is a parent twice gets two messages: one for each edge.
            zip(node.parents, node.closure(node.grad)) → dict(zip(node.parents, node.closure(node.grad))).items()
        Go through parents and messages side by side: zip(parents, messages).
            → (node.parents, node.closure(node.grad))
        The closure has multiplied by node.grad already.
            += message → += message * node.grad
    """)
    | {
        "An input has no parents: go through as many as there are.": [
            by_two,
            Edit("zip(node.parents", "zip([node.parents[0], node.parents[1]]"),
        ],
        "One node sends, no more: its parents send when their turn comes.": sent_on,
    },
)


def placed(order, program):
    nodes = run(program, map(Value, DATA))
    with patience():
        found = order(nodes[-1])
    expect(isinstance(found, (list, tuple, dict)), "a list of the nodes", found)
    if not all(isinstance(x, Value) for x in found):
        raise Hint("Return a list of the nodes themselves.")
    if not {*found} <= {*nodes}:
        raise Hint("There are nodes of another graph. Begin with an empty list in each call.")
    names = dict(zip(nodes, NAMES))
    place = {x: i for i, x in enumerate(found)}
    at = place.get(nodes[-1])
    yield "the root", {None: "missing", 0: "first", len(found) - 1: "last"}.get(at, "in between")
    yield "each node", f"in it {'once' if len(place) == len(found) else 'more than once'}"
    edges = [(x, parent) for x in place for parent in x.parents]
    lost = [names.get(parent) for _, parent in edges if parent not in place]
    yield "what is missing", lost[0] if lost else "nothing"
    late = [names.get(x) for x, parent in edges if place.get(parent, -1) > place[x]]
    yield "what stands before its parent", late[0] if late else "nothing"


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
        "{at} the root is missing: it follows its parents.": lambda root: solution_4(root)[:-1],
        "{at} the root comes first: enter it last.": lambda root: solution_4(root)[::-1],
        "{at} a node is {found}: skip what is there.": [
            all_paths,
            lambda root: [*root.parents, root],
        ],
        "{at} the parents are missing: visit each of them, and theirs.": lambda root: [root],
        "{at} {found} is missing: inputs belong to it too.": [
            Edit("node not in found", "node.parents and node not in found")
        ],
        "{at} {found} stands before its parent. Enter a node only when its parents are in.": by_queue,
        "{at} the root is {found}. Are the nodes sorted by their numbers? A sum can be smaller than "
        "what it is made from.": [
            lambda root: sorted(solution_4(root), key=lambda node: node.data),
            lambda root: sorted(solution_4(root), key=lambda node: abs(node.data)),
        ],
        PATH_BY_PATH: lambda root: [*dict.fromkeys(all_paths(root))],
    },
)

send, order = solution_3, solution_4  # the names that solution_5 uses


def walked(engine, program):
    nodes = run(program, map(Value, DATA))
    for calls in ("", ", called twice,"):
        with patience():
            engine(nodes[-1])
        yield f"the grad of the root{calls}", nodes[-1].grad
        for name, node in zip(INPUTS, nodes):
            yield f"{name}.grad{calls}", node.grad
    if len(program) == 2:  # and from two roots, of which one lies between
        engine(nodes[-2])
        engine(nodes[-1])
        for name, node in zip(INPUTS, nodes):
            yield f"{name}.grad, called for p, then for q again,", node.grad


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
    rests_on={"send": check_3, "order": check_4},
    praise=f"Right on all {len(GRAPHS):,} graphs, twice in a row, and on one with a million paths.",
    otherwise="Who sends too early, or not at all, or holds an old grad? Follow it with a pencil.",
    slips="""
        The root's adjoint is 1, not {found}: is it set, and kept?
            = 1.0 → = 0.0
        {at} a.grad is {found}, not {expected}. Every node sends all that it got, last to first.
            reversed(nodes) → nodes[-1:]
                            → nodes
        {at} a.grad is {found}, not {expected}. The nodes between still hold the grad of the
        first call: set it to 0.
            node.grad = 0.0 → pass
        {at} {part} should be {expected}, not {found}. p still holds the 1 that it had as a root:
        set the nodes between to 0 first, not after they have sent.
            node.grad = 0.0 → pass; send(node) → node.grad = send(node) or (node.grad if node is root or not node.parents else 0.0)
        {at} a.grad is {found}, not {expected}. Inputs accumulate: leave theirs.
            if node.parents → if True
                            → if not node.parents
    """,
)

HEIGHTS = [17.93, 36.36, 67.76, 98.10, 131.00, 169.50, 205.50, 228.30, 247.10, 250.50, 253.80]
HEIGHTS += [254.50]  # centimetres, after 7, 14, ... 84 days
SUNFLOWER = [(week / 3 - 2, height / 100) for week, height in enumerate(HEIGHTS, start=1)]

tanh, backward = solution_2, solution_5  # the names that solution_6 uses


class Bare(Value):
    @property
    def backward(self):
        raise Hint("Your Value has no method `backward`. Yours is a function: backward(loss).")


def trained(step, points, rate):
    parameters = [Value(1.0), Value(1.0), Value(0.0), Value(1.0)]
    for turn in ("first", "second", "third"):
        a, b, c, d = parameters
        loss = sum((a * recorded(tanh)(b * t + c) + d - height) ** 2 for t, height in points)
        loss.__class__, before = Bare, [x.data for x in parameters]
        step(parameters, loss, rate)
        if any(getattr(x, "parents", ()) for x in parameters):
            raise Hint(
                "A parameter is now the result of a computation, which the next loss drags along. "
                "Keep the node, and change its number: p.data -= ..."
            )
        # new nodes will do, of the notebook's own class too
        known = int, float, Value
        parameters[:] = [x if isinstance(x, known) else Value(x.data) for x in parameters]
        walked = any(x.grad for x in (loss, *loss.parents))
        yield "the walk back from the loss", "there" if walked else "missing"
        still = f"where they were{'' if any(x.grad for x in parameters) else ', and their grads 0'}"
        yield "the parameters", still if before == [x.data for x in parameters] else "moving"
        for name, x in zip("abcd", parameters):
            yield f"{name} after the {turn} step", x.data


def solution_6(parameters, loss, rate):
    backward(loss)
    for parameter in parameters:
        parameter.data -= rate * parameter.grad
        parameter.grad = 0.0  # or the next messages would be added to these


check_6 = Exercise(
    solution_6,
    ask=trained,
    at={f"a rate of {rate},": (SUNFLOWER[4:7], rate) for rate in (0.02, 0.01)},
    rests_on={"tanh": check_2, "backward": check_5},
    praise="Right: each parameter steps downhill, and meets the next loss with a clean grad.",
    otherwise="Each parameter moves by its grad, times the rate, downhill. Then its grad starts afresh.",
    slips="""
        The loss has sent nothing. First walk back from it.
            backward(loss) → pass
        No parameter has moved: change p.data itself. `p = ...` would give the name p to something
        new, and leave the node as it was.
            parameter.data -= → p = parameter.data -; parameter.grad = 0.0 → pass
            parameter.data -= → parameter = parameter.data -
        No parameter has moved: move it first, then set its grad to 0.
            -= rate → -= 0
        You walk uphill. Go against the gradient.
            -= → +=
        Each step adds to the last gradients: set them to 0.
            parameter.grad = 0.0 → pass
        The learning rate should be `rate`.
            rate * → 0.02 *
                   →
        The step replaced the parameter. Subtract it.
            -= rate → = -rate
    """,
)

solution = solutions(globals())
