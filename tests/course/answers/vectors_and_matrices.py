"""Notebook 6, vectors and matrices: right answers, and wrong ones with what they are told."""

import numpy as np

from autodiff import Matrix, Vector, grad
from autodiff.course import vectors_and_matrices as lesson
from autodiff.course.vectors_and_matrices import solution_2


def by_differences(a, x, b, h=1e-5):
    def slopes(f, at):
        steps = h * np.eye(at.size).reshape(-1, *at.shape)
        return np.reshape([f(at + step) - f(at - step) for step in steps], at.shape) / (2 * h)

    of_a = slopes(lambda a: np.linalg.norm(a @ x - b), a)
    return of_a, slopes(lambda x: np.linalg.norm(a @ x - b), x)


def as_column(a, x, b):
    r = (a @ x - b)[:, None]
    u = r / np.sqrt(r.T @ r)
    return u @ x[None], a.T @ u


def by_formulas(w, b, v, d):
    h = np.tanh(lesson.times * w + b)
    u = 2 * (h @ v + d - lesson.heights)
    back = (u @ v.T) * (1 - h * h)
    return [lesson.times.T @ back, np.ones(len(h)) @ back, (u.T @ h).T, u.sum(axis=0)]


RIGHT = {  # spellings of each exercise beside our own
    1: [
        lambda a, b: (np.dot(a, b), lambda grad: ((b @ grad.T).T, np.einsum("ik,ij->kj", a, grad))),
    ],
    2: [
        as_column,
        lambda a, x, b: [kind(x) for kind, x in zip((Matrix, Vector), solution_2(a, x, b))],
    ],
    3: [
        lambda x, bias: (x + bias, lambda grad: (1 * grad, np.ones(len(x)) @ grad)),
    ],
    5: [by_formulas],
    4: [
        lambda a: (np.linalg.inv(a), lambda grad: (np.linalg.solve(-a.T, np.linalg.solve(a, grad.T).T),)),
    ],
}  # fmt: skip


ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, lambda a, b: (a @ b, lambda grad: Matrix(grad) @ Matrix(b).T), "a tuple of two messages"),
    (1, lambda a, b: (a @ b, lambda grad: (Matrix(grad) @ Matrix(b).T, a.T @ grad)), "found a Matrix"),
    (1, lambda a, b: (a @ b, lambda grad: (grad, grad)), "Which entries of C use this one?"),
    (1, lambda a, b: (a @ b, lambda grad: (grad @ b.T, ...)), "Nothing here yet: the message for b"),
    (2, lambda a, x, b: (Matrix(a) @ x - b).norm().backward(), "That is the engine's answer"),
    (2, lambda a, x, b: grad(lambda a, x: (Matrix(a) @ x - b).norm(), argnums=(0, 1))(a, x), "That is the engine's answer"),
    (1, lambda a, b: (a @ b, lambda grad: (b, a)), "the message for a: where is grad?"),
    (5, lambda w, b, v, d: (w, b), "Return four gradients"),
    (5, lambda w, b, v, d: (w, b, v, d), "the gradient of d[0] should be"),
    (2, by_differences, "no difference quotient is exact"),
    (2, lambda a, x, b: a.T @ (a @ x - b) / np.linalg.norm(a @ x - b), "That is for x alone."),
    (2, lambda a, x, b: solution_2(a, x, b)[0], "That is for A alone."),
    (2, lambda a, x, b: (solution_2(a, x, b)[0].T, solution_2(a, x, b)[1]), "Yours is transposed."),
    (2, lambda a, x, b: np.linalg.norm(a @ x - b), "Return two gradients"),
    (3, lambda x, bias: (x + bias, lambda grad: (grad, grad.sum(axis=0, keepdims=True))), "should be (3,), not (1, 3)"),
    (4, lambda a: (np.linalg.inv(a), lambda grad: (-grad,)), "What stands left and right"),
]  # fmt: skip
