"""`show_training`: a page in which the reader's own model learns, by the compiler's JavaScript.

Python records the loss of a sample, every neuron, and a step of the optimiser, prints them as
programs, and describes the data; training.js runs the programs and draws.
"""

import base64
import copy
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from ..compiler.expression import Expression
from ..errors import counted, message, typed
from ..linalg import Matrix, Vector
from ..nn import predict
from ..nn.modules import Linear, Module, Sequential, mode, positive
from ..nn.purity import NotRecordable
from ..nn.recording import Recording, Unknown, loss_value
from ..nn.samples import Samples, flat
from ..optim import Optimizer
from ..scopes import entry_names
from ..value import Value, leaf
from .pages import Page, dots, formula, learning

MOST_NEURONS = 64  # drawn as small pictures
LONGEST = 200_000  # characters of the programs
WHERE = "show_training"


def show_training(
    model: Callable[[Any], Any],
    inputs: Any,
    targets: Iterable[Any],
    loss: Callable[[Any, Any], Any],
    optimizer: Optimizer,
    batch_size: int | None = None,
    *,
    title: str = "",
    about: str = "",
    names: Sequence[str] = (),
    flower: bool = False,
) -> Page:
    """A page in which a model learns: its loss, what it says of every input, its neurons.

    Run, step, start again, drag the learning rate until it diverges, drag data points. One input
    shows a curve, two a surface or boundary, more the loss and the weights. Layers of a
    `Sequential` of `Linear` are drawn as small pictures, with their weights as lines; with four
    parameters or fewer each has a slider, and an arrow as long as its derivative. The page runs
    the programs that the compiler prints from your model, loss and optimiser, and takes the steps
    that `fit` takes; it starts from the parameters of now, and changes nothing in Python.

    model, inputs, targets, loss, optimizer, batch_size: as `fit` takes them.
    title: the heading. about: what the data are, "A sunflower, measured every week".
    names: of the inputs, then of the target, for the axes and the formula; a unit in brackets:
        "height (m)". In the label of a parameter, what follows the first word is a remark.
    flower: draws the last point of a curve as a sunflower.

    Jupyter shows it; `.save("page.html")` writes it to a file, `.open()` shows it in a browser.
    ValueError for what `fit` cannot compile, with the reason, and for more than 1,000 parameters
    or 500 samples.

    >>> from autodiff import nn, optim, tanh
    >>> model = nn.Sequential(nn.Linear(1, 4, activation=tanh), nn.Linear(4, 1))
    >>> descent = optim.SGD(model.parameters(), lr=0.1)
    >>> show_training(model, [0.0, 1.0, 2.0], [1.0, 3.0, 5.0], nn.mse_loss, descent)
    <Page: A curve through 3 points>
    """
    size = None if batch_size is None else positive(batch_size, WHERE, "batch_size")
    given: Any = optimizer
    if not isinstance(given, Optimizer):
        expected = "one of autodiff.optim, such as optim.SGD(model.parameters(), lr=0.1)"
        raise TypeError(message(f"{WHERE}, optimizer", typed(given), expected))
    samples = Samples(inputs, targets, WHERE)
    axes = [*map(str, names)]
    trained = [p for p in optimizer.params if p.requires_grad]
    for n, most, noun in [(len(samples), 500, "sample"), (len(trained), 1000, "parameter")]:
        if not 0 < n <= most:
            raise ValueError(message(WHERE, counted(n, noun), f"1 to {most}"))
    try:
        with mode(model, training=True):
            recorded = _Recorded(model, loss, samples, optimizer, trained, axes)
    except NotRecordable as error:
        raise ValueError(f"{WHERE}: the training cannot be compiled: {error}") from error
    if (length := len(recorded.programs)) > LONGEST:
        raise ValueError(message(WHERE, f"programs of {length} characters", f"at most {LONGEST}"))
    data = {**recorded.network(), **recorded.numbers(), **recorded.optimizing()}
    data |= {"batch": size if size and size < len(samples) else None}
    data |= {
        "title": title or _title(data, counted(len(samples), "point")),
        "about": about,
        "flower": flower,
        "axes": axes,
    }
    return learning("training", data, recorded.programs, recorded.still())


