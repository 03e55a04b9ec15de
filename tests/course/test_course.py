"""What the lessons show and say beside their exercises, in the order of the lessons."""

import ast
import html
import inspect
import math
import re

import pytest
import sympy

import autodiff as ad
from autodiff import Value, Vector, adjoints, grad, tanh, tiny
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
from autodiff.nn import Linear, Sequential
from notebooks import NOTEBOOKS, code_cells


def code_of(number):
    (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    return [re.sub("(?m)^%.*", "", cell.source) for cell in code_cells(path)]


def on_the_page(number, *names, given):
    """What a notebook's cells define by these names, beside what is given: their text is the subject."""
    found = dict(given)
    for source in code_of(number):
        for node in ast.parse(source).body:
            if getattr(node, "name", "") in names:
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
     ("a", "right", "✗ Nearly: that helps on the right"), ("a rise", "left", "✗ Nearly"),
     ("b", "left", "✗ b turns"), ("pace", "up", "✗ b turns"), ("c", "right", "✗ Nearly: c moves"),
     *[("d", way, "✗ The slider is right. But where") for way in ("left", "down", "to the left", "L", "-")],
     *[("d", way, "✓ Right") for way in ("right", "Right.", "up", "to the right", "r", "upwards: right", "+", "a hair to the right")],
     *[(slider, "right", "✓ Right") for slider in ("d", " D", "d middle", "middle", "the slider d", "d.")]],
)  # fmt: skip
def test_the_slider_that_changes_the_loss_fastest_is_guessed(slider, way, said, capsys):
    start_here.guess(slider, way)
    assert said in capsys.readouterr().out


def test_the_steps_and_the_smallest_loss_of_the_first_page_are_those_of_the_engine(capsys):
    losses, parameters = [], [Value(x) for x in (1.0, 1.0, 0.0, 1.0)]
    for _ in range(2_000):
        a, b, c, d = parameters
        loss = sum((a * tanh(b * t + c) + d - y) ** 2 for t, y in reverse_mode.SUNFLOWER)
        losses.append(loss.data)
        loss.backward()
        for x in parameters:
            x.data, x.grad = x.data - 0.02 * x.grad, 0.0
    start_here.predict(1, next(step for step, loss in enumerate(losses) if loss < 0.05))
    start_here.predict(2, round(losses[-1], 3))
    start_here.predict(2, losses[-1])
    assert capsys.readouterr().out.count("✓ Right") == 3


def test_the_twelve_heights_on_the_first_page_are_those_of_the_sliders():
    (source,) = [source for source in code_of("00") if "heights = [" in source]
    listed = re.findall(r"\d\.\d{4}", source.partition("def loss")[0])
    assert [round(100 * float(x), 2) for x in listed] == reverse_mode.HEIGHTS


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
     ("10", back_to_matrices, ["groups", "run_forward"]),
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


def test_the_compiler_of_the_notebook_writes_values_and_derivatives():
    given = vars(ad) | vars(expressions) | {"ad": ad, "Number": Number}
    given = on_the_page("09", "text_of", "Recorder", "walk", "Writer", "source_of", given=given)
    for f in (
        lambda x, y: ad.log(x) + x * y - ad.sin(y),
        lambda x, y: 2 - x / y * -x + y * 1.0,
        lambda x, y: ad.dot([x, y, x], [x * x, 1.0, y]) + ad.tanh(x),
        lambda x, y: ad.exp(x) + ad.atan2(x, y) * 1.0,
        lambda x, y: y * y,
    ):
        x, y = Value(0.75), Value(2.0)
        exec(given["source_of"](f(x, y), [x, y]), given)
        value, gradients = given["program"](0.5, 3.0)
        assert value == pytest.approx(f(0.5, 3.0), rel=1e-12)
        assert gradients == pytest.approx([*grad(f, argnums=(0, 1))(0.5, 3.0)], rel=1e-12)


def test_each_group_has_a_colour_and_all_are_in_the_picture():
    x, target = Vector([0.1] * 4), Vector([1.0, 0.0, 0.0])
    model = Sequential(Linear(4, 10, activation=tanh, seed=0), Linear(10, 3, seed=1))
    loss = ad.nn.cross_entropy(model(x), target)
    tints = back_to_matrices.TINTS
    source = back_to_matrices.picture(loss, x=x, target=target).source
    assert all(tint in source for tint in tints.values())
    kinds = {operation for _, operation in back_to_matrices.groups(loss)}
    assert kinds <= {name.rstrip("123") for name in "|".join(tints).split("|")}


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
