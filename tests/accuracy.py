"""How accurate are derivatives, for numbers of all sizes and right beside kinks and poles?

    python tests/accuracy.py

prints, for each operation and mode, the largest error over a few dozen points, in two measures:
relative to the derivative itself, and relative to max(1, |derivative|). PyTorch's errors (in
float64) are printed beside them if it is installed. Points are left out if the exact value or
derivative is not an ordinary float, but above 1e300, or below 1e-290 and not 0.
"""

import importlib.util
import random
import sys
from functools import partial

import mpmath
import numpy as np
from operations import OPERATIONS
from test_ops import differentiated

from autodiff import Expression, Value, adjoints, grad, hessian, jacfwd, jacrev

POINTS = 30  # for each operation
HUGE, TINY = 1e300, 1e-290
MEASURED = [name for name in OPERATIONS if not name.startswith("less")]  # which have a slope


# -- Derivatives, by modes ------------------------------------------------------------------------


def compiled(f, xs):
    leaves = [Value(x) for x in xs]
    return Expression(f(leaves)).compile(leaves, wrt=leaves)(*xs)[1]


def batched(f, xs):
    leaves = [Value(x) for x in xs]
    program = Expression(f(leaves)).compile(leaves, wrt=leaves, xp=np, batch=True)
    with np.errstate(all="ignore"):
        return program(np.array([xs]))[1][0].tolist()


def of_gradients(compile, f, xs):
    """The Hessian, by gradients that are graphs."""
    leaves = [Value(x) for x in xs]
    found = adjoints(f(leaves), create_graph=True)
    rows = []
    for g in [found.get(x, 0.0) for x in leaves]:
        again = compile(lambda xs, g=g: g, leaves) if isinstance(g, Value) else {}
        rows.append([again.get(x, 0.0) for x in leaves])
    return rows


FIRST = {
    "reverse": lambda f, xs: grad(f)(xs),
    "forward": lambda f, xs: jacfwd(f)(xs),
    "compiled": compiled,
    "batched": batched,
}
SECOND = {
    "fwd/rev": lambda f, xs: hessian(f)(xs),
    "rev/rev": lambda f, xs: jacrev(grad(f))(xs),
    "fwd/fwd": lambda f, xs: jacfwd(jacfwd(f))(xs),
    "graph": partial(of_gradients, lambda g, leaves: adjoints(g(leaves))),
}


def by_torch(name, point, free, order):
    """The gradient or the Hessian by PyTorch."""
    import torch

    single = {"neg": torch.neg, "pos": torch.positive, "abs": torch.abs}
    several = {
        "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
        "power": torch.pow, "pow": torch.pow, "exponential": torch.pow,
        "maximum": torch.maximum, "minimum": torch.minimum, "where": lambda c, x, y: x + 0 * y,
        "sum": lambda *xs: torch.stack(xs).sum(), "prod": lambda *xs: torch.stack(xs).prod(),
        "dot": lambda *v: torch.dot(torch.stack(v[:2]), torch.stack(v[2:])),
        "logsumexp": lambda *xs: torch.logsumexp(torch.stack(xs), 0),
        "hypot": lambda *xs: torch.linalg.vector_norm(torch.stack(xs)),
        "softplus": lambda x: torch.nn.functional.softplus(x, threshold=1000),
    }  # fmt: skip
    function = single.get(name) or several.get(name) or getattr(torch, name)
    inputs = [torch.tensor(x, dtype=torch.float64) for x in point]

    def f(v):
        given = list(inputs)
        for i, x in zip(free, v):
            given[i] = x
        return function(*given)

    v = torch.tensor([point[i] for i in free], dtype=torch.float64)
    differentiate = (
        torch.autograd.functional.jacobian if order == 1 else torch.autograd.functional.hessian
    )
    return differentiate(f, v).tolist()


# -- Errors ---------------------------------------------------------------------------------------


def ordinary(x):
    return x == 0 or TINY <= abs(x) <= HUGE


class Errors:
    """The largest errors so far, in both measures."""

    def __init__(self):
        self.relative, self.absolute, self.at, self.worst = 0.0, 0.0, None, None

    def add(self, found, expected, point):
        error = abs(found - expected)
        error = mpmath.inf if mpmath.isnan(error) else error
        relative = error / abs(expected) if expected else mpmath.mpf(error)
        if relative > self.relative:
            self.relative, self.at = float(relative), point
        absolute = error / max(1, abs(expected))
        if absolute > self.absolute:
            self.absolute, self.worst = float(absolute), point


def measured(name, modes, order, rng, torch=True):
    """The Errors of each mode, and of PyTorch under the name "PyTorch" if that is installed."""
    row = OPERATIONS[name]
    reference = row.reference
    errors = {mode: Errors() for mode in [*modes, "PyTorch"]}
    drawn = [tuple(draw(rng) for draw in row.full) for _ in range(POINTS)]
    for point in drawn + [*row.edges]:
        f, xs, free = differentiated(name)(point)
        exact = [mpmath.mpf(x) for x in point]
        if not ordinary(reference(*exact)):
            continue
        places = [(i,) for i in range(len(free))]
        if order == 2:
            places = [(i, j) for i in range(len(free)) for j in range(len(free))]
        expected = {at: exact_partial(reference, exact, *[free[i] for i in at]) for at in places}
        if any(abs(x) > HUGE for x in expected.values()):
            continue
        found = {mode: attempt(partial(modes[mode], f, xs)) for mode in modes}
        if torch and importlib.util.find_spec("torch"):
            found["PyTorch"] = attempt(partial(by_torch, name, point, free, order))
        for mode, result in found.items():
            for at, x in expected.items():
                if ordinary(x):
                    number = mpmath.nan if result is None else result[at[0]]
                    if result is not None and order == 2:
                        number = number[at[1]]
                    errors[mode].add(mpmath.mpf(number), x, point)
    return errors


def exact_partial(reference, point, *indices):
    """A partial derivative of the reference by central differences, to 50 digits or more."""
    if not indices:
        return reference(*point)
    *others, i = indices
    h = mpmath.mpf(10) ** -45 * (abs(point[i]) or min([1, *[abs(x) for x in point if x]]))
    high, low = ((*point[:i], point[i] + step, *point[i + 1 :]) for step in (h, -h))
    difference = exact_partial(reference, high, *others) - exact_partial(reference, low, *others)
    found = difference / (2 * h)
    return found if abs(found) > mpmath.mpf(10) ** -400 else mpmath.mpf(0)  # 0 up to rounding


def attempt(compute):
    """The result, or None if it is an error, which means that no derivative was found."""
    try:
        return compute()
    except (ZeroDivisionError, OverflowError, ValueError):
        return None


def table(title, modes, order):
    """Print the errors of all operations: relative | relative to max(1, |derivative|)."""
    names = [*modes, "PyTorch"]
    print(f"{title}: the largest error relative to the derivative | to max(1, |derivative|)\n")
    print(f"{'':12}" + "".join(f"{name:>20}" for name in names))
    for operation in MEASURED:
        errors = measured(operation, modes, order, random.Random(operation))
        cells = [f"{e.relative:9.0e} |{e.absolute:6.0e}" for e in errors.values()]
        print(f"{operation:12}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
        if "-v" in sys.argv:
            print("    worst at", {name: (e.at, e.worst) for name, e in errors.items()})
    print()


if __name__ == "__main__":
    with mpmath.workdps(1500):
        table("First derivatives", FIRST, 1)
        table("Second derivatives", SECOND, 2)
