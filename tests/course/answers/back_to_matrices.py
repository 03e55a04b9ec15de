"""Notebook 10, back to matrices: right answers, and wrong ones with what they are told."""

import numpy as np

from autodiff.course.back_to_matrices import solution_2, stacked
from autodiff.course.verdicts import Edit


def by_get(values, done):
    """A plain dict, numbers without an axis for parameters, messages one column at a time."""
    adjoint = {done[-1][0][0]: values[done[-1][0][0]] * 0 + 1}
    for members, columns, closure in done[::-1]:
        messages = closure(stacked([adjoint.get(node, 0.0) for node in members]))
        for k, column in enumerate(columns):
            if messages[k] is not None:
                for i, parent in enumerate(column):
                    alone = values[parent].shape == (1,)
                    row = np.sum(messages[k][i]) if alone else messages[k][i]
                    adjoint[parent] = adjoint.get(parent, 0.0) + row
    return adjoint


def by_differences(rows):
    """In other words: one name, and the steps between the numbers."""
    names, numbers = zip(*rows)
    steps = {b - a for a, b in zip(numbers, numbers[1:])}
    if len({*names}) > 1 or len(steps) > 1 or not steps <= {0, 1}:
        return "stacked"
    name, first, last = names[0], numbers[0], numbers[-1]
    return (
        f"repeated({name}[{first}], {len(rows)})" if steps == {0} else f"{name}[{first}:{last + 1}]"
    )


RIGHT = {  # spellings of each exercise beside our own
    1: [by_get],
    2: [by_differences, lambda rows: solution_2([*rows])],
    3: [lambda w, x: (w @ x, lambda g: ((x @ g.T).T, (g.T @ w).T))],
}

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda values, done: np.ones_like(values[done[-1][0][0]]), "no `np.ones_like`."),
    (1, lambda values, done: [*values.values()], "Expected the adjoints of the nodes, a dict, found a list."),
    (1, lambda values, done: {done[-1][0][0]: 1.0}, "Nothing here yet: no message has reached a parent."),
    (1, Edit("+= row", "-= row"), "the adjoint of b[0] should be 4, not -4. Take one group on paper"),
    (2, lambda rows: "stacked", "At u0 u1 u2 the result should be u[0:3], not stacked. Look at the names"),
    (2, lambda rows: solution_2(sorted(rows)), "At u0 u2 u1 u3 the result should be stacked, not u[0:4]."),
    (2, lambda rows: solution_2([("u", k) for _, k in rows]), "At v0 u1 the result should be stacked, not u[0:2]."),
    (3, lambda w, x: (x @ w, lambda g: (g @ x.T, w.T @ g)), "Which factor has to be transposed?"),
    (3, lambda w, x: (np.dot(w, x), lambda g: (g, g)), "no `np.dot`."),
    (3, lambda w, x: w @ x, "Return a pair"),
    (3, lambda w, x: (w @ x, lambda g: (x @ g.T, w.T @ g)), "the message for W: The shape should be (3, 2), not (2, 3). Yours is transposed."),
    (3, lambda w, x: (w @ x, lambda g: g @ x.T), "two messages"),
]  # fmt: skip
