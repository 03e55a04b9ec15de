# pyright: analyzeUnannotatedFunctions=false
"""Notebook 7: its figures, and its exercises: a layer, two optimisers, other weights."""

import math
from collections.abc import Mapping
from io import BytesIO
from random import Random
from typing import Any

import numpy as np

from autodiff import Matrix, Value, Vector, tanh
from autodiff.nn import Module, he_normal

from .figures import BLUE, GREEN, ORANGE, PINK
from .figures import look as set_look
from .verdicts import Exercise, Hint, a, number, solutions

# -- 1. Linear -----------------------------------------------------------------------------------


def described(x):
    shape = f" of shape {x.shape}" if isinstance(x, Matrix) else ""
    return f"{a(x)}{shape or f' of {len(x)}' if isinstance(x, (Matrix, Vector)) else ''}"


def layer_of(kind, n_in, n_out, activation, seed):
    if not issubclass(kind, Module):
        raise Hint("Derive the class from Module, which finds its parameters.")
    layer = kind(n_in, n_out, activation=activation, seed=seed)
    for name in ("weight", "bias"):
        found = getattr(layer, name, None)
        yield f"self.{name}", found if found is ... else described(found)
    if layer.weight is ... or layer.bias is ...:
        return
    yield "the biases", layer.bias.data
    yield "the weights", layer.weight.data
    yield "the number of parameters()", float(len(layer.parameters()))
    for entry, shift in zip(layer.bias, (0.3, -0.2, 0.1, 0.7)):
        entry.data = shift
    x = Vector([1.0, -2.0, 0.5][:n_in])
    out = layer(x)
    yield "the result of forward", out if out is None or out is ... else described(out)
    yield "the result", out.data
    (out * out).sum().backward()
    for name, part in {"weight": layer.weight, "bias": layer.bias, "x": x}.items():
        yield f"the gradient of {name}", part.grad


class Layer(Module):
    def __init__(self, n_in, n_out, activation=None, seed=None):
        self.weight = Matrix(he_normal(n_in, n_out, Random(seed)))
        self.bias = Vector([0.0] * n_out)
        self.activation = activation

    def forward(self, x):
        z = self.weight @ x + self.bias
        return z.map(self.activation) if self.activation else z


solution_1 = Layer

check_1 = Exercise(
    solution_1,
    ask=layer_of,
    at={
        "n_in = 3, n_out = 2, seed = 7": (3, 2, tanh, 7),
        "n_in = 3, n_out = 2, seed = 8": (3, 2, tanh, 8),
        "n_in = 1, n_out = 4, activation = None": (1, 4, None, 2),
    },
    praise="Right: the parameters, the result and every gradient are those of Linear.",
    slips={
        "Derive the class from Module, which finds its parameters.": "(Module) →",
        "self.weight should be a Matrix: Matrix(rows) makes Values of the numbers.": "Matrix →",
        "The weights have shape (n_in, n_out). One row for each neuron: (n_out, n_in).": (
            "n_in, n_out, Random → n_out, n_in, Random"
        ),
        "The weights should be those of he_normal(n_in, n_out, Random(seed)).": [
            "Random(seed) → Random(7)",
            "he_normal(n_in, n_out, Random(seed)) → [[0.0] * n_in] * n_out",
        ],
        "self.bias should be a Vector: Vector([0.0, ...]), one 0 for each neuron.": [
            "Vector([0.0] * n_out) → [0.0] * n_out",
            "Vector([0.0] * n_out) → 0.0",
        ],
        "One bias for each neuron, n_out of them.": "* n_out → * n_in",
        "The biases should start at 0.": "[0.0] → [1.0]",
        "The activation is missing.": "z.map(self.activation) → z",
        "The bias is missing.": "+ self.bias →",
        "The bias belongs inside the activation.": "@ x + self.bias → @ x\n"
        "z.map(self.activation) if self.activation else z → "
        "(z.map(self.activation) if self.activation else z) + self.bias",
        "With activation=None the sum should be returned as it is.": [
            "if self.activation else z →",
            "z.map(self.activation) if self.activation else z → self.activation(z)",
        ],
        "The matrix comes first: self.weight @ x.": "self.weight @ x → x @ self.weight",
        "`*` multiplies entry by entry. A layer is self.weight @ x.": "@ x → * x",
        "The result is right, but {at} the gradient of x is not: .data or float() on the way cuts it "
        "off.": "@ x → @ Vector(x.data)",
        "The result is right, but {at} the gradient of the weights is not: .data or float() on the "
        "way cuts it off.": "self.weight @ → Matrix(self.weight.data) @",
    },
)