class _Recorded:
    """The programs of a training, and what the page has to know about them.

    This class alone knows how `nn` records and how the compiler prints.
    """

    def __init__(
        self,
        model: Any,
        loss: Any,
        samples: Samples,
        optimizer: Optimizer,
        trained: list[Value],
        axes: list[str],
    ) -> None:
        self.model, self.loss, self.samples = model, loss, samples
        self.optimizer, self.parameters = optimizer, trained
        recording = Recording(model, loss, samples, trained)
        self.table = recording.table().tolist()
        given = [*recording.x, *recording.leaves]
        x = Vector(samples.inputs[0].tolist())  # the graph does not depend on its numbers
        self.layers, acts = _layers(model, x)
        self.prediction = model(x)
        self.outputs = [*map(_value, flat(self.prediction, WHERE)[1])]
        self.targets = self._targets()
        shown = [y for layer in self.layers[:-1] for y in layer["after"]] + self.outputs
        before = [z for layer in self.layers[:-1] for z in layer["before"]]
        texts = {
            "sample": Expression(recording.root).javascript(given, trained),
            "neurons": Expression([*shown, *before]).javascript([*x, *trained], []),
            "move": self._move(),
            "slopes": f"[{', '.join(map(_slope, acts))}]",
        }
        self.programs = _quick(",\n".join(f"{name}: {text}" for name, text in texts.items()))
        named = [re.sub(r"\s*\(.*", "", name) for name in axes[: len(x)]] or "xyzuvw"
        self.formula = formula(self.outputs[0], [*zip(x, named), *self._named()])

    def _move(self) -> str:
        """A step of the optimiser for one parameter: its rule of Python, run over unknowns."""
        rules = type(self.optimizer)
        if rules.step is not Optimizer.step:
            raise NotRecordable(f"{rules.__name__} has a step() of its own; define change()")
        unknown, moving = Unknown(), copy.copy(self.optimizer)
        p, grad, lr, steps, *state = [leaf(unknown, 0) for _ in range(4 + len(moving.memory))]
        vars(moving).update(lr=lr, steps=steps)
        after = dict(zip(moving.memory, state))
        outputs = [moving.moved(p, grad, after), *after.values()]
        return Expression(outputs).javascript([p, grad, lr, steps, *state], [])

    def _named(self) -> list[tuple[Value, str]]:
        """Each trained parameter and its name: its label, or where a module holds it."""
        held = self.model.named_parameters() if isinstance(self.model, Module) else []
        names = dict(pair for name, each in held for pair in entry_names(name, _simple(each)))
        return [(p, p.label or names.get(p, f"p{i}")) for i, p in enumerate(self.parameters)]

    def network(self) -> dict[str, Any]:
        """The layers, with the number of the parameter for each weight; or the parameters alone."""
        index: dict[Value, int] = {p: i for i, p in enumerate(self.parameters)}
        weights = [w for layer in self.layers for row in layer["weight"] for w in row]
        fixed = list(dict.fromkeys(w for w in weights if w not in index))
        index |= {w: len(index) + i for i, w in enumerate(fixed)}
        layers = [
            {
                "name": layer["name"],
                "act": layer["act"],
                "weights": [[index[w] for w in row] for row in layer["weight"]],
            }
            for layer in self.layers
        ]
        return {
            "layers": layers,
            "fixed": [w.data for w in fixed],
            "groups": [] if len(layers) > 1 else self._groups(index),
            "names": [name for _, name in self._named()] if len(index) <= 4 else [],
            "formula": self.formula,
        }

    def numbers(self) -> dict[str, Any]:
        """The samples, and what their targets are to the page."""
        rows, targets, measures = self.samples.inputs.tolist(), self.targets, self._measures()
        of_table = measures and targets and self.table == [[t] for t in targets]
        return {
            "rows": _packed([[*row, *more] for row, more in zip(rows, self.table)]),
            "features": len(rows[0]),
            "outputs": len(self.outputs),
            "targets": targets,
            "column": len(rows[0]) if of_table else None,  # of the targets: they can be dragged
            "measures": measures,
        }

    def _targets(self) -> list[Any] | None:
        """The targets as numbers, or for one input as lists of them; None for any others."""
        targets = [flat(t, WHERE)[1] for t in self.samples.targets]
        lengths = {*map(len, targets)}
        with suppress(TypeError, ValueError):
            if lengths == {1}:
                return [float(t) for (t,) in targets]
            if lengths == {len(self.outputs)} and self.samples.inputs.shape[1] == 1:
                return [[*map(float, t)] for t in targets]
        return None

    def optimizing(self) -> dict[str, Any]:
        """Where the optimiser stands: its steps, and for each parameter what it remembers."""
        given = self.optimizer
        p, state, steps = given._read()
        return {
            "start": _packed([*map(list, zip(p, *[x for x in state.values() if steps]))]),
            "memory": len(given.memory),
            "steps": given.steps,
            "rate": given.lr,
            "optimizer": type(given).__name__,
        }

    def still(self) -> str:
        """The data, and what the model says at the start, as a small picture."""
        import numpy

        rows, path = self.samples.inputs, list[tuple[float, float]]()
        if rows.shape[1] == 2:
            return dots([(x, y) for x, y in rows.tolist()[:100]], path)
        if rows.shape[1] > 2 or not self.targets:
            return ""
        with suppress(Exception):  # between the data the model may leave its domain
            xs = numpy.linspace(rows.min(), rows.max(), 60)
            path = [*zip(xs.tolist(), predict(self.model, xs).reshape(60, -1)[:, 0].tolist())]
        points = zip(rows[:100, 0].tolist(), self.targets)
        return dots([(x, y) for x, y in points if isinstance(y, float)], path)

    def _groups(self, index: dict[Value, int]) -> list[Any]:
        """The parameters as a model holds them: a name, and rows of their numbers."""
        held = self.model.named_parameters() if isinstance(self.model, Module) else []
        groups: list[Any] = []
        for name, each in held or [("parameters", Vector._of(self.parameters, (len(index),)))]:
            rows: list[Any] = list(each) if isinstance(each, Matrix) else [each]
            groups.append([name, [[index.get(w, -1) for w in flat(r, WHERE)[1]] for r in rows]])
        return groups

    def _measures(self) -> str:
        """ "squares" if the loss of a number is how far it is from the target, squared; "distance"
        if it is another distance; else "".
        """
        if not self.targets or len(self.outputs) > 1:
            return ""

        first = self.targets[0]

        def loss(far: float) -> float:
            y: Any = Value(first + far)
            y = y if isinstance(self.prediction, Value) else Vector([y])
            return float(loss_value(self.loss(y, self.samples.targets[0])).data)

        with suppress(Exception):  # the loss is the user's, and t + 1 may be no target
            at, near, far = loss(0.0), min(loss(1.0), loss(-1.0)), loss(2.0)
            if abs(at) < 1e-12 < near:
                return "squares" if abs(far - 4 * near) < 1e-9 * far else "distance"
        return ""


