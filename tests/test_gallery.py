"""Pictures of many kinds of graphs, judged by their geometry: what overlaps, what is cut off."""

import math
import re
import xml.etree.ElementTree as ElementTree

import pytest

import autodiff
from autodiff import Matrix, Value, Vector, draw, sin, tanh
from autodiff.nn import Linear, Sequential

SVG = "{http://www.w3.org/2000/svg}"


# -- The gallery --------------------------------------------------------------------------------


def scalar():
    a, b = Value(-4.0, label="a"), Value(2.0, label="b")
    c = a * b + b**3
    c.label = "c"
    return c


def neuron():
    return Linear(3, 1, activation=tanh, seed=0)([1.0, -2.0, 0.5])[0]


def network(*sizes):
    layers = [Linear(n, m, activation=tanh, seed=n) for n, m in zip(sizes[:-2], sizes[1:-1])]
    model = Sequential(*layers, Linear(*sizes[-2:], seed=0))
    outputs = model([0.5 * (-1) ** i * (i + 1) for i in range(sizes[0])])
    return outputs.sum() if len(outputs) > 1 else outputs[0]


def recurrent(steps=3, size=2):
    w = Matrix([[0.6 - 0.9 * ((i + j) % 2) for j in range(size)] for i in range(size)])
    u, state = Vector([0.5 - i for i in range(size)]), Vector([0.0] * size)
    for t in range(steps):
        state = (w @ state + u * Value(0.1 * t, label=f"x{t}")).map(tanh)
    return state.sum()


def second_order():
    x = Value(2.0, label="x")
    (x**3 * sin(x)).backward(create_graph=True)
    return x.grad


def numbers():
    found = [("nan", math.nan), ("inf", math.inf), ("tiny", 1e-300), ("huge", 1e300), ("m", -1e-5)]
    return autodiff.sum([Value(x, label=name) * 2.0 for name, x in found])


def labels():
    x, y = Value(1.0, label="<b>&|{}\\N\"' " + "y" * 30), Value(2.0, label="W" * 500)
    return (x * y - Value(1.5, label="two\nlines")) / Value(4.0, label="\N{FAMILY}\u200d漢字 אב")


def operations():
    x, y = Value(0.3, label="x"), Value(2.0, label="y")
    product = autodiff.hypot(x - y, y / x) ** autodiff.maximum(x, y)
    return autodiff.where(x < y, product, autodiff.logsumexp([x, y, x])) * -x


GRAPHS = {
    "scalar": scalar,
    "neuron": neuron,
    "2-3-1": lambda: network(2, 3, 1),
    "4-3-3": lambda: network(4, 3, 3),
    "recurrent": recurrent,
    "second order": second_order,
    "numbers": numbers,
    "labels": labels,
    "operations": operations,
}
OPTIONS = [
    {"rankdir": "LR"}, {"rankdir": "TB"}, {"edges": "local"}, {"edges": "message"},
    {"color": "grad"}, {"legend": True, "collapse": True}, {"arrays": True, "color": "grad"},
]  # fmt: skip


# -- Geometry -----------------------------------------------------------------------------------

# Widths of characters in Helvetica and similar fonts, in thousandths of the font size; else 556.
WIDTHS = {
    191: "'", 222: "ijl", 260: "|", 278: " \N{NO-BREAK SPACE}!,./:;I[\\]ft·", 333: "()-r{}", 355: '"', 389: "*", 500: "cksvxyzJ",
    584: "+<=>−", 611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ", 833: "Mm", 944: "W",
    1000: "…→",
}  # fmt: skip
WIDTH = {c: width for width, characters in WIDTHS.items() for c in characters}


def width(text, size):
    return size * sum(WIDTH.get(c, 556) for c in text) / 1000


def text_boxes(root):
    """Each text with the rectangle that it fills: left, top, right, bottom."""
    found = []
    for text in root.iter(f"{SVG}text"):
        whole = text.text or ""
        shown = whole.strip(" \N{NO-BREAK SPACE}")
        if not shown or any(ord(c) > 0x2FFF or 0x590 <= ord(c) < 0x700 for c in shown):
            continue  # no table of widths for these
        size = float(text.get("font-size", "10.5"))
        x, y, w = float(text.get("x")), float(text.get("y")), width(shown, size)
        x += width(whole[: whole.index(shown)], size)  # the spaces before it
        left = {"middle": x - w / 2, "start": x, "end": x - w}[text.get("text-anchor", "start")]
        found.append((shown, (left, y - 0.68 * size, left + w, y)))
    return found