# -- 2 and 3. Optimisers ---------------------------------------------------------------------------


def path_of(kind, settings, start):
    """Where an optimiser goes in the valley x²/20 + y², in 12 steps."""
    x, y = params = [Value(each) for each in start]
    optimizer, points = kind(params, **settings), []
    for p in params:
        p.grad = 7.0
    optimizer.zero_grad()
    yield "each grad after zero_grad()", [p.grad for p in params]
    for _ in range(12):
        optimizer.zero_grad()
        (x**2 / 20 + y**2).backward()
        optimizer.step()
        points.append([p.data for p in params])
    moved = points[0] != list(start)
    yield "each p.data after a step", "another number" if moved else "as it was"
    yield "p.data, by step and parameter,", points


def valley(**settings):
    return {
        " and ".join(f"{name} = {x}" for name, x in each.items()): (each, (-8.0, 2.0))
        for each in ({name: x[i] for name, x in settings.items()} for i in range(2))
    }


class Descent:
    def __init__(self, params, lr, momentum=0.0):
        self.params, self.lr, self.momentum = params, lr, momentum
        self.velocities = [0.0] * len(params)

    def zero_grad(self):
        for p in self.params:
            p.grad = 0.0

    def step(self):
        for i, p in enumerate(self.params):
            self.velocities[i] = self.momentum * self.velocities[i] + p.grad
            p.data = p.data - self.lr * self.velocities[i]


solution_2 = Descent

SLIPS = {
    "step() leaves the parameters where they are: assign to p.data.": "p.data = p.data → p = p.data",
    "After zero_grad() every grad should be 0.0.": "p.grad = 0.0 → pass",
    "Uphill: subtract from p.data.": "p.data - self.lr → p.data + self.lr",
    "The learning rate has no effect.": "- self.lr * → -",
    "The learning rate is in it twice.": "- self.lr → - self.lr * self.lr",
}
check_2 = Exercise(
    solution_2,
    ask=path_of,
    at=valley(lr=(0.1, 0.2), momentum=(0.0, 0.9)) | valley(lr=(0.3, 0.3), momentum=(0.5, 0.9)),
    close=1e-6,
    praise="Right: step for step where the package's SGD goes, with momentum and without.",
    otherwise="The velocity is μv + g, and p moves by lr times it.",
    slips=SLIPS
    | {
        "Momentum has no effect: keep each velocity from step to step.": "self.momentum * → 0.0 *",
        "That is a mean, μv + (1 - μ)g, as in Adam. SGD has v = μv + g.": (
            "+ p.grad → + (1 - self.momentum) * p.grad"
        ),
        "That is Nesterov's momentum. Here p moves by lr times v alone.": (
            "lr * self.velocities[i] → lr * (p.grad + self.momentum * self.velocities[i])"
        ),
        "All parameters share one memory: each needs its own.": "[i] → [0]",
    },
)


class Adaptive:
    def __init__(self, params, lr):
        self.params, self.lr, self.t = params, lr, 0
        self.m, self.s = [0.0] * len(params), [0.0] * len(params)

    def zero_grad(self):
        for p in self.params:
            p.grad = 0.0

    def step(self):
        self.t += 1
        for i, p in enumerate(self.params):
            self.m[i] = 0.9 * self.m[i] + 0.1 * p.grad
            self.s[i] = 0.999 * self.s[i] + 0.001 * p.grad**2
            m = self.m[i] / (1 - 0.9**self.t)
            s = self.s[i] / (1 - 0.999**self.t)
            p.data = p.data - self.lr * m / (math.sqrt(s) + 1e-8)


solution_3 = Adaptive

