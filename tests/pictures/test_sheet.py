"""A picture as data: what its boxes and edges say, and in which colours."""

import math

import pytest
from pictures import box_texts, chain, example, faces, look, network, words

import autodiff as ad
from autodiff import Matrix, Value, Vector, draw, logsumexp
from autodiff.nn import Linear
from autodiff.pictures import sheet

X, Y = Value(0.5, label="x"), Value(2.0, label="y")


def looks(root, **options):
    return [*map(look, faces(draw(root, **options)))]


def titles(picture):
    return [face.title for face in faces(picture)]


def edge_texts(picture):
    return [words(arrow.text) for arrow in picture.page.arrows if arrow.text]


def test_a_box_shows_label_data_and_grad():
    c = example()
    boxes = ["a | data −4", "b | data 2", "× | data −8", "b³ | data 8", "+ | c | data 0"]
    assert box_texts(draw(c)) == boxes
    assert titles(draw(c)) == ["a = −4", "b = 2", "× = −8", "b³ = 8", "c = 0"]
    c.backward()
    assert box_texts(draw(c)) == [f"{box} | grad {x}" for box, x in zip(boxes, (2, 8, 1, 1, 1))]
    assert titles(draw(c))[0] == "a = −4, grad 2"


def test_the_colours_tell_what_a_box_is_and_what_a_text_is():
    y = Linear(1, 1, seed=0)([X])[0] * 3.0
    y.backward()
    assert looks(y) == [
        "input VALUE_FILL INK: INK x | VALUE data 0.5 | GRADIENT grad 3.995",
        "operation PAPER INK: INK dot | VALUE data 0.6659 | GRADIENT grad 3",
        "parameter PAPER INK: INK weight[0,0] | VALUE data 1.332 | GRADIENT grad 1.5",
        "operation PAPER INK: INK + | VALUE data 0.6659 | GRADIENT grad 3",
        "parameter PAPER INK: INK bias[0] | VALUE data 0 | GRADIENT grad 3",
        "constant PANEL INK: SOFT 3",
        "output PAPER INK: INK × | VALUE data 1.998 | GRADIENT grad 1",
    ]


def test_a_vector_is_a_table():
    x = Vector([1.0, math.inf])
    y = x.sum()
    y.backward()
    picture = draw(y, names={"x": x})
    assert look(faces(picture)[0]) == (
        "input VALUE_FILL WRONG: INK x[0…1] | VALUE data | GRADIENT grad"
        " | VALUE 1 | GRADIENT 1 | WRONG inf | WRONG 1"
    )
    assert titles(picture)[0] == "x[0] = 1, grad 1; x[1] = inf, grad 1"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("options", [{}, {"edges": "message"}, {"color": "grad"}])
def test_nan_and_inf_are_red(bad, options):
    x, good, _ = looks(Value(bad, label="x") + Value(1.0, label="good"), **options)
    assert " WRONG: WRONG x | WRONG data " in x
    assert "WRONG" not in good


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


# -- Edges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "ends"),
    [(logsumexp([Y, X, Y]), [(0, 0), (1, 1), (0, 2)]), (logsumexp([X] * 9), [(0, None)] * 9),
     (logsumexp([X] * 8), [(0, i) for i in range(8)]), (X**2, [(0, None)]), (X**Y, [(0, 0), (1, 1)]),
     ((X - Y) * (Y - X), [(0, 0), (1, 1), (1, 0), (0, 1), (2, 0), (3, 1)]),
     *((f([X, Y]), [(0, None), (1, None)]) for f in (logsumexp, ad.prod, lambda x: ad.hypot(*x)))],
)  # fmt: skip
def test_edges_enter_in_the_order_of_arguments_if_it_matters(y, ends):
    assert [(arrow.tail, arrow.slot) for arrow in draw(y).page.arrows] == ends


def test_derivatives_on_the_edges():
    # c = a b + b³ at (-4, 2): ∂(ab)/∂a = b = 2, ∂(ab)/∂b = a = -4, ∂b³/∂b = 3 b² = 12
    assert edge_texts(draw(example(), edges="local")) == ["2", "−4", "12", "1", "1"]
    c = example() * 10.0  # so that what comes from above is 10, not 1
    picture = draw(c, edges="message")
    assert edge_texts(picture) == [
        "10 · 2 = 20", "10 · (−4) = −40", "10 · 12 = 120", "10 · 1 = 10", "10 · 1 = 10", "1 · 10 = 10",
    ]  # fmt: skip
    assert {"a | data −4 | grad 20", "b | data 2 | grad 80 = 120 − 40"} <= {*box_texts(picture)}
    assert all(node.grad == 0.0 for node in (c, *c.parents))  # nothing was changed


