"""Notebook 6, vectors and matrices: right answers, and wrong ones with what they are told."""

from autodiff import Matrix, Vector


def engine(a, x, b):
    weights = Matrix(a)
    (weights @ Vector(x) - Vector(b)).norm().backward()
    return weights.grad


RIGHT = {  # two spellings of each exercise beside our own
    1: ["[np.eye(len(a)) @ b.T, a.T @ np.eye(len(a))]", "(np.transpose(b), np.transpose(a))"],
    2: [
        "[[r * each / np.linalg.norm(a @ x - b) for each in x] for r in a @ x - b]",
        "(a @ x - b)[:, None] * x / np.sqrt(((a @ x - b) ** 2).sum())",
    ],
    3: ["list(2 * (a.T @ a @ x - a.T @ b))", "tuple(2 * (a @ x - b) @ a)"],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (1, "b.T", "Return two arrays"),
    (2, engine, "That is the engine's answer"),
    (2, "np.outer(x, a @ x - b)[:1]", "The shape should be (3, 3), not (1, 3)."),
]  # fmt: skip
