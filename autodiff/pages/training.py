"""`show_training`: a page in which the reader's own model learns, by the compiler's JavaScript.

Python records the loss of a sample, every neuron, and a step of the optimiser, prints them as
programs, and describes the data; training.js runs the programs and draws.
"""

import copy
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from ..compiler.expression import Expression
from ..compiler.symbolic import NotRecordable
from ..engine.admission import as_integer, as_row, is_sequence, shape_and_numbers
from ..engine.errors import counted, refusal, typed
from ..engine.graph import topological_order
from ..engine.linalg import Vector
from ..engine.value import Value, leaf
from ..nn.modules import Linear, Module, Sequential, in_mode
from ..nn.recording import Recording, loss_value
from ..nn.samples import Samples
from ..nn.watching import Watch, only_data
from ..optim import Optimizer
from ..pictures.texts import entry_names
from .page import Page, formula, learning
from .stills import fit

MOST_NEURONS = 64  # drawn as small pictures
FEW = 4  # parameters: a slider for each
WHERE = "show_training"


def show_training(
    model: Callable[[Any], Any],
    inputs: Any,
    targets: Iterable[Any],
    loss: Callable[[Any, Any], Any],
    optimizer: Optimizer,
    batch_size: int | None = None,
    *,
    validation: tuple[Any, Iterable[Any]] | None = None,
    title: str = "",
    about: str = "",
    names: Sequence[str | Sequence[str]] = (),
) -> Page:
    """A page in which a model learns: its loss, what it says of every input, its neurons.

    Run, step, start again, drag the learning rate until it diverges, drag data points. One input
    shows a curve, two a surface or boundary, more what the model says of each sample. Layers of a
    `Sequential` of `Linear` are drawn as small pictures, with their weights as lines: touch one,
    and each sample shows which way it pulls that weight. With four parameters or fewer each has a
    slider, and an arrow as long as its derivative. The page runs the programs that the compiler
    prints from your model, loss and optimiser, and takes the steps that `fit` takes; it starts from
    the parameters of now, and changes nothing in Python.

    model, inputs, targets, loss, optimizer, batch_size: as `fit` takes them.
    validation: inputs and targets that no step sees. Their mean loss stands beside that of
        the samples; of one or two inputs they are drawn as rings.
    title: the heading. about: what the data are, "A sunflower, measured every week".
    names: of each input, then of the target, for the axes and the formula; a unit in brackets:
        "height (m)". For classes of several inputs their names are a list at the end:
        names=["length (cm)", "width (cm)", ["setosa", "versicolor", "virginica"]]. In the label
        of a parameter, what follows the first word is a remark.

    Jupyter shows it; `.save("page.html")` writes it to a file, `.open()` shows it in a browser.
    ValueError for what `fit` cannot compile, with the reason, for more than 1,000 parameters
    or 500 samples in all, for parameters of another model, and for more or fewer names than inputs
    and target, or than classes; TypeError for a validation that is no pair.

    >>> from autodiff import nn, optim, tanh
    >>> model = nn.Sequential(nn.Linear(1, 4, activation=tanh), nn.Linear(4, 1))
    >>> descent = optim.SGD(model.parameters(), lr=0.1)
    >>> show_training(model, [0.0, 1.0, 2.0], [1.0, 3.0, 5.0], nn.mse_loss, descent)
    <Page: A curve through 3 points>
    """
    size = None if batch_size is None else as_integer(batch_size, WHERE, "batch_size")
    if getattr(getattr(optimizer, "step", None), "__func__", None) is not Optimizer.step:
        example = "one such as optim.SGD(model.parameters(), lr=0.1)"
        remedy = "your own defines change(), not step()"
        raise TypeError(refusal(f"{WHERE}, optimizer", typed(optimizer), example, remedy))
    trained = [p for p in optimizer.params if p.requires_grad]
    known, *more = only_data(inputs, targets, validation, trained, WHERE)
    n = len(known)
    for held in more:
        found, expected = [counted(each.inputs.shape[1], "input") for each in (held, known)]
        subject = f"{WHERE}, validation"
        if found != expected:
            raise ValueError(refusal(subject, f"samples of {found}", expected))
        rows, answers = [*known.inputs, *held.inputs], [*known.targets, *held.targets]
        known = Samples(rows, answers, subject)
    for count, most, noun in [(len(known), 500, "sample"), (len(trained), 1000, "parameter")]:
        if not 0 < count <= most:
            raise ValueError(refusal(WHERE, counted(count, noun), f"1 to {most}"))
    try:
        recorded = in_mode(True, _Recorded, model, loss, known, n, optimizer, trained, names)
    except NotRecordable as error:
        raise ValueError(f"{WHERE}: the training cannot be compiled: {error}") from error
    data = recorded.data() | {"about": about, "batch": size if size and size < n else None}
    points, features = counted(n, "point"), data["features"]
    fits = f"A curve through {points}" if features == 1 else f"{points}, {features} inputs"
    data["title"] = title or ("Fit it by hand" if data["names"] else fits)
    return learning("training", data, recorded.programs, copy_context().run(recorded.still))


