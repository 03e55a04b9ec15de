"""Functions that take a function and return its derivative, with JAX's names.

Each takes a function of numbers, or of flat sequences of numbers, written with ordinary
operators and the functions of this package. A sequence is passed to it as a list, a numpy array
or a Vector as a `Vector`, a keyword as it is. A result that does not depend on the inputs has
derivative 0.0. They nest: every call has a level of its own (`number.new_level`), so a derivative
inside another treats the other's variables as constants.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from . import graph
from .dual import as_tangent, dual
from .errors import a, counted, message, shortened, typed
from .functions import as_float, is_sequence
from .linalg import Vector
from .number import Number, check_level, new_level, one_number
from .value import Value, leaf

Function = Callable[..., Any]
Pullback = Callable[[Any], list[Any]]


# -- Reverse mode -------------------------------------------------------------------------------


def grad(f: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The gradient of f, a function that returns one number, by reverse mode.

    The gradient is a function of the same arguments. With respect to a number it returns a float,
    to a sequence a list, to a numpy array an array, and for several `argnums` a tuple of these.
    It calls f once and makes one backward pass, however many inputs there are.

    TypeError if f returns anything but one number.

    >>> grad(lambda x: x**3)(2.0)
    12.0
    >>> grad(grad(lambda x: x**3))(2.0)
    12.0
    >>> grad(lambda x, y: x[0] * y + x[1], argnums=(0, 1))([1.0, 2.0], 3.0)
    ([3.0, 1.0], 1.0)
    """
    return _called(_gradient(f, argnums, "grad"), "grad", f, "The gradient")


def _gradient(f: Function, argnums: Any, name: str) -> Function:
    both = _value_and_gradient(f, argnums, name)

    def gradient(*args: Any, **keywords: Any) -> Any:
        return both(*args, **keywords)[1]

    return gradient


def value_and_grad(f: Function, argnums: int | Sequence[int] = 0) -> Function:
    """A function that returns the pair (f(...), gradient of f), both from one call of f.

    Its arguments are those of `grad`. TypeError if f returns anything but one number.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    both = _value_and_gradient(f, argnums, "value_and_grad")
    return _called(both, "value_and_grad", f, "The value and the gradient")


def _value_and_gradient(f: Function, argnums: Any, name: str) -> Function:
    check_function(f, name)

    def both(*args: Any, **keywords: Any) -> Any:
        inputs = Inputs.of(name, args, argnums)
        value, pullback = _reverse(f, inputs, keywords)
        if isinstance(value, list):
            remedy = "use jacrev or jacfwd for several results, or add them up"
            found = f"a result of {counted(len(value), 'number')}"
            raise TypeError(message(name, found, "one", remedy))
        return value, inputs.of_each(pullback(1.0))

    return both


def vjp(
    f: Function, *primals: Any, **keywords: Any
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value of f at the primals, and a function from a cotangent v to $v^T J$.

    The cotangent has the shape of the value; $v^T J$ is a tuple with a number or a list for each
    primal. J is the Jacobian of f, which is never formed: each call is one backward pass.

    TypeError or ValueError if the cotangent does not have the value's shape.

    >>> value, pullback = vjp(lambda x: [x[0] * x[1], x[0] + x[1]], [2.0, 3.0])
    >>> value, pullback([1.0, 10.0])
    ([6.0, 5.0], ([13.0, 12.0],))
    """
    check_function(f, "vjp")
    inputs = Inputs.of("vjp", primals, range(len(primals)))
    value, pullback = _reverse(f, inputs, keywords)

    def of_cotangent(cotangent: Any) -> tuple[Any, ...]:
        seeds = as_tree(cotangent, "vjp: the cotangent")
        _check_shapes("vjp", "the cotangent", seeds, "the value", value)
        return tuple(map(inputs.shaped, inputs.chosen, pullback(seeds)))

    return value, of_cotangent


