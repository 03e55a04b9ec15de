"""Functions that take a function and return its derivative, with JAX's names.

Each takes a function of numbers, or of flat sequences of numbers, written with ordinary
operators and the functions of this package. A sequence reaches it as a list. They nest: every
call is a level of its own, deeper than those that were begun before it (`number.leader`), so
a derivative inside another treats the other's variables as constants.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from . import functions, graph, number
from .dual import dual
from .errors import shortened
from .functions import as_float
from .number import Number
from .value import Value, leaf

_levels = itertools.count(2)  # 1 is for the Values and Duals that a user makes

Function = Callable[..., Any]


# -- Reverse mode -------------------------------------------------------------------------------


def grad(f: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The gradient of f, a function with one number as its result, by reverse mode.

    The result is a function of the same arguments. With respect to a number it returns a float,
    with respect to a sequence a list, and for several `argnums` a tuple of these. It makes one
    call of f and one backward pass, however many inputs there are.

    TypeError if f returns anything but one number that depends on its inputs.

    >>> grad(lambda x: x**3)(2.0)
    12.0
    >>> grad(grad(lambda x: x**3))(2.0)
    12.0
    >>> grad(lambda x, y: x[0] * y + x[1], argnums=(0, 1))([1.0, 2.0], 3.0)
    ([3.0, 1.0], 1.0)
    """
    both = value_and_grad(f, argnums)

    def gradient(*args: Any) -> Any:
        return both(*args)[1]

    return _renamed(gradient, f)


def value_and_grad(f: Function, argnums: int | Sequence[int] = 0) -> Function:
    """A function that returns the pair (f(...), gradient of f), both from one call of f.

    See `grad` for arguments and errors.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    _check_function(f, "grad")

    def value_and_gradient(*args: Any) -> Any:
        inputs, chosen = opened_arguments(args, argnums, "grad")
        level = next(_levels)
        variables = [map_tree(lambda x: leaf(x, level), inputs[i]) for i in chosen]
        output = f(*_replaced(inputs, chosen, variables))
        if isinstance(as_tree(output, "grad"), list):
            raise TypeError(
                f"grad: f returned {shortened(output)} of type {type(output).__name__}, expected "
                "one number; use jacrev or jacfwd for several results, or add them up"
            )
        check_dependence(output, "grad")
        gradients = _gradients(output, variables, level)
        value, gradients = _lifted((_data(output, level), gradients), inputs, chosen)
        return value, gradients[0] if isinstance(argnums, int) else tuple(gradients)

    return _renamed(value_and_gradient, f)


def vjp(f: Function, *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value of f at the primals, and a function from a cotangent to vᵀJ.

    The cotangent v has the shape of the value; vᵀJ is a tuple with a number or a list for each
    primal. J is the Jacobian of f, which is never made: each call is one backward pass.

    TypeError or ValueError if the cotangent is not of the value's shape.

    >>> value, pullback = vjp(lambda x: [x[0] * x[1], x[0] + x[1]], [2.0, 3.0])
    >>> value, pullback([1.0, 10.0])
    ([6.0, 5.0], ([13.0, 12.0],))
    """
    _check_function(f, "vjp")
    args, chosen = opened_arguments(primals, range(len(primals)), "vjp")
    level = next(_levels)
    variables = [map_tree(lambda x: leaf(x, level), x) for x in args]
    output = as_tree(f(*variables), "vjp")
    check_dependence(output, "vjp")

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        cotangent = as_tree(cotangent, "vjp: the cotangent")
        _check_shapes("the cotangent", cotangent, "the value", output)
        weighted = functions.dot(flat_tree(output), flat_tree(cotangent))
        gradients = _gradients(weighted, variables, level)
        return tuple(_lifted(gradients, args, chosen, cotangent))

    return _lifted(map_tree(lambda y: _data(y, level), output), args, chosen), pullback


