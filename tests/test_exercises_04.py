"""Exercises of notebook 4: answers right, wrong and borrowed; and what its gallery claims."""

import math
from pathlib import Path

import nbformat
import pytest
from exercises import Hint, reverse_mode
from exercises.probes import refusing
from exercises.reverse_mode import (
    GRAPHS,
    NAMES,
    Node,
    apply,
    check_1,
    check_2,
    check_3,
    check_4,
    check_5,
    check_6,
    examine,
    faults,
    first_fault,
    peak_memory,
    solution_1,
    solution_2,
    solution_3,
    solution_4,
    solution_5,
    solution_6,
    topological_order,
)

import autodiff
from autodiff import Value, grad

NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "04_reverse_mode.ipynb"


# -- Right answers --------------------------------------------------------------------------------


def by_cosh(x):
    return math.tanh(x), lambda grad: (grad / math.cosh(x) ** 2,)


def send_by_index(node):
    messages = node.closure(node.grad)
    for i in range(len(node.parents)):
        node.parents[i].grad = node.parents[i].grad + messages[i]


def order_by_stack(root):
    found, stack = {}, [root]
    while stack:
        node = stack.pop()
        if node is None:
            found[stack.pop()] = None
        elif node not in found:
            stack += [node, None, *node.parents]
    return found  # the keys of a dict are a list, nearly


def counting(root):
    """The engine that waits until a node has all its messages, without recursion."""
    awaited, nodes = {root: 0}, [root]
    for node in nodes:
        for parent in node.parents:
            if parent not in awaited:
                awaited[parent] = 0
                nodes.append(parent)
            awaited[parent] += 1
        if node.parents:
            node.grad = 0.0
    root.grad, ready = 1.0, [root]
    for node in ready:
        solution_3(node)
        for parent in node.parents:
            awaited[parent] -= 1
            if awaited[parent] == 0:
                ready.append(parent)


def train_by_assignment(points, steps=300, rate=0.02):
    parameters, losses = solution_6(points, steps, rate)
    return list(parameters), tuple(losses)


@pytest.mark.parametrize(
    ("check", "answer", "praise"),
    [
        (check_1, solution_1(), "7 - 5 = 2"),
        (check_1, [7, 2], "7 - 5 = 2"),
        (check_2, solution_2, "1 - tanh² x"),
        (check_2, by_cosh, "1 - tanh² x"),
        (check_3, solution_3, "one message along each edge"),
        (check_3, send_by_index, "one message along each edge"),
        (check_4, solution_4, "can you do without?"),
        (check_4, order_by_stack, "10,000 sums is no problem"),
        (check_5, solution_5, "can you do without?"),
        (check_5, counting, "10,000 sums is no problem"),
        (check_6, solution_6, "4.0999, 0.7239, 0.0359, 0.0141, 0.0122"),
        (check_6, train_by_assignment, "is 188 cm tall"),
    ],
)
def test_right_answers_are_praised(check, answer, praise):
    right, said = check.verdict(answer)
    assert right, said
    assert praise in said


# -- Wrong answers, each with its hint ------------------------------------------------------------


def rule(closure, value=math.tanh):
    """An answer to exercise 2: closure gets grad, x and y."""

    def answer(x):
        y = value(x)
        return y, lambda grad: closure(grad, x, y)

    return answer


def sends(change):
    """An answer to exercise 3: change gets a parent and the message."""

    def answer(node):
        for parent, message in zip(node.parents, node.closure(node.grad)):
            change(parent, message)

    return answer


def replace(parent, message):
    parent.grad = message


def send_locals(node):
    for parent, message in zip(node.parents, node.closure(1.0)):
        parent.grad += message


def send_swapped(node):
    for parent, message in zip(node.parents[::-1], node.closure(node.grad)):
        parent.grad += message


def send_once(node):
    for parent, message in dict(zip(node.parents, node.closure(node.grad))).items():
        parent.grad += message


def send_on(node):
    solution_3(node)
    for parent in node.parents:
        send_on(parent)


def send_and_forget(node):
    solution_3(node)
    node.grad = 0.0


def preorder(root):
    found = {}

    def visit(node):
        if node not in found:
            found[node] = None
            for parent in node.parents:
                visit(parent)

    visit(root)
    return list(found)


def by_queue(root):
    queue = [root]
    for node in queue:
        queue += [x for x in dict.fromkeys(node.parents) if x not in queue]
    return queue[::-1]


def all_paths(root):
    return [x for parent in root.parents for x in all_paths(parent)] + [root]


def path_by_path(root):
    """Right, and too slow."""
    found = []

    def visit(node):
        for parent in node.parents:
            visit(parent)
        if node not in found:
            found.append(node)

    visit(root)
    return found