check_3 = Exercise(
    solution_3,
    ask=path_of,
    at=valley(lr=(0.1, 0.5)) | {"a gradient of 0": ({"lr": 0.1}, (-8.0, 0.0))},
    close=1e-6,  # ε may be added inside or outside the root
    praise="Right: step for step where the package's Adam goes.",
    otherwise="Is every β where it belongs?",
    slips=SLIPS
    | {
        "The hats are missing: both means start at 0 and are too small at first.": (
            "/ (1 - 0.9**self.t) →\n/ (1 - 0.999**self.t) →"
        ),
        "The hat on m is missing: m / (1 - 0.9**t).": "/ (1 - 0.9**self.t) →",
        "The hat on s is missing: s / (1 - 0.999**t).": "/ (1 - 0.999**self.t) →",
        "Divide by the root of s, not by s.": "math.sqrt →",
        "The two β are swapped: 0.9 is for m, 0.999 for s.": (
            "0.999 → β\n0.9 → 0.999\nβ → 0.9\n0.1 * → β *\n0.001 → 0.1\nβ → 0.001"
        ),
        "s is the mean of the squares of the gradients.": "p.grad**2 → p.grad",
        "All parameters share one memory: each needs its own.": "[i] → [0]",
        "t should count the steps: 1, 2, 3 ...": "self.t += 1 → self.t = 1",
        "t is counted up for each parameter: once in a step is enough.": (
            "self.t += 1 → pass\nself.m[i] = → self.t += 1; self.m[i] ="
        ),
        "A division by 0: is t 1 in the first step, and not 0?": "lr, 0 → lr, -1",
        "A gradient of 0 divides by 0: add ε to the root.": "+ 1e-8 →",
    },
)

# -- 4. The weights for a leaky relu ----------------------------------------------------------------


def solution_4():
    """Half of the sums keep their square, the other half a quarter of it."""
    kept = (1 + 0.5**2) / 2
    return 1 / (20 * kept)


check_4 = Exercise(
    solution_4(),
    ask=number,
    close=1e-4,
    praise="Right: the bend keeps (1 + 1/4)/2 = 0.625, and 20 · 0.08 · 0.625 = 1.",
    otherwise=lambda x: f"A layer would multiply the mean square by {12.5 * x:.4g}, not by 1.",
    slips={
        "That is 2/n, for relu. Here the negative half is not lost, but halved.": 0.1,
        "That is 1/n, as if nothing were lost.": 0.05,
        "Right for a single input. Divide by the number of inputs.": 1.6,
        "That is the share that survives. The variance has to make up for it.": 0.625,
        "You multiplied by the share 0.625. Divide by it.": 0.03125,
        "Halved numbers have a quarter of the mean square, not a half.": 1 / 15,
        "That is the standard deviation. The variance is its square.": math.sqrt(0.08),
        "The share is the mean of 1 and 1/4, not their sum.": 0.04,
    },
)

# -- The figures ----------------------------------------------------------------------------------


def look() -> None:
    """Set what all figures have in common."""
    set_look(**{"font.size": 11, "figure.constrained_layout.use": True})


def show(figure: Any, alt: str) -> None:
    """Display a figure as a PNG of 128 colours: a fifth of the size, and as sharp."""
    import matplotlib.pyplot as plt
    import PIL.Image
    from IPython.display import Image, display

    drawing, small = BytesIO(), BytesIO()
    figure.savefig(drawing, dpi=120)
    plt.close(figure)
    PIL.Image.open(drawing).convert("RGB").quantize(128).save(small, "png", optimize=True)
    width = round(100 * figure.get_figwidth())
    display(Image(small.getvalue(), width=width, alt=alt))


