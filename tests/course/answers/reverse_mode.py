"""Notebook 4, reverse mode: right answers, and wrong ones with what they are told."""

import numpy as np

from autodiff import Value
from autodiff.course import reverse_mode


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
        reverse_mode.solution_3(node)
        for parent in node.parents:
            awaited[parent] -= 1
            if awaited[parent] == 0:
                ready.append(parent)


RIGHT = {  # two spellings of each exercise beside our own
    1: [[7, 2], np.array([7, 2])],
    2: ["(math.tanh(x), lambda grad: (grad / math.cosh(x) ** 2,))", "(math.tanh(x), lambda grad: (grad - grad * math.tanh(x) ** 2,))"],
    3: [
        "parent.grad += message → parent.grad = parent.grad + message",
        "parent, message in zip(node.parents, node.closure(node.grad)) → i, message in enumerate(node.closure(node.grad))\n"
        "parent.grad → node.parents[i].grad",
    ],
    4: ["list(found) → found", "found = {} → found = []\nfound[node] = None → found.append(node)\nnode.parents → node.parents[::-1]"],
    5: [counting, "node.grad = 0.0 → node.grad -= node.grad\nroot.grad = 1.0 → nodes[-1].grad = 1.0\nreversed(nodes) → nodes[::-1]"],
    6: [
        "parameter.grad = 0.0 → pass\nbackward(loss) → [setattr(p, 'grad', 0.0) for p in parameters]; backward(loss)",
        "return parameters, losses → return list(parameters), tuple(losses)",
    ],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, (..., 7.0), "w = u * b uses b as well"),
    (1, "72", "Expected two numbers"),
    (2, "math.tanh(x)", "Return a pair: the result, and the closure."),
    (2, "(math.tanh(x), lambda grad: grad * 0.5)", "Mind the comma"),
    (3, "parent.grad += message → grad = parent.grad; grad += message", "No grad has changed"),
    (4, "{*order(root)}", "Expected a list of the nodes, found a set"),
    (4, "[x.data for x in order(root)]", "the nodes themselves"),
    (5, "root.backwards()", "Your code raises AttributeError"),
    (6, lambda *_: Value(1.0).bakward(), "Your code raises AttributeError"),
    (6, "[1.0] * steps", "Return the parameters (four nodes)"),
]  # fmt: skip