def engine(order=solution_4, send=solution_3, zero=lambda node: bool(node.parents), start=1.0):
    """An engine with parts of choice."""

    def answer(root):
        for node in order(root):
            if zero(node):
                node.grad = 0.0
        root.grad = start
        for node in reversed(order(root)):
            send(node)

    return answer


def unordered(root):
    root.grad, queue = 1.0, [root]
    for node in queue:
        solution_3(node)
        queue.extend(node.parents)


def recursive(root):
    """Sends along each path separately: right, and too slow."""
    for node in solution_4(root):
        if node.parents:
            node.grad = 0.0
    root.grad = 1.0

    def walk(node, adjoint):
        for parent, message in zip(node.parents, node.closure(adjoint)):
            parent.grad += message
            walk(parent, message)

    walk(root, 1.0)


overwriting = engine(send=sends(replace))
merging = engine(send=send_once)
unzeroed = engine(zero=lambda node: False)


def trains(step, back=solution_5, result=lambda parameters, losses: (parameters, losses)):
    """An answer to exercise 6: step gets a parameter and the rate."""

    def answer(points, steps=300, rate=0.02):
        parameters = a, b, c, d = Node(1.0), Node(1.0), Node(0.0), Node(1.0)
        losses = []
        for _ in range(steps):
            loss = Node(0.0)
            for time, height in points:
                error = a * apply(solution_2, b * Node(time) + c) + d - Node(height)
                loss = loss + error * error
            losses.append(loss.data)
            back(loss)
            for parameter in parameters:
                step(parameter, rate)
        return result(parameters, losses)

    return answer


def downhill(parameter, rate):
    parameter.data -= rate * parameter.grad
    parameter.grad = 0.0


def uphill(parameter, rate):
    parameter.data += rate * parameter.grad
    parameter.grad = 0.0


def forgetful(parameter, rate):
    parameter.data -= rate * parameter.grad


def of_its_own_rate(parameter, rate):
    downhill(parameter, 0.02)


def half(parameter, rate):
    downhill(parameter, rate / 2)