def printed_move(optimizer: Optimizer, parameters: Sequence[Value] = ()) -> str:
    """A step of the optimiser for one parameter: its rule of Python, run over unknowns."""
    moving = copy.copy(optimizer)
    given = p, grad, lr, *state = [leaf(1.0, 0) for _ in range(3 + len(moving.memory))]
    after = dict(zip(moving.memory, state))
    p.grad = grad
    vars(moving).update(lr=lr, params=(p,), state=after)  # all that a rule may read
    moved = Watch([*given, *parameters]).run(moving.moved, p, grad, after)
    return Expression([moved, *after.values()]).javascript(given, [])


class _Recorded:
    """The programs of a training, and what the page has to know about them.

    `known` are the n samples, and after them those that are held back.
    This class alone knows how `nn` records and how the compiler prints.
    """

    def __init__(
        self,
        model: Any,
        loss: Any,
        known: Samples,
        n: int,
        optimizer: Optimizer,
        trained: list[Value],
        names: Sequence[str | Sequence[str]],
    ) -> None:
        self.n, self.optimizer, self.parameters = n, optimizer, trained
        held: list[Any] = model.named_parameters() if isinstance(model, Module) else []
        called = dict(pair for name, each in held for pair in entry_names(name, each))
        # of each parameter: its label, or where a module holds it
        self.names = [p.label or called.get(p, f"p{i}") for i, p in enumerate(trained)]
        recording = Recording(model, loss, known, trained)
        if recording.masks:
            raise NotRecordable("a page draws no masks for Dropout; leave it out")
        if not {*trained} & {*topological_order(recording.root)}:
            found = "parameters that the loss does not depend on"
            raise ValueError(refusal(f"{WHERE}, optimizer", found, "those of this model"))
        self.rows, self.leaves = recording.table(), recording.leaves
        self.sample = Expression(recording.root)
        x = self.x = Vector(known.inputs[0].tolist())  # the graph does not depend on its numbers
        self.layers, acts, before, after = _layers(model, x, {p: i for i, p in enumerate(trained)})
        prediction = model(x)
        self.outputs: list[Any] = shape_and_numbers(prediction, WHERE)[1]
        self.targets = self._targets(known)
        self.measures = False
        if self.targets and len(self.outputs) == 1:
            self.measures = _measures(loss, prediction, self.targets[0], known.targets[0])
        self.axes, self.classes = self._called(names)
        texts = {
            "sample": self.sample.javascript(self.leaves, trained),
            "neurons": Expression([*after, *self.outputs, *before]).javascript([*x, *trained], []),
            "move": printed_move(optimizer, trained),
            "slopes": f"[{', '.join(map(_slope, acts))}]",
        }
        self.programs = ",\n".join(f"{name}: {text}" for name, text in texts.items())
        named = [re.sub(r"\s*\(.*", "", name) for name in self.axes[: len(x)]] or "xyzuvw"
        self.formula = formula(self.outputs[0], [*zip(x, named), *zip(trained, self.names)])

    def data(self) -> dict[str, Any]:
        """The network, the samples and what their targets are to the page, and the optimiser."""
        features, optimizer, rows = len(self.x), self.optimizer, self.rows.tolist()
        state = zip(optimizer.params, *[optimizer.state[name] for name in optimizer.memory])
        of_targets = [row[features:] for row in rows] == [[t] for t in self.targets or []]
        return {
            "layers": self.layers,
            "names": self.names if len(self.names) <= FEW else [],
            "formula": self.formula,
            "rows": rows[: self.n],
            "held": rows[self.n :],
            "features": features,
            "outputs": len(self.outputs),
            "targets": self.targets,
            "axes": self.axes,
            "classes": self.classes,
            # of the targets: they can be dragged
            "column": features if self.measures and of_targets else None,
            "measures": self.measures,
            "parameters": [p.data for p in self.parameters],
            "memory": [[*map(float, row)] for p, *row in state if p.requires_grad],
            "rate": optimizer.lr,
            "optimizer": type(optimizer).__name__,
        }

    def _targets(self, known: Samples) -> list[Any] | None:
        """The targets as numbers, or for one input as lists of them; None for any others."""
        targets = [shape_and_numbers(t, WHERE)[1] for t in known.targets]
        lengths = {*map(len, targets)}
        with suppress(TypeError, ValueError):
            if lengths == {1}:
                return [float(t) for (t,) in targets]
            if lengths == {len(self.outputs)} and len(self.x) == 1:
                return [[*map(float, t)] for t in targets]
        return None

    def _called(self, names: Sequence[Any]) -> tuple[list[str], list[str]]:
        """The names of the inputs and the target, and those of the classes, if there are any."""
        subject, inputs, n = f"{WHERE}, names", counted(len(self.x), "input"), len(self.x) + 1
        classes, axes = self._classes(), [*as_row(names, subject, "a list of names")]
        if axes and len(axes) != n:
            expected = f"{n}: {inputs} and the target, whose classes are one list"
            raise ValueError(refusal(subject, counted(len(axes), "name"), expected))
        if axes and is_sequence(axes[-1]):
            given = [*axes.pop()]
            if len(given) != len(classes):
                target = "the name of the target, which is drawn as a number"
                expected = str(len(classes) or target)
                raise ValueError(refusal(subject, counted(len(given), "class name"), expected))
            classes = given
        for name in [*axes, *classes]:
            if not isinstance(name, str):
                raise TypeError(refusal(subject, typed(name), "a text"))
        return axes, classes

    def _classes(self) -> list[str]:
        """What the page calls each class; empty if the targets are numbers."""
        if len(self.x) == 1 or not self.targets:
            return []
        if len(self.outputs) > 1:
            return [f"class {k}" for k in range(len(self.outputs))]
        kinds = sorted({*self.targets})
        return [f"class {kind:g}".replace("-", "−") for kind in kinds] if len(kinds) == 2 else []

    def still(self) -> str:
        """The data, and the curve at the start."""
        import numpy as np

        if len(self.x) > 1 or not self.targets or not isinstance(self.targets[0], float):
            return ""
        says = Expression(self.outputs).compile([*self.x, *self.parameters], [], xp=np)
        order = np.argsort(xs := self.rows[: self.n, 0])
        xs, targets = xs[order], np.array(self.targets)[order]
        with np.errstate(all="ignore"):
            curve = says(xs, *[p.data for p in self.parameters])[0]
        return fit(xs, targets, curve, self.measures)


