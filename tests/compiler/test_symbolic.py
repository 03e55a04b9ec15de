"""Numbers that are not known yet: what simplifies, what they refuse, and rules that choose."""

import pytest
from modes import GRADIENTS
from oracles import EPSILON
from tables import cases

import autodiff as ad
from autodiff import Expression, Value, operation


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


def test_what_stands_in_two_places_is_computed_once():
    x, y, z = Value(0.3), Value(0.7), Value(4.0)
    text = source(ad.exp(ad.sin(x)) * ad.exp(ad.sin(x)) + ad.sin(x), [x], [x])
    assert (text.count("math.sin"), text.count("math.exp")) == (1, 1)
    assert "v3 = v1 + v1" in source(x * y + y * x, [x, y], [])  # v2 is v1
    assert source(x**y, [x, y], [x, y]).count("x2 - 1.0") == 1
    logistic = source(ad.sigmoid(x), [x], [x])  # s(x) s(-x): one power, and 0 < x for -x < 0
    assert ("math.exp(-abs(x1))" in logistic, logistic.count("exp(")) == (True, 1)
    assert "if 0.0 < x1" in logistic
    for total in (ad.logsumexp([x, y, z]), ad.maximum(ad.maximum(x, y), z)):
        assert source(total, [x, y, z], []).count("(x1, x2)") == 1


def test_a_choice_by_a_known_condition_is_made():
    x, y = Value(0.3), Value(0.7)
    assert "return x2, (0.0, 1.0)" in source(ad.where(0.0, x, y), [x, y], [x, y])
    assert "return x1, (1.0, 0.0)" in source(ad.where(1.0, x, y), [x, y], [x, y])


# -- In rules of one's own ------------------------------------------------------------------------

QUESTIONS = [
    lambda x: bool(x < 1.0),
    lambda x: bool(x == 1.0),
    lambda x: bool(x != 1.0),
    lambda x: float(x),
    lambda x: int(x),
    lambda x: f"{x:.2f}",
    lambda x: str(x),
    lambda x: [1, 2][x],
]


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


def test_a_rule_may_look_into_a_set_of_its_own_and_a_dict_of_its_numbers():
    kinds, kind = {"square", "cube"}, "square"

    @operation
    def power(x):
        if kind in kinds:
            return {x: x * x}[+x], lambda grad: (2 * grad * x,)
        return x, lambda grad: (grad,)

    x = Value(2.0)
    assert Expression(power(x)).compile([x], wrt=[x])(3.0) == (9.0, (6.0,))


MODES = ["compile", "numpy", "inputs of a batch"]


COMPARISONS = [
    lambda x: x > 2.0,
    lambda x: x >= 2.0,
    lambda x: x < 2.0,
    lambda x: x <= 2.0,
]


@pytest.mark.parametrize("mode", MODES)
@cases("chosen", COMPARISONS)
def test_a_comparison_in_a_rule_is_made_again_by_the_program(chosen, mode):
    @operation
    def bent(x):
        return ad.where(chosen(x), x * x, -x), lambda grad: (grad,)

    run = GRADIENTS[mode](lambda xs: bent(xs[0]), [5.0])
    for point in (1.0, 2.0, 3.0):
        assert run([point])[0] == (point**2 if chosen(point) else -point)


SLOPES = [
    lambda x: ad.grad(lambda t: t * t * x)(1.0),
    lambda x: ad.jvp(lambda t: x * t * t, (1.0,), (1.0,))[1],
    lambda x: ad.hessian(lambda t: t * t * x)(1.0),
    lambda x: ad.jacrev(lambda t: ad.dot([t, x], [x, t]))(x),
    lambda x: ad.grad(lambda t: 2.0 * t * ad.maximum(x, t))(x - 1.0),
    lambda x: ad.grad(lambda t: x**t)(1.0) * 2.0 / ad.log(x),
]


@cases("slope", SLOPES)
def test_a_derivative_in_a_rule_is_compiled(slope):
    @operation
    def square(x):
        return x * slope(x) / 2.0, lambda grad: (grad * slope(x),)

    for mode in MODES:
        value, gradient = GRADIENTS[mode](lambda xs: square(xs[0]), [2.0])([3.0])
        assert [value, *gradient] == pytest.approx([9.0, 6.0], rel=4 * EPSILON)
    assert ad.trace(square, 3.0).rows[-1].value == pytest.approx(9.0, rel=4 * EPSILON)
    x = Value(2.0)
    assert Expression(square(x)).javascript([x], wrt=[x])
