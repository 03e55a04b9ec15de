"""Functions that take a function and return its derivative, with JAX's names.

Each takes a function of trees, written with ordinary operators and the functions of this package.
A tree is a number, or a list, tuple, dict, array, Vector or Matrix of trees: it reaches the
function in its own shape, an array as an array of numbers, so that NumPy's own operators and
functions work on it, and derivatives come back in that shape. A keyword is passed on as it is. A
result that does not depend on the inputs has derivative 0.0. They nest: every call has a level of
its own (`levels.new_level`), so a derivative inside another treats the other's variables as
constants.

With `tiny.py`, `grad(lambda p: p["w"] * 2.0)({"w": 3.0})` is a TypeError.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import update_wrapper
from operator import index
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar, overload

from . import graph
from .admission import AnyNumber, as_number, as_row, is_sequence
from .calls import FLOATS
from .dual import Dual, as_tangent, dual
from .errors import counted, kind_of, refusal, shortened, typed
from .levels import CONSTANT, PLAIN, level_of, new_level
from .linalg import Matrix, Vector
from .operation import Operation
from .ufuncs import array_of
from .value import Value, leaf, watch

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Function = Callable[..., Any]  # a user's, from trees to a tree
Argnums = int | Iterable[int]
Indices = int | list[int]
Tree = Any  # a number, or a list, tuple, dict, array, Vector or Matrix of trees
Numbers = list[AnyNumber]  # of a tree
Rebuild = Callable[..., Tree]  # from an iterator of other numbers to a tree of the same shape
Flattened = tuple[Numbers, Rebuild]
Pullback = Callable[[Numbers], Tree]  # from the adjoints of the results to the arguments' tree


class Transform(Protocol[R]):
    """From a function to one of the same arguments; to pyright those of an operation are any.

    It cannot pass on the overloads of an operation twice, as grad(grad(sin)) does.
    """

    @overload
    def __call__(self, f: Operation, argnums: Argnums = 0) -> Callable[..., R]: ...
    @overload
    def __call__(self, f: Callable[P, Tree], argnums: Argnums = 0) -> Callable[P, R]: ...


def _typed(transform: Callable[..., Callable[..., R]]) -> Transform[R]:
    """The function itself, as type checkers see it."""
    return transform


# -- Reverse mode -------------------------------------------------------------------------------


@_typed
def grad(f: Function, argnums: Argnums = 0) -> Callable[..., Tree]:
    """The gradient of f, a function that returns one number, by reverse mode.

    The gradient is a function of the same arguments. It has the shape of the argument: a float for
    a number, an array for an array, a dict for a dict; for several `argnums` it is a tuple. It
    calls f once and makes one backward pass, however many inputs there are.

    Where f holds Values of its own, the gradient depends on them, and is made of Values. Data
    belong in floats and arrays, or need `requires_grad = False`: a gradient by plain numbers that
    depends on such alone is plain numbers, in no graph. (Floats are 3 to 5 times as quick there.)

    TypeError if f returns anything but one number.

    >>> grad(lambda x: x**3)(2.0)
    12.0
    >>> grad(grad(lambda x: x**3))(2.0)
    12.0
    >>> grad(lambda x, y: x[0] * y + x[1], argnums=(0, 1))([1.0, 2.0], 3.0)
    ([3.0, 1.0], 1.0)
    >>> grad(lambda p: p["w"][0] * p["w"][1] + p["b"])({"w": (2.0, 3.0), "b": 1.0})
    {'w': (3.0, 2.0), 'b': 1.0}
    >>> grad(lambda x: x * Value(3.0))(2.0)
    Value(data=3.0, grad=0.0)
    """
    return _transform("grad", f, argnums, lambda call: _value_and_gradient(call)[1])


@_typed
def value_and_grad(f: Function, argnums: Argnums = 0) -> Callable[..., tuple[AnyNumber, Tree]]:
    """A function that returns the pair (f(...), gradient of f), both from one call of f.

    Its arguments are those of `grad`. TypeError if f returns anything but one number.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _transform("value_and_grad", f, argnums, _value_and_gradient)


def _value_and_gradient(call: "_Call") -> tuple[AnyNumber, Tree]:
    values, shape, pullback = _reverse(call)
    if shape is not next:
        remedy = "write [grad(f)(x) for x in xs] for many points, jacrev(f) for several results"
        found = f"{kind_of(shape(iter(values)))} of {counted(len(values), 'number')}"
        raise TypeError(refusal(call.name, found, "one number as the result of f", remedy))
    return values[0], pullback([1.0])