def jacrev(f: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The Jacobian of f by reverse mode: one call of f, then a backward pass for each result.

    For a result and an argument that are both sequences, a list of rows: entry [i][j] is the
    derivative of result i with respect to input j. Where one of them is a number, its index is
    left out. To be chosen where there are fewer results than inputs.

    >>> jacrev(lambda x: [x[0] * x[1], x[0] + x[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """
    _check_function(f, "jacrev")

    def jacobian(*args: Any) -> Any:
        inputs, chosen = opened_arguments(args, argnums, "jacrev")
        level = next(_levels)
        variables = [map_tree(lambda x: leaf(x, level), inputs[i]) for i in chosen]
        output = as_tree(f(*_replaced(inputs, chosen, variables)), "jacrev")
        check_dependence(output, "jacrev")
        rows = map_tree(lambda y: tuple(_gradients(y, variables, level)), output)
        jacobians = [map_tree(itemgetter(k), rows) for k in range(len(variables))]
        jacobians = _lifted(jacobians, inputs, chosen)
        return jacobians[0] if isinstance(argnums, int) else tuple(jacobians)

    return _renamed(jacobian, f)


# -- Forward mode -------------------------------------------------------------------------------


def jvp(f: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The value of f at the primals, and Jv: its derivative along the tangents.

    `primals` and `tangents` are tuples with an entry for each argument of f, of the same
    shapes. Jv has the shape of the value. It makes one call of f and no backward pass.

    TypeError or ValueError if the shapes of primals and tangents differ.

    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0))
    (6.0, 3.0)
    """
    _check_function(f, "jvp")
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(
                f"jvp: found {name} of type {type(given).__name__}, expected a tuple with an "
                f"entry for each argument of f: ({shortened(given)},)"
            )
    args, chosen = opened_arguments(primals, range(len(primals)), "jvp")
    directions = [opened_argument(t, "jvp: a tangent") for t in tangents]
    _check_shapes("the tangents", directions, "the primals", args)
    level = next(_levels)
    variables = [map_tree(lambda x, t: dual(x, t, level), x, t) for x, t in zip(args, directions)]
    output = as_tree(f(*variables), "jvp")
    check_dependence(output, "jvp")
    value = map_tree(lambda y: y.primal if _at(y, level) else _data(y, level), output)
    tangent = map_tree(lambda y: y.tangent if _at(y, level) else 0.0, output)
    return (
        _lifted(value, args, chosen, directions),
        _lifted(tangent, args, chosen, directions),
    )


def jacfwd(f: Function, argnums: int | Sequence[int] = 0) -> Function:
    """The Jacobian of f by forward mode: a call of f for each input, no backward pass.

    Shaped as by `jacrev`. To be chosen where there are fewer inputs than results.

    >>> jacfwd(lambda x: [x[0] * x[1], x[0] + x[1]])([2.0, 3.0])
    [[3.0, 2.0], [1.0, 1.0]]
    """
    _check_function(f, "jacfwd")

    def jacobian(*args: Any) -> Any:
        inputs, chosen = opened_arguments(args, argnums, "jacfwd")

        def column(i: int, direction: Any) -> Any:
            return jvp(lambda x: f(*_replaced(inputs, [i], [x])), (inputs[i],), (direction,))[1]

        jacobians = []
        for i in chosen:
            if isinstance(inputs[i], list):
                n = len(inputs[i])
                basis = [[1.0 if k == j else 0.0 for k in range(n)] for j in range(n)]
                columns = [column(i, direction) for direction in basis]
                jacobians.append(map_tree(lambda *row: list(row), *columns) if columns else [])
            else:
                jacobians.append(column(i, 1.0))
        return jacobians[0] if isinstance(argnums, int) else tuple(jacobians)

    return _renamed(jacobian, f)


# -- Second derivatives -------------------------------------------------------------------------


def hessian(f: Function, argnums: int = 0) -> Function:
    """The matrix of second derivatives of f, forward over reverse: n passes for n inputs.

    For a sequence a list of rows, for a number a float. f returns one number.

    >>> hessian(lambda x: x[0] ** 2 * x[1])([3.0, 5.0])
    [[10.0, 6.0], [6.0, 0.0]]
    """
    return jacfwd(grad(f, argnums), argnums)


def hvp(f: Function, x: Any, v: Any) -> Any:
    """The Hessian of f at x times v, without the Hessian: one forward-over-reverse pass.

    x and v are both numbers, or sequences of the same length; so is the result. Its cost is a
    constant number of evaluations of f, whatever the number of inputs.

    >>> hvp(lambda x: x[0] ** 2 * x[1], [3.0, 5.0], [1.0, 0.0])
    [10.0, 6.0]
    """
    return jvp(grad(f), (x,), (v,))[1]


# -- Arguments and results ----------------------------------------------------------------------


def opened_arguments(args: Sequence[Any], argnums: Any, name: str) -> tuple[list[Any], list[int]]:
    """The arguments, those to differentiate with their numbers as floats, and their indices."""
    opened = list(args)
    chosen = [argnums] if isinstance(argnums, int) else list(argnums)
    for i in chosen:
        if not -len(args) <= i < len(args):
            raise ValueError(f"{name}: found argnums {i}, but {len(args)} positional arguments")
        opened[i] = opened_argument(args[i], name)
    return opened, [i % len(args) for i in chosen]


def opened_argument(x: Any, name: str) -> Any:
    """A number, as a float, or a flat sequence of them, as a list; numbers of other kinds stay."""
    if isinstance(x, (str, bytes, dict)) or not isinstance(x, Iterable):
        return x if isinstance(x, Number) else as_float(x, name)
    return [v if isinstance(v, Number) else as_float(v, f"{name}: a flat sequence") for v in x]


def _replaced(args: Sequence[Any], chosen: Sequence[int], variables: Sequence[Any]) -> list[Any]:
    replaced = list(args)
    for i, variable in zip(chosen, variables):
        replaced[i] = variable
    return replaced


def as_tree(output: Any, name: str) -> Any:
    """What a function returned: a number, or a list of such, nested as it was."""
    if isinstance(output, Iterable) and not isinstance(output, (str, bytes, dict)):
        return [as_tree(y, name) for y in output]
    if isinstance(output, (Number, complex)):  # complex comes from a complex step
        return output
    return as_float(output, f"{name}: the result of f")


def map_tree(function: Callable[..., Any], *trees: Any) -> Any:
    """The function applied to the numbers of trees of one shape."""
    if isinstance(trees[0], list):
        return [map_tree(function, *branches) for branches in zip(*trees)]
    return function(*trees)


def flat_tree(tree: Any) -> list[Any]:
    return [x for branch in tree for x in flat_tree(branch)] if isinstance(tree, list) else [tree]


def _shape(tree: Any) -> Any:
    return [_shape(branch) for branch in tree] if isinstance(tree, list) else "a number"


def _check_shapes(left_name: str, left: Any, right_name: str, right: Any) -> None:
    if _shape(left) != _shape(right):
        raise ValueError(
            f"found {left_name} {shortened(left)}, expected the shape of {right_name}, "
            f"{shortened(right)}"
        )


def _check_function(f: Any, name: str) -> None:
    if not callable(f):
        raise TypeError(
            f"{name}: found {shortened(f)} of type {type(f).__name__}, expected a function"
        )


def check_dependence(output: Any, name: str) -> None:
    """A TypeError if no number in the output depends on anything."""
    found = flat_tree(output)
    if found and not any(isinstance(y, Number) for y in found):
        raise TypeError(
            f"{name}: f returned {shortened(output)}, plain numbers that do not depend on its "
            "inputs; was a function of math used, or .data? write autodiff.sin(x), not math.sin(x)"
        )


def _at(y: Any, level: int) -> bool:
    return isinstance(y, Number) and y._level == level


def _data(y: Any, level: int) -> Any:
    """The number in a result: what an outer derivative, or the user, computes with."""
    return y.data if isinstance(y, Value) and y._level in (level, 0) else y


def _gradients(output: Any, variables: list[Any], level: int) -> list[Any]:
    """The adjoints of variables; 0.0 for those that the output does not depend on."""
    adjoint = graph.adjoints(output) if _at(output, level) else {}
    return [map_tree(lambda x: adjoint.get(x, 0.0), variable) for variable in variables]


def _lifted(result: Any, args: Sequence[Any], chosen: Iterable[int], *others: Any) -> Any:
    """The result with plain numbers in it as constants of the outer derivative, if there is one.

    So the derivative of 2x, which is the plain number 2.0, can be differentiated again.
    """
    lead = number.leader(flat_tree([[args[i] for i in chosen], *others]))
    if lead is None:
        return result

    def lift(y: Any) -> Any:
        if isinstance(y, Number):
            return y
        return leaf(y, lead._level) if isinstance(lead, Value) else dual(y, 0.0, lead._level)

    if isinstance(result, tuple):
        return tuple(map_tree(lift, part) for part in result)
    return map_tree(lift, result)


def _renamed(derivative: Function, f: Function) -> Function:
    name = getattr(f, "__name__", "f")
    derivative.__name__ = f"{derivative.__name__} of {name}"
    return derivative