def learned(xs: Any, ys: Any, runs: Mapping[str, tuple[Any, Any]]) -> None:
    """Loss by step, and the answers at the end, for {name: (losses, answers)}."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    right.plot(xs, ys, "o", color="#999999", label="targets")
    styles = [(ORANGE, "-"), (BLUE, "-"), (PINK, "--"), (GREEN, "--")]
    for (name, (losses, answers)), (colour, dashes) in zip(runs.items(), styles):
        left.semilogy(range(1, len(losses) + 1), losses, dashes, color=colour, linewidth=1)
        right.plot(xs, answers, dashes, color=colour, label=name, linewidth=2)
    left.set(xlabel="step", ylabel="loss", ylim=(1e-6, 2))
    right.set(xlabel="x", ylabel="answer")
    right.legend(fontsize=9)
    ends = ", ".join(f"{name} {losses[-1]:.1g}" for name, (losses, _) in runs.items())
    show(figure, f"Loss by step, and answers beside the targets. The losses at the end: {ends}.")


def bends(activations: Mapping[str, tuple[Any, Any]], bump: Any) -> None:
    """Each activation with its slope, {name: (values, slopes)}, and a sum of three relus."""
    import matplotlib.pyplot as plt

    z = np.linspace(-3, 3, len(bump))
    figure, axes = plt.subplots(1, 3, figsize=(9, 3))
    for panel, (name, (values, slopes)) in zip(axes, activations.items()):
        panel.plot(z, values, color=BLUE, linewidth=2, label=name)
        panel.plot(z, slopes, "--", color=ORANGE, linewidth=2, label="its slope")
        panel.legend(fontsize=10)
    axes[2].plot(z, bump, color=GREEN, linewidth=2)
    axes[2].set_title("relu(z + 1) − 2 relu(z) + relu(z − 1)", fontsize=10)
    for panel in axes:
        panel.set_xlabel("z")
        panel.grid(color="#dddddd")
    show(figure, "relu, a bend at 0, and tanh, an S, with their slopes; three relus make a bump")


def heat_maps(found: Mapping[str, tuple[Any, Any]], limit: float = 1e6) -> None:
    """The size of every activation and gradient, {name: (activations, gradients)}."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm

    figure, axes = plt.subplots(2, len(found), figsize=(9, 5.2), layout="compressed")
    colours = plt.get_cmap("viridis").copy()
    colours.set_bad("#bbbbbb")  # the logarithm of 0
    said = []
    for column, (name, pair) in zip(axes.T, found.items()):
        for panel, sizes in zip(column, pair):
            layers, neurons = sizes.shape
            box = (0.5, layers + 0.5, neurons + 0.5, 0.5)
            shades = np.ma.masked_equal(sizes.T, 0.0)
            norm = LogNorm(1 / limit, limit)
            image = panel.imshow(shades, norm=norm, cmap=colours, extent=box, aspect="auto")
            panel.set(xticks=[1, 3, 5, 7, 9], yticks=[])
        ends = " and ".join(f"{np.median(x[0]):.0e} to {np.median(x[-1]):.0e}" for x in pair)
        said.append(f"{name}: {ends}")
        column[0].set_title(name, fontsize=11)
        column[1].set_xlabel("layer")
    axes[0, 0].set_ylabel("activation of each neuron")
    axes[1, 0].set_ylabel("gradient of each neuron")
    figure.colorbar(image, ax=axes, extend="both", label="size (grey: exactly 0)")
    medians = "; ".join(said)
    show(
        figure,
        f"Sizes of activations and gradients, medians of the first layer and the last. {medians}",
    )


def valley_paths(paths: Mapping[str, Any], height: Any) -> None:
    """30 steps of each optimiser over the contours of the valley, and its height by step."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Ellipse

    figure, axes = plt.subplots(2, 3, figsize=(9.6, 5.4))
    marks = zip(paths.items(), [BLUE, ORANGE, GREEN, PINK, "#000000"], "os^Dv")
    for i, ((name, points), colour, mark) in enumerate(marks):
        panel = axes.flat[i]
        for level in (0.3, 1.5, 4):  # the ellipse on which x²/20 + y² is the level
            size = 2 * np.sqrt(20 * level), 2 * np.sqrt(level)
            panel.add_patch(Ellipse((0, 0), *size, fill=False, color="#bbbbbb"))
        panel.plot(*points[:31].T, color=colour, marker=mark, markersize=3.5, linewidth=1)
        panel.plot(0.0, 0.0, "*", color="#E69F00", markersize=13, markeredgecolor="black")
        panel.set(xlim=(-9, 5), xticks=[-8, -4, 0, 4], xlabel="x" if i > 2 else "")
        panel.set(ylim=(-2.6, 2.6), yticks=[-2, 0, 2], ylabel="" if i % 3 else "y")
        panel.set_title(name, fontsize=11)
        heights = height(*points[::2].T)
        style = {"color": colour, "marker": mark, "markersize": 4, "markevery": (i, 5)}
        axes[1, 2].semilogy(range(0, 2 * len(heights), 2), heights, **style)
    axes[1, 2].set(xlabel="step", ylim=(1e-9, 30))
    axes[1, 2].set_title("f by step", fontsize=11)
    ends = ", ".join(f"{name} {height(*points[-1]):.0e}" for name, points in paths.items())
    show(
        figure,
        f"Paths into a valley, from (-8, 2) to its lowest point. Heights at the end: {ends}.",
    )


solution = solutions(globals())
