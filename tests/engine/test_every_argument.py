"""The derivative of every function of `linalg` and `nn` by every argument, in every mode.

Where an argument is meant to be a constant, or to keep a convention, such as targets that add up to
1, it is a number that moves all the same, and breaks that convention. So it does in `ops`, whose
other derivatives are those of test_ops.py and test_modes.py.
"""

import inspect
import operator

import numpy as np
import pytest
from modes import GRADIENTS

import autodiff as ad
from autodiff import Matrix, Vector, nn, ops
from autodiff.engine import linalg
from autodiff.engine.transforms import flatten

V, W = [0.7, -1.2, 2.3], [1.4, 0.6, -0.9]
POSITIVE, NEGATIVE = [0.7, 1.2, 2.3], [-2.0, -0.3, -1.0]
A, B = [[0.5, -1.0, 0.3], [1.5, 0.2, -0.7]], [[0.4, 1.1], [-0.6, 0.9], [1.3, -0.2]]

POINTS = (0.7, -1.2), (2.0, 3.0), (0.3, 0.0)
OF_OPS = {
    "power": [(ops.power, *point) for point in POINTS],
    "exponential": [(ops.exponential, *point) for point in POINTS],
    "where": [(ops.where, 2.0, 0.7, -1.2), (ops.where, -0.5, 0.7, -1.2)],
}


def values(tree):
    """The numbers as Values, of which losses do not ask whether they are probabilities."""
    return Vector(tree if isinstance(tree, list) else [tree])


def modules(module, weights, x):
    """The module of these weights, given x."""
    for name, weight in weights.items():
        setattr(module, name, (Matrix if isinstance(weight[0], list) else Vector)(weight))
    return module(Vector(x))


def linear(activation=None):
    return lambda weight, bias, x: modules(
        nn.Linear(3, 2, activation=activation), {"weight": weight, "bias": bias}, x
    )


OF_NN = {
    "mse_loss": [(nn.mse_loss, V, W), (nn.mse_loss, A, [[0.1, 2.0, 0.0], V]), (nn.mse_loss, 0.7, 3.0)],
    "hinge_loss": [
        (lambda score, label: nn.hinge_loss(score, values(label)), *point)
        for point in ((0.3, 1.0), (0.3, -0.8), (-0.5, 2.5), (3.0, 2.0))
    ],
    "cross_entropy": [
        *[(lambda logits, target: nn.cross_entropy(logits, values(target)), z, t)
          for z in (V, [1000.0, -1000.0, 999.0])
          for t in ([0.2, 0.3, 0.1], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 2.5, 0.7])],
        (lambda logits, k=1: nn.cross_entropy(logits, k), V),
    ],
    "binary_cross_entropy_with_logits": [
        (lambda logit, target: nn.binary_cross_entropy_with_logits(logit, values(target)), z, t)
        for z in (0.4, -2.0, 800.0) for t in (0.0, 0.3, 1.0, -0.7, 2.5)
    ],
    "softmax": [(nn.softmax, V), (nn.softmax, [1000.0, 999.0, -1000.0])],
    "Linear": [
        *[(linear(f), A, [0.2, -0.4], V)
          for f in (None, ad.tanh, ad.relu, ad.sigmoid, ad.softplus, ad.exp, ad.sin, abs)],
        (lambda weight, x: modules(nn.Linear(3, 2, bias=False), {"weight": weight}, x), A, V),
    ],
    "Sequential": [(lambda x: nn.Sequential(ad.tanh, nn.softmax)(Vector(x)), V)],
    "Dropout": [(lambda x: nn.Dropout(0.5, seed=0)(x), V), (lambda x: nn.Dropout(0.5).eval()(x), V)],
}  # fmt: skip
NO_NUMBERS = {  # numbers that move do not go in, or none come out
    "History", "Module", "WalkingWarning", "accuracy", "fit", "he_normal", "he_uniform", "lecun_normal",
    "lecun_uniform", "predict", "xavier_normal", "xavier_uniform",
}  # fmt: skip


def between(operate):
    """An operator between two Vectors, and between a Vector and a number, on both sides."""
    return [
        (lambda v, w: operate(Vector(v), Vector(w)), POSITIVE, W),
        (lambda v, x: operate(Vector(v), x), POSITIVE, -1.2),
        (lambda x, v: operate(x, Vector(v)), 0.7, W),
        (lambda v, w: operate(Matrix([v]), Matrix([w])), POSITIVE, NEGATIVE),
    ]