@pytest.mark.parametrize(
    ("edges", "text"),
    [("local", "VALUE_FILL VALUE_LINE: VALUE 0.234"),
     ("message", "GRADIENT_FILL GRADIENT_LINE: GRADIENT 1 · VALUE 0.234 GRADIENT = 0.234")],
)  # fmt: skip
def test_a_number_on_an_edge_has_the_colour_of_what_it_is(edges, text):
    arrow, of_constant = draw(X * 0.234, edges=edges).page.arrows
    assert look(arrow.text) == f"operation {text}"
    assert of_constant.text is None


def test_a_long_message_stands_in_two_lines():
    assert edge_texts(draw(X * 0.2345, edges="message")) == ["1 · 0.2345 | = 0.2345"]


def test_many_edges_have_no_numbers():
    assert [len(edge_texts(draw(chain(n), edges="message"))) for n in (30, 31)] == [30, 0]


def test_derivatives_on_the_edge_of_a_vector():
    a, x = Matrix([[1, 2], [3, 4]]), Vector([5, 6])
    picture = draw((a @ x).sum(), edges="message", names={"A": a, "x": x})
    assert edge_texts(picture)[:4] == [
        "1 · (5, 6) | = (5, 6)", "1 · (1, 2) | = (1, 2)", "1 · (5, 6) | = (5, 6)",
        "1 · (3, 4) | = (3, 4)",
    ]  # fmt: skip
    assert "x[0…1] | data | grad | 5 | 4 = 3 + 1 | 6 | 6 = 4 + 2" in box_texts(picture)
    four = draw(Vector([1.0, 2.0, 3.0, 4.0]) @ Vector([5.0, 6.0, 7.0, 8.0]), edges="local")
    assert edge_texts(four) == ["(5, …, 8)", "(1, …, 4)"]
    shared = draw(logsumexp([X] * 8), edges="message")
    assert box_texts(shared)[0] == "x | data 0.5 | grad 1 = sum of 8"


def test_gradients_before_backward_are_left_out():
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    (x * x).backward()
    boxes = ["x | data 2", "y | data 3", "× | data 6"]
    for edges in (None, "local"):
        assert box_texts(draw(x * y, edges=edges)) == boxes  # another's
    on_request = [f"{box} | grad {grad}" for box, grad in zip(boxes, (3, 2, 1))]
    assert box_texts(draw(x * y, color="grad")) == on_request


def test_a_gradient_with_a_graph_is_drawn_too():
    x = Value(3.0, label="x")
    (x**3).backward(create_graph=True)
    assert box_texts(draw(x)) == ["x | data 3 | grad 27"]
    found = box_texts(draw(x.grad, edges="message"))
    assert (found[3], found[-1]) == ("x | data 3 | grad 18", "× | data 27 | grad 1")


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


@pytest.mark.parametrize(
    ("gradient", "shade", "ink"),
    [(0.0, "0", "INK"), (-0.5, "0.1 to 1", "INK"), (99.0, "10 to 100", "PAPER")],
)
def test_boxes_are_shaded_by_the_size_of_the_gradient(gradient, shade, ink):
    x, *_ = looks(X * gradient, color="grad")
    grad = f"{gradient:g}".replace("-", "−")
    assert x == f"input {shade} INK: {ink} x | {ink} data 0.5 | {ink} grad {grad}"


def test_the_legend_is_the_scale_of_the_shades():
    def legend(root, **options):
        return [*map(look, draw(root, **options).page.legend)]

    powers = ad.sum([Value(1.0) * 10.0**i for i in range(-6, 4)])
    names = [name for name in sheet.SCALE if name not in ("nan or inf", "0")]
    shades = [f"input {x} LINE: {'PAPER' if i > 6 else 'INK'} {x}" for i, x in enumerate(names)]
    assert legend(powers, color="grad") == ["input PAPER LINE: INK |grad|:", *shades]
    assert legend(powers) == []
    of_data = ["data:", "− largest", "−", "0", "+", "largest"]
    cells = Vector([1.0, -2.0]).sum()
    for color, expected in ((None, of_data), ("grad", ["|grad|:", *list(sheet.SCALE)[2:]])):
        page = draw(cells, arrays=True, color=color).page
        assert [*map(words, page.legend)] == expected


# -- Drawn strongly -------------------------------------------------------------------------------


def strong(root, highlight, **options):
    """The titles of the boxes that are drawn strongly, and the places of such arrows."""
    plain, found = (draw(root, highlight=x, **options) for x in (None, highlight))
    kept = [x.title for x, y in zip(faces(found), faces(plain)) if x == y]
    strengths = [arrow.strength for arrow in found.page.arrows]
    assert {*strengths} <= {"strong", "weak"}
    return kept, [i for i, strength in enumerate(strengths) if strength == "strong"]


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
