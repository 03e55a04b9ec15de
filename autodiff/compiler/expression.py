"""`Expression`: a graph to run again with other numbers, or to compile to a program."""

import math
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..engine import graph, ops
from ..engine.admission import as_float, as_row
from ..engine.errors import counted, described, kind_of, refusal, shortened, typed
from ..engine.interrupts import restoring, whole
from ..engine.levels import check_outside
from ..engine.value import Value
from .program import Program, javascript, scalar_program
from .symbolic import NotRecordable

if TYPE_CHECKING:
    from .batch.stages import Stages


class Expression:
    """The operator graph of an output, or of several at once: a Vector, a list of Values.

    `sink` is the output, `sources` are the leaves it is computed from, constants among them, in
    topological order. TypeError if an output is not a Value, ValueError if there is none,
    RuntimeError inside a function that is being differentiated.

    >>> x, y = Value(2.0, label="x"), Value(5.0, label="y")
    >>> expression = Expression(x * y + x)
    >>> [leaf.label for leaf in expression.sources], expression.sink.data
    (['x', 'y'], 12.0)
    """

    def __init__(self, output: Value | Iterable[Any]) -> None:
        self._outputs = _values(output, "Expression", "a Value, such as a loss, or several")
        if not self._outputs:
            raise ValueError(refusal("Expression", "no outputs", "at least one"))
        self._single = isinstance(output, Value)
        root = ops.sum(self._outputs)
        check_outside(root, "Expression")
        order = graph.topological_order(root)
        self._nodes = order[:-1]  # without their sum
        self.sources = [node for node in self._nodes if not node.parents]

    @property
    def sink(self) -> Any:
        """The output, a Value, or a list of the outputs.

        It is the node that was given until `propagate` makes it anew.
        """
        return self._outputs[0] if self._single else list(self._outputs)

    def propagate(self, values: Mapping[Value, Any] | None = None) -> Any:
        """Set sources to new numbers, compute everything from them anew, return the output's data.

        `values` holds a number for each source that changes. The operations stay those that were
        recorded, even if an `if` in your code would now choose others. The results are new nodes,
        which lead to `sink`, with the labels and gradients of the old ones. Those stay as they
        are, because another graph may go through them.

        ValueError for a node that is not a source of this expression, TypeError for a value that
        is not a number, and the errors of the operations for numbers outside their domain. After
        an error everything is as it was, and after Ctrl-C, unless it comes at the end.

        >>> x, y = Value(2.0), Value(5.0)
        >>> z = x * y + x
        >>> expression = Expression(z)
        >>> expression.propagate({x: 3.0})
        18.0
        >>> x.data, expression.sink.data, z.data
        (3.0, 18.0, 12.0)
        """
        given = {} if values is None else values
        if not isinstance(given, Mapping):
            raise TypeError(
                refusal("propagate", kind_of(given), "a dict from sources to numbers: {x: 3.0}")
            )
        leaves = self._sources_among(list(given), "propagate")
        fresh = {x: as_float(given[x], "propagate") for x in leaves}
        with restoring(_write, {x: x.data for x in fresh}):
            _write(fresh)
            again = _recomputed(self._nodes)
        now = {"_nodes": [*again.values()], "_outputs": [again[y] for y in self._outputs]}

        def write() -> None:
            _write(fresh)
            vars(self).update(now)

        whole(write)
        data = [y.data for y in self._outputs]
        return data[0] if self._single else data

    def backpropagate(self, wrt: Iterable[Any] | None = None) -> dict[Value, Any]:
        """The derivative of the output with respect to leaves, as a dict from leaf to number.

        `wrt` holds sources, or Vectors and Matrices of them; None means all that require a
        gradient. Only the nodes between these and the output are walked, so training the last
        layer of a network costs only that layer. No `grad` is changed.

        ValueError for a node that is not a source of this expression or requires no gradient;
        TypeError for anything but Values.

        >>> x, y = Value(2.0), Value(5.0)
        >>> adjoint = Expression(x * y + x).backpropagate([x])
        >>> adjoint[x], y in adjoint
        (6.0, False)
        """
        if wrt is None:
            leaves = [x for x in self.sources if x.requires_grad]
        else:
            leaves = self._sources_among(wrt, "backpropagate, wrt")
        if not self._single:
            found = f"an expression of {counted(len(self._outputs), 'output')}"
            raise ValueError(refusal("backpropagate", found, "one", "take one, or their sum"))
        adjoints = graph.adjoints(self._outputs[0], leaves)
        return {x: adjoints[x] for x in leaves}

    def compile(
        self, inputs: Iterable[Any], wrt: Iterable[Any], xp: ModuleType = math, batch: bool = False
    ) -> Program:
        """The value and the derivatives as a program of their own: straight-line Python.

        Its arguments are the numbers of `inputs`, then those of `wrt` that are not among them; it
        returns (value, gradients), a gradient for each number of `wrt`, in order. For several
        outputs it returns their values alone, a tuple, and `wrt` may be empty. Every other leaf is
        a constant, with the data that it has now.

        inputs, wrt: leaves, or Vectors and Matrices of them.
        xp: the library to compute with. math: on floats; numpy, jax.numpy, torch, or one that keeps
            to the array API standard: on arrays as well, entry by entry, with nan or inf where
            floats raise an error; a derivative that is constant is an array like the value. An
            array of the result may be one of the arguments, or a view of one.
        batch: a program for many samples at once. Sums of products become dots, however they were
            written, similar nodes one array, and dots that share a vector a matrix product (see
            `stages`). It takes an array of inputs, a row for each sample, shape (n, number of
            inputs), and one of the parameters, `wrt`, shape (m,). It returns the value of each
            sample, shape (n,), and the gradients summed over the samples, shape (m,). If `wrt`
            holds inputs, there are no parameters, and the gradients are those of each sample,
            shape (n, m); if it is empty, the parameters may be left out. Several outputs:
            (n, outputs). The terms of a sum are added in another order than by walking: a sum of k
            terms may differ by k roundings of the sum of their sizes, and overflow near the largest
            float. A difference in brackets, as in the sum of all x - y, stays whole. In NumPy a
            program keeps the arrays of its last three sizes of batches to compute in, never what it
            was given or has returned; and this process keeps the memory of large arrays, up to 32
            MB, for the next ones: that makes programs for thousands of samples twice as fast.

        The program computes the graph that was recorded. A choice that Python made on the way, as
        in `x if x > 0 else -x`, is fixed in it; `maximum`, `abs`, `relu` and a `where` whose
        condition is a node choose again. It finds the numbers that walking finds, but where one
        is infinite, the result may be nan, as of `logsumexp`, and a zero may have another sign. Of
        an operation of yours it keeps the function that was there when it was compiled.

        ValueError for a node that is not a leaf, one that is listed twice, one in `wrt` that
        requires no gradient, and for a batch if some of `wrt` are inputs and some are not;
        TypeError for anything but Values, for another `xp`, and for what was computed of a leaf
        in `wrt` while it required no gradient.

        >>> x1, x2 = Value(2.0), Value(5.0)
        >>> y = x1.log() + x1 * x2 - x2.sin()
        >>> program = Expression(y).compile([x1, x2], wrt=[x1, x2])
        >>> program(2.0, 5.0)
        (11.652071455223084, (5.5, 1.7163378145367738))
        >>> print(program.source)
        import math
        <BLANKLINE>
        <BLANKLINE>
        def program(x1, x2):
            v1 = math.log(x1)
            v2 = x1 * x2
            v3 = math.sin(x2)
            v4 = v1 + v2
            v5 = v4 - v3
            # from the output back to the inputs
            x2_bar = x1 - math.cos(x2)
            x1_bar = x2 + 1.0 / x1
            return v5, (x1_bar, x2_bar)
        <BLANKLINE>
        """
        if not hasattr(xp, "log1p" if xp is math and not batch else "asarray"):
            libraries = "numpy, jax.numpy or torch"
            wanted = libraries if batch else f"the module math, or for arrays {libraries}"
            raise TypeError(refusal("compile", f"xp = {shortened(xp)}", wanted))
        leaves = self._arguments(inputs, wrt)
        if not batch:
            return Program(scalar_program(self._outputs, *leaves, self._single, xp))
        from .batch.stages import batch_program  # needs numpy

        return batch_program(self._outputs, *leaves, self._single, xp)

    def stages(self, inputs: Iterable[Any], wrt: Iterable[Any], xp: Any = None) -> "Stages":
        """The stages of the program that `compile` makes for a batch: one after the other, printed.

        They are its `graph`, `normal_form`, `groups`, `arrays` and `text`, each of which prints
        itself too. For the first two, it is how many nodes there are at each depth. xp is NumPy
        if it is None. Raises what `compile` does.

        >>> from autodiff import Matrix, Vector
        >>> W, x = Matrix([[1.0, 2.0], [3.0, 4.0]]), Vector([0.5, 0.25])
        >>> stages = Expression((W @ x).map(ops.tanh).sum()).stages(x, wrt=W)
        >>> stages.graph
        0: 6 leaves
        1: 2 dot of 4
        2: 2 tanh
        3: 1 sum
        >>> stages.groups
        inputs (2,)
        parameters (4,)
        dot1 (2,) = dot(parameters, inputs)
        tanh1 (2,) = tanh(dot1)
        sum1 (1,) = sum(tanh1)
        """
        from .batch.stages import stages

        if xp is None:
            import numpy as xp
        return stages(self._outputs, *self._arguments(inputs, wrt), self._single, xp)

    def javascript(self, inputs: Iterable[Any], wrt: Iterable[Any]) -> str:
        """The program of `compile` as the text of a JavaScript function, `(inputs) => [...]`.

        It takes an array of the arguments, and returns [value, gradients], or the values of
        several outputs. Where Python raises an error, a number is NaN or infinite.

        >>> x = Value(2.0)
        >>> print(Expression(x * x + x).javascript([x], wrt=[x]))
        (inputs) => {
          const { 0: x1 } = inputs;
          const v1 = x1 * x1;
          const v2 = v1 + x1;
          // from the output back to the inputs
          const x1_bar = 1.0 + x1 + x1;
          return [v2, [x1_bar]];
        }
        """
        return javascript(self._outputs, *self._arguments(inputs, wrt), self._single)

    def _arguments(
        self, inputs: Iterable[Any], wrt: Iterable[Any]
    ) -> tuple[list[Value], list[Value]]:
        """The leaves of a program's inputs, and those to differentiate with respect to.

        NotRecordable if a constant depends on one of these, which has been thawed since: a program
        would differentiate it, as walking does not.
        """
        given, of = _leaves(inputs, "compile, inputs"), _leaves(wrt, "compile, wrt")
        for name, leaves in (("inputs", given), ("wrt", of)):
            if len(set(leaves)) < len(leaves):
                raise ValueError(refusal("compile", f"a leaf twice in {name}", "each once"))
        for x in of:
            if not x.requires_grad:
                remedy = "set requires_grad = True before computing with it"
                found = f"a constant, {described(x)}, in wrt"
                raise ValueError(
                    refusal("compile", found, "leaves that require a gradient", remedy)
                )
        for node in graph.between(of if self._single else [], self._nodes):
            if not node._level:
                found = f"{node.op} of a leaf that required no gradient then, and does now"
                expected, remedy = "a graph made since", "compute the output again"
                raise NotRecordable(refusal("compile", found, expected, remedy))
        return given, of

    def _sources_among(self, items: Any, subject: str) -> list[Value]:
        leaves = _leaves(items, subject)
        for x in set(leaves).difference(self.sources):
            remedy = "its .sources are the leaves that it was computed from"
            found = f"{described(x)}, a leaf"
            raise ValueError(refusal(subject, found, "a source of this expression", remedy))
        return leaves

    def __repr__(self) -> str:
        sources, nodes = counted(len(self.sources), "source"), counted(len(self._nodes), "node")
        return f"Expression({sources}, {nodes})"