def points(path):
    """Points on a path of cubic Bézier curves, close to one another."""
    numbers = [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?", path)]
    at = list(zip(numbers[::2], numbers[1::2]))
    for i in range(0, len(at) - 3, 3):
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = at[i : i + 4]
        steps = 4 + int(math.dist(at[i], at[i + 3]) / 2)
        for t in (k / steps for k in range(steps + 1)):
            s = 1 - t
            yield (
                s**3 * x0 + 3 * s * s * t * x1 + 3 * s * t * t * x2 + t**3 * x3,
                s**3 * y0 + 3 * s * s * t * y1 + 3 * s * t * t * y2 + t**3 * y3,
            )


def overlap(one, other, slack=0.5):
    return (
        min(one[2], other[2]) - max(one[0], other[0]) > slack
        and min(one[3], other[3]) - max(one[1], other[1]) > slack
    )


def within(point, box, slack=0.0):
    x, y = point
    return box[0] + slack < x < box[2] - slack and box[1] + slack < y < box[3] - slack


def faults(svg):
    """What is wrong with a picture."""
    root = ElementTree.fromstring(svg)
    texts = text_boxes(root)
    found = [
        f"{one!r} and {other!r} overlap"
        for i, (one, box) in enumerate(texts)
        for other, second in texts[:i]
        if overlap(box, second)
    ]
    left, top, w, h = map(float, root.get("viewBox").split())
    numbers = re.findall(r"-?[\d.]+", root.find(f"{SVG}g").get("transform"))
    scale, (dx, dy) = float(numbers[0]), map(float, numbers[-2:])
    canvas = left - dx, top - dy, left + w / scale - dx, top + h / scale - dy
    found += [f"{t!r} is cut off" for t, b in texts if b[0] < canvas[0] or b[2] > canvas[2]]
    for group in root.iter(f"{SVG}g"):
        lines = [p.get("d") for p in group.iter(f"{SVG}path")]
        if group.get("class") == "edge":
            for curve in (list(points(line)) for line in lines):
                xs, ys = [x for x, _ in curve], [y for _, y in curve]
                around = min(xs), min(ys), max(xs) + 1, max(ys) + 1
                found += [
                    f"an edge crosses {text!r}"
                    for text, box in texts
                    if overlap(around, box, 0.0) and any(within(p, box, 0.8) for p in curve)
                ]
        elif group.get("class") == "cluster":
            border = [p for line in lines for p in points(line)]
            xs, ys = [x for x, _ in border], [y for _, y in border]
            for text, box in texts:
                for side in (min(xs), max(xs)):
                    if box[0] < side < box[2] and min(ys) < box[3] and max(ys) > box[1]:
                        found.append(f"a frame crosses {text!r}")
                for side in (min(ys), max(ys)):
                    if box[1] < side < box[3] and min(xs) < box[2] and max(xs) > box[0]:
                        found.append(f"a frame crosses {text!r}")
        elif group.get("class") == "node":
            found += clipped(group)
    return found


def clipped(group):
    """The texts that stand out of the box they belong to."""
    corners = [
        tuple(map(float, pair.split(",")))
        for polygon in group.iter(f"{SVG}polygon")
        for pair in polygon.get("points").split()
    ]
    corners += [p for path in group.iter(f"{SVG}path") for p in points(path.get("d"))]
    if not corners:
        return []
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return [
        f"{text!r} stands out of its box"
        for text, box in text_boxes(group)
        if box[0] < min(xs) or box[2] > max(xs) or box[1] < min(ys) or box[3] > max(ys)
    ]


# -- The tests ----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", GRAPHS)
def test_nothing_overlaps_and_a_page_has_room_for_it(name, options):
    root = GRAPHS[name]()
    if options != {"rankdir": "LR"}:  # once without gradients
        root.backward()
    layout = draw(root, **options).layout()
    assert faults(layout.svg.decode()) == []
    assert layout.size[0] <= 900
    scale = float(re.search(rb"scale\(([\d.]+)", layout.svg)[1])
    sizes = map(float, re.findall(rb'font-size="([\d.]+)"', layout.svg))
    assert min(sizes) * scale * 4 / 3 >= 8.99


PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">
<g transform="scale(1 1) translate(0 100)">
<g class="node"><polygon points="10,-90 60,-90 60,-50 10,-50"/>
<text font-size="10" x="20" y="-70">data</text><text font-size="10" x="20" y="-55">grad</text></g>
<g class="edge"><path d="M60,-70C70,-70 80,-70 90,-70"/></g>
<g class="cluster"><path d="M5,-95C5,-95 65,-95 65,-95 65,-95 65,-45 65,-45"/></g></g></svg>"""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [("", "", ""), ('x="20" y="-70"', 'x="90" y="-70"', "'data' is cut off"),
     ('y="-55"', 'y="-65"', "'grad' and 'data' overlap"),
     (">data", ">data of some length", "stands out of its box"),
     ("M60,-70", "M20,-75", "an edge crosses 'data'"), ("65,-", "25,-", "a frame crosses")],
)  # fmt: skip
def test_faults_are_found(old, new, fault):
    found = faults(PICTURE.replace(old, new))
    assert fault in " ".join(found)
    assert bool(found) == bool(fault)


@pytest.mark.parametrize("rankdir", ["LR", "TB"])
@pytest.mark.parametrize("name", ["2-3-1", "4-3-3"])
def test_layers_and_their_units_stay_in_order(name, rankdir):
    root = GRAPHS[name]()
    picture = draw(root, rankdir=rankdir)
    along, across = (0, 1) if rankdir == "LR" else (1, 0)
    svg = ElementTree.fromstring(picture.pipe("svg"))
    frames, units = {}, {}
    for group in svg.iter(f"{SVG}g"):
        if group.get("class") == "cluster":
            corners = list(points(group.find(f".//{SVG}path").get("d")))
            frames[group.findtext(f".//{SVG}text").strip()] = min(
                corner[along] for corner in corners
            )
    layers = [frames[f"{i}: Linear"] for i in range(len(frames) - 1)]
    assert layers == sorted(layers)
    for text in svg.iter(f"{SVG}text"):
        unit = re.fullmatch(r"weight\[(\d+),0…\d+\]", text.text or "")
        if unit:
            at = float(text.get("x")), float(text.get("y"))
            layer = max((i for i, x in enumerate(layers) if x <= at[along]), key=layers.__getitem__)
            units.setdefault(layer, []).append((at[across], int(unit[1])))
    assert len(units) == len(layers)
    for found in units.values():
        assert [number for _, number in sorted(found)] == list(range(len(found)))
