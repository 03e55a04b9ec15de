"""`show_training`: a page in which the reader's own model learns, by the compiler's JavaScript.

Python records the loss of a sample, every neuron, and a step of the optimiser, prints them as
programs, and describes the data; training.js runs the programs and draws.
"""

import copy
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
from .pages import Page, dots, formula, learning, readable

MOST, MOST_SAMPLES, MOST_NEURONS = 1000, 500, 64  # parameters, samples, drawn neurons
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
    names: of the inputs, then of the target; a unit in brackets: "height (m)". In the label of a
        parameter, what follows the first word is a remark: "a rise".
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
    _check(model, loss, optimizer)
    samples = Samples(inputs, targets, WHERE)
    trained = [p for p in optimizer.params if p.requires_grad]
    for n, most, noun in (
        (len(samples), MOST_SAMPLES, "sample"),
        (len(trained), MOST, "parameter"),
    ):
        if not 0 < n <= most:
            raise ValueError(message(WHERE, counted(n, noun), f"1 to {most}"))
    try:
        with mode(model, training=True):
            recorded = _Recorded(model, loss, samples, optimizer, trained)
    except NotRecordable as error:
        raise ValueError(f"{WHERE}: the training cannot be compiled: {error}") from error
    length = len(recorded.programs)
    if length > LONGEST:
        found = f"programs of {counted(length, 'character')}"
        raise ValueError(message(WHERE, found, f"at most {LONGEST}", "show a smaller model"))
    data = recorded.described(size, [str(name) for name in names])
    data |= {"title": title or _title(data), "about": about, "flower": flower}
    return learning("training", data, recorded.programs, recorded.still())


def _check(model: Any, loss: Any, optimizer: Any) -> None:
    for name, given in (("model", model), ("loss", loss)):
        if not callable(given):
            raise TypeError(message(f"{WHERE}, {name}", typed(given), "a function"))
    if not isinstance(optimizer, Optimizer):
        expected = "one of autodiff.optim, such as optim.SGD(model.parameters(), lr=0.1)"
        raise TypeError(message(f"{WHERE}, optimizer", typed(optimizer), expected))


