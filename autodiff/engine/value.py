"""`Value`: a scalar that remembers how it was computed, so that it can be differentiated.

With `tiny.py`, `y = x * x + 0; y.backward(); y.backward(); x.grad` is 18.0 at 3, not 12.0.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Never, Protocol, SupportsIndex, Union, cast

from . import graph, ops, scopes
from .admission import AnyNumber, as_number
from .errors import refusal, typed
from .graph import Node
from .interrupts import whole
from .levels import (
    CONSTANT,
    OWN,
    apply,
    as_own_number,
    check_outside,
    check_result,
    constant_for,
)
from .number import Number
from .operation import UNDEFINED, Backward, Compute, Gradients, Operation, explain
from .scopes import innermost
from .ufuncs import Entry

if TYPE_CHECKING:
    from fractions import Fraction


class Value(Entry, Node):
    """A scalar node of a computational graph.

    Operators and the functions of this package make new nodes; `x.exp()` is `exp(x)`. A node keeps
    its number, `data`; its `parents`, the nodes it was computed from, in the order of the arguments
    (none for a leaf); and a closure, which takes the gradient of the node and returns that of each
    parent. `backward()` runs the closures from the output to the leaves, and leaves in `grad` the
    derivative of the output with respect to each node. See also `label`, `op`, `requires_grad`.

    TypeError if data is anything but one real number (or a Dual, for forward over reverse).

    >>> a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    >>> c = a * b + b**3
    >>> c.backward()
    >>> c.data, a.grad, b.grad
    (0.0, 2.0, 8.0)
    """

    __slots__ = ("_grad", "_label", "_scope")  # beside those of a Node

    _grad: AnyNumber  # a Value after create_graph
    _label: str
    _scope: scopes.Scope | None  # that the node was made in; unset in leaves of a user's own

    # x + y, x - y, x * y and x / y are at the end of this file, all other operators in `Number`.
    if TYPE_CHECKING:
        __add__ = __radd__ = __sub__ = __rsub__ = cast("Operator", None)
        __mul__ = __rmul__ = __truediv__ = __rtruediv__ = cast("Operator", None)

    def __init__(self, data: Any, label: str = "", *more: Never) -> None:
        if more:
            found = "parents and an operation, as in micrograd"
            remedy = "operators record the rest; an operation of your own needs @autodiff.operation"
            raise TypeError(refusal("Value", found, "a number and a label", remedy))
        self._level = OWN
        self._data = _own(data)
        self._grad = 0.0
        self.label = label
        self.parents = ()
        self._operation = None
        self._closure = _nothing

    @property
    def data(self) -> float:
        """The number, a float. Assign another to a leaf before computing with it again.

        TypeError if it is not one real number. RuntimeError inside a function that is being
        differentiated, where reading it would lose a derivative as `float(x)` does, without a
        word. To branch, compare x itself; to look, print it. What may go without its derivative
        can say so, with an `@operation` that passes on no gradient.

        >>> x = Value(2)
        >>> x.data = 3
        >>> x.data
        3.0
        """
        if self._level > OWN:
            check_outside(self, "data")
        return self._number() if watch.get() else self._data

    @data.setter
    def data(self, data: Any) -> None:
        check_outside(self, "data")
        if (watching := watch.get()) is not None:
            watching.look(self, writes=True)
        self._data = _own(data)

    @property
    def grad(self) -> float:
        """The derivative that `backward()` left, 0.0 before; assign 0.0 to clear it.

        TypeError if it is not one number.

        >>> x = Value(2.0)
        >>> x.exp().backward()
        >>> round(x.grad, 4)
        7.3891
        """
        return self._grad  # type: ignore[no-any-return]  # a Value after create_graph

    @grad.setter
    def grad(self, grad: Any) -> None:
        if grad is None:
            raise TypeError(refusal("grad", "None", "a number", "to clear it, assign 0.0"))
        self._grad = grad if type(grad) is float else as_number(grad, "grad")

    @property
    def label(self) -> str:
        """A name for drawings and error messages. TypeError if it is not a str."""
        return self._label

    @label.setter
    def label(self, label: str) -> None:
        if not isinstance(label, str):
            raise TypeError(refusal("label", typed(label), "a str"))
        self._label = label

    @property
    def op(self) -> str:
        """The sign or name of the operation that made this node; "" for a leaf.

        >>> (Value(2.0) * 3).op, Value(2.0).exp().op
        ('*', 'exp')
        """
        operation = self._operation
        return (operation.sign or operation.__name__) if operation else ""

    # What the lectures on micrograd read.
    _op = op
    _prev = property(lambda self: set(self.parents))

    @property
    def requires_grad(self) -> bool:
        """False for a constant, and for a result of constants alone.

        Assign it to a leaf before computing with it. The backward pass skips constants.

        >>> scale = Value(10.0)
        >>> scale.requires_grad = False
        >>> x = Value(2.0)
        >>> (scale * x).backward()
        >>> x.grad, scale.grad
        (10.0, 0.0)
        """
        return self._level > CONSTANT

    @requires_grad.setter
    def requires_grad(self, required: bool) -> None:
        if self.parents:
            remedy = "whether a result requires a gradient follows from its inputs"
            raise ValueError(
                refusal("requires_grad", "the result of an operation", "a leaf", remedy)
            )
        check_outside(self, "requires_grad")
        self._level = OWN if required else CONSTANT

    def backward(self, inputs: Iterable["Value"] | None = None, create_graph: bool = False) -> None:
        """Compute the derivative of this node with respect to every node it depends on.

        It is added to `grad` in leaves, so that several outputs can be differentiated in turn
        (`zero_grad()` resets it), and replaces `grad` in the nodes between. With `inputs`, only
        these and the nodes between them and this one are walked and written. With
        `create_graph`, the gradients are Values that can be differentiated again.

        ValueError if this node requires no gradient, ZeroDivisionError or ValueError if a
        derivative is infinite or undefined at the data of its graph, RuntimeError inside a
        function that is being differentiated. After an error no `grad` has changed; after Ctrl-C
        all have or none. The derivative of x ** y with respect to y is nan, and no error, if x < 0.

        >>> a = Value(3.0)
        >>> b = a + a
        >>> (b + b).backward()
        >>> a.grad, b.grad
        (4.0, 2.0)
        """
        if self._level == CONSTANT:
            found = "an output computed from constants alone"
            raise ValueError(
                refusal("backward", found, "one that depends on a Value with requires_grad = True")
            )
        check_outside(self, "backward")
        adjoints = graph.adjoints(self, inputs, create_graph)
        if create_graph:  # plain numbers become Values too
            adjoints = {
                x: g if isinstance(g, Value) else leaf(g, CONSTANT) for x, g in adjoints.items()
            }
        for x in adjoints:
            if not x.parents and (type(x._grad) is not float or x._grad):
                adjoints[x] = x._grad + adjoints[x]
        whole(_write_grads, adjoints)

    def zero_grad(self) -> None:
        """Set `grad` to 0.0 in this node and in all nodes that it depends on.

        >>> x = Value(2.0)
        >>> y = x * x
        >>> y.backward()
        >>> y.zero_grad()
        >>> x.grad, y.grad
        (0.0, 0.0)
        """
        whole(clear_grads, graph.topological_order(self))

    def __float__(self) -> float:
        return float(self._number()) if self._level == CONSTANT else super().__float__()

    def __repr__(self) -> str:
        grad = self._grad._number() if isinstance(self._grad, Value) else self._grad
        label = f", label={self.label!r}" if self.label else ""
        return f"Value(data={self._number()}, grad={grad}{label})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.parents:
            raise TypeError(
                f"a Value that was computed ({self.op}) cannot be copied or pickled, because its "
                "backward closure cannot; copy the leaves it depends on, or keep its data"
            )
        check_outside(self, "copy")  # which would be another number, without a derivative
        return leaf, (self.data, self._level), (None, {"grad": self.grad, "label": self.label})

    # What `Number` asks of every kind of number:

    def _apply(self, operation: Operation, *inputs: AnyNumber) -> AnyNumber:
        """The result of an operation: a node at once if the inputs are Values of one level.

        A constant may stand beside a user's own Values. In a nested derivative it is lifted, as
        every number from outside, so that the result depends on it. There is no loop in Python,
        because a dot may have hundreds of inputs.
        """
        if len(inputs) == 1:
            return _node(operation, inputs, self._level)
        if _ONLY_VALUES.issuperset(map(type, inputs)):
            levels = {*map(_level, inputs)}
            if len(levels) == 1 or levels == {CONSTANT, OWN}:
                return _node(operation, inputs, max(levels))
        return apply(operation, *inputs)

    def _lift(self, x: AnyNumber, name: str) -> "Value":
        if isinstance(x, Value):
            same = x._level == self._level
            if same or (x._level, self._level) == (CONSTANT, OWN):
                return x
        return leaf(x if type(x) is float else constant_for(self, x, name), CONSTANT)

    def _record(self, operation: Operation, parents: Iterable["Value"]) -> "Value":
        return _node(operation, tuple(parents), self._level)

    def _number(self) -> float:
        """The number, for whoever looks at it: the only way out of the graph, which asks first."""
        if (watching := watch.get()) is not None:
            watching.look(self)
        return self._data  # type: ignore[no-any-return]  # a Dual in forward over reverse


# -- Who may look on while a graph is made ------------------------------------------------------


class Watcher(Protocol):
    """Who is asked in this thread before a number is read or written: see `nn/watching.py`."""

    def look(self, node: Value, writes: bool = False) -> None:
        """Raise an error if the number of this node may not be read, or written."""

    def depends(self, node: Value) -> bool:
        """Whether a node depends on what varies, so that its number does not count."""
        ...

    def mask(self, layer: Any, count: int) -> list[Value]:
        """The factors by which a layer of Dropout multiplies so many numbers."""
        ...

    def once(self, function: Callable[..., Any], *numbers: AnyNumber) -> Any:
        """function(*numbers), which is computed once for the same numbers."""


watch: ContextVar[Watcher | None] = ContextVar("watch", default=None)


# -- Making nodes -------------------------------------------------------------------------------

_new: Any = object.__new__  # in a browser another, which spares the stack: see .github/browser.py
_data, _level = attrgetter("_data"), attrgetter("_level")
_ONLY_VALUES = {Value}


def leaf(data: AnyNumber, level: float) -> Value:
    """A node without parents: a variable of that level, or a constant."""
    node: Value = _new(Value)
    node._data = data
    node._grad = 0.0
    node._label = ""
    node.parents = ()
    node._operation = None
    node._closure = _nothing
    node._level = level
    if scopes.used:
        node._scope = innermost()
    return node


def _own(data: Any) -> AnyNumber:
    """The number that a leaf holds; a TypeError if data is no real number, or is in a Value."""
    if isinstance(data, Value):
        remedy = "it is a number of another kind already; use it as it is, or p.grad.data"
        raise TypeError(refusal("Value", typed(data), "one real number", remedy))
    return data if type(data) is float else as_own_number(data, "Value")


def _write_grads(grads: dict[Value, AnyNumber]) -> None:
    for x, grad in grads.items():
        x._grad = grad


def clear_grads(nodes: Sequence[Value]) -> None:
    for node in nodes:
        node._grad = 0.0


def _nothing(grad: AnyNumber) -> Gradients:
    """The closure of a leaf: it has no parents."""
    return ()


def _node(operation: Operation, parents: tuple[Value, ...], level: float) -> Value:
    """The node of an operation: its rule gives the number of the node, and the closure."""
    try:
        data, closure = operation.rule(*map(_data, parents))
    except UNDEFINED as error:
        data, closure = _undefined(error, operation, parents)
    if type(data) is not float:
        check_result(operation, data, [*map(_data, parents)], level)
    node = leaf(data, level)
    node.parents = parents
    node._operation = operation
    node._closure = closure
    return node


def _undefined(
    error: Exception, operation: Operation, parents: tuple[Value, ...]
) -> tuple[float, Backward]:
    """The number and closure of a node where its operation is undefined: an error is raised.

    Unless a graph is recorded: then what depends on a sample has no number that counts.
    """
    watching = watch.get()
    if watching is None or not any(map(watching.depends, parents)):
        raise explain(error, operation, parents) from None
    return math.nan, _nothing


# -- Quick operators ----------------------------------------------------------------------------

Scalar = Union[Value, float, SupportsIndex, "Fraction"]  # Value * Vector is a Vector
Operator = Callable[[Value, Scalar], Value]


def _quick(
    operation: Operation, slow: Compute, slow_reflected: Compute
) -> tuple[Operator, Operator]:
    """The operators x + y and y + x, quick if both are Values of one level, or y is a float.

    Here is all that happens then: the rule gives the result and the closure, and a new node holds
    them. Other operands are for the slow operators, those of `Number`, which end in `_node`. With
    these alone a chain takes 2.3 times as long (see the benchmark of the engine).
    """
    rule = operation.rule

    def operator(self: Value, other: AnyNumber) -> AnyNumber:
        if type(other) is not Value or other._level != self._level:
            if type(other) is not float:
                return slow(self, other)
            other = leaf(other, CONSTANT)
        node = _new(Value)
        try:
            node._data, node._closure = rule(self._data, other._data)
        except UNDEFINED as error:
            node._data, node._closure = _undefined(error, operation, (self, other))
        node._grad = 0.0
        node._label = ""
        node.parents = (self, other)
        node._operation = operation
        node._level = self._level
        if scopes.used:
            node._scope = innermost()
        return node

    def reflected(self: Value, other: AnyNumber) -> AnyNumber:  # other + self
        if type(other) is not float:
            return slow_reflected(self, other)
        return _node(operation, (leaf(other, CONSTANT), self), self._level)

    return operator, reflected


Value.__add__, Value.__radd__ = _quick(ops.add, Number.__add__, Number.__radd__)
Value.__sub__, Value.__rsub__ = _quick(ops.sub, Number.__sub__, Number.__rsub__)
Value.__mul__, Value.__rmul__ = _quick(ops.mul, Number.__mul__, Number.__rmul__)
Value.__truediv__, Value.__rtruediv__ = _quick(ops.div, Number.__truediv__, Number.__rtruediv__)
