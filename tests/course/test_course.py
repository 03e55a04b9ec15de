"""What the lessons show and say beside their exercises: pictures, engines, the race, tables."""

import ast
import importlib
import inspect
import math
import pkgutil
import re

import numpy as np
import pytest
import sympy

import autodiff as ad
from autodiff import Value, Vector, adjoints, grad, tanh, tiny
from autodiff.course import (
    back_to_matrices,
    expressions,
    forward_mode,
    reverse_mode,
    start_here,
    symbolic_derivatives,
    vectors_and_matrices,
)
from autodiff.course.figures import drag
from autodiff.course.reverse_mode import GRAPHS, NAMES, fault, peak_memory, solution_5
from autodiff.nn import Linear, Sequential
from autodiff.number import Number
from notebooks import NOTEBOOKS, read


def iris():
    return importlib.import_module("sklearn.datasets").load_iris()


def code_of(number):
    (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    return [cell.source for cell in read(path).cells]


# -- 0 ----------------------------------------------------------------------------------------------


def test_the_last_of_the_twelve_points_is_a_sunflower(browser):
    browser.show(start_here.fit_by_hand())
    widths = "[...document.querySelectorAll('.point')].map((e) => e.clientWidth)"
    assert browser.evaluate(widths) == [10] * 11 + [40]


# -- 2 ----------------------------------------------------------------------------------------------


def of_the_notebook(*beginnings):
    """What the cells of notebook 2 that begin like this define."""
    found = dict(vars(symbolic_derivatives))
    for beginning in beginnings:
        (source,) = [source for source in code_of("02") if source.startswith(beginning)]
        exec(source, found)
    return found


def test_the_tree_folds_into_the_program_of_seven_operations(browser):
    square = symbolic_derivatives.X * symbolic_derivatives.X
    browser.show(symbolic_derivatives.fold(symbolic_derivatives.derivative(square * square)))
    for folded, operations, last in (
        (0, "11", ""),
        (4.5, "9", "v3 = v1 * v0"),
        (9, "7", "v8 = v6 + v7"),
    ):
        browser.evaluate(f"s.folded = {folded}; paint()")
        said = [
            browser.evaluate(f"document.querySelector('{tag}').textContent") for tag in ("b", "pre")
        ]
        assert (said[0], said[1].split("\n")[-1]) == (operations, last)


def test_sympy_stops_at_b_and_d_alone_and_grad_at_none():
    functions = of_the_notebook("def a(x)")
    for name, slope in zip("abcd", (4321.0, 1.0, 3.0, 1 / 16), strict=True):
        assert grad(functions[name])(10.0) == slope
        if name in symbolic_derivatives.solution_4():
            with pytest.raises(TypeError, match="truth value"):
                functions[name](sympy.Symbol("x"))
        else:
            functions[name](sympy.Symbol("x"))


# -- 3 ----------------------------------------------------------------------------------------------


def test_the_dial_shows_the_tangents_of_jvp(browser):
    browser.show(forward_mode.dial())
    for degrees in (0, 53, 90, -163):
        u = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        u = (0.6, 0.8) if degrees == 53 else u  # for which the notebook asks
        f = lambda x1, x2: ad.log(x1) + x1 * x2 - ad.sin(x2)  # noqa: E731
        _, expected = ad.jvp(f, (2.0, 5.0), u)
        browser.evaluate(
            f"document.querySelector('input').value = {degrees};"
            "document.querySelector('input').dispatchEvent(new Event('input'))"
        )
        said = browser.evaluate(
            "document.querySelector('output').textContent"
            " + [...document.querySelectorAll('.tangent')].at(-1).textContent"
        )
        assert said == f"{expected:.2f}moves at {expected:.2f}".replace("-", "−")
    box = "document.querySelector('.dial').getBoundingClientRect()"
    x, y, width = (browser.evaluate(f"{box}.{side}") for side in ("x", "y", "width"))
    browser.click(x + width / 2, y + width / 10)
    assert browser.evaluate("s.direction") == 90


# -- 4 ----------------------------------------------------------------------------------------------


def of_the_gallery(name):
    """An engine of notebook 4."""
    (source,) = [source for source in code_of("04") if f"def {name}(" in source]
    (engine,) = [x for x in ast.parse(source).body if getattr(x, "name", "") == name]
    names: dict = {}
    exec(ast.unparse(engine), vars(reverse_mode), names)
    return names[name]


def defined(source, *names):
    """The functions of these names, wherever they are defined, without their docstrings."""
    for node in ast.walk(ast.parse(source)):
        if getattr(node, "name", "") in names:
            node.body = node.body[ast.get_docstring(node) is not None :]
            yield node.name, ast.unparse(node)


def test_the_engine_that_the_reader_is_given_is_tiny():
    names = "__init__", "recorded", "mul", "add"
    cells = [
        source for source in code_of("04") if re.search("^(class Value|def add)", source, re.M)
    ]
    given = dict(pair for source in cells for pair in defined(source, *names))
    assert given == dict(defined(inspect.getsource(tiny), *names))
    assert len(given) == len(names)


def test_the_gallery_is_every_program_of_up_to_three_lines():
    assert [sum(len(g) == n for g in GRAPHS) for n in (1, 2, 3)] == [20, 200, 3200]
    assert len(set(GRAPHS)) == len(GRAPHS) == 3420
    assert not any(fault(solution_5, g, calls) for g in GRAPHS for calls in (1, 2))


def uses(program):
    return [NAMES[i] for _, pair in program for i in pair]


@pytest.mark.parametrize(
    ("engine", "calls", "is_right"),
    [
        # right where no node, input or line, is used twice
        ("overwriting", 1, lambda g: len(set(uses(g))) == len(uses(g))),
        # right where no operation is given the same node twice
        ("merging", 1, lambda g: all(i != j for _, (i, j) in g)),
        # right where no line is used more than once
        ("unordered", 1, lambda g: all(uses(g).count(line) <= 1 for line in "pqr")),
        ("unzeroed", 1, lambda g: True),
        # right where there is nothing between
        ("unzeroed", 2, lambda g: len(g) == 1),
    ],
)
def test_each_engine_of_the_gallery_is_wrong_where_the_notebook_says(engine, calls, is_right):
    engine = of_the_gallery(engine)
    assert all((not fault(engine, g, calls)) == is_right(g) for g in GRAPHS)


def test_reverse_mode_pays_in_memory():
    def winding(xs):
        y = 0.0
        for x in xs:
            for _ in range(20):
                y = ad.sin(y + x)
        return y

    xs = [0.1] * 300
    forward = peak_memory(lambda: ad.jvp(winding, (xs,), (xs,)))
    assert peak_memory(lambda: grad(winding)(xs)) > 30 * forward


# -- 6 ----------------------------------------------------------------------------------------------


def test_the_picture_lights_up_the_slopes_of_the_engine(browser):
    left, above = ad.Matrix([[1, 2, 3], [4, 5, 6]]), ad.Matrix([[1, 2], [3, -4], [5, 6]])
    browser.show(vectors_and_matrices.corner(left, above))
    product = left @ above
    entries = [entry for matrix in (left, above) for row in matrix for entry in row]
    for k, nudged in enumerate(entries):
        browser.evaluate(f"nudge({k})")
        said = browser.evaluate(
            "[...document.querySelectorAll('#C td')].map((cell) => cell.textContent).join(' ')"
        )
        expected = []
        for entry in (entry for row in product for entry in row):
            slope = adjoints(entry, [nudged])[nudged]
            expected.append(f"{entry.data:g}{f'{slope:+g}' if slope else ''}")
        assert said.replace("−", "-") == " ".join(expected)

    gradient = [[1, 2], [0, -3]]
    (product * ad.Matrix(gradient)).sum().backward()
    browser.show(vectors_and_matrices.corner(left, above, gradient))
    for k, entry in enumerate(entries):
        browser.evaluate(f"nudge({k})")
        said = browser.evaluate("document.querySelector('p').textContent").replace("−", "-")
        *_, products, total = re.split(" = |: ", said.rstrip("."))
        assert eval(products.replace("·", "*")) == float(total) == entry.grad


# -- 9 ----------------------------------------------------------------------------------------------


def test_the_compiler_of_the_notebook_writes_values_and_derivatives():
    given = {**vars(ad), **vars(expressions), "Number": Number}
    names = "text_of", "Recorder", "walk", "Writer", "source_of"
    begin = re.compile(f"^(class|def) ({'|'.join(names)})\\b", re.MULTILINE)
    cells = [source for source in code_of("09") if begin.search(source)]
    made = [pair for source in cells for pair in defined(source, *names)]
    for _, text in made:
        exec(text, given)
    assert [name for name, _ in made] == [*names]
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


# -- 10 ---------------------------------------------------------------------------------------------


CELLS = read(NOTEBOOKS / "10_back_to_matrices.ipynb").cells


def by_hand():
    """The function of the notebook, so that what is raced is what is read."""
    (source,) = [c.source for c in CELLS if c.source.startswith("def by_hand")]
    scope = {"np": np}
    exec(source.partition("\n\n\n")[0], scope)
    return scope["by_hand"]


def test_the_groups_are_predicted():
    widths = [8, 20, 20]
    layers = [Linear(n, m, activation=tanh, seed=0) for n, m in zip(widths, widths[1:])]
    target = Vector([1.0, 0.0, 0.0, 0.0]).requires_grad_(False)
    prediction = Sequential(*layers, Linear(20, 4, seed=2))(Vector([0.1] * 8))
    found = back_to_matrices.groups(ad.nn.cross_entropy(prediction, target))
    assert len(found) == back_to_matrices.solution_1() == 15


def test_each_group_has_a_colour_and_all_are_in_the_picture():
    *_, (x, target), loss = back_to_matrices.network(iris(), 10)
    tints = back_to_matrices.TINTS
    source = back_to_matrices.picture(loss, x=x, target=target).source
    assert all(tint in source for tint in tints.values())
    assert {*back_to_matrices.groups(loss)} < {*"|".join(tints).split("|")}


def test_a_slider_shows_its_frames_and_what_was_shown_stays_pale(browser):
    frames = {0.1: ("flat", [[0, 1], [2, 1]]), 0.2: ("steep", [[0, 0], [2, 2]])}
    browser.show(drag("spread", frames, [[0, 0], [1, 1], [2, 2]]))
    said = "document.querySelector('[aria-live]').textContent"
    path = "document.querySelector('path.thick').getAttribute('d')"
    assert (browser.evaluate(said), browser.evaluate(path)) == ("flat", "M12.0,120.0L348.0,120.0")
    browser.enter("input", 1)
    assert browser.texts("b, [aria-live]") == ["0.2", "steep"]
    assert browser.evaluate(path) == "M12.0,208.0L348.0,32.0"
    assert browser.evaluate("document.querySelectorAll('path.ghost').length") == 1


def test_the_neuron_of_the_lectures_is_a_product_of_matrices_where_all_are_alike():
    (source,) = [c.source for c in CELLS if "def neuron(" in c.source]
    scope = {"np": np, "ad": ad, **{name: getattr(ad, name) for name in ad.__all__}}
    exec(source.rpartition("\n\n\n")[0], scope)
    for width, operations in ((2, 19), (50, 451)):
        said, text = scope["layer"](width)
        assert (said, text.count("tanh(")) == (f"{operations} operations.", 1)
        assert "tanh(p1 @ inputs.T + p2[:, None])" in text
    assert scope["layer"](10, cut=1)[1].count("tanh(") == 2


# -- The race -------------------------------------------------------------------------------------


def test_whoever_computes_something_else_does_not_race():
    def wrong(*given):
        losses, gradients = by_hand()(*given)
        return losses, [gradients[0] + 1e-3, *gradients[1:]]

    with pytest.raises(AssertionError, match="the same gradient"):
        back_to_matrices.race(wrong, iris(), 10, 1)


# -- The table of names ---------------------------------------------------------------------------


def table_of_names():
    """The dotted names in each column of the table, ours first."""
    (text,) = [c.source for c in CELLS if "| here | PyTorch | JAX |" in c.source]
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) > 10
    for number in range(3):
        cells = [part for row in rows for part in re.findall("`([^`]*)`", row[number])]
        yield sorted({name for cell in cells for name in re.findall(r"\b[a-z_A-Z.]+\b", cell)})


@pytest.mark.parametrize(
    "module",
    [
        "autodiff",
        *(pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("torch", "jax")),
    ],
)
def test_the_names_of_the_table_exist(module):
    ours, *theirs = table_of_names()
    if module == "autodiff":
        names = {f"autodiff.{name}" for name in ours if hasattr(ad, name.split(".")[0])}
        assert names >= {f"autodiff.{name}" for name in ("Value", "grad", "where", "optim.Adam")}
    else:
        names = {name for column in theirs for name in column if name.startswith(f"{module}.")}
    assert len(names) > 8
    assert all(pkgutil.resolve_name(name) for name in names)


def test_an_import_changes_nothing_in_ipython_and_an_extension_makes_errors_short():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    before = shell.InteractiveTB.mode
    shell.run_cell("import autodiff.course, autodiff.course.reverse_mode")
    assert shell.InteractiveTB.mode == before != "Minimal"
    shell.run_line_magic("load_ext", "autodiff.course")
    assert shell.InteractiveTB.mode == "Minimal"
