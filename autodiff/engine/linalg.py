"""`Vector` and `Matrix`: numbers in rows, each of them a node of the graph.

With `tiny.py`, `Vector([1, 2]) @ Vector([x, x])` is a loop that you write.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, product
from numbers import Real
from typing import Any, Never, NoReturn, Self, TypeVar, overload

from . import ops
from .admission import AnyNumber, as_number, as_row, is_sequence
from .errors import kind_of, refusal, shortened
from .interrupts import whole
from .levels import ARRAY, CONSTANT
from .number import Number
from .operation import Compute, Operation
from .ufuncs import Entries, to_array
from .value import Value, clear_grads, leaf

T = TypeVar("T")

SHOWN = 6  # how many rows, and entries of a row, a repr shows


class _Array(Entries, Number):
    """What Vector and Matrix have in common: operations entry by entry.

    To operators and functions an array is one more kind of number. Its level is above all others,
    so that it decides how an operation is recorded: entry by entry.
    """

    __slots__ = ("_entries", "shape")

    _entries: tuple[Value, ...]
    shape: tuple[int, ...]
    _level = ARRAY
    _yields = False
    __pandas_priority__ = 5000  # above that of a DataFrame, which would take it for a row

    @classmethod
    def _of(cls, entries: Iterable[Value], shape: tuple[int, ...]) -> Self:
        """An array of entries that need no check."""
        array = object.__new__(cls)
        array._entries, array.shape = tuple(entries), shape
        return array

    def _lift(self, x: AnyNumber, name: str) -> Sequence[AnyNumber]:
        """x as a number for each entry: the entries of an array of the same shape, or a number."""
        if not isinstance(x, _Array) and not is_sequence(x):
            return [x] * len(self._entries)
        array = _constant(x, name)
        if array.shape != self.shape:
            shapes = f"shapes {self.shape} and {array.shape}"
            raise ValueError(refusal(name, shapes, "equal shapes, or a number"))
        return array._entries

    def _record(self, operation: Operation, numbers: Sequence[Sequence[AnyNumber]]) -> Self:
        return self._of([operation(*xs) for xs in zip(*numbers)], self.shape)

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: AnyNumber, **options: Any
    ) -> AnyNumber:
        """NumPy's operators and functions entry by entry, as ours."""
        name, entrywise = ufunc.__name__, method == "__call__" and not options
        if entrywise and name == "matmul":
            return _product(*inputs)
        if entrywise:
            for x in inputs:
                self._lift(x, name)  # a ValueError if its shape is another
        result = getattr(ufunc, method)(*map(to_array, inputs), **options)
        if not entrywise or not isinstance(next(iter(getattr(result, "flat", [0]))), Number):
            return result  # such as bools
        return self._of(_numbers(result.flat, name), self.shape)

    def _outside(self, key: object, error: Exception) -> Exception:
        expected = f"ints or slices for its shape {self.shape}"
        return type(error)(refusal(type(self).__name__, f"index {shortened(key)}", expected))

    def _rows(self) -> list[tuple[Value, ...]]:
        """The entries of each row; a Vector is one row."""
        n = self.shape[-1]
        return [self._entries[i : i + n] for i in range(0, len(self._entries), n)]

    def __rmatmul__(self, other: Any) -> Any:
        return _product(other, self)

    def __eq__(self, other: Any) -> Any:
        """Whether all numbers are equal; with an array NumPy compares, entry by entry."""
        if isinstance(other, _Array):
            return self.shape == other.shape and self._entries == other._entries
        if isinstance(other, (list, tuple)):
            return [*self] == [*other]  # type: ignore[misc]
        if is_sequence(other) and hasattr(other, "__array__"):
            return other.__array__() == self
        return self._number() if isinstance(other, (Number, Real)) else NotImplemented

    def __ne__(self, other: Any) -> Any:
        equal = self == other
        return not equal if isinstance(equal, bool) else ~equal

    __hash__ = Number.__hash__

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        return True  # it is never empty

    def _number(self) -> NoReturn:
        remedy = "take its entries, or .data"
        raise TypeError(refusal("compare or format", kind_of(self), "one number", remedy))

    def map(self, function: Compute) -> Self:
        """A Vector or Matrix of the same shape, with the function applied to each entry.

        >>> Vector([1, 2]).map(lambda x: 1 / x)
        Vector(shape=(2,), [1, 0.5])
        """
        return type(self)._of(_numbers(map(function, self._entries), "map"), self.shape)

    def sum(self) -> Value:
        """The sum of all entries: one Value, one node.

        >>> Matrix([[1, 2], [3, 4]]).sum().data
        10.0
        """
        return ops.sum(self._entries)

    def mean(self) -> Value:
        """The mean of all entries: one Value.

        >>> Vector([1, 2, 6]).mean().data
        3.0
        """
        return self.sum() / len(self._entries)

    def norm(self) -> Value:
        """The square root of the sum of squares of all entries (2-norm, Frobenius norm).

        >>> Vector([3, 4]).norm().data
        5.0
        """
        size: Value = ops.hypot(*self._entries)
        return size

    def zero_grad(self) -> None:
        """Set `grad` of every entry to 0.0.

        >>> v = Vector([3, 4])
        >>> v.sum().backward()
        >>> v.zero_grad()
        >>> v.grad
        [0.0, 0.0]
        """
        whole(clear_grads, self._entries)

    def requires_grad_(self, required: bool = True) -> Self:
        """Set `requires_grad` of every entry, all leaves, and return the array.

        >>> data = Vector([3, 4]).requires_grad_(False)
        >>> data[0].requires_grad
        False
        """
        for x in self._entries:
            x.requires_grad = required
        return self

    def backward(self) -> NoReturn:
        """A TypeError: only one number has a backward pass."""
        remedy = "take its .sum(), .mean() or .norm(), or one entry, first"
        shape = f"{kind_of(self)} of shape {self.shape}"
        raise TypeError(refusal("backward", shape, "one number", remedy))


