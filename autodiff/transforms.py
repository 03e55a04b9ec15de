"""Functions that take a function and return its derivative, with JAX's names.

Each takes a function of numbers, or of sequences of numbers, written with ordinary operators and
the functions of this package. A list reaches it as a list, a Vector as a Vector, a numpy array as
an array of numbers, so that NumPy's own operators and functions work on it. A keyword is passed
on as it is. A result that does not depend on the inputs has derivative 0.0. They nest: every call
has a level of its own (`number.new_level`), so a derivative inside another treats the other's
variables as constants.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import update_wrapper
from itertools import repeat
from typing import Any, NamedTuple, ParamSpec

from . import graph
from .admission import as_number, as_row, is_sequence
from .dual import as_tangent, dual
from .errors import a, counted, message, shortened, typed
from .linalg import Matrix, Vector
from .number import Number, level_of, new_level
from .value import Value, leaf

P = ParamSpec("P")
Function = Callable[..., Any]
Argnums = int | Sequence[int]
Pullback = Callable[[Any], list[Any]]


# -- Reverse mode -------------------------------------------------------------------------------


def grad(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """The gradient of f, a function that returns one number, by reverse mode.

    The gradient is a function of the same arguments. With respect to a number it returns a float,
    to a list a list, to an array or a Vector one too, and for several `argnums` a tuple of these.
    It calls f once and makes one backward pass, however many inputs there are.

    TypeError if f returns anything but one number.

    >>> grad(lambda x: x**3)(2.0)
    12.0
    >>> grad(grad(lambda x: x**3))(2.0)
    12.0
    >>> grad(lambda x, y: x[0] * y + x[1], argnums=(0, 1))([1.0, 2.0], 3.0)
    ([3.0, 1.0], 1.0)
    """
    return _transform("grad", f, argnums, _gradient)


def value_and_grad(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, tuple[Any, Any]]:
    """A function that returns the pair (f(...), gradient of f), both from one call of f.

    Its arguments are those of `grad`. TypeError if f returns anything but one number.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _transform("value_and_grad", f, argnums, _value_and_gradient)


def _value_and_gradient(call: "_Call") -> tuple[Any, Any]:
    value, pullback = _reverse(call)
    if isinstance(value, list):
        remedy = (
            "for the slope at each of many points write [grad(f)(x) for x in xs]; return y[0] for "
            "[y]; use jacrev or jacfwd for several results, or add them up"
        )
        numbers = f"a list of {counted(len(value), 'number')}"
        raise TypeError(message(call.name, numbers, "one number as the result of f", remedy))
    return value, call.shaped(pullback(1.0))


def _gradient(call: "_Call") -> Any:
    return _value_and_gradient(call)[1]


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
    call = _Call.of("vjp", f, primals, keywords, range(len(primals)))
    value, pullback = _reverse(call)

    def of_cotangent(cotangent: Any) -> tuple[Any, ...]:
        seeds = as_tree(cotangent, "vjp: the cotangent")
        _check_shapes("vjp: the cotangent", seeds, value)
        return tuple(call.shaped(pullback(seeds)))

    return value, of_cotangent


