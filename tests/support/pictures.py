"""Pictures as their reader sees them, and graphs that many tests draw."""

import io
import math
import re

import matplotlib.image

import autodiff as ad
from autodiff import Value, draw, optim, show_training
from autodiff.nn import Linear, Sequential, mse_loss
from autodiff.pictures import sheet

COLOURS = {x: name for name, x in vars(sheet).items() if re.match("#......$", str(x))}
FILLS = COLOURS | {sheet.ZERO: "0", sheet.NONE: "no gradient", sheet.LOST: "nan or inf"}


def lines(face):
    cells = [cell for row in face.rows for cell in row if not isinstance(cell, sheet.Image)]
    return [line for cell in cells for line in cell.lines]


def words(face):
    """The text in a box: line | line."""
    found = ["".join(text.content for text in line) for line in lines(face)]
    return " | ".join(filter(None, found))


def look(face):
    """What a box is, its fill and its border; then its text, each piece after its colour."""
    found = [
        " ".join(f"{COLOURS[x.ink]} {x.content.strip()}" for x in line if x.content.strip())
        for line in lines(face)
    ]
    return (
        f"{face.role} {FILLS.get(face.fill, face.fill)} {COLOURS[face.line]}: {' | '.join(found)}"
    )


def faces(root, **options):
    panels = draw(root, **options).sheet.panels
    return [face for panel in panels.values() for face in panel.faces.values()]


def looks(root, **options):
    return [*map(look, faces(root, **options))]


def box_texts(root, **options):
    return [*map(words, faces(root, **options))]


def pixels(png):
    """The colours in a PNG, from 0 to 1: red, green, blue and how opaque each pixel is."""
    return matplotlib.image.imread(io.BytesIO(png))


def example():
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c = a * b + b**3
    c.label = "c"
    return c


def constant(x, label=""):
    found = Value(x, label=label)
    found.requires_grad = False
    return found


def fork():
    # y = (a + b) b at (2, 1): ∂y/∂a = b = 1, ∂y/∂b = a + 2b = 4
    a, b = Value(2.0, label="a"), Value(1.0, label="b")
    y = (a + b) * b
    y.label = "y"
    return y


def running(x1=2.0, x2=5.0):
    # y = ln x₁ + x₁x₂ - sin x₂: at (2, 5), ∂y/∂x₁ = 1/x₁ + x₂ = 5.5, ∂y/∂x₂ = x₁ - cos x₂ = 1.71634
    x1, x2 = Value(x1, label="x₁"), Value(x2, label="x₂")
    y = ad.log(x1) + x1 * x2 - ad.sin(x2)
    y.label = "y"
    return y


def chain(count, f=ad.sin):
    y = Value(0.5, label="x")
    for _ in range(count):
        y = f(y)
    return y


def woven():
    """55 nodes, about as many as a live graph may have, with many crossings."""
    row = [Value(0.3 * i - 1.0, label=f"x{i}") for i in range(6)]
    while len(ad.topological_order(ad.sum(row))) < 50:
        row = [ad.sin(u * v) for u, v in zip(row, row[1:] + row[:1])]
    return ad.sum(row)


def network(*sizes, activation=ad.tanh, seed=0):
    """A layer for each pair of sizes; the last has no activation."""
    layers = [
        Linear(n, m, activation=activation, seed=seed + i)
        for i, (n, m) in enumerate(zip(sizes, sizes[1:]))
    ]
    layers[-1].activation = None
    return Sequential(*layers)


def output(*sizes):
    """What a network makes of some numbers, summed up if that is several."""
    found = network(*sizes)([0.5 * (-1) ** i * (i + 1) for i in range(sizes[0])])
    return found.sum() if len(found) > 1 else found[0]


def classes(n):
    """Points of a plane, in two classes."""
    return [[math.sin(3 * i), math.cos(i)] for i in range(n)], [i % 2 for i in range(n)]


def of_classes(*sizes, n=100, activation=ad.relu, loss=mse_loss, **more):
    model = network(*sizes, activation=activation)
    descent = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    return show_training(model, *classes(n), loss, descent, **more)


def sunflower(**more):
    """The sunflower of 1919, by a model of four parameters."""
    a, b, c, d = (Value(x, label=name) for name, x in zip("abcd", (1.0, 1.0, 0.0, 1.0)))
    heights = [17.93, 36.36, 67.76, 98.1, 131.0, 169.5, 205.5, 228.3, 247.1, 250.5, 253.8, 254.5]

    def model(x):
        return a * ad.tanh(b * ((x[0] - 6) / 3) + c) + d

    def loss(p, t):  # fit takes the mean, and this is a sum
        return 12 * (p - t) ** 2

    descent = optim.SGD([a, b, c, d], lr=0.02)
    return show_training(model, range(1, 13), [h / 100 for h in heights], loss, descent, **more)
