"""What the lessons show and say beside their exercises, in the order of the lessons."""

import ast
import html
import inspect
import math
import re
from collections import defaultdict
from operator import mul

import answers.back_to_matrices
import numpy as np
import pytest
import sympy
from random_graphs import OPERATIONS

import autodiff as ad
from autodiff import Value, Vector, adjoints, grad, relu, tanh, tiny
from autodiff.course import (
    back_to_matrices,
    expressions,
    forward_mode,
    our_reader,
    reverse_mode,
    start_here,
)
from autodiff.course import symbolic_derivatives as symbolic
from autodiff.course import vectors_and_matrices as matrices
from autodiff.course.figures import drag
from autodiff.course.gallery import GRAPHS, NAMES, fault
from autodiff.course.reverse_mode import Counted, peak_memory
from autodiff.engine.number import Number
from notebooks import NOTEBOOKS, code_cells


def code_of(number):
    (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    return [re.sub("(?m)^%.*", "", cell.source) for cell in code_cells(path)]


def on_the_page(number, *names, given):
    """What a notebook's cells define by these names, beside what is given: their text is the subject."""
    found = dict(given)
    for source in code_of(number):
        for node in ast.parse(source).body:
            known = [getattr(node, "name", ""), *map(ast.unparse, getattr(node, "targets", []))]
            if not {*names}.isdisjoint(known):
                exec(ast.unparse(node), found)
    assert set(names) <= {*found}
    return found


def test_the_last_of_the_twelve_points_is_a_sunflower(browser):
    browser.show(start_here.fit_by_hand())
    assert browser.each(".point", "e.clientWidth") == [10] * 11 + [40]


def test_before_the_first_cell_has_run_a_picture_says_how():
    shown = html.unescape(start_here.fit_by_hand()._repr_html_())
    assert shown.count("press Shift-Enter to get the sliders.</p><img") == 2  # without frames too
    assert "needs scripts. In a notebook" not in shown


@pytest.mark.parametrize(
    ("slider", "way", "said"),
    [("d", ..., "Your guess first"), (..., "up", "Your guess first"), ("", "", "Which slider"),
     ("e", "right", "Which slider"), ("d", "sideways", "And which way"), ("d", "left or right", "And which way"),
     ("a", "right", "✗ Nearly: that helps on the right"), ("a rise", "left", "✗ To the left a makes the loss grow"),
     ("b", "left", "✗ To the left b"), ("pace", "up", "✗ b turns"), ("c", "right", "✗ Nearly: c moves"), ("c", "down", "✗ To the left c"),
     *[("d", way, "✗ The slider is right. But where") for way in ("left", "down", "to the left", "L", "-")],
     *[("d", way, "✓ Right") for way in ("right", "Right.", "up", "to the right", "r", "upwards: right", "+", "a hair to the right")],
     *[(slider, "right", "✓ Right") for slider in ("d", " D", "d middle", "middle", "the slider d", "d.")]],
)  # fmt: skip
def test_the_slider_that_changes_the_loss_fastest_is_guessed(slider, way, said, capsys):
    start_here.guess(slider, way)
    assert said in capsys.readouterr().out


def test_the_steps_and_the_smallest_loss_of_the_first_page_are_those_of_the_engine(capsys):
    def losses_at(rate, steps):
        parameters = [Value(x) for x in (1.0, 1.0, 0.0, 1.0)]
        for _ in range(steps + 1):
            a, b, c, d = parameters
            loss = sum((a * tanh(b * t + c) + d - y) ** 2 for t, y in reverse_mode.SUNFLOWER)
            yield loss.data
            loss.backward()
            for x in parameters:
                x.data, x.grad = x.data - rate * x.grad, 0.0

    losses = [*losses_at(0.02, 2_000)]
    start_here.predict(1, next(step for step, loss in enumerate(losses) if loss < 0.05))
    start_here.predict(2, round(losses[-1], 3))
    start_here.predict(2, losses[-1])
    start_here.predict(3, [*losses_at(0.1, 1)][-1])
    assert capsys.readouterr().out.count("✓ Right") == 4


@pytest.mark.parametrize(
    ("name", "said"),
    [("c", "✓ Right"), *[(name, f"✗ That is a hair of {name}.") for name in "abd"]],
)
def test_a_nudge_of_each_number_on_the_first_page_is_told_which_it_was(name, said, capsys):
    heights = [height for _, height in reverse_mode.SUNFLOWER]
    given = on_the_page("00", "loss", "here", given={"tanh": math.tanh, "heights": heights})
    at = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 1.0}
    moved = given["loss"](**at | {name: at[name] + 1e-6}) - given["here"]
    start_here.predict(4, moved / 1e-6)
    assert said in capsys.readouterr().out