def jacrev(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """The Jacobian of f by reverse mode: one call of f, then a backward pass for each result.

    For a result and an argument that are both sequences, a list of rows: entry [i][j] is the
    derivative of result i with respect to input j. If one of them is a number, its index is
    left out. Prefer it to `jacfwd` when there are fewer results than inputs. TypeError if a
    result is not a number.

    >>> jacrev(lambda x: [x[0] * x[1], x[0] + x[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """
    return _transform("jacrev", f, argnums, _by_rows)


def _by_rows(call: "_Call") -> Any:
    value, pullback = _reverse(call)
    rows = [pullback(one) for one in _basis(value)]
    each = [filled(value, [row[k] for row in rows]) for k in range(len(call.chosen))]
    return call.shaped(each)


def _reverse(call: "_Call") -> tuple[Any, Pullback]:
    """The value of f, and a function from a cotangent to the gradients of the chosen arguments.

    The adjoints of the outputs start at the cotangent, which may be a number of another
    derivative: the backward pass is linear in it.
    """
    with new_level() as level:
        variables = map_tree(lambda x: leaf(x, level), call.primals)
        output = call.result(variables)

    def pullback(cotangent: Any) -> list[Any]:
        seeds: dict[Any, Any] = {}
        for y, seed in zip(flat_tree(output), flat_tree(cotangent)):
            if isinstance(y, Value) and y._level == level:
                seeds[y] = seeds[y] + seed if y in seeds else seed
        adjoint = graph.backpropagated(seeds)
        return map_tree(lambda x: adjoint.get(x, 0.0), variables)  # type: ignore[no-any-return]

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
    expected = "a tuple with an entry for each argument: jvp(f, (2.0,), (1.0,))"
    primals, tangents = (as_row(x, "jvp", expected) for x in (primals, tangents))
    call = _Call.of("jvp", f, primals, keywords, range(len(primals)))
    directions = as_tree(tangents, "jvp: the tangents")
    _check_shapes("jvp: the tangents", directions, call.primals)
    return _forward(call, directions)


def jacfwd(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """The Jacobian of f by forward mode: a call of f for each input, no backward pass.

    It has the same shape as with `jacrev`. Prefer it when there are fewer inputs than results.
    TypeError if a result is not a number.

    >>> jacfwd(lambda x: [x[0] * x[1], x[0] + x[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """
    return _transform("jacfwd", f, argnums, lambda call: call.shaped(_by_columns(call)))


def _by_columns(call: "_Call") -> list[Any]:
    """For each argument the derivatives by it: a tree of results, each a tree of its shape."""
    others = [x for i, x in enumerate(call.args) if i not in call.chosen]
    for x in [*others, *call.keywords.values()]:
        if isinstance(x, Iterator):  # such as zip(xs, ys)
            used = f"{a(x)}, which the first of several calls of f would use up"
            remedy = "pass list(...)"
            raise TypeError(message(call.name, used, "what can be read again", remedy))
    columns = [_forward(call, one)[1] for one in _basis(call.primals)]
    result = columns[0] if columns else _forward(call, call.primals)[1]
    rest = iter(columns)

    def beside(x: Any) -> Any:  # for each result, its derivatives by the numbers of x
        return map_tree(lambda _, *row: filled(x, row), result, *[next(rest) for _ in flat_tree(x)])

    return [beside(x) for x in call.primals]


def _forward(call: "_Call", directions: Any) -> tuple[Any, Any]:
    """The value of f, and its derivative along the directions, one for each chosen argument."""
    with new_level() as level:
        output = call.result(
            map_tree(lambda x, t: dual(x, as_tangent(t), level), call.primals, directions)
        )

    def own(y: Any) -> bool:
        return getattr(y, "_level", 0) == level

    value = map_tree(lambda y: y.primal if own(y) else y, output)
    return value, map_tree(lambda y: y.tangent if own(y) else 0.0, output)


# -- Second derivatives -------------------------------------------------------------------------


def hessian(f: Callable[P, Any], argnums: Argnums = 0) -> Callable[P, Any]:
    """The matrix of second derivatives of f, forward over reverse: n passes for n inputs.

    For a sequence a list of rows, for a numpy array a square array, for a number a float. For
    several `argnums` a tuple of tuples: [i][j] is the block of derivatives by x_i and x_j.
    TypeError if f returns anything but one number.

    >>> hessian(lambda x: x[0] ** 2 * x[1])([3.0, 5.0])
    [[10.0, 6.0], [6.0, 0.0]]
    >>> hessian(lambda x, y: x[0] * x[1] * y, argnums=(0, 1))([3.0, 5.0], 2.0)
    (([[0.0, 2.0], [2.0, 0.0]], [5.0, 3.0]), ([5.0, 3.0], 0.0))
    """
    return _transform("hessian", f, argnums, _second)


def _second(call: "_Call") -> Any:
    columns = _by_columns(_gradient_of(call))  # for each argument, those of the gradient by it
    if call.one:
        return call.shaped(columns)
    rows = map(call.shaped, zip(*columns))
    return tuple(tuple(call.back(x, i) for x in row) for i, row in zip(call.chosen, rows))


def _gradient_of(call: "_Call") -> "_Call":
    """The same call of the gradient of f instead of f."""

    argnums = call.chosen[0] if call.one else call.chosen
    return call._replace(f=_transform(call.name, call.f, argnums, _gradient))


def hvp(f: Function, x: Any, v: Any, **keywords: Any) -> Any:
    """The Hessian of f at x times v, without forming the Hessian: one forward-over-reverse pass.

    x and v are both numbers, or sequences of the same length; so is the result. Other keywords go
    to f. It costs as much as a few evaluations of f, however many inputs there are (Pearlmutter
    1994). ValueError if the shapes of x and v differ, TypeError if f does not return one number.

    >>> hvp(lambda x: x[0] ** 2 * x[1], [3.0, 5.0], [1.0, 0.0])
    [10.0, 6.0]
    """
    call = _gradient_of(_Call.of("hvp", f, (x,), keywords, 0))
    direction = [as_tree(v, "hvp: v")]
    _check_shapes("hvp: v", direction, call.primals)
    return call.shaped([_forward(call, direction)[1]])


# -- Arguments and results ----------------------------------------------------------------------


class _Call(NamedTuple):
    """A call of a function, and by which of its arguments to differentiate it."""

    name: str  # of the transform, for errors
    f: Function
    args: Sequence[Any]
    keywords: dict[str, Any]
    one: bool  # whether argnums is one index: the result is then not a tuple
    chosen: list[int]  # indices of arguments
    primals: list[Any]  # these, as trees

    @classmethod
    def of(cls, name: str, f: Any, args: Any, keywords: Any, argnums: Argnums) -> "_Call":
        check_function(f, name)
        one = isinstance(argnums, int)
        try:
            chosen = [range(len(args))[i] for i in ([argnums] if one else argnums)]  # type: ignore
            if len(set(chosen)) < len(chosen):
                raise IndexError
        except (IndexError, TypeError) as error:
            given = f"argnums {shortened(argnums)} and {counted(len(args), 'positional argument')}"
            expected = "the index of one of them, or several different ones"
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(message(name, given, expected)) from None
        primals = [as_tree(args[i], name) for i in chosen]
        return cls(name, f, args, keywords, one, chosen, primals)

    def result(self, variables: list[Any]) -> Any:
        """What f returns, as a tree, with variables in place of the arguments."""
        args = list(self.args)
        for i, x in zip(self.chosen, variables):
            args[i] = in_kind(x, args[i])
        output = as_tree(self.f(*args, **self.keywords), f"{self.name}: the result of f")
        for y in flat_tree(output):
            level_of(y)  # raises a RuntimeError if it leaked out of another derivative
        return output

    def shaped(self, derivatives: Iterable[Any]) -> Any:
        """One derivative for one argnum, a tuple for several."""
        each = tuple(self.back(x, i) for i, x in zip(self.chosen, derivatives))
        return each[0] if self.one else each

    def back(self, derivative: Any, i: int) -> Any:
        """A derivative by argument i, in its kind: an array, a Vector, else numbers or lists."""
        given = self.args[i]
        vectors = isinstance(given, (Vector, Matrix)) and _depth(derivative) != len(given.shape)
        return derivative if vectors else in_kind(derivative, given)


# A tree is a number, or a list of trees: so are all arguments and results.


def as_tree(x: Any, name: str) -> Any:
    """A number as a float, a Number as it is, a sequence of them as a list; else a TypeError."""
    if not is_sequence(x):
        return as_number(x, name)
    return [as_tree(entry, name) for entry in as_row(x, name)]


def in_kind(tree: Any, given: Any) -> Any:
    """A copy of a tree, as an array of numbers, a Vector or a Matrix if such was given."""
    if isinstance(tree, list) and hasattr(given, "__array__"):
        kind = object if any(isinstance(x, Number) for x in flat_tree(tree)) else float
        return sys.modules["numpy"].array(tree, dtype=kind)
    if isinstance(given, (Vector, Matrix)):
        entries = [x if isinstance(x, Number) else leaf(x, 0) for x in flat_tree(tree)]
        return type(given)._of(entries, given.shape)
    return map_tree(lambda x: x, tree)


def map_tree(function: Callable[..., Any], *trees: Any) -> Any:
    """The function applied to the numbers of trees of the same shape."""
    if isinstance(trees[0], list):
        return [map_tree(function, *branches) for branches in zip(*trees)]
    return function(*trees)


def flat_tree(tree: Any) -> list[Any]:
    """The numbers of a tree, from left to right."""
    return [x for branch in tree for x in flat_tree(branch)] if isinstance(tree, list) else [tree]


def _depth(tree: Any) -> int:
    return 1 + _depth(tree[0]) if isinstance(tree, list) and tree else 0


def filled(tree: Any, numbers: Iterable[Any]) -> Any:
    """A tree of the same shape with other numbers, or trees, from left to right."""
    rest = iter(numbers)
    return map_tree(lambda _: next(rest), tree)


def _basis(tree: Any) -> list[Any]:
    """For each number of a tree, a tree of the same shape with 1 there and 0 elsewhere."""
    n = len(flat_tree(tree))
    return [filled(tree, [float(i == j) for i in range(n)]) for j in range(n)]


def _check_shapes(where: str, tree: Any, like: Any) -> None:
    if filled(tree, repeat(0)) != filled(like, repeat(0)):
        expected = f"the shape of {shortened(like)}"
        raise ValueError(message(where, shortened(tree), expected))


def check_function(f: Any, name: str) -> None:
    if not callable(f):
        raise TypeError(message(name, typed(f), "a function"))


def _transform(
    name: str, f: Callable[P, Any], argnums: Argnums, derive: Callable[["_Call"], Any]
) -> Callable[P, Any]:
    """The function name(f), with f's signature, which derives at the arguments of its call."""
    check_function(f, name)

    def derivative(*args: Any, **keywords: Any) -> Any:
        return derive(_Call.of(name, f, args, keywords, argnums))

    update_wrapper(derivative, f)
    called = getattr(f, "__name__", type(f).__name__)
    derivative.__name__ = derivative.__qualname__ = f"{name}({called})"
    derivative.__doc__ = f"{derivative.__name__}, a function of the same arguments as {called}."
    return derivative