def vjp(
    f: Function, /, *primals: Tree, **keywords: Any
) -> tuple[Tree, Callable[[Tree], tuple[Tree, ...]]]:
    """The value of f at the primals, and a function from a cotangent v to $v^T J$.

    The cotangent has the shape of the value; $v^T J$ is a tuple of the primals' shapes. J is the
    Jacobian of f, which is never formed: each call is one backward pass.

    TypeError or ValueError if the cotangent does not have the value's shape.

    >>> value, pullback = vjp(lambda x: [x[0] * x[1], x[0] + x[1]], [2.0, 3.0])
    >>> value, pullback([1.0, 10.0])
    ([6.0, 5.0], ([13.0, 12.0],))
    """
    call = _call("vjp", f, primals, keywords, [*range(len(primals))])
    values, shape, pullback = _reverse(call)
    value = shape(iter(values))
    return value, lambda v: pullback(_along(v, value, "vjp: the cotangent"))


@_typed
def jacrev(f: Function, argnums: Argnums = 0) -> Callable[..., Tree]:
    """The Jacobian of f by reverse mode: one call of f, then a backward pass for each result.

    It has the shape of the result, with the shape of the argument in place of each number: of two
    lists a list of rows, where entry [i][j] is the derivative of result i with respect to input j.
    As in JAX, arrays stay whole: of a result of shape S and an argument of shape T it is an array
    of shape S + T, of a dict of arrays a dict of such. Several `argnums` are one tuple. Prefer it
    to `jacfwd` when there are fewer results than inputs. TypeError if a result is not a number.

    >>> jacrev(lambda x: [x[0] * x[1], x[0] + x[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """
    return _transform("jacrev", f, argnums, _by_rows)


def _by_rows(call: "_Call") -> Tree:
    values, shape, pullback = _reverse(call)
    return shape(map(pullback, _basis(len(values))), _zeros(call))


def _reverse(call: "_Call") -> tuple[Numbers, Rebuild, Pullback]:
    """The results of f, their shape, and its pullback.

    The adjoints of the results may be numbers of another derivative: the backward pass is linear
    in them.
    """
    with new_level() as level:
        variables = [leaf(x, level) for x in call.numbers]
        results, shape = call.results(variables)
        levels = [level_of(y) for y in results]  # a RuntimeError if one leaked out of another

    def pullback(adjoints: Numbers) -> Tree:
        seeds: dict[Value, AnyNumber] = {}
        for y, own, seed in zip(results, levels, adjoints):
            if own == level:
                seeds[y] = seeds[y] + seed if y in seeds else seed
        adjoint = graph.backpropagated(seeds)
        slopes = [adjoint.get(x, 0.0) for x in variables]
        return call.rebuild(iter(_settled(slopes, [*call.numbers, *adjoints])))

    values = [y._data if own == level else y for y, own in zip(results, levels)]
    return _settled(values, call.numbers), shape, pullback


def _settled(results: Numbers, given: Numbers) -> Numbers:
    """Of plain numbers alone, results that require no gradient are plain numbers too.

    Otherwise gradient descent on floats would grow a graph over the frozen Values of its data. Not
    while a graph is recorded, whose constants may be the inputs of a sample.
    """
    if FLOATS.issuperset(map(type, results)) or watch.get():
        return results
    if any(hasattr(x, "_level") for x in given):
        return results
    return [x.data if getattr(x, "_level", PLAIN) == CONSTANT else x for x in results]


# -- Forward mode -------------------------------------------------------------------------------


def jvp(
    f: Function, primals: Sequence[Tree], tangents: Sequence[Tree], /, **keywords: Any
) -> tuple[Tree, Tree]:
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
    primals = as_row(primals, "jvp", expected)
    call = _call("jvp", f, primals, keywords, [*range(len(primals))])
    direction = _along(tangents, call.rebuild(iter(call.numbers)), "jvp: the tangents")
    values, slopes, shape = _forward(call, direction)
    return shape(iter(values)), shape(iter(slopes))


@_typed
def jacfwd(f: Function, argnums: Argnums = 0) -> Callable[..., Tree]:
    """The Jacobian of f by forward mode: a call of f for each input, no backward pass.

    It has the same shape as with `jacrev`. Prefer it when there are fewer inputs than results.
    TypeError if a result is not a number.

    >>> jacfwd(lambda x: [x[0] * x[1], x[0] + x[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """
    return _transform("jacfwd", f, argnums, _by_columns)


def _by_columns(call: "_Call") -> Tree:
    for x in call.others:
        if isinstance(x, Iterator):  # such as zip(xs, ys)
            used = f"{kind_of(x)}, which the first of several calls of f would use up"
            remedy = "pass list(...)"
            raise TypeError(refusal(call.name, used, "what can be read again", remedy))
    # without inputs there is a call still, for the shape of the result
    passes = [_forward(call, one) for one in _basis(len(call.numbers)) or [[]]]
    _, slopes, shapes = zip(*passes)
    return shapes[0](map(call.rebuild, map(iter, zip(*slopes))), _zeros(call))