class _Recorded:
    """The programs of a training, and what the page has to know about them.

    This class alone knows how `nn` records and how the compiler prints.
    """

    def __init__(
        self, model: Any, loss: Any, samples: Samples, optimizer: Optimizer, trained: list[Value]
    ) -> None:
        if isinstance(samples.inputs, list):
            raise NotRecordable("the inputs are rows of different lengths")
        self.model, self.loss, self.samples = model, loss, samples
        self.optimizer, self.parameters = optimizer, trained
        recording = Recording(model, loss, samples, trained)
        self.table = recording.table()
        given = [*recording.x, *recording.leaves]
        sample = readable(Expression(recording.root).javascript(given, trained))
        x = Vector(samples.inputs[0].tolist())  # the graph does not depend on its numbers
        self.layers, self.acts = _layers(model, x)
        self.prediction = model(x)
        self.outputs = [*map(_value, flat(self.prediction, WHERE)[1])]
        shown = [y for layer in self.layers[:-1] for y in layer["after"]] + self.outputs
        before = [z for layer in self.layers[:-1] for z in layer["before"]]
        neurons = Expression([*shown, *before]).javascript([*x, *trained], [])
        texts = {"sample": sample, "neurons": readable(neurons), "move": self._move()}
        texts["slopes"] = f"[{', '.join(map(_slope, self.acts))}]"
        self.programs = ",\n".join(f"{name}: {text}" for name, text in texts.items())
        self.said = formula(self.outputs[0], [*zip(x, "xyzuvw"), *self._named()])

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

    def described(self, size: int | None, names: list[str]) -> dict[str, Any]:
        """All that training.js knows of the model, the data and the optimiser."""
        index: dict[Value, int] = {p: i for i, p in enumerate(self.parameters)}
        weights = [layer["weight"] for layer in self.layers]
        fixed = [w for each in weights for row in each for w in row if w not in index]
        index |= {w: len(index) + i for i, w in enumerate(dict.fromkeys(fixed))}
        rows = self.samples.inputs.tolist()
        pairs = zip(self.optimizer.params, self.optimizer.state)
        memory = [[s[k] for k in self.optimizer.memory] for p, s in pairs if p.requires_grad]
        targets: list[Any] = [_number(t) for t in self.samples.targets]
        if len(self.outputs) > 1 and len(rows[0]) == 1 and set(targets) == {None}:
            targets = [flat(t, WHERE)[1] for t in self.samples.targets]
            targets = [[*map(float, t)] if len(t) == len(self.outputs) else None for t in targets]
        measures = self._measures()
        column = None  # of the table: the targets themselves, which can be dragged
        if measures and None not in targets and self.table.tolist() == [[t] for t in targets]:
            column = len(rows[0])
        return {
            "rows": [[*row, *more] for row, more in zip(rows, self.table.tolist())],
            "features": len(rows[0]),
            "outputs": len(self.outputs),
            "targets": None if None in targets else targets,
            "column": column,
            "measures": measures,
            "parameters": [p.data for p in self.parameters],
            "fixed": [w.data for w in dict.fromkeys(fixed)],
            "names": [name for _, name in self._named()] if len(index) <= 4 else [],
            "groups": [] if len(self.layers) > 1 else self._groups(index),
            "layers": [
                {
                    "name": layer["name"],
                    "act": layer["act"],
                    "weights": [[index[w] for w in row] for row in layer["weight"]],
                }
                for layer in self.layers
            ],
            "memory": memory if self.optimizer.steps else len(self.optimizer.memory),
            "steps": self.optimizer.steps,
            "rate": self.optimizer.lr,
            "batch": size if size and size < len(rows) else None,
            "optimizer": _optimizer(self.optimizer),
            "axes": names,
            "formula": self.said,
        }

    def still(self) -> str:
        """The data, and what the model says at the start, as a small picture."""
        import numpy

        rows, n = self.samples.inputs, len(self.samples)
        targets = [_number(t) for t in self.samples.targets]
        if rows.shape[1] == 2:
            return dots([(row[0], row[1]) for row in rows.tolist()], [])
        if rows.shape[1] > 2 or None in targets:
            return ""
        path: list[tuple[float, float]] = []
        with suppress(Exception):  # between the data the model may leave its domain
            xs = numpy.linspace(rows.min(), rows.max(), 60)
            path = [*zip(xs.tolist(), predict(self.model, xs).reshape(60, -1)[:, 0].tolist())]
        return dots([(rows[i, 0], float(targets[i] or 0.0)) for i in range(n)], path)

    def _groups(self, index: dict[Value, int]) -> list[Any]:
        """The parameters as a model holds them: a name, and rows of their numbers."""
        held = self.model.named_parameters() if isinstance(self.model, Module) else []
        groups: list[Any] = []
        for name, each in held or [("parameters", Vector._of(self.parameters, (len(index),)))]:
            rows: list[Any] = list(each) if isinstance(each, Matrix) else [each]
            numbers = [
                [index.get(w, -1) for w in ([r] if isinstance(r, Value) else r)] for r in rows
            ]
            groups.append([name, numbers])
        return groups

    def _measures(self) -> str:
        """ "squares" if the loss of a number is how far it is from the target, squared; "distance"
        if it is another distance; else "".
        """
        t = _number(self.samples.targets[0])
        if t is None or len(self.outputs) > 1:
            return ""

        def loss(far: float) -> float:
            y: Any = Value(t + far)
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


def _number(target: Any) -> float | None:
    """A target as one number; None if it is anything else."""
    _, numbers = flat(target, WHERE)
    with suppress(TypeError, ValueError):
        return float(numbers[0]) if len(numbers) == 1 else None
    return None


def _optimizer(optimizer: Optimizer) -> str:
    """The optimiser in words."""
    settings, kind = optimizer.settings(), type(optimizer).__name__
    name = "gradient descent" if kind == "SGD" else kind
    return name + (f" with momentum {settings['momentum']:g}" if settings.get("momentum") else "")


def _title(data: dict[str, Any]) -> str:
    points = counted(len(data["rows"]), "point")
    if data["names"]:
        return "Fit it by hand"
    if data["features"] > 2:
        return f"{points}, {data['features']} inputs"
    if data["features"] == 1:
        return f"A curve through {points}"
    return f"A boundary between {points}" if _classes(data) else f"A surface over {points}"


def _classes(data: dict[str, Any]) -> bool:
    return data["outputs"] > 1 or len({*map(str, data["targets"] or ())}) == 2
