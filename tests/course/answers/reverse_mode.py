"""Notebook 4, reverse mode: right answers, and wrong ones with what they are told."""

import math

import numpy as np

from autodiff.course import reverse_mode
from autodiff.course.gallery import PATH_BY_PATH
from autodiff.course.reverse_mode import (
    all_paths,
    by_queue,
    engine,
    merged,
    ruled,
    solution_3,
    solution_4,
    solution_5,
    stepping,
)
from autodiff.tiny import Value


def in_one_line(x):
    return math.tanh(x), lambda grad: (grad / math.cosh(x) ** 2,)


def in_lists(x):
    return [math.tanh(x), lambda grad: [grad - grad * math.tanh(x) ** 2]]


def by_assignment(node):
    for parent, message in zip(node.parents, node.closure(node.grad), strict=True):
        parent.grad = parent.grad + message


def by_index(node):
    messages = node.closure(node.grad)
    for i in range(len(node.parents)):
        node.parents[i].grad += messages[i]


def in_a_list(root):
    found = []

    def visit(node):
        if node not in found:
            for parent in node.parents[::-1]:
                visit(parent)
            found.append(node)

    visit(root)
    return found


def by_a_stack(root):
    """Without recursion: a node is entered when it comes up for the second time."""
    found, stack = {}, [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            found[node] = None
        elif node not in found:
            stack.append((node, True))
            stack.extend((parent, False) for parent in node.parents)
    return found


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


def cleared_afterwards(root):
    """Each node between is set back to 0 as soon as it has sent."""
    nodes = solution_4(root)
    root.grad = 1.0
    while nodes:
        node = nodes.pop()
        solution_3(node)
        if node.parents and node is not root:
            node.grad = 0


def cleared_first(parameters, loss, rate):
    for p in parameters:
        p.grad = 0.0
    solution_5(loss)
    for p in parameters:
        p.data -= rate * p.grad


def with_arrays(parameters, loss, rate):
    solution_5(loss)
    moved = np.array([p.data for p in parameters]) - rate * np.array([p.grad for p in parameters])
    for p, data in zip(parameters, moved, strict=True):
        p.data, p.grad = data, 0


def in_new_nodes(parameters, loss, rate):
    solution_5(loss)
    parameters[:] = [Value(p.data - rate * p.grad) for p in parameters]


RIGHT = {  # spellings of each exercise beside our own
    1: [[7, 2], np.array([7, 2]), (7.0, 2)],
    2: [in_one_line, in_lists],
    3: [by_assignment, by_index],
    4: [in_a_list, by_a_stack],
    5: [counting, cleared_afterwards],
    6: [cleared_first, with_arrays, in_new_nodes],
}


def answer_that_rests_on(function, **earlier):
    """The same function in a notebook where the answers to earlier exercises are these."""
    return type(function)(function.__code__, vars(reverse_mode) | earlier, function.__name__)


def replaced(node):
    for parent, message in zip(node.parents, node.closure(node.grad)):
        parent.grad = message


def recursive(root):
    root.grad = 1.0

    def visit(node):
        solution_3(node)
        for parent in node.parents:
            visit(parent)

    visit(root)


def as_a_method(parameters, loss, rate):
    loss.backward()
    for p in parameters:
        p.data -= rate * p.grad
        p.grad = 0.0


def new_names(parameters, loss, rate):
    solution_5(loss)
    for p in parameters:
        p = p - rate * p.grad
        p.grad = 0.0


def returned(parameters, loss, rate):
    solution_5(loss)
    return [Value(p.data - rate * p.grad) for p in parameters]


def without_the_walk(parameters, loss, rate):
    for p in parameters:
        p.data -= rate * p.grad
        p.grad = 0.0


ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, (..., 7.0), "w = u * b uses b as well"),
    (1, (2, 7), "in the other order"),
    (1, "72", "Expected two numbers"),
    (2, math.tanh, "Return a pair: the result, and the closure."),
    (2, lambda x: (math.tanh(x), lambda grad: grad * 0.5), "Mind the comma"),
    (2, ruled(lambda x, y, grad: grad * (1 - y)), "it has two factors"),
    (3, lambda node: [p.grad + m for p, m in zip(node.parents, node.closure(node.grad))], "No grad has changed"),
    (3, lambda node: node.parents.grad, "Your code raises AttributeError"),
    (4, lambda root: {*solution_4(root)}, "Expected a list of the nodes, found a set"),
    (4, lambda root: [x.data for x in solution_4(root)], "the nodes themselves"),
    (4, lambda root: by_queue(root)[::-1], "the root comes first"),
    (5, lambda root: root.backwards(), "Your code raises AttributeError"),
    (5, recursive, "Who sends too early"),
    (5, answer_that_rests_on(solution_5, send=replaced), "First mend your `send`: A message replaced"),
    (5, answer_that_rests_on(solution_5, order=by_queue), "First mend your `order`"),
    (5, answer_that_rests_on(solution_5, order=lambda root: [*dict.fromkeys(all_paths(root))]), PATH_BY_PATH),
    (5, answer_that_rests_on(solution_5, send=merged), "First mend your `send`: A node that is a parent twice"),
    (6, answer_that_rests_on(reverse_mode.solution_6, backward=engine(walk=lambda nodes: [])), "First mend your `backward`: At p = a + a, a.grad should be 2, not 0"),
    (6, answer_that_rests_on(reverse_mode.solution_6, backward=engine(cleared=lambda node: False)), "First mend your `backward`"),
    (6, as_a_method, "Yours is a function: backward(loss)."),
    (6, new_names, "assign to p.data"),
    (6, returned, "assign to p.data"),
    (6, without_the_walk, "First walk back from the loss"),
    (6, stepping(lambda x, grad, rate: x - rate * grad / 2), "downhill"),
    (6, lambda *_: Value(1.0).bakward(), "Your code raises AttributeError"),
]  # fmt: skip