class Vector(_Array, Sequence[Value]):
    """A sequence of n Values that cannot be changed.

    Made from any iterable of numbers and Values, such as a list or a one-dimensional numpy array.
    `+ - * / **` and the functions of this package work entry by entry, with Vectors of the same
    length and with numbers. `v @ w` is the dot product, `v @ A` a Vector. Indexing gives a Value,
    slicing a Vector. `shape` is (n,).

    A list or an array beside a Vector, on either side, counts as the Vector or Matrix of its
    numbers, which are constants: the result is a Vector. So it is of NumPy's functions that go
    entry by entry, such as `np.sin(v)`; the others, such as `np.sort(v)`, take it for an array.
    `v == w` is one bool, whether all numbers are equal, as of lists; `v < w` is a TypeError.

    `v.sum()`, `v.mean()` and `v.norm()` are one Value; `v.map(f)` applies a function to each entry;
    `v.zero_grad()` and `v.requires_grad_(False)` apply to every entry.

    TypeError if an entry is not a number, ValueError if there are none.

    >>> v, w = Vector([1, 2, 3]), Vector([4, 5, 6])
    >>> v + 2 * w
    Vector(shape=(3,), [9, 12, 15])
    >>> (v @ w).backward()
    >>> v.grad, w.grad
    ([4.0, 5.0, 6.0], [1.0, 2.0, 3.0])
    >>> [0, 0, 1] + v == Vector([1, 2, 4])
    True
    """

    __slots__ = ()

    def __init__(self, data: Iterable[Any], *more: Never) -> None:
        _check_single(more, "Vector([x, y])")
        self._entries = tuple(_numbers(data, "Vector"))
        self.shape = (len(self._entries),)

    @overload
    def __getitem__(self, key: int) -> Value: ...
    @overload
    def __getitem__(self, key: slice) -> "Vector": ...
    def __getitem__(self, key: int | slice) -> "Value | Vector":
        try:
            return Vector(self._entries[key]) if isinstance(key, slice) else self._entries[key]
        except (IndexError, TypeError) as error:
            raise self._outside(key, error) from None

    def __iter__(self) -> Iterator[Value]:
        return iter(self._entries)

    @overload
    def __matmul__(self, other: "Vector | Sequence[float]") -> Value: ...
    @overload
    def __matmul__(self, other: "Matrix | Sequence[Sequence[float]]") -> "Vector": ...
    @overload
    def __matmul__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any:
        return _product(self, other)

    def dot(self, other: "Vector") -> Value:
        """The dot product: one Value, one node. ValueError if the lengths differ.

        >>> Vector([1, 2]).dot(Vector([3, 4])).data
        11.0
        """
        return self @ other

    @property
    def T(self) -> "Vector":  # noqa: N802
        """The Vector itself: it is neither a row nor a column.

        >>> Vector([1, 2]).T
        Vector(shape=(2,), [1, 2])
        """
        return self

    @property
    def data(self) -> list[float]:
        """The numbers, as a list.

        >>> Vector([1, 2]).data
        [1.0, 2.0]
        """
        return [x.data if isinstance(x, Value) else x for x in self._entries]

    @property
    def grad(self) -> list[float]:
        """The gradients, as a list.

        >>> v = Vector([1, 2])
        >>> v.norm().backward()
        >>> [round(slope, 4) for slope in v.grad]
        [0.4472, 0.8944]
        """
        return [x.grad for x in self._entries]

    def __repr__(self) -> str:
        return f"Vector(shape={self.shape}, {_row(self._entries)})"