def on_both(function, *others):
    """A function of an array, of a Vector and of a Matrix."""
    return [
        (lambda v, *others: function(Vector(v), *others), V, *others),
        (lambda a, *others: function(Matrix(a), *others), A, *others),
    ]


OF_LINALG = {
    **{f"__{x}__": between(getattr(operator, x)) for x in ("add", "sub", "mul", "truediv", "pow")},
    "__matmul__": [
        (lambda v, w: Vector(v) @ Vector(w), V, W),
        (lambda a, v: Matrix(a) @ Vector(v), A, V),
        (lambda v, b: Vector(v) @ Matrix(b), V, B),
        (lambda a, b: Matrix(a) @ Matrix(b), A, B),
    ],
    "__rmatmul__": [(lambda a, v: a @ Vector(v), A, V), (lambda v, a: v @ Matrix(a), V, B)],
    "dot": [(lambda v, w: Vector(v).dot(Vector(w)), V, W)],
    "sum": on_both(lambda array: array.sum()),
    "mean": on_both(lambda array: array.mean()),
    "norm": on_both(lambda array: array.norm()),
    "map": on_both(lambda array, scale: array.map(lambda x: scale * x * x), -1.5),
    "T": on_both(lambda array: array.T * 2.0),
    "data": [],
    "__getitem__": on_both(lambda array: array[1]),
    "__iter__": on_both(lambda array: [2.0 * x for x in array]),
    "__reversed__": [(lambda v: ad.dot([*reversed(Vector(v))], v), V)],
}
OF_LINALG |= {f"__r{x}__": OF_LINALG[f"__{x}__"] for x in ("add", "sub", "mul", "truediv", "pow")}
NO_DERIVATIVE = {  # of the array, or refused
    "backward", "count", "data", "grad", "index", "requires_grad_", "shape", "zero_grad",
    "__array_function__", "__array_ufunc__", "__bool__", "__class_getitem__", "__contains__", "__float__",
    "__int__", "__len__", "__round__", "__rxor__", "__xor__",
}  # fmt: skip


def public(kind):
    """The names of what an array has and does, but operations by the names of `ops`."""
    mine = [c for c in kind.__mro__ if c.__module__.startswith(("autodiff", "collections.abc"))]
    found = {name: getattr(kind, name) for c in mine for name, x in vars(c).items()}
    refused = {id(x) for x in found.values() if getattr(x, "__name__", "") == "refused"}
    return {
        name
        for name, x in found.items()
        if (callable(x) or isinstance(x, property) or name == "shape")
        and id(x) not in refused
        and x not in ops.LISTED
        and (name.startswith("__") or not name.startswith("_"))
        and name not in dir(object)
    }


def test_no_function_is_left_out():
    functions = {
        name
        for name, x in vars(ops).items()
        if inspect.isfunction(x) and x.__module__ == ops.__name__ and name[0] != "_"
    }
    assert functions == {x.__name__ for x in ops.LISTED}
    assert {*nn.__all__} == {*OF_NN} | NO_NUMBERS
    assert public(linalg.Vector) | public(linalg.Matrix) == {*OF_LINALG} | NO_DERIVATIVE
    for name in {*OF_NN} - {"Linear", "Sequential", "Dropout"}:
        (f, *_), *_ = OF_NN[name]
        assert [*inspect.signature(f).parameters] == [
            *inspect.signature(getattr(nn, name)).parameters
        ]


ROWS = [
    pytest.param(f, point, id=f"{name} {point}")
    for table in (OF_OPS, OF_NN, OF_LINALG)
    for name, rows in table.items()
    for f, *point in rows
]


@pytest.mark.parametrize(("f", "point"), ROWS)
def test_the_derivative_by_every_argument_in_every_mode(f, point):
    ad.check_gradients(f, *point)
    numbers, rebuild = flatten(point, "")

    def total(xs):
        results = flatten(f(*rebuild(iter(xs))), "")[0]
        return ad.dot(results, np.linspace(0.5, 1.5, len(results)).tolist())

    _, expected = GRADIENTS["backward"](total, numbers)(numbers)
    for name, mode in GRADIENTS.items():
        _, found = mode(total, numbers)(numbers)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12), name
