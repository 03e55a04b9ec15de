"""A picture as data: what its boxes and edges say, and in which colours."""

import math

import pytest
from pictures import box_texts, example, network, shown, texts

from autodiff import Matrix, Value, Vector, draw, logsumexp
from autodiff.nn import Linear
from autodiff.pictures import sheet
from autodiff.pictures.sheet import Arrow, Cell, Face, Panel, Sheet, Text

X, Y = Value(0.5, label="x"), Value(2.0, label="y")


def test_a_sheet_is_plain_data():
    x = Value(3.0, label="x")
    y = x * 2.0
    y.backward()

    def cell(*lines):
        return [Cell([[Text(*piece)] for piece in lines])]

    data, grad = ("data 3", sheet.VALUE), ("grad 2", sheet.GRADIENT)
    leaf = Face(
        [cell(("x", sheet.INK), data, grad)],
        "input",
        sheet.VALUE_FILL,
        sheet.INK,
        4,
        1,
        "x = 3, grad 2",
    )
    two = Face([cell(("2", sheet.SOFT))], "constant", sheet.PANEL, sheet.INK, 4, 1, "2")
    lines = ("×", sheet.INK, 13.5), ("data 6", sheet.VALUE), ("grad 1", sheet.GRADIENT)
    product = Face([cell(*lines)], "output", sheet.PAPER, sheet.INK, 4, 2, "× = 6, grad 1")
    panels = {i: Panel({i: face}, ()) for i, face in enumerate([leaf, two, product])}
    assert draw(y).page == Sheet(panels, [Arrow(0, 2, 0), Arrow(1, 2, 1)], [], [])
    text = Face([cell(("2", sheet.VALUE))], "operation", sheet.VALUE_FILL, sheet.VALUE_LINE, 4)
    local = [Arrow(0, 2, 0, text), Arrow(1, 2, 1)]
    assert draw(y, edges="local").page == Sheet(panels, local, [], [])


# -- Drawn strongly -------------------------------------------------------------------------------


def strong(root, highlight, **options):
    """The titles of the boxes that are drawn strongly, and the places of such arrows."""
    plain, found = (draw(root, highlight=x, **options).page for x in (None, highlight))
    kept = [
        face.title
        for i, panel in found.panels.items()
        for k, face in panel.faces.items()
        if face == plain.panels[i].faces[k]
    ]
    assert {x.strength for x in found.arrows} <= {"strong", "weak"}
    return kept, [i for i, x in enumerate(found.arrows) if x.strength == "strong"]


def test_what_lies_between_some_values_is_drawn_strongly():
    c = example()
    product, cube = c.parents
    a, b = product.parents
    assert strong(c, [a, c]) == (["a = −4", "× = −8", "c = 0"], [0, 3])
    assert strong(c, c) == (["c = 0"], [])
    assert strong(c, [cube, b]) == (["b = 2", "b³ = 8"], [2])  # in any order
    assert strong(c, {"of": (a, cube)}) == (["a = −4", "b³ = 8"], [])  # no way leads there
    page = draw(c, highlight=[a, c], edges="local").page
    pale = page.panels[1].faces[1]
    assert (pale.line, pale.rows[0][0].lines[0][0].ink) == ("#999b9d", "#999b9d")  # 45 % of INK
    assert page.arrows[1].text.fill == page.arrows[2].text.fill == "#f2f8fd"


def test_a_highlight_in_arrays_and_of_an_attached_parameter():
    model, x = network(4, 3, 2), Vector([1.0, 2.0, 3.0, 4.0])
    y = model(x).sum()
    bias = model.layers[1].bias
    titles, _ = strong(y, [bias, y], arrays=True)
    assert titles == ["+ 2", "bias 2", f"sum = {y.data:.4g}".replace("-", "−")]
    first, *_ = draw(y, arrays=True, highlight=bias).page.images
    plain, *_ = draw(y, arrays=True).page.images
    assert set(first.pixels) == {round(255 - 0.45 * (255 - x)) for x in plain.pixels}
    layer = Linear(1, 1, seed=0)
    assert strong(layer([1.0])[0], layer.bias)[0] == ["bias[0] = 0"]


@pytest.mark.parametrize("wrong", [Value(1.0), [X, 2.0]])
def test_a_highlight_that_is_not_in_the_graph(wrong):
    with pytest.raises(ValueError, match="draw: found highlight=.*, expected Values that root was"):
        draw(X * 3, highlight=wrong)


# -- Numbers, colours -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "sign"),
    [(X**2, "x²"), (X**0.5, "x**0.5"), ((X + 1) ** 3, "( )³"), (Value(3.0, label="a b") ** 2, "( )²"),
     (X**Y, "**"), (X * 1, "×"), (X / 2, "÷")],
)  # fmt: skip
def test_the_sign_of_an_operation(y, sign):
    assert box_texts(draw(y))[-1].split(" | ")[0] == sign