def jacrev(f: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The Jacobian of f by reverse mode: one call of f, then a backward pass for each result.

    For a result and an argument that are both sequences, a list of rows: entry [i][j] is the
    derivative of result i with respect to input j. If one of them is a number, its index is
    left out. Prefer it to `jacfwd` when there are fewer results than inputs. TypeError if a
    result is not a number.

    >>> jacrev(lambda x: [x[0] * x[1], x[0] + x[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """
    check_function(f, "jacrev")

    def jacobian(*args: Any, **keywords: Any) -> Any:
        inputs = Inputs.of("jacrev", args, argnums)
        value, pullback = _reverse(f, inputs, keywords)
        rows = [pullback(one) for one in _basis(value)]
        each = [_unflattened(value, [row[k] for row in rows]) for k in range(len(inputs.chosen))]
        return inputs.of_each(each)

    return _called(jacobian, "jacrev", f, "The Jacobian")


def _reverse(f: Function, inputs: "Inputs", keywords: dict[str, Any]) -> tuple[Any, Pullback]:
    """The value of f, and a function from a cotangent to the gradients of the chosen inputs.

    The adjoints of the outputs start at the cotangent, which may be a number of another
    derivative: the backward pass is linear in it.
    """
    with new_level() as level:
        variables = [map_tree(lambda x: leaf(x, level), x) for x in inputs.primals]
        output = inputs.result(f, variables, keywords)

    def pullback(cotangent: Any) -> list[Any]:
        seeds: dict[Any, Any] = {}
        for y, seed in zip(flat_tree(output), flat_tree(cotangent)):
            if isinstance(y, Value) and y._level == level:
                seeds[y] = seeds[y] + seed if y in seeds else seed
        adjoint = graph.backpropagated(seeds)
        return [map_tree(lambda x: adjoint.get(x, 0.0), variable) for variable in variables]

    def number(y: Any) -> Any:
        return y.data if isinstance(y, Value) and y._level in (level, 0) else y

    return map_tree(number, output), pullback


# -- Forward mode -------------------------------------------------------------------------------


def jvp(
    f: Function, primals: Sequence[Any], tangents: Sequence[Any], **keywords: Any
) -> tuple[Any, Any]:
    """The value of f at the primals, and $J v$: its derivative along the tangents v.

    `primals` and `tangents` are tuples with an entry for each argument of f, of the same
    shapes; keywords go to f. $J v$ has the shape of the value. f is called once, and there is no
    backward pass. An input whose tangent is 0.0 does not move: it is a constant, even where f has
    no derivative by it.

    TypeError or ValueError if the shapes of primals and tangents differ.

    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (6.0, 3.0)
    """
    check_function(f, "jvp")
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            expected = f"a tuple with an entry for each argument of f: ({shortened(given)},)"
            raise TypeError(message("jvp", f"{name} of type {type(given).__name__}", expected))
    inputs = Inputs.of("jvp", primals, range(len(primals)))
    directions = [opened_argument(t, "jvp: a tangent") for t in tangents]
    _check_shapes("jvp", "the tangents", directions, "the primals", inputs.primals)
    return _forward(f, inputs, directions, keywords)


def jacfwd(f: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The Jacobian of f by forward mode: a call of f for each input, no backward pass.

    It has the same shape as with `jacrev`. Prefer it when there are fewer inputs than results.
    TypeError if a result is not a number.

    >>> jacfwd(lambda x: [x[0] * x[1], x[0] + x[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """
    check_function(f, "jacfwd")

    def jacobian(*args: Any, **keywords: Any) -> Any:
        inputs = Inputs.of("jacfwd", args, argnums)
        return inputs.of_each(_by_columns(f, inputs, keywords))

    return _called(jacobian, "jacfwd", f, "The Jacobian")


def _by_columns(f: Function, inputs: "Inputs", keywords: dict[str, Any]) -> list[Any]:
    """The Jacobian by each chosen input: of the shape of the result, with a row in each place."""
    held = [x for i, x in enumerate(inputs.args) if i not in inputs.chosen]
    for x in [*held, *keywords.values()]:
        if isinstance(x, Iterator):
            found = f"{a(x)}, which the first of several calls of f would use up"
            remedy = "pass list(...)"
            raise TypeError(message(inputs.name, found, "what can be read again", remedy))
    columns = [_forward(f, inputs, one, keywords)[1] for one in _basis(inputs.primals)]
    result = columns[0] if columns else _forward(f, inputs, inputs.primals, keywords)[1]
    rest = iter(columns)

    def beside(x: list[Any]) -> Any:
        """The next len(x) columns as rows."""
        return map_tree(lambda _, *row: list(row), result, *[next(rest) for _ in x])

    return [beside(x) if isinstance(x, list) else next(rest) for x in inputs.primals]


def _forward(f: Function, inputs: "Inputs", directions: Any, keywords: Any) -> tuple[Any, Any]:
    """The value of f, and its derivative along the directions, one for each chosen input."""
    with new_level() as level:
        variables = [
            map_tree(lambda x, t: dual(x, as_tangent(t), level), x, t)
            for x, t in zip(inputs.primals, directions)
        ]
        output = inputs.result(f, variables, keywords)
    value = map_tree(lambda y: y.primal if _at(y, level) else y, output)
    return value, map_tree(lambda y: y.tangent if _at(y, level) else 0.0, output)


# -- Second derivatives -------------------------------------------------------------------------


def hessian(f: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The matrix of second derivatives of f, forward over reverse: n passes for n inputs.

    For a sequence a list of rows, for a numpy array a square array, for a number a float. For
    several `argnums` a tuple of tuples: [i][j] is the block of derivatives by x_i and x_j, with
    a row for each number of x_i. TypeError if f returns anything but one number.

    >>> hessian(lambda x: x[0] ** 2 * x[1])([3.0, 5.0])
    [[10.0, 6.0], [6.0, 0.0]]
    >>> hessian(lambda x, y: x[0] * x[1] * y, argnums=(0, 1))([3.0, 5.0], 2.0)
    (([[0.0, 2.0], [2.0, 0.0]], [5.0, 3.0]), ([5.0, 3.0], 0.0))
    """
    gradient = _gradient(f, argnums, "hessian")

    def matrix(*args: Any, **keywords: Any) -> Any:
        inputs = Inputs.of("hessian", args, argnums)
        blocks = _by_columns(gradient, inputs, keywords)
        if not inputs.several:
            return inputs.of_each(blocks)
        rows = [inputs.of_each(list(row)) for row in zip(*blocks)]  # blocks[j][i]
        return tuple(
            tuple(inputs.shaped(i, block) for block in row) for i, row in zip(inputs.chosen, rows)
        )

    return _called(matrix, "hessian", f, "The Hessian")


def hvp(f: Function, x: Any, v: Any, **keywords: Any) -> Any:
    """The Hessian of f at x times v, without forming the Hessian: one forward-over-reverse pass.

    x and v are both numbers, or sequences of the same length; so is the result. Other keywords go
    to f. It costs as much as a few evaluations of f, however many inputs there are (Pearlmutter
    1994). ValueError if the shapes of x and v differ, TypeError if f does not return one number.

    >>> hvp(lambda x: x[0] ** 2 * x[1], [3.0, 5.0], [1.0, 0.0])
    [10.0, 6.0]
    """
    check_function(f, "hvp")
    inputs = Inputs.of("hvp", (x,), 0)
    point, direction = inputs.primals[0], opened_argument(v, "hvp, v")
    _check_shapes("hvp", "v", direction, "x", point)
    point = x if _is_array(x) else point  # an iterator has been used up
    return inputs.shaped(0, jvp(grad(f), (point,), (direction,), **keywords)[1])


# -- Arguments and results ----------------------------------------------------------------------


class Inputs(NamedTuple):
    """The arguments of a function, and which of them to differentiate with respect to."""

    name: str  # of the transform, for errors
    args: Sequence[Any]
    several: bool  # whether argnums is a sequence, which makes the result a tuple
    chosen: list[int]  # indices into args
    primals: list[Any]  # the chosen ones: a float, or a list of floats

    @classmethod
    def of(cls, name: str, args: Sequence[Any], argnums: Any) -> "Inputs":
        several = isinstance(argnums, Sequence) and not isinstance(argnums, str)
        chosen: list[Any] = [*argnums] if several else [argnums]
        for i in chosen:
            if not isinstance(i, int):
                raise TypeError(message(name, f"argnums {argnums!r}", "an index, or several"))
            if not -len(args) <= i < len(args):
                found = f"argnums {i} and {counted(len(args), 'positional argument')}"
                raise ValueError(message(name, found, "the index of one of them"))
        chosen = [i % len(args) for i in chosen]
        if len(set(chosen)) < len(chosen):
            raise ValueError(message(name, f"argnums {argnums!r}", "each argument once"))
        primals = [opened_argument(args[i], name) for i in chosen]
        return cls(name, args, several, chosen, primals)

    def result(self, f: Function, variables: list[Any], keywords: Any) -> Any:
        """What f returns, as a tree, with variables in place of the chosen arguments.

        f gets copies of lists, so that it may change them.
        """
        args = list(self.args)
        for i, x in zip(self.chosen, variables):
            args[i] = as_given(x, args[i])
        output = as_tree(f(*args, **keywords), f"{self.name}: the result of f")
        for y in flat_tree(output):
            check_level(y)
        return output

    def shaped(self, i: int, derivative: Any) -> Any:
        """The derivative by argument i, as an array if the argument is one."""
        if not (_is_array(self.args[i]) and isinstance(derivative, list) and derivative):
            return derivative
        if any(isinstance(x, Number) for x in flat_tree(derivative)):  # of an outer derivative
            nested = isinstance(derivative[0], list)
            return derivative if nested else Vector._of(derivative, (len(derivative),))
        if isinstance(self.args[i], Vector):
            return derivative
        return sys.modules["numpy"].array(derivative)

    def of_each(self, derivatives: list[Any]) -> Any:
        """One derivative for one argnum, a tuple for several."""
        found = tuple(map(self.shaped, self.chosen, derivatives))
        return found if self.several else found[0]


def _is_array(x: Any) -> bool:
    return isinstance(x, Vector) or hasattr(x, "__array__")


def as_given(x: Any, given: Any) -> Any:
    """x as f takes it: a Vector if an array or a Vector was given, or a copy of a list."""
    if not (isinstance(x, list) and x and _is_array(given)):
        return map_tree(lambda v: v, x)
    entries = [v if isinstance(v, Number) else leaf(v, 0) for v in x]
    return Vector._of(entries, (len(x),))


def opened_argument(x: Any, name: str) -> Any:
    """A number as a float, a flat sequence of numbers as a list; a Number stays as it is."""
    if not is_sequence(x):
        return x if isinstance(x, Number) else as_float(x, name)
    if len(getattr(x, "shape", ())) > 1:
        remedy = "flatten it, a numpy array with .ravel(), and reshape it in f"
        raise TypeError(message(name, f"an array of shape {x.shape}", "a flat sequence", remedy))
    return [one_number(v, f"{name}: a flat sequence") for v in x]


def as_tree(output: Any, name: str) -> Any:
    """The result of a function as a tree: a number, or a list of trees."""
    if is_sequence(output):
        return [as_tree(y, name) for y in output]
    if isinstance(output, Number):
        return output
    return as_float(output, name)


def map_tree(function: Callable[..., Any], *trees: Any) -> Any:
    """The function applied to the numbers of trees of the same shape."""
    if isinstance(trees[0], list):
        return [map_tree(function, *branches) for branches in zip(*trees)]
    return function(*trees)


def flat_tree(tree: Any) -> list[Any]:
    """The numbers of a tree, from left to right."""
    return [x for branch in tree for x in flat_tree(branch)] if isinstance(tree, list) else [tree]


def _basis(tree: Any) -> list[Any]:
    """For each number of a tree, a tree of the same shape with 1 there and 0 elsewhere."""
    n = len(flat_tree(tree))
    return [_unflattened(tree, [float(i == j) for i in range(n)]) for j in range(n)]


def _unflattened(tree: Any, leaves: Iterable[Any]) -> Any:
    """A tree of the same shape with other leaves, from left to right."""
    rest = iter(leaves)
    return map_tree(lambda _: next(rest), tree)


def _check_shapes(name: str, left_name: str, left: Any, right_name: str, right: Any) -> None:
    def shape(tree: Any) -> Any:
        return [shape(branch) for branch in tree] if isinstance(tree, list) else "a number"

    if shape(left) != shape(right):
        found, expected = f"{left_name} {shortened(left)}", f"the shape of {right_name}"
        raise ValueError(message(name, found, f"{expected}, {shortened(right)}"))


def check_function(f: Any, name: str) -> None:
    if not callable(f):
        raise TypeError(message(name, typed(f), "a function"))


def _at(y: Any, level: int) -> bool:
    return isinstance(y, Number) and y._level == level


def _called(derivative: Function, transform: str, f: Function, what: str) -> Function:
    """The derivative, named transform(f), with a docstring on `what` it is and f's signature."""
    name = getattr(f, "__name__", type(f).__name__)
    derivative.__name__ = derivative.__qualname__ = f"{transform}({name})"
    derivative.__doc__ = f"{what} of {name}, a function of the same arguments."
    import inspect

    with suppress(TypeError, ValueError):  # some builtins have none
        derivative.__signature__ = inspect.signature(f)  # type: ignore[attr-defined]
    return derivative