class Matrix(_Array):
    """m rows of n Values: a sequence of Vectors that cannot be changed.

    Made from an iterable of rows, such as nested lists or a two-dimensional numpy array.
    `+ - * / **` and functions work entry by entry, with lists and arrays as for a `Vector`;
    `A == B` is one bool; `A @ B` and `A @ v` are the matrix products,
    with one `dot` node for each entry. `A[i]` is a row, `A[i, j]` an entry; slices give Vectors
    and Matrices. `shape` is (m, n), `T` the transpose, of the same Values. `A.sum()`, `A.mean()`,
    `A.norm()`, `A.map(f)`, `A.zero_grad()` and `A.requires_grad_(False)` work as for a `Vector`.

    TypeError if an entry is not a number, ValueError for rows of different lengths or none.

    >>> A, v = Matrix([[1, 2], [3, 4]]), Vector([5, 6])
    >>> A @ v
    Vector(shape=(2,), [17, 39])
    >>> (A @ v).sum().backward()
    >>> A.grad, v.grad
    ([[5.0, 6.0], [5.0, 6.0]], [4.0, 6.0])
    """

    __slots__ = ()

    def __init__(self, data: Iterable[Iterable[Any]], *more: Never) -> None:
        _check_single(more, "Matrix([[a, b], [c, d]])")
        rows = [
            _numbers(row, "Matrix, a row") for row in as_row(data, "Matrix", "a sequence of rows")
        ]
        if len(set(map(len, rows))) != 1:
            found = f"rows of lengths {[len(row) for row in rows]}"
            raise ValueError(refusal("Matrix", found, "at least one row, and all equally long"))
        self._entries = tuple(chain(*rows))
        self.shape = (len(rows), len(rows[0]))

    @overload
    def __getitem__(self, key: int | tuple[int, slice] | tuple[slice, int]) -> Vector: ...
    @overload
    def __getitem__(self, key: tuple[int, int]) -> Value: ...
    @overload
    def __getitem__(self, key: slice | tuple[slice, slice]) -> "Matrix": ...
    def __getitem__(self, key: Any) -> Any:
        i, j = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        rows: Any = self._rows()
        try:
            if not isinstance(i, slice):
                return Vector(rows[i])[j]
            parts: list[Any] = [row[j] for row in rows[i]]
        except (IndexError, TypeError) as error:
            raise self._outside(key, error) from None
        return Matrix(parts) if isinstance(j, slice) else Vector(parts)

    def __iter__(self) -> Iterator[Vector]:
        return (Vector._of(row, self.shape[1:]) for row in self._rows())

    @overload
    def __matmul__(self, other: "Vector | Sequence[float]") -> Vector: ...
    @overload
    def __matmul__(self, other: "Matrix | Sequence[Sequence[float]]") -> "Matrix": ...
    @overload
    def __matmul__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any:
        return _product(self, other)

    @property
    def T(self) -> "Matrix":  # noqa: N802
        """The transpose: (n, m), of the same Values.

        >>> Matrix([[1, 2, 3]]).T.shape
        (3, 1)
        """
        return Matrix._of(chain(*zip(*self._rows())), self.shape[::-1])

    @property
    def data(self) -> list[list[float]]:
        """The numbers, as a list of rows.

        >>> Matrix([[1, 2], [3, 4]]).data
        [[1.0, 2.0], [3.0, 4.0]]
        """
        return [row.data for row in self]

    @property
    def grad(self) -> list[list[float]]:
        """The gradients, as a list of rows.

        >>> A = Matrix([[1, 2], [3, 4]])
        >>> (A * A).sum().backward()
        >>> A.grad
        [[2.0, 4.0], [6.0, 8.0]]
        """
        return [row.grad for row in self]

    def __repr__(self) -> str:
        lines = _shown(self._rows(), _row)
        return f"Matrix(shape={self.shape}, [" + ",\n        ".join(lines) + "])"


