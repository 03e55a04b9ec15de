"""A picture as data: what its boxes and edges say, and in which colours."""

import math
from operator import neg

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pictures import box_texts, chain, constant, example, faces, look, looks, words

import autodiff as ad
from autodiff import Matrix, Value, Vector, draw, logsumexp, relu
from autodiff.nn import Linear
from autodiff.pictures import sheet
from autodiff.pictures.texts import number

X, Y = Value(0.5, label="x"), Value(2.0, label="y")
V, W = Vector([5, 6]), Matrix([[1, 2], [3, 4]])
TWO, CUBE = constant(2.0), Value(3.0, label="x")
(CUBE**3).backward(create_graph=True)
ARRAYS, GRADED_ARRAYS = {"arrays": True}, {"arrays": True, "color": "grad"}


def titles(root):
    return [face.title for face in faces(root)]


def test_a_box_shows_label_data_and_a_gradient_that_is_known_or_asked_for():
    c = example()
    boxes = ["a | data −4", "b | data 2", "× | data −8", "b³ | data 8", "+ | c | data 0"]
    graded = [f"{box} | grad {x}" for box, x in zip(boxes, (2, 8, 1, 1, 1))]
    product, _ = c.parents
    product.backward()  # of which c has no gradient yet
    assert box_texts(c) == box_texts(c, edges="local") == boxes
    assert titles(c) == ["a = −4", "b = 2", "× = −8", "b³ = 8", "c = 0"]
    assert box_texts(c, color="grad") == graded
    assert box_texts(c, edges="message")[0] == graded[0]
    assert [x.grad for x in product.parents] == [2.0, -4.0]  # nothing was changed
    c = example()
    c.backward()
    assert box_texts(c) == graded
    assert titles(c)[0] == "a = −4, grad 2"


def test_the_colours_tell_what_a_box_is_and_what_a_text_is():
    x = Vector([0.5, 1.0])
    y = Linear(2, 1, seed=0)(x)[0] * 3.0
    y.backward()
    assert looks(y, names={"x": x}) == [
        "input VALUE_FILL LINE: INK x[0…1] | VALUE data | GRADIENT grad"
        " | VALUE 0.5 | GRADIENT 2.825 | VALUE 1 | GRADIENT −4.19",
        "operation PAPER LINE: INK dot | VALUE data −0.9257 | GRADIENT grad 3",
        "parameter PAPER LINE: INK weight[0,0…1] | VALUE data | GRADIENT grad"
        " | VALUE 0.9417 | GRADIENT 1.5 | VALUE −1.397 | GRADIENT 3",
        "operation PAPER LINE: INK + | VALUE data −0.9257 | GRADIENT grad 3",
        "parameter PAPER LINE: INK bias[0] | VALUE data 0 | GRADIENT grad 3",
        "constant PANEL LINE: SOFT 3",
        "output PAPER LINE: INK × | VALUE data −2.777 | GRADIENT grad 1",
    ]
    assert titles(y)[0] == "0.5, grad 2.825; 1, grad −4.19"
    local, sent = (draw(X * 0.234, edges=x).sheet.arrows[0].text for x in ("local", "message"))
    assert look(local) == "operation VALUE_FILL VALUE_LINE: VALUE 0.234"
    inks = "GRADIENT 1 · VALUE 0.234 GRADIENT = 0.234"
    assert look(sent) == f"operation GRADIENT_FILL GRADIENT_LINE: {inks}"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("options", [{}, {"edges": "message"}, {"color": "grad"}])
def test_nan_and_inf_are_red(bad, options):
    x, good, _ = looks(Value(bad, label="x") + Value(1.0, label="good"), **options)
    assert " WRONG: WRONG x | WRONG data " in x
    assert "WRONG" not in good
    vector, _ = looks(Vector([1.0, bad]).sum())
    assert vector.startswith("input VALUE_FILL WRONG: VALUE data | VALUE 1 | WRONG ")