NOTHING = "Nothing here yet"
WRONG = [
    (check_1, (..., ...), NOTHING),
    (check_1, (7.0, ...), NOTHING),
    (check_1, None, NOTHING),
    (check_1, 7.0, "Expected two numbers"),
    (check_1, (1, 2, 3), "Expected two numbers"),
    (check_1, ("seven", 2), "Expected two numbers"),
    (check_1, (5.0, 2.0), "Three edges"),
    (check_1, (2.0, 2.0), "one along each edge"),
    (check_1, (-3.0, 2.0), "from w alone"),
    (check_1, (10.0, 2.0), "one from w"),
    (check_1, (13.0, 2.0), "gives w the adjoint -1"),
    (check_1, (8.0, 2.0), "w has the adjoint -1"),
    (check_1, (0.0, 2.0), "v sends v̄·u twice"),
    (check_1, (7.0, 7.0), "w = u * b uses b as well"),
    (check_1, (7.0, -5.0), "u = a + b uses b as well"),
    (check_1, (7.0, 12.0), "w has the adjoint -1"),
    (check_1, (7.0, 5.0), "wrong sign"),
    (check_1, (7.0, 0.0), "u sends ū"),
    (check_2, rule(lambda grad, x, y: ...), NOTHING),
    (check_2, rule(lambda grad, x, y: (...,)), NOTHING),
    (check_2, lambda x: None, NOTHING),
    (check_2, lambda x: math.tanh(x), "Return a pair"),
    (check_2, rule(lambda grad, x, y: grad * (1 - y * y)), "Mind the comma"),
    (check_2, rule(lambda grad, x, y: (1 - y * y,)), "grad times that"),
    (check_2, rule(lambda grad, x, y: (grad * (y * y - 1),)), "sign"),
    (check_2, rule(lambda grad, x, y: (grad * (1 - x * x),)), "1 - x² should be 1 - y²"),
    (check_2, rule(lambda grad, x, y: (grad * (1 - y),)), "1 - y should be"),
    (check_2, rule(lambda grad, x, y: (grad / math.cosh(x),)), "lost its square"),
    (check_2, rule(lambda grad, x, y: (grad * (1 + y * y),)), "belongs to tan."),
    (check_2, rule(lambda grad, x, y: (grad * y,)), "times the slope"),
    (check_2, rule(lambda grad, x, y: (grad * (1 - y * y),), math.sin), "result at 0.5"),
    (check_2, rule(lambda grad, x, y: (2 * (1 - math.tanh(0.5) ** 2),)), "with grad = -3.0"),
    (check_2, rule(lambda grad, x, y: (grad * 0.786,)), "it sends"),
    (check_2, rule(lambda grad, x, y: (grad * y.missing,)), "Your code raises AttributeError"),
    (check_2, rule(lambda g, x, y: (g * grad(autodiff.tanh)(x),)), "lets the package do"),
    (check_3, ..., NOTHING),
    (check_3, lambda node: None, NOTHING),
    (check_3, 3.0, "Your code raises TypeError"),
    (check_3, sends(replace), "+="),
    (check_3, send_locals, "not 1"),
    (check_3, send_swapped, "wrong parents"),
    (check_3, send_once, "each of its two edges"),
    (check_3, send_on, "later"),
    (check_3, send_and_forget, "as it is"),
    (check_3, lambda node: sends(lambda p, m: replace(p, p.grad + 15.0))(node), "knows the messages"),
    (check_3, lambda node: replace(node.parents[0], 110.0), "you added 10.0 and 0.0"),
    (check_3, lambda node: node.backward(), "Your code raises AttributeError"),
    (check_4, lambda root: None, NOTHING),
    (check_4, lambda root: ..., NOTHING),
    (check_4, lambda root: [root], "a is missing"),
    (check_4, lambda root: solution_4(root)[:-1], "The root itself is missing"),
    (check_4, lambda root: [x.data for x in solution_4(root)], "the nodes themselves"),
    (check_4, lambda root: solution_4(root)[::-1], "root should come last"),
    (check_4, preorder, "root should come last"),
    (check_4, by_queue, "stands before its parent"),
    (check_4, all_paths, "once only"),
    (check_4, path_by_path, "path by path"),
    (check_4, autodiff.topological_order, "lets the package do"),
    (check_5, lambda root: None, NOTHING),
    (check_5, lambda root: solution_3(root), "The adjoint of the root is 1"),
    (check_5, engine(start=2.0), "The adjoint of the root is 1"),
    (check_5, engine(send=lambda node: None), "is every message added?"),
    (check_5, overwriting, "On p = a + a: a.grad is 1.0, not 2.0.\nTwo edges"),
    (check_5, merging, "On p = a + a: a.grad is 1.0, not 2.0.\nTwo edges"),
    (check_5, unordered, "On p = a + a; q = p + p: a.grad is 8.0, not 4.0.\nDoes a node send twice"),
    (check_5, engine(by_queue), "q = a + p; r = p + q: a.grad is 3.0, not 5.0.\nWhich node sends"),
    (check_5, unzeroed, "a.grad is 8.0, not 6.0.\nThe nodes between"),
    (check_5, engine(zero=lambda node: True), "a.grad is 2.0, not 4.0.\nInputs accumulate"),
    (check_5, recursive, "path by path"),
    (check_5, lambda root: root.backward(), "Your code raises AttributeError"),
    (check_5, autodiff.adjoints, "lets the package do"),
    (check_6, lambda points, steps, rate: None, "Return the parameters"),
    (check_6, trains(lambda parameter, rate: None), NOTHING),
    (check_6, trains(downhill, back=lambda root: None), NOTHING),
    (check_6, trains(uphill), "uphill"),
    (check_6, trains(forgetful), "set the parameters' grad to 0"),
    (check_6, trains(of_its_own_rate), "learning rate should be `rate`"),
    (check_6, trains(half), "After one step a should be"),
    (check_6, trains(downhill, back=overwriting), "After one step"),
    (check_6, trains(downhill, result=lambda p, losses: losses), "Return the parameters"),
    (check_6, trains(downhill, result=lambda p, losses: (p, losses[1:])), "Expected 4 parameters"),
    (check_6, trains(downhill, result=lambda p, losses: (p, [x / 2 for x in losses])), "start values"),
    (check_6, lambda points, steps, rate: (solution_6(points, steps, rate)[0], [4.1, 0.01, 0.01, 0.01]), "start values"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "answer", "hint"), WRONG)
def test_each_wrong_answer_gets_its_hint(check, answer, hint):
    right, said = check.verdict(answer)
    assert not right
    assert hint in said


def test_a_training_that_borrows_the_package_is_refused():
    def borrowed(points, steps=300, rate=0.02):
        path, losses = reverse_mode.descent(points, steps, rate)
        return [Node(x) for x in path[-1]], losses

    assert "lets the package do" in check_6.verdict(borrowed)[1]


def test_a_generator_of_the_package_that_ends_meanwhile_is_not_the_answers_fault():
    walk = autodiff.steps(Value(2.0) * 3.0)
    next(walk)
    refusing(lambda: walk.close(), "as if the answer had called it")()