def test_the_twelve_heights_on_the_first_page_are_those_of_the_sliders():
    (source,) = [source for source in code_of("00") if "heights = [" in source]
    listed = re.findall(r"\d\.\d{4}", source.partition("def loss")[0])
    assert [round(100 * float(x), 2) for x in listed] == reverse_mode.HEIGHTS


def test_the_law_of_rounding_holds_of_one_operation_and_not_where_digits_cancel_inside():
    given = on_the_page("01", "forward", "worst", given={"epsilon": math.ulp(1.0)})
    points = [1 + i / 1000 for i in range(1, 1000)]

    def law(f):
        return given["worst"](f, lambda x: 2 * x - 2, 1 / 2**40, points)

    assert law(lambda x: (x - 1) * (x - 1)) < 1
    assert law(lambda x: x * x - 2 * x + 1) > 100_000


def test_the_tree_folds_into_the_program_of_seven_operations(browser):
    square = symbolic.X * symbolic.X
    browser.show(symbolic.fold(symbolic.derivative(square * square)))
    for folded, *expected in ((0, "11", ""), (4.5, "9", "v3 = v1 * v0"), (9, "7", "v8 = v6 + v7")):
        browser.evaluate(f"s.folded = {folded}; paint()")
        said, program = browser.each("b, pre", "e.textContent")
        assert [said, program.rpartition("\n")[2]] == expected


def test_sympy_stops_at_b_and_d_alone_and_grad_at_none():
    functions = on_the_page("02", *"abcd", given={})
    for name, slope in zip("abcd", (4321.0, 1.0, 3.0, 1 / 16), strict=True):
        assert grad(functions[name])(10.0) == slope
        if name in symbolic.solution_4():
            with pytest.raises(TypeError, match="truth value"):
                functions[name](sympy.Symbol("x"))
        else:
            functions[name](sympy.Symbol("x"))


def test_the_dial_shows_the_tangents_of_jvp(browser):
    browser.show(forward_mode.dial())
    for degrees in (0, 53, 90, -163):
        u = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        u = (0.6, 0.8) if degrees == 53 else u  # for which the notebook asks
        _, expected = ad.jvp(lambda x, y: ad.log(x) + x * y - ad.sin(y), (2.0, 5.0), u)
        browser.enter("input", degrees)
        *_, moves, said = browser.texts(".tangent, output")
        assert said + moves == f"{expected:.2f}moves at {expected:.2f}".replace("-", "−")
    x, y = browser.place(".dial")
    browser.click(x, y - 50)
    assert browser.evaluate("s.direction") == 90