@pytest.mark.parametrize(
    ("y", "options", "box"),
    [(X**0.5, {}, "x**0.5 | data 0.7071"), ((X + 1) ** 3, {}, "( )³ | data 3.375"),
     (Value(3.0, label="a b") ** 2, {}, "( )² | data 9"), (X**Y, {}, "** | data 0.25"),
     (X / 2, {}, "÷ | data 0.25"),
     # an exponent, or an entry of a vector, that is used elsewhere as well
     (X**TWO + TWO, {}, "2"), (V @ Vector([7, 8]) + V[0], {}, "data 5"),
     # where messages meet, a gradient is their sum
     (example() * 10.0, {"edges": "message"}, "b | data 2 | grad 80 = 120 − 40"),
     (logsumexp([X] * 8), {"edges": "message"}, "x | data 0.5 | grad 1 = sum of 8"),
     ((W @ V).sum(), {"edges": "message"}, "data | grad | 5 | 4 = 3 + 1 | 6 | 6 = 4 + 2"),
     # a gradient may have a graph
     (CUBE, {}, "x | data 3 | grad 27"), (CUBE.grad, {"edges": "message"}, "x | data 3 | grad 18"),
     # in an array, the largest counts; dots that are computed twice are one
     (example(), ARRAYS, "a | data −4"), (example(), ARRAYS, "+ c | data 0"), (X, ARRAYS, "x | data 0.5"),
     ((2 * (W @ V)).sum() + (3 * (W @ V)).sum(), GRADED_ARRAYS, "dot | 2 | |grad| ≤ 5"),
     (relu(Value(-1.0)) + relu(Value(-2.0)), GRADED_ARRAYS, "input | 2 | |grad| ≤ 0"),
     (relu(Value(-1.0)) * 2, GRADED_ARRAYS, "input | data −1 | grad 0")],
)  # fmt: skip
def test_what_a_box_says(y, options, box):
    assert box in box_texts(y, **options)


# -- Edges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "ends"),
    [(logsumexp([Y, X, Y]), [(0, 0), (1, 1), (0, 2)]), (logsumexp([X] * 9), [(0, None)] * 9),
     (logsumexp([X] * 8), [(0, i) for i in range(8)]), (X**2, [(0, None)]), (X**Y, [(0, 0), (1, 1)]),
     ((X - Y) * (Y - X), [(0, 0), (1, 1), (1, 0), (0, 1), (2, 0), (3, 1)]),
     (Linear(1, 1, seed=0)([X])[0] * 3, [(1, None), (2, None), (4, 0), (5, 1)]),
     *((f([X, Y]), [(0, None), (1, None)]) for f in (logsumexp, ad.prod, lambda x: ad.hypot(*x)))],
)  # fmt: skip
def test_edges_enter_in_the_order_of_arguments_if_it_matters(y, ends):
    assert [(arrow.tail, arrow.slot) for arrow in draw(y).sheet.arrows] == ends


# c = a b + b³ at (-4, 2): ∂(ab)/∂a = b = 2, ∂(ab)/∂b = a = -4, ∂b³/∂b = 3 b² = 12
@pytest.mark.parametrize(
    ("y", "edges", "numbers"),
    [(example(), "local", ["2", "−4", "12", "1", "1"]),
     (example() * 10.0, "message",  # what comes from above is 10, not 1; a constant is sent nothing
      ["10 · 2 = 20", "10 · (−4) = −40", "10 · 12 = 120", "10 · 1 = 10", "10 · 1 = 10", "1 · 10 = 10"]),
     (X * 0.234, "message", ["1 · 0.234 = 0.234"]), (X * 0.2345, "message", ["1 · 0.2345 | = 0.2345"]),
     (V @ Vector([7, 8]), "message", ["1 · (7, 8) | = (7, 8)", "1 · (5, 6) | = (5, 6)"]),
     (Vector([1, 2, 3, 4]) @ Vector([5, 6, 7, 8]), "local", ["(5, …, 8)", "(1, …, 4)"]),
     (chain(30, neg), "local", ["−1"] * 30), (chain(31, neg), "local", [])],
)  # fmt: skip
def test_derivatives_on_the_edges(y, edges, numbers):
    arrows = draw(y, edges=edges).sheet.arrows
    assert [words(arrow.text) for arrow in arrows if arrow.text] == numbers