def _layers(model: Any, x: Vector) -> tuple[list[dict[str, Any]], list[Any]]:
    """The layers of a Sequential of Linear, and their activations; none for other models."""
    layers, acts, h = list[dict[str, Any]](), list[Any](), x
    with suppress(Exception):  # a function between layers may not go entry by entry
        for linear, act in _pairs(model):
            plain = copy.copy(linear)
            vars(plain)["activation"] = None
            before = plain(h)
            h = before.map(act) if act else before
            acts += [act] if act and act not in acts else []
            name = getattr(act, "__name__", "") if act else "linear"
            layers.append({
                "name": f"{len(h)} {name if name.isidentifier() else 'neurons'}",
                "act": acts.index(act) if act else None,
                "before": before, "after": h, "weight": [list(row) for row in linear.weight],
            })  # fmt: skip
        few = sum(len(layer["after"]) for layer in layers) <= MOST_NEURONS
        if layers and few and len(x) <= 2 and h.data == model(x).data:
            return layers, acts
    return [], []


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


def _packed(rows: list[list[float]]) -> dict[str, Any]:
    """Rows of numbers to the last bit, in half the characters."""
    import numpy

    text = base64.b64encode(numpy.array(rows, "<f8").tobytes()).decode()
    return {"width": len(rows[0]), "numbers": text}


def _quick(programs: str) -> str:
    """Shorter programs, which read their inputs as properties: ten times quicker than in turn."""

    def properties(found: re.Match[str]) -> str:
        each = ",".join(f"{i}:{name}" for i, name in enumerate(found[1].split(", ")))
        return f"const {{{each}}} = inputs;"

    quick = re.sub(r"const \[(.+)\] = inputs;", properties, programs)
    return quick.replace(";\n  const ", ",\n").replace("\n  ", "\n").replace(" * ", "*")


def _slope(act: Callable[[Any], Any]) -> str:
    """The value and the derivative of an activation, as a program."""
    z = Value(0.5)
    return Expression(_value(act(z))).javascript([z], [z])


def _simple(parameter: Any) -> Any:
    """A parameter without dimensions of length 1, which need no index."""
    while not isinstance(parameter, Value) and len(parameter) == 1:
        parameter = parameter[0]
    return parameter


def _value(y: Any) -> Value:
    return y if isinstance(y, Value) else Value(y)


def _title(data: dict[str, Any], points: str) -> str:
    if data["names"]:
        return "Fit it by hand"
    if data["features"] > 2:
        return f"{points}, {data['features']} inputs"
    if data["features"] == 1:
        return f"A curve through {points}"
    two = data["outputs"] > 1 or len({*(data["targets"] or ())}) == 2
    return f"A boundary between {points}" if two else f"A surface over {points}"