def _check_single(more: tuple[object, ...], remedy: str) -> None:
    if more:
        name, _, _ = remedy.partition("(")
        found = f"{len(more) + 1} arguments"
        raise TypeError(refusal(name, found, "one sequence", f"write {remedy}"))


def _numbers(
    data: Iterable[Any], subject: str, made: Callable[[float], Value] = Value
) -> list[AnyNumber]:
    numbers = [as_number(x, subject) for x in as_row(data, subject)]
    if not numbers:
        raise ValueError(refusal(subject, "no numbers", "at least one"))
    return [x if isinstance(x, Number) else made(x) for x in numbers]


def _constant(data: Any, subject: str) -> _Array:
    """What stands beside a Vector or Matrix, as one; numbers in a list or array are constants."""
    if isinstance(data, _Array):
        return data
    constant = partial(leaf, level=CONSTANT)
    rows = as_row(data, subject, "a Vector or Matrix, or its numbers in lists or an array")
    if rows and is_sequence(rows[0]):
        return Matrix([_numbers(row, subject, constant) for row in rows])
    return Vector(_numbers(rows, subject, constant))


def _product(left: Any, right: Any) -> Any:  # (m, n) @ (n, k) -> (m, k); a Vector has no m or no k
    left, right = _constant(left, "@"), _constant(right, "@")
    if left.shape[-1] != right.shape[0]:
        fits = "(m, n) @ (n, k), (m, n) @ (n,), (n,) @ (n, k) and (n,) @ (n,) fit"
        expected = f"{left.shape[-1]} as the first size on the right: {fits}"
        raise ValueError(refusal("@", f"shapes {left.shape} and {right.shape}", expected))
    pairs = product(left._rows(), right.T._rows())
    # without the checks of ops.dot
    entries = [row[0]._apply(ops.dot, *row, *column) for row, column in pairs]
    shape = left.shape[:-1] + right.shape[1:]
    if not shape:
        return entries[0]
    kind: type[_Array] = Vector if len(shape) == 1 else Matrix
    return kind._of(entries, shape)


def _row(entries: Sequence[Value]) -> str:
    return f"[{', '.join(_shown(entries, _entry))}]"


def _entry(x: AnyNumber) -> str:
    number = x._number() if isinstance(x, Value) else x
    return f"{number:.6g}" if isinstance(number, float) else repr(x)


def _shown(items: Sequence[T], text: Callable[[T], str]) -> list[str]:
    """The text of each item, or of the first five and the last."""
    if len(items) <= SHOWN:
        return [*map(text, items)]
    return [*map(text, items[: SHOWN - 1]), "...", text(items[-1])]