def test_a_call_of_the_package_is_seen_even_if_the_answer_catches_everything():
    def hiding():
        try:
            return grad(lambda x: x * x)(3.0)
        except Exception:
            return 6.0

    with pytest.raises(Hint, match="no"):
        refusing(hiding, "no")()


def test_a_first_step_alone_is_not_a_training():
    def once(points, steps=300, rate=0.02):
        parameters, losses = solution_6(points, 1, rate)
        return parameters, [*losses, *[0.1] * (steps - 1)]

    assert "The first step is right" in check_6.verdict(once)[1]


# -- The gallery ----------------------------------------------------------------------------------


def test_the_gallery_is_every_program_of_up_to_three_lines():
    assert [sum(len(g) == n for g in GRAPHS) for n in (1, 2, 3)] == [20, 200, 3200]
    assert len(set(GRAPHS)) == len(GRAPHS) == 3420
    assert first_fault(solution_5) is None


def uses(program):
    return [NAMES[i] for _, pair in program for i in pair]


@pytest.mark.parametrize(
    ("engine", "calls", "is_right"),
    [
        # right where no node, input or line, is used twice
        (overwriting, 1, lambda g: len(set(uses(g))) == len(uses(g))),
        # right where no operation is given the same node twice
        (merging, 1, lambda g: all(i != j for _, (i, j) in g)),
        # right where no line is used more than once
        (unordered, 1, lambda g: all(uses(g).count(line) <= 1 for line in "pqr")),
        (unzeroed, 1, lambda g: True),
        # right where there is nothing between
        (unzeroed, 2, lambda g: len(g) == 1),
    ],
)
def test_each_engine_of_the_gallery_is_wrong_where_the_notebook_says(engine, calls, is_right):
    assert all((not faults(engine, g, calls)) == is_right(g) for g in GRAPHS)


def test_what_examine_prints(capsys):
    examine(solution_5)
    examine(unordered)
    assert capsys.readouterr().out.splitlines() == [
        "right on 3,420 graphs of 3,420",
        "right on 2,260 graphs of 3,420",
        "smallest counterexample: p = a + a; q = p + p: a.grad is 8.0, not 4.0",
    ]


def test_the_order_is_that_of_the_package():
    for program in GRAPHS[::50]:
        found, right = [
            [x.data for x in order(reverse_mode.nodes_of(program, kind)[-1])]
            for order, kind in [(topological_order, Node), (autodiff.topological_order, Value)]
        ]
        assert found == right


def test_reverse_mode_pays_in_memory():
    def winding(xs):
        y = 0.0
        for x in xs:
            for _ in range(20):
                y = autodiff.sin(y + x)
        return y

    def forward(n):
        return peak_memory(lambda: autodiff.jvp(winding, ([0.1] * n,), ([0.1] * n,)))

    def reverse(n):
        return peak_memory(lambda: grad(winding)([0.1] * n))

    assert reverse(1000) > 100 * forward(1000)
    assert reverse(1000) > 9 * reverse(100)


# -- The notebook with its dots filled in ---------------------------------------------------------


def test_the_engine_of_the_notebook_trains_once_the_dots_are_filled_in():
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    names = {"math": math, "ops": autodiff.ops}
    for start in ("class Node", "def add"):
        exec(next(source for source in sources if source.startswith(start)), names)
    names |= {"tanh": solution_2, "backward": solution_5}
    stub = next(source for source in sources if source.startswith("def train"))
    step = """
        backward(loss)
        for parameter in parameters:
            parameter.data -= rate * parameter.grad
            parameter.grad = 0.0
"""
    assert stub.count("        ...\n") == 1
    exec(stub.replace("        ...\n", step).partition("\n\n\n")[0], names)
    assert check_6.verdict(names["train"])[0]


def order_that_keeps_its_list(root, found=[]):  # noqa: B006
    if root not in found:
        for parent in root.parents:
            order_that_keeps_its_list(parent, found)
        found.append(root)
    return found


def send_to_itself(node):
    for message in node.closure(node.grad):
        node.grad += message


@pytest.mark.parametrize(
    ("check", "answer", "said"),
    [
        (check_1, "72", "Expected two numbers"),
        (check_1, ("7", "2"), "Expected two numbers"),
        (check_2, lambda x: (math.tanh(x), lambda grad: (None,)), "Nothing here yet"),
        (check_2, lambda x: (math.tanh(x), lambda grad: (str(grad),)), "found a str"),
        (check_2, lambda x: (None, lambda grad: (grad,)), "returns nothing"),
        (check_3, send_to_itself, "own grad should stay"),
        (check_4, order_that_keeps_its_list, "Begin with an empty list in each call"),
    ],
)
def test_a_slip_of_python_is_called_by_its_name(check, answer, said):
    right, text = check.verdict(answer)
    assert not right
    assert said in text