@pytest.mark.parametrize(("x", "number"), [(1 / 3, "0.3333"), (-123456789.0, "−1.235e8")])
def test_numbers_have_four_digits_everywhere(x, number):
    picture = draw(Value(x, label="x") * 1)
    assert box_texts(picture)[0] == f"x | data {number}"
    assert repr(picture).endswith(f"= {number}>")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("options", [{}, {"edges": "message"}, {"color": "grad"}])
def test_nan_and_inf_are_red(bad, options):
    source = draw(Value(bad, label="x") + Value(1.0, label="good"), **options).source
    red = "".join(line for line in source.splitlines() if sheet.WRONG in line)
    assert ">x<" in red
    assert ">good<" not in red


def test_derivatives_on_the_edges():
    # c = a b + b³ at (-4, 2): ∂(ab)/∂a = b = 2, ∂(ab)/∂b = a = -4, ∂b³/∂b = 3 b² = 12
    assert box_texts(draw(example(), edges="local"), "e") == ["2", "−4", "12", "1", "1"]
    c = example() * 10.0  # so that what comes from above is 10, not 1
    picture = draw(c, edges="message")
    assert box_texts(picture, "e") == [
        "10 · 2 = 20", "10 · (−4) = −40", "10 · 12 = 120", "10 · 1 = 10", "10 · 1 = 10", "1 · 10 = 10",
    ]  # fmt: skip
    assert {"grad 80 = 120 − 40", "grad 20"} <= set(shown(picture))
    assert all(node.grad == 0.0 for node in (c, *c.parents))  # nothing was changed


@pytest.mark.parametrize(
    ("x", "message"),
    [(0.234, "1 · 0.234 = 0.234"), (0.2345, "1 · 0.2345 | = 0.2345")],
)
def test_a_long_message_stands_in_two_lines(x, message):
    assert box_texts(draw(X * x, edges="message"), "e") == [message]  # none to constants


def test_derivatives_on_the_edge_of_a_vector():
    a, x = Matrix([[1, 2], [3, 4]]), Vector([5, 6])
    picture = draw((a @ x).sum(), edges="message", names={"A": a, "x": x})
    assert box_texts(picture, "e")[:4] == [
        "1 · (5, 6) | = (5, 6)", "1 · (1, 2) | = (1, 2)", "1 · (5, 6) | = (5, 6)",
        "1 · (3, 4) | = (3, 4)",
    ]  # fmt: skip
    assert "x[0…1] | data | grad | 5 | 4 = 3 + 1 | 6 | 6 = 4 + 2" in box_texts(picture)
    four = draw(Vector([1.0, 2.0, 3.0, 4.0]) @ Vector([5.0, 6.0, 7.0, 8.0]), edges="local")
    assert box_texts(four, "e") == ["(5, …, 8)", "(1, …, 4)"]
    assert "grad 1 = sum of 8" in shown(draw(logsumexp([X] * 8), edges="message"))


def test_gradients_before_backward_are_left_out():
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    (x * x).backward()
    for edges in (None, "local"):
        assert not any("grad" in text for text in shown(draw(x * y, edges=edges)))  # another's
    assert {"grad 2", "grad 3"} <= set(shown(draw(x * y, color="grad")))  # on request


def test_a_gradient_with_a_graph_is_drawn_too():
    x = Value(3.0, label="x")
    (x**3).backward(create_graph=True)
    assert "grad 27" in shown(draw(x))
    assert {"x", "data 27", "grad 18"} <= set(shown(draw(x.grad, edges="message")))


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
    assert contrast(sheet.SCALE["nan or inf"], sheet.WRONG) >= 4.5
    for name, shade in sheet.SCALE.items():
        assert contrast(shade, sheet.ink_on(shade)) >= 4.5, name
    shades = [contrast(shade, sheet.PAPER) for shade in list(sheet.SCALE.values())[3:]]
    assert shades == sorted(shades)


LEVELS = {
    0.0: "0", 1e-300: "below 1e−5", 9e-6: "below 1e−5", 2e-5: "1e−5 to 0.0001",
    2e-4: "0.0001 to 0.001", 2e-3: "0.001 to 0.01", 0.02: "0.01 to 0.1", 0.5: "0.1 to 1",
    1.0: "1 to 10", 99.0: "10 to 100", 1e300: "above 100", math.inf: "nan or inf", None: "no gradient",
}  # fmt: skip


def test_gradients_have_levels():
    assert {size: sheet.level(size) for size in LEVELS} == LEVELS


@pytest.mark.parametrize("gradient", [0.0, -0.5, 99.0])
def test_boxes_are_shaded_by_the_size_of_the_gradient(gradient):
    picture, shade = draw(X * gradient, color="grad"), sheet.level(abs(gradient))
    (x,) = (line for line in picture.source.splitlines() if ">x<" in line)
    assert f'bgcolor="{sheet.SCALE[shade]}"' in x
    assert {"|grad|:", shade} <= set(texts(picture))
    assert (f'"{sheet.PAPER}">x<' in x) == (gradient == 99.0)  # the text