def _zeros(call: "_Call") -> Tree:
    """A row of a Jacobian, for the shape of one that has none."""
    return call.rebuild(iter([0.0] * len(call.numbers)))


def _forward(call: "_Call", direction: Numbers) -> tuple[Numbers, Numbers, Rebuild]:
    """The results of f, their derivatives along the direction, and their shape."""
    with new_level() as level:
        moving = [dual(x, as_tangent(t), level) for x, t in zip(call.numbers, direction)]
        results, shape = call.results(moving)
        # what is not of this level stands still in it
        duals = [y if level_of(y) == level else dual(y, None, level) for y in results]
    given, values = [*call.numbers, *direction], [y._primal for y in duals]
    slopes = [0.0 if y._tangent is None else y._tangent for y in duals]
    return _settled(values, given), _settled(slopes, given), shape


# -- Second derivatives -------------------------------------------------------------------------


@_typed
def hessian(f: Function, argnums: Argnums = 0) -> Callable[..., Tree]:
    """The second derivatives of f, forward over reverse: n passes for n inputs.

    They are the Jacobian of the gradient: for a list a list of rows, for an array of shape S one
    of shape S + S, for a number a float, for a dict a dict of dicts; for several `argnums` a tuple
    of tuples, where [i][j] is by x_i and x_j. TypeError if f returns anything but one number.

    >>> hessian(lambda x: x[0] ** 2 * x[1])([3.0, 5.0])
    [[10.0, 6.0], [6.0, 0.0]]
    >>> hessian(lambda x, y: x * x * y, argnums=(0, 1))(3.0, 2.0)
    ((4.0, 6.0), (6.0, 0.0))
    """
    argnums = _indices(argnums, "hessian")
    return _named("hessian", f, jacfwd(grad(f, argnums), argnums))


def hvp(f: Function, x: Tree, v: Tree, /, **keywords: Any) -> Tree:
    """The Hessian of f at x times v, without forming the Hessian: one forward-over-reverse pass.

    x, v and the result have the same shape; keywords go to f. It costs as much as a few
    evaluations of f, however many inputs there are (Pearlmutter 1994). ValueError if the shapes
    of x and v differ, TypeError if f does not return one number.

    >>> hvp(lambda x: x[0] ** 2 * x[1], [3.0, 5.0], [1.0, 0.0])
    [10.0, 6.0]
    """
    return jvp(grad(f), (x,), (v,), **keywords)[1]


# -- Calls --------------------------------------------------------------------------------------


class _Call(NamedTuple):
    """A call of a function, and by which of its arguments to differentiate it.

    They are one tree: an argument, or the tuple of several.
    """

    name: str  # of the transform, for errors
    results: Callable[[Numbers], Flattened]  # of f, at other numbers
    others: list[object]  # the arguments that stay as they are
    numbers: Numbers
    rebuild: Rebuild


def _call(
    name: str, f: Function, args: Sequence[Tree], keywords: dict[str, Any], argnums: Indices
) -> _Call:
    check_function(f, name)
    one = isinstance(argnums, int)
    indices = [argnums] if isinstance(argnums, int) else argnums
    try:
        trees = {range(len(args))[i]: args[i] for i in indices}
        if len(trees) < len(indices):
            raise IndexError
    except IndexError:
        given = f"argnums {shortened(argnums)} and {counted(len(args), 'positional argument')}"
        expected = "the index of one of them, or several different ones"
        raise ValueError(refusal(name, given, expected)) from None
    numbers, rebuild = flatten(args[indices[0]] if one else tuple(trees.values()), name)

    def results(variables: Numbers) -> Flattened:
        given, tree = [*args], rebuild(iter(variables))
        for i, x in zip(trees, [tree] if one else tree):
            given[i] = x
        return flatten(f(*given, **keywords), f"{name}: the result of f")

    others = [x for i, x in [*enumerate(args), *keywords.items()] if i not in trees]
    return _Call(name, results, others, numbers, rebuild)


def check_function(f: object, subject: str, expected: str = "a function", remedy: str = "") -> None:
    if not callable(f):
        raise TypeError(refusal(subject, typed(f), expected, remedy))


def _indices(argnums: Argnums, name: str) -> Indices:
    """The index, or a list of several; TypeError if one is none, as in grad(f, 2.0)."""
    with suppress(TypeError):
        return index(argnums)  # type: ignore[arg-type]
    try:
        return [*map(index, argnums)]  # type: ignore[arg-type]
    except TypeError:
        found = f"argnums {shortened(argnums)}"
        remedy = f"did you mean {name}(f)({shortened(argnums)})?"
        raise TypeError(refusal(name, found, "the index of an argument", remedy)) from None