# -- Shades ---------------------------------------------------------------------------------------


def contrast(one, other):
    """The contrast of two colours, by WCAG 2.2."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear))

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_colours_can_be_seen_on_light_and_dark_pages():
    for fill in [sheet.PAPER, sheet.PANEL, sheet.VALUE_FILL, sheet.GRADIENT_FILL]:
        for ink in [sheet.INK, sheet.SOFT, sheet.VALUE, sheet.GRADIENT, sheet.WRONG]:
            assert contrast(fill, ink) >= 4.5, (fill, ink)
    for ground in "#ffffff", "#16181c":  # lines stand on the page itself
        for line in [sheet.LINE, sheet.VALUE_LINE, sheet.GRADIENT_LINE]:
            assert contrast(ground, line) >= 3, (ground, line)
    assert contrast(sheet.LOST, sheet.WRONG) >= 4.5
    for box in faces(example()):  # its border too, that of the output
        assert min(contrast(ground, box.line) for ground in ("#ffffff", "#16181c")) >= 3, box.role


@given(st.floats(0.0, math.inf), st.floats(0.0, math.inf))
def test_a_shade_can_be_read_and_a_larger_gradient_is_never_paler(one, other):
    small, large = map(sheet.shade, sorted([one, other]))
    assert contrast(small, sheet.ink_on(small)) >= 4.5
    if one > 0.0 and other > 0.0:
        assert contrast(small, sheet.PAPER) <= contrast(large, sheet.PAPER)
    if one > 1e-6 and 2 * one < other < 1e3:
        assert small != large


def test_boxes_are_shaded_by_the_size_of_the_gradient():
    for size, shade, ink in [(0.0, "0", "INK"), (1e-300, "#fff5eb", "INK"), (1e-6, "#fff5eb", "INK"),
                             (0.999999, sheet.shade(0.6), "INK"), (1.0, "#c8500a", "PAPER"),
                             (1e3, "#461800", "PAPER"), (1e300, "#461800", "PAPER")]:  # fmt: skip
        x, factor, _ = looks(X * -size, color="grad")
        assert x.startswith(f"input {shade} LINE: {ink} x | {ink} data 0.5 | {ink} grad ")
        assert factor.startswith("constant no gradient LINE: INK ")
    assert looks(X * math.inf, color="grad")[0].startswith("input nan or inf WRONG: WRONG x | ")
    c = example()
    fills = {face.title[-1]: face.fill for face in faces(c, color="grad")}
    assert len({fills[grad] for grad in "128"}) == 3  # in one power of ten


def test_the_legend_is_the_scale_of_the_shades():
    def legend(root, **options):
        return [look(entry).removeprefix("input ") for entry in draw(root, **options).sheet.legend]

    def entries(*sizes):
        inks = {x: "PAPER" if x >= 1 else "INK" for x in sizes}
        shades = [f"{sheet.shade(x)} LINE: {inks[x]} {number(x)}" for x in sizes]
        none = ["PAPER LINE: INK |grad|:", "no gradient LINE: INK no gradient", "0 LINE: INK 0"]
        return [*none, *shades]

    cells = Vector([1.0, -2.0]).sum()
    assert legend(cells, arrays=True, color="grad") == entries(1.0)
    assert legend(X * 99.0, color="grad") == entries(1.0, 10.0, 100.0)
    assert legend(X * 0.02, color="grad") == entries(0.01, 0.1, 1.0)
    assert legend(X * 1e-99, color="grad") == entries(*(10.0**k for k in range(-6, 1)))
    assert legend(X) == []
    of_data = [words(entry) for entry in draw(cells, arrays=True).sheet.legend]
    assert of_data == ["data:", "− largest", "0", "largest"]
