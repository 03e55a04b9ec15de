"""Between a graph and its program: the order of sums, places in arrays, numbers not known yet."""

import re

import numpy as np
import pytest
from modes import GRADIENTS
from oracles import EPSILON
from tables import cases
from test_batch import batched, drawn

import autodiff as ad
from autodiff import Expression, Value, Vector, operation, ops
from autodiff.compiler.batch.groups import Groups
from autodiff.compiler.batch.normal import NormalForm
from autodiff.compiler.batch.text import MATRICES
from autodiff.compiler.printer import wrapped


def test_stages_are_printed_under_their_names():
    """Those of models as a whole stand in stages.json."""
    x, w = drawn(2), drawn(2)
    y = ad.dot(w, x)
    found = Expression(y).stages(x, w)
    headed = [f"-- {name} --\n{stage}" for name, stage in found._asdict().items()]
    assert (repr(found), found.text) == ("\n\n".join(headed), batched(y, x, w).source)
    with pytest.raises(ValueError, match="inputs and parameters in wrt"):
        Expression(y).stages(x, [w[0], x[0]])


# -- Sums and dots --------------------------------------------------------------------------------


def test_factors_that_do_not_vary_stand_on_the_left():
    w, x, scale = Vector([1.0, 2.0, 3.0]), Vector([4.0, 5.0, 6.0]), Vector([7.0, 8.0, 9.0])
    y = sum(xi * (wi * (xi * c)) for wi, xi, c in zip(w, x, scale))
    dot = NormalForm([y], x, [*w, *scale])[y]
    assert [p.parents for p in dot.parents] == [*zip(w, scale), *zip(x, x)]


def test_programs_of_floats_and_pictures_stay_as_written():
    w, x = drawn(4), drawn(4)
    y = sum((a * b for a, b in zip(w, x)), w[0])
    operations = [group.operation for group in Groups(y, [], [*w, *x])]
    assert operations == [None, None, ops.mul] + [ops.add] * 4
    assert Expression(y).compile(x, wrt=w).source.count(" * ") == 4


# -- Text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", MATRICES)
def test_a_product_of_matrices_is_the_sum_of_products_over_its_axes(axes):
    sizes, rng = dict(zip("ijkl", (2, 3, 4, 5))), np.random.default_rng(0)
    x, y = [rng.normal(size=[sizes[i] for i in part]) for part in axes.split("->")[0].split(",")]
    found = eval(MATRICES[axes].format(x="x", y="y"), {"x": x, "y": y})
    found = found.sum(axis=0) if MATRICES[axes][0] == "(" else found
    np.testing.assert_allclose(found, np.einsum(axes, x, y), rtol=1e-12)


TERMS = " + ".join(f"term{i}" for i in range(20))
LINES = ["x = {}", "return {}", "x = f({})", "x = ({}) * f(y)", "x = f(y) * ({})", "# {}", "x = {}  # (n,)"]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_a_long_line_is_broken_where_python_may_break_it(line):
    lines = wrapped("    " + line.format(TERMS))
    assert max(map(len, lines)) <= 100
    code = " ".join([each.strip().removeprefix("# ") for each in lines])
    given = line.removesuffix("  # (n,)").removeprefix("# ").format(TERMS)
    assert re.sub("[()]", "", code) == re.sub("[()]", "", given)
    compile("def f():\n" + "\n".join([*lines, "    pass"]), "", "exec")


def test_a_long_word_stays_on_its_line():
    for word in ("f" * 100, "f(" * 40):  # a break before it would be outside brackets
        assert wrapped(f"v1 = {word}(x, y)")[0].startswith("v1 = f")
    assert wrapped("x" * 100) == ["x" * 100]
    assert wrapped(f"{'x' * 95}  # (n,)") == ["x" * 95]  # the remark is left out


# -- Numbers that are not known yet ---------------------------------------------------------------


def source(y, inputs, wrt):
    return Expression(y).compile(inputs, wrt).source


def test_ones_and_zeros_and_what_nobody_asked_for_are_gone():
    x, w = Value(2.0), Value(3.0)
    y = 1.0 * (w * x) / 1.0 + 0.0 - 0.0 - (-w) * 1.0
    assert [line.strip() for line in source(y, [x], [w]).splitlines()[4:]] == [
        "v1 = x2 * x1",
        "v8 = v1 + x2",
        "# from the output back to the inputs",
        "x2_bar = 1.0 + x1",
        "return v8, (x2_bar,)",
    ]