def _measures(loss: Any, prediction: Any, number: float, target: Any) -> bool:
    """Whether the loss of a number is how far it is from the target, squared."""
    with suppress(Exception):  # the loss is the user's, and t + 1 may be no target
        ys = [Value(number + far) for far in (0.0, 1.0, 2.0)]
        given = ys if isinstance(prediction, Value) else [Vector([y]) for y in ys]
        at, near, far = (loss_value(loss(y, target)).data for y in given)
        return abs(at) < 1e-12 < near and abs(far - 4 * near) < 1e-9 * far
    return False


def _layers(model: Any, x: Vector, index: dict[Value, int]) -> tuple[list[Any], ...]:
    """The layers of a Sequential of Linear, with the number of the parameter for each weight; their
    activations; what goes into those of the hidden layers, and what comes out. Else empty lists.
    """
    layers, acts, sums, results = (list[Any]() for _ in range(4))
    h = x
    with suppress(Exception):  # a weight is not trained, a function does not go entry by entry
        for linear, act in _pairs(model):
            plain = copy.copy(linear)
            plain.activation = None
            sums.append(plain(h))
            h = sums[-1].map(act) if act else sums[-1]
            results.append(h)
            if act and act not in acts:
                acts.append(act)
            name = getattr(act, "__name__", "") if act else "linear"
            layers.append({
                "name": f"{len(h)} {name if name.isidentifier() else 'neurons'}",
                "act": acts.index(act) if act else None,
                "weights": [[index[w] for w in row] for row in linear.weight],
                "biases": [index.get(b) for b in linear.bias] if linear.bias else [None] * len(h),
            })  # fmt: skip
        few = sum(map(len, results)) <= MOST_NEURONS
        if layers and few and len(x) <= 2 and h.data == model(x).data:
            hidden = ([each for row in rows[:-1] for each in row] for rows in (sums, results))
            return layers, acts, *hidden
    return [], [], [], []


def _pairs(model: Any) -> list[list[Any]]:
    """Each Linear of a Sequential, with the function that follows it, or None."""
    found: list[list[Any]] = []
    stack = [model]
    while stack:
        each = stack.pop(0)
        if isinstance(each, Sequential):
            stack = [*each.layers, *stack]
        elif isinstance(each, Linear):
            found.append([each, each.activation])
        elif found and found[-1][1] is None and not isinstance(each, Module):
            found[-1][1] = each
        else:
            return []
    return found


def _slope(act: Callable[[Any], Any]) -> str:
    """The value and the derivative of an activation, as a program."""
    z = Value(0.5)
    return Expression(act(z)).javascript([z], [z])
