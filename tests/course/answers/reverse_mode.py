"""Notebook 4, reverse mode: right answers, and wrong ones with what they are told."""

import math
from pathlib import Path

import numpy as np

from autodiff.course import reverse_mode
from autodiff.course.gallery import PATH_BY_PATH
from autodiff.course.reverse_mode import all_paths, solution_3, solution_4, solution_5
from autodiff.course.verdicts import Edit
from autodiff.tiny import Value


def by_assignment(node):
    for parent, message in zip(node.parents, node.closure(node.grad), strict=True):
        parent.grad = parent.grad + message


def by_depth(root):
    depth = {}
    for node in solution_4(root):
        depth[node] = 1 + max([depth[parent] for parent in node.parents], default=0)
    return dict.fromkeys(sorted(depth, key=depth.get))


def cleared_afterwards(root):
    """Each node between is set back to 0 as soon as it has sent."""
    nodes = solution_4(root)
    root.grad = 1.0
    while nodes:
        node = nodes.pop()
        solution_3(node)
        if node.parents and node is not root:
            node.grad = 0


def cleared_before_each(root):
    nodes, before = [*solution_4(root)], {}
    for node in nodes:
        before[node], node.grad = node.grad, 0.0
    root.grad = 1.0
    while nodes:
        node = nodes.pop()
        solution_3(node)
        if not node.parents:
            node.grad += before[node]


def cleared_first(parameters, loss, rate):
    for p in parameters:
        p.grad = 0.0
    solution_5(loss)
    for p in parameters:
        p.data -= rate * p.grad


def cleared_with_the_loss(parameters, loss, rate):
    reverse_mode.solution_6(parameters, loss, rate)
    loss.grad = 0.0


def in_new_nodes(parameters, loss, rate):
    solution_5(loss)
    parameters[:] = [Value(p.data - rate * p.grad) for p in parameters]


class Typed:  # the class that a reader has typed: the page knows it by what it has
    def __init__(self, data):
        self.data, self.grad, self.parents = data, 0.0, ()


def in_nodes_of_his_own(parameters, loss, rate):
    solution_5(loss)
    parameters[:] = [Typed(p.data - rate * p.grad) for p in parameters]


def in_results(parameters, loss, rate):
    solution_5(loss)
    parameters[:] = [p + -rate * p.grad for p in parameters]


ENGINES = Path(__file__).parents[1] / "engines"

RIGHT = {  # spellings of each exercise beside our own
    1: [[7, 2], np.array([7, 2]), (7.0, 2)],
    2: [lambda x: [math.tanh(x), lambda grad: [grad - grad * math.tanh(x) ** 2]]],
    3: [by_assignment],
    4: [by_depth],
    5: [cleared_before_each],
    6: [cleared_first, in_new_nodes, in_nodes_of_his_own, cleared_with_the_loss],
    7: [*ENGINES.glob("*.py")],
}


def answer_that_rests_on(function, **earlier):
    """The same function in a notebook where the answers to earlier exercises are these."""
    return type(function)(function.__code__, vars(reverse_mode) | earlier, function.__name__)


def recursive(root):
    root.grad = 1.0

    def visit(node):
        solution_3(node)
        for parent in node.parents:
            visit(parent)

    visit(root)


def by_nearness(root):
    """Leaves, then by the shortest way from the root, then by age: right on all graphs of three lines."""
    steps, waiting = {root: 0}, [root]
    for node in waiting:
        for parent in node.parents:
            if parent not in steps:
                steps[parent] = steps[node] + 1
                waiting.append(parent)
    return sorted(solution_4(root), key=lambda node: -steps[node] if node.parents else -99)


MERGED = Edit("zip(node.parents", "dict(zip(node.parents", "grad))", "grad))).items()").program(
    solution_3
)

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, (..., 7.0), "w = u * b uses b as well"),
    (1, (2, 7), "in the other order"),
    (1, "72", "Expected two numbers"),
    (2, math.tanh, "Return a pair: the result, and the closure."),
    (2, lambda x: (math.tanh(x), lambda grad: grad * 0.5), "Mind the comma"),
    (2, lambda x: (math.tanh(x), lambda grad: (grad, 0.0)), "a tuple of one message."),
    (2, Edit("y * y", "y"), "it has two factors"),
    (4, lambda root: {*solution_4(root)}, "Expected a list of the nodes, found a set"),
    (4, lambda root: [x.data for x in solution_4(root)], "the nodes themselves"),
    (4, by_nearness, "s = p + r, what stands before its parent should be nothing, not q"),
    (5, recursive, "Who sends too early"),
    (5, cleared_afterwards, "p still holds the 1 that it had as a root"),
    (5, answer_that_rests_on(solution_5, order=lambda root: [*dict.fromkeys(all_paths(root))]), PATH_BY_PATH),
    (5, answer_that_rests_on(solution_5, send=MERGED), "First mend your `send`: A node that is a parent twice"),
    (6, answer_that_rests_on(reverse_mode.solution_6, backward=Edit("reversed(nodes)", "[]").program(solution_5)), "First mend your `backward`: At p = a + a, a.grad should be 2, not 0"),
    (6, lambda parameters, loss, rate: loss.backward(), "Yours is a function: backward(loss)."),
    (6, Edit("rate *", "rate / 2 *"), "At a rate of 0.02, a after the first step should be"),
    (6, in_results, "the result of a computation"),
    (6, lambda parameters, loss, rate: solution_5(loss), "No parameter has moved: change p.data itself"),
    (6, lambda *_: Value(1.0).bakward(), "Your code raises AttributeError"),
]  # fmt: skip