def _transform(
    name: str, f: Function, argnums: Argnums, derive: Callable[[_Call], Tree]
) -> Function:
    """The function name(f): it calls `derive` with the arguments that it is given."""
    check_function(f, name)
    indices = _indices(argnums, name)

    def derivative(*args: Tree, **keywords: Any) -> Tree:
        return derive(_call(name, f, args, keywords, indices))

    return _named(name, f, derivative)


def _named(name: str, f: Function, derivative: Any) -> Function:
    """The derivative by the name name(f), with f's signature."""
    update_wrapper(derivative, f)
    called = getattr(f, "__name__", type(f).__name__)
    derivative.__name__ = derivative.__qualname__ = f"{name}({called})"
    derivative.__doc__ = f"{derivative.__name__}, a function of the same arguments as {called}."
    return derivative  # type: ignore[no-any-return]


# -- Trees --------------------------------------------------------------------------------------


def flatten(tree: Tree, subject: str) -> Flattened:
    """The numbers of a tree, and a function that makes a tree of the same shape of others.

    That function takes an iterator, of trees too: the rows of a Jacobian; and what one of them is
    like, for the shape of an array without any. Of a single number it is `next`. TypeError if a
    leaf is not a number, RecursionError if the tree is too deep.

    >>> numbers, rebuild = flatten({"w": [1, 2], "b": 3}, "here")
    >>> numbers, rebuild(iter("xyz"))
    ([1.0, 2.0, 3.0], {'w': ['x', 'y'], 'b': 'z'})
    """
    try:
        return _flattened(tree, subject)
    except RecursionError:
        found, expected = f"{kind_of(tree)} nested too deeply, or in itself", "a tree of numbers"
        raise RecursionError(refusal(subject, found, expected)) from None


def _flattened(tree: Tree, subject: str) -> Flattened:
    if type(tree) in (float, Value, Dual):
        return [tree], next
    if isinstance(tree, dict):
        keys, (numbers, values) = [*tree], _flattened([*tree.values()], subject)
        return numbers, lambda rest, like=0.0: dict(zip(keys, values(rest, like)))
    make: Any = KINDS.get(type(tree))
    if make is None:
        if hasattr(tree, "__array__"):  # of NumPy, JAX, pandas
            array = sys.modules["numpy"].asanyarray(tree)
            if array.ndim:
                numbers = [as_number(x, subject) for x in array.flat]
                return numbers, lambda rest, like=0.0: _stacked(
                    [next(rest) for _ in numbers] or [like], array.shape
                )
            tree = array[()]
        if not is_sequence(tree):
            return [as_number(tree, subject)], next
        make = getattr(tree, "_make", list)  # of a named tuple
    branches = [_flattened(branch, subject) for branch in tree]
    numbers = [x for numbers, _ in branches for x in numbers]
    return numbers, lambda rest, like=0.0: make([rebuild(rest, like) for _, rebuild in branches])


def _vector(entries: list[Tree]) -> Tree:
    """A Vector of numbers, a Matrix of Vectors, a list of other trees."""
    if hasattr(entries[0], "__len__"):
        return Matrix(entries) if isinstance(entries[0], Vector) else entries
    return Vector([x if hasattr(x, "_level") else leaf(x, CONSTANT) for x in entries])


KINDS: dict[type, Callable[[list[Tree]], Tree]] = {
    list: list,
    tuple: tuple,
    Vector: _vector,
    Matrix: _vector,
}


def _stacked(trees: Sequence[Tree], shape: tuple[int, ...]) -> Tree:
    """An array of trees of the same shape, as one tree of arrays; an empty one of one tree."""
    first = trees[0]
    if isinstance(first, dict):
        return {key: _stacked([tree[key] for tree in trees], shape) for key in first}
    if isinstance(first, (list, tuple)):
        columns = [_stacked(column, shape) for column in zip(*trees)]
        return getattr(first, "_make", type(first))(columns)
    array = sys.modules["numpy"].array(trees)[: math.prod(shape)]
    return array_of(array.reshape(shape + array.shape[1:]))


def places(tree: Tree, name: str = "") -> list[str]:
    """Where each number of a tree stands: w[0][1] or p['b']."""
    if not hasattr(tree, "__len__"):
        return [name]
    branches = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [place for key, x in branches for place in places(x, f"{name}[{key!r}]")]


def _along(tree: Tree, like: Tree, subject: str) -> Numbers:
    """The numbers of a tree in the order of another's; ValueError if their shapes differ."""
    numbers, rebuild = flatten(tree, subject)
    found = dict(zip(places(rebuild(iter(numbers))), numbers))
    expected = places(like)
    if found.keys() ^ expected:
        remedy = "give one number for each of its numbers"
        raise ValueError(
            refusal(subject, shortened(tree), f"the shape of {shortened(like)}", remedy)
        )
    return [found[place] for place in expected]


def _basis(n: int) -> list[Numbers]:
    return [[float(i == j) for i in range(n)] for j in range(n)]