def _write(numbers: dict[Value, float]) -> None:
    for x, number in numbers.items():
        x.data = number


def _recomputed(nodes: Iterable[Value]) -> dict[Value, Value]:
    """For each node, in topological order, a new one from what its leaves hold now, or the leaf."""
    again: dict[Value, Value] = {}
    for node in nodes:
        if node._operation is None:
            again[node] = node
        else:
            parents = [again[p] for p in node.parents]
            fresh = again[node] = parents[0]._apply(node._operation, *parents)
            fresh._level = node._level  # a constant stays one, also of leaves thawed since
            fresh.grad, fresh.label = node.grad, node.label
            fresh._scope = getattr(node, "_scope", None)
    return again


def _leaves(items: Any, subject: str) -> list[Value]:
    """The leaves in a sequence of Values, Vectors, Matrices and sequences of them, in order."""
    if isinstance(items, Value):
        raise TypeError(refusal(subject, typed(items), "a sequence of leaves: [x, y]"))
    leaves = _values(items, subject, "a sequence of leaves: [x, y]")
    for leaf in leaves:
        if leaf.parents:
            found = f"{described(leaf)}, the result of an operation ({leaf.op})"
            raise ValueError(refusal(subject, found, "leaves"))
    return leaves


def _values(items: Any, subject: str, expected: str) -> list[Value]:
    """The Values in a Vector, a Matrix or a sequence of Values, in order."""
    if isinstance(items, Value):
        return [items]
    given = as_row(items, subject, expected)
    return [value for item in given for value in _values(item, subject, expected)]