def defined(source, names):
    """The functions of these names, wherever they are defined, without their docstrings."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            node.body = node.body[ast.get_docstring(node) is not None :]
            yield node.name, ast.unparse(node)


@pytest.mark.parametrize(
    ("number", "module", "names"),
    [("04", tiny, ["__init__", "recorded", "mul", "add"]),
     ("10", back_to_matrices, ["groups", "once", "run_forward"]),
     ("11", our_reader, ["dot", "network", "step", "train", "read", "share", "name", "javascript"])],
)  # fmt: skip
def test_what_the_reader_is_given_is_the_code_of_the_package(number, module, names):
    ours = dict(defined(inspect.getsource(module), names))
    given = [pair for source in code_of(number) for pair in defined(source, names)]
    assert sorted(ours) == sorted(names)
    assert sorted(set(given)) == sorted(ours.items())


def test_the_gallery_is_every_program_of_up_to_three_lines():
    assert [sum(len(g) == n for g in GRAPHS) for n in (1, 2, 3)] == [20, 200, 3200]
    assert len(set(GRAPHS)) == len(GRAPHS) == 3420


def uses(program):
    return [NAMES[i] for _, pair in program for i in pair]


@pytest.mark.parametrize(
    ("engine", "calls", "is_right"),
    [("overwriting", 1, lambda g: len({*uses(g)}) == len(uses(g))),  # no node is used twice
     ("merging", 1, lambda g: all(i != j for _, (i, j) in g)),  # not twice by the same operation
     ("unordered", 1, lambda g: all(uses(g).count(line) <= 1 for line in "pqr")),  # no line is
     ("unzeroed", 1, lambda g: True),
     ("unzeroed", 2, lambda g: len(g) == 1)],  # there is nothing between
)  # fmt: skip
def test_each_engine_of_the_gallery_is_right_where_the_notebook_says_alone(engine, calls, is_right):
    engine = on_the_page("04", engine, given=vars(reverse_mode))[engine]
    assert all((not fault(engine, g, calls)) == is_right(g) for g in GRAPHS)


def test_memory_grows_with_the_length_alone_and_only_in_reverse_mode():
    winding = on_the_page("04", "winding", given={"ad": ad})["winding"]

    def peaks(rounds):
        f, xs = lambda x: winding(x, rounds), [0.1] * 100
        return peak_memory(lambda: ad.jvp(f, (xs,), (xs,))), peak_memory(lambda: grad(f)(xs))

    (forward, reverse), (later_forward, later_reverse) = peaks(5), peaks(20)
    assert later_forward < 1.5 * forward
    assert 3 < later_reverse / reverse < 5


@pytest.mark.parametrize(
    ("operation", "expected"),
    [(lambda x, y: 2.0 / x - -(x * x) / y, 5), (lambda x, y: sum([x, y]), 2)],  # 0 + x + y
)
def test_arithmetic_is_counted(operation, expected):
    Counted.operations = 0
    assert operation(Counted(3.0), Counted(5.0)) == operation(3.0, 5.0)
    assert Counted.operations == expected


def test_the_picture_lights_up_the_slopes_of_the_engine(browser):
    left, above = ad.Matrix([[1, 2, 3], [4, 5, 6]]), ad.Matrix([[1, 2], [3, -4], [5, 6]])
    browser.show(matrices.corner(left, above))
    product = left @ above
    entries = [entry for matrix in (left, above) for row in matrix for entry in row]
    for k, nudged in enumerate(entries):
        browser.evaluate(f"nudge({k})")
        slopes = [(x.data, adjoints(x, [nudged])[nudged]) for row in product for x in row]
        expected = [f"{data:g}{f'{slope:+g}' if slope else ''}" for data, slope in slopes]
        assert [text.replace("−", "-") for text in browser.texts("#C td")] == expected

    gradient = [[1, 2], [0, -3]]
    (product * ad.Matrix(gradient)).sum().backward()
    browser.show(matrices.corner(left, above, gradient))
    for k, entry in enumerate(entries):
        browser.evaluate(f"nudge({k})")
        said = browser.texts("p")[0].replace("−", "-")
        *_, products, total = re.split(" = |: ", said.rstrip("."))
        assert eval(products.replace("·", "*")) == float(total) == entry.grad


@pytest.fixture(scope="module")
def compiled():
    """The compiler of notebook 9, with our answers."""
    given = (
        vars(ad) | vars(expressions) | {"ad": ad, "Number": Number, "back": expressions.solution_2}
    )
    names = "text_of", "Recorder", "Writer", "forward", "walk", "source_of", "program_of"
    return on_the_page("09", "TEXTS", *names, given=given)["program_of"]


GRAPHS_OF_TWO = [
    lambda x, y, _: ad.log(x) + x * y - ad.sin(y),
    lambda x, y, _: 2 - x / y * -x + y * 1.0,
    lambda x, y, _: x**3 + Value(-2.0) ** (x - x + 2.0) * y + (-x) ** 2.0,
    lambda x, y, _: ad.where(ad.less(0.6, x), x * x + 2, 3 * x) * relu(y - x),
    lambda x, y, _: y * y,
]


@pytest.mark.parametrize("f", [*OPERATIONS, *GRAPHS_OF_TWO])
def test_the_compiler_of_the_notebook_takes_any_graph(f, compiled):
    inputs = [*map(Value, (0.5, 0.7, 0.9))]
    program = compiled(f(*inputs), inputs)
    for numbers in ((0.5, 0.7, 0.9), (0.65, 0.6, 0.3)):
        there = [*map(Value, numbers)]
        y = f(*there)
        adjoint = adjoints(y)
        expected = [y.data, *[adjoint.get(x, 0.0) for x in there]]
        value, gradients = program(*numbers)
        assert [value, *gradients] == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_an_input_of_the_notebooks_compiler_may_be_any_node(compiled):
    x = Value(2.0)
    u = x * x
    assert compiled(u * u + x, [u])(3.0) == (11.0, [6.0])


@pytest.fixture(scope="module")
def page_10():
    """What notebook 10 makes, with our answers."""
    from autodiff.engine.graph import depths

    ours = {"pack": back_to_matrices.solution_2, "product": back_to_matrices.solution_3}
    given = vars(expressions) | vars(back_to_matrices) | ours
    given |= {"np": np, "defaultdict": defaultdict, "depths": depths, "ad": ad}
    names = "groups", "once", "run_forward", "last_values", "Lines", "Array", "Rows", "source_of"
    return on_the_page("10", *names, "program_of", "Packed", "packed", given=given)


def a_layer(x, p):
    """Three neurons as the lectures write them; the first does not read the first input."""
    first = tanh(p[0] * x[1] + p[1] * x[2] + p[2])
    return first + tanh(sum(map(mul, p[3:6], x), p[6])) + tanh(sum(map(mul, p[7:10], x), p[10]))


BATCHES = [
    lambda x, p: x[0] * 0.1234567890123456 * p[3] + x[1] * p[0] * p[2],
    lambda x, p: p[1] * (p[0] + x[0] + x[1]) * (p[0] + x[0] + x[1] + x[2]),  # sums of 3 and of 4
    a_layer,
    lambda x, p: ad.nn.cross_entropy([x[0] * p[0], x[1], p[1] * p[2]], 1),
    lambda x, p: ad.where(ad.less(x[0] * p[0], x[1]), p[1] * x[2], (2 - x[0]) ** 2 * p[3]),
    lambda x, p: ad.exp(x[0] + p[0]) * (x[0] + x[1]) + p[1] * x[1],
    lambda x, p: ad.hypot(x[0] - p[0], x[1] - 3.0) + ad.sigmoid(p[1]) * ad.sigmoid(p[1]),
    lambda x, p: ad.dot(p[0:3], x) * ad.dot(p[3:6], x) + ad.dot(x, p[6:9]) + ad.dot(p[9:12], p[:3]),
]
BACKWARD = [back_to_matrices.solution_1, *answers.back_to_matrices.RIGHT[1]]


@pytest.mark.parametrize("loss", BATCHES)
@pytest.mark.parametrize("run_backward", BACKWARD)
@pytest.mark.parametrize("samples", [1, 5])
def test_what_the_groups_of_the_notebook_compute_and_write_is_what_each_sample_gives(
    loss, run_backward, samples, page_10
):
    x, p = Vector([0.5] * 3), Vector(np.linspace(-0.9, 1.1, 12))
    rows = np.random.default_rng(0).normal(size=(samples, 3))
    walked = [loss(Vector(row), p) for row in rows]
    losses = [each.data for each in walked]
    adjoint = [adjoints(each) for each in walked]
    slopes = [sum(each.get(w, 0.0) for each in adjoint) for w in p]

    graph, page = loss(x, p), page_10
    page["run_backward"] = run_backward
    for once in (page["once"], page["packed"]):
        values, done = page["run_forward"](graph, dict(zip(x, rows.T)), once)
        found = run_backward(values, done)
        assert page["last_values"](values, done) == pytest.approx(losses, rel=1e-11)
        assert [np.sum(found.get(w, 0.0)) for w in p] == pytest.approx(slopes, rel=1e-11, abs=1e-13)

    columns = [np.array([[w.data] for w in part]) for part in (p[:5], p[5:])]
    for kind, once in ((page["Rows"], page["once"]), (page["Packed"], page["packed"])):
        source = page["source_of"](graph, [*x], [p[:5], p[5:]], kind, once)
        found, gradients = page["program_of"](source)(rows.T, *columns)
        assert found == pytest.approx(losses, rel=1e-11)
        assert np.concatenate(gradients).ravel() == pytest.approx(slopes, rel=1e-11, abs=1e-13)


def test_a_slider_shows_its_frames_and_what_was_shown_stays_pale(browser):
    frames = {0.1: ("flat", [[0, 1], [2, 1]]), 0.2: ("steep", [[0, 0], [2, 2]])}
    browser.show(drag("spread", frames, [[0, 0], [1, 1], [2, 2]]))
    assert browser.texts("b, [aria-live]") == ["0.1", "flat"]
    assert browser.each("path.thick", "e.getAttribute('d')") == ["M12.0,120.0L348.0,120.0"]
    browser.enter("input", 1)
    assert browser.texts("b, [aria-live]") == ["0.2", "steep"]
    assert browser.each("path.thick", "e.getAttribute('d')") == ["M12.0,208.0L348.0,32.0"]
    assert len(browser.texts("path.ghost")) == 1


def test_an_import_changes_nothing_in_ipython_and_an_extension_makes_errors_short():
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config({"HistoryManager": {"enabled": False}})  # it would leave a database open
    shell = InteractiveShell(config=config)
    before = shell.InteractiveTB.mode
    shell.run_cell("import autodiff.course, autodiff.course.reverse_mode")
    assert shell.InteractiveTB.mode == before != "Minimal"
    shell.run_line_magic("load_ext", "autodiff.course")
    assert shell.InteractiveTB.mode == "Minimal"