TEXTS = [  # how often they stand in a program
    (lambda x, y: ad.exp(ad.sin(x)) * ad.exp(ad.sin(x)) + ad.sin(x), {"math.sin": 1, "math.exp": 1, "math.cos": 1}),
    (lambda x, y: x * y + y * x, {"v3 = v1 + v1": 1}),  # v2 is v1
    (lambda x, y: x**y, {"x2 - 1.0": 1}),
    (lambda x, y: ad.sigmoid(x), {"math.exp(-abs(x1))": 1, "exp(": 1, "if 0.0 < x1": 1}),  # s(x) s(-x)
    (lambda x, y: ad.logsumexp([x, y, x]), {"maximum(x1, x2)": 1}),
    (lambda x, y: ad.maximum(ad.maximum(x, y), 2.0), {"maximum(x1, x2)": 1}),
    (lambda x, y: (-x) / -1.0, {"return x1, (1.0, 0.0)": 1}),  # two signs are none
    (lambda x, y: ad.where(0.0, x, y), {"return x2, (0.0, 1.0)": 1}),  # a choice that is known
    (lambda x, y: ad.where(1.0, x, y), {"return x1, (1.0, 0.0)": 1}),
    (lambda x, y: x**3 + 2.0**y, {"x1 ** 3.0": 1, "2.0 ** x2": 1}),
    (lambda x, y: x**0.5, {"v1 = power(x1, 0.5)": 1}),  # else it may be complex
]  # fmt: skip


@cases(("f", "written"), TEXTS)
def test_what_stands_in_two_places_is_computed_once(f, written):
    x, y = Value(0.3), Value(0.7)
    text = source(f(x, y), [x, y], [x, y])
    assert {each: text.count(each) for each in written} == written, text


QUESTIONS = [
    lambda x: bool(x < 1.0), lambda x: bool(x == 1.0), lambda x: bool(x != 1.0), lambda x: float(x),
    lambda x: int(x), lambda x: f"{x:.2f}", lambda x: str(x), lambda x: [1, 2][x],
]  # fmt: skip


@cases("question", QUESTIONS)
def test_a_number_that_is_not_known_answers_no_question(question):
    @operation
    def nosy(x):
        if type(x) is not float:
            answers.append(question(x))
        return x * x, lambda grad: (2 * grad * x,)

    answers, x = [], Value(2.0)
    wanted = r"a number that is not known yet.*; write autodiff\.maximum, relu or where"
    with pytest.raises(TypeError, match=wanted):
        source(nosy(x), [x], [x])
    assert answers == []


KINDS = {"square", "cube"}
RULES = [  # of an operation, that choose, look up or differentiate; and their slopes
    (lambda x: {x: x * x}[+x] if "square" in KINDS else x, lambda x: 2.0 * x),
    *[(lambda x, less=less: ad.where(less(x), x * x, -x), lambda x, less=less: ad.where(less(x), 2.0 * x, -1.0))
      for less in (lambda x: x > 2.0, lambda x: x >= 2.0, lambda x: x < 2.0, lambda x: x <= 2.0)],
    *[(lambda x, slope=slope: x * slope(x) / 2.0, lambda x: 2.0 * x) for slope in (
        lambda x: ad.grad(lambda t: t * t * x)(1.0),
        lambda x: ad.jvp(lambda t: x * t * t, (1.0,), (1.0,))[1],
        lambda x: ad.hessian(lambda t: t * t * x)(1.0),
        lambda x: ad.jacrev(lambda t: ad.dot([t, x], [x, t]))(x),
        lambda x: ad.grad(lambda t: 2.0 * t * ad.maximum(x, t))(x - 1.0),
        lambda x: ad.grad(lambda t: x**t)(1.0) * 2.0 / ad.log(x),
    )],
]  # fmt: skip


@pytest.mark.parametrize("mode", ["compile", "numpy", "inputs of a batch"])
@cases(("rule", "slope"), RULES)
def test_a_rule_of_ones_own_is_made_again_by_the_program(rule, slope, mode):
    @operation
    def own(x):
        return rule(x), lambda grad: (grad * slope(x),)

    run = GRADIENTS[mode](lambda xs: own(xs[0]), [5.0])
    for point in (1.5, 2.0, 3.0):
        value, gradient = run([point])
        assert [value, *gradient] == pytest.approx([rule(point), slope(point)], rel=4 * EPSILON)
    assert ad.trace(own, 3.0).rows[-1].value == pytest.approx(rule(3.0), rel=4 * EPSILON)
    x = Value(2.0)
    assert Expression(own(x)).javascript([x], wrt=[x])
