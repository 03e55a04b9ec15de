"""Exercises of notebook 2: right answers are praised, each common wrong one gets its hint."""

from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pytest
import sympy
from exercises.symbolic_derivatives import (
    Node,
    check_1,
    check_2,
    check_3,
    derivative,
    solution_1,
    solution_2,
    solution_3,
)

from autodiff import grad

NOTEBOOK = Path(__file__).parent.parent / "notebooks/02_symbolic_derivatives.ipynb"


def of_the_notebook(*beginnings):
    """What the cells of the notebook that begin like this define."""
    found = {"cache": cache, "grad": grad}
    cells = [cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells]
    for beginning in beginnings:
        (source,) = [source for source in cells if source.startswith(beginning)]
        exec(source, found)
    return found


FORMULAS = ("class Node", "Node.__add__", "def derivative(e)")
COUNTING = ("Node = cache(Node)", "def order")


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_1, solution_1),
        (check_1, lambda a, b: (derivative(a) - a / b * derivative(b)) / b),
        (check_2, solution_2()),
        (check_3, solution_3()),
        (check_3, "d, B"),
    ],
)
def test_right_answers_are_praised(check, answer):
    right, said = check.verdict(answer)
    assert right, said
    assert said.startswith("Right")


def answer_of_the_notebook(formula):
    """An answer 1 that is written with the Node and the derivative of the notebook."""
    names = of_the_notebook(*FORMULAS, *COUNTING)
    return eval(f"lambda a, b: {formula}", names)


def test_a_right_answer_in_the_words_of_the_notebook_is_praised():
    answer = answer_of_the_notebook("(derivative(a) * b - a * derivative(b)) / (b * b)")
    assert check_1.verdict(answer)[0]


A, B = "derivative(a)", "derivative(b)"

WRONG = [
    ("...", "Nothing here yet"),
    ("None", "Nothing here yet"),
    (f"({A} * b - a * {B}) / b * b", "Write N / (b * b)"),
    (f"{A} * b - a * {B} / (b * b)", "brackets around the numerator"),
    (f"{A} / {B}", "quotient of the derivatives"),
    (f"(a * {B} - {A} * b) / (b * b)", "sign"),
    (f"({A} * b + a * {B}) / (b * b)", "A minus"),
    (f"({A} * b - a * {B}) / b", "b squared"),
    (f"{A} * b - a * {B}", "now divide it"),
    (f"{A} * b + a * {B}", "product rule"),
    (f"{A} / b", "if b were constant"),
    (f"({A} - {B}) / (b * b)", "a' is multiplied by b"),
    (f"({A} * b - a * {B}) / b**2", "for b² b * b"),
    (f"(2 * {A} * b - a * {B}) / (b * b)", "write Node(2)"),
    ("derivative(a / b)", "the very rule that is missing"),
    ("a / b", "gives 0.14"),
    ("Node(0.29)", "gives 0.29"),
    ("0.26", "a Node, found a float"),
    ("'(da b - a db) / b b'", "a Node, found a str"),
    ("Node('+', a, 2)", "every part is a Node"),
    ("Node('nonsense', a)", "A Node knows"),
    ("a / Node(0)", "raises ZeroDivisionError"),
    ("undefined", "raises NameError"),
]


@pytest.mark.parametrize(("formula", "hint"), WRONG)
def test_each_wrong_quotient_rule_has_its_hint(formula, hint):
    right, said = check_1.verdict(answer_of_the_notebook(formula))
    assert not right
    assert hint in said


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        (check_1, ..., "Nothing here yet"),
        (check_1, Node("x"), "Expected a function"),
        (check_1, lambda a: a, "raises TypeError"),
        (check_2, ..., "Nothing here yet"),
        (check_2, "39", "Expected an integer"),
        (check_2, 39.0, "Expected an integer"),
        (check_2, True, "Expected an integer"),
        (check_2, 40, "Very near"),
        (check_2, 30, "squares that they use"),
        (check_2, 35, "Not 3.5"),
        (check_2, 70, "two squarings together"),
        (check_2, 10, "f itself"),
        (check_2, 29, "2yy'"),
        (check_2, 1023, "f, written out"),
        (check_2, 11263, "as written"),
        (check_2, 5, "seven rows"),
        (check_3, ..., "Nothing here yet"),
        (check_3, 7, "letters out of"),
        (check_3, ["b", 4], "letters out of"),
        (check_3, "none", "letters out of"),
        (check_3, "abd", "a: the sum has five terms"),
        (check_3, "d", "b: how does max"),
        (check_3, "bcd", "c: there is an `if`"),
        (check_3, "b", "d: who decides"),
        (check_3, "", "b: how does max"),
    ],
)
def test_each_wrong_answer_has_its_hint(check, answer, hint):
    right, said = check.verdict(answer)
    assert not right
    assert hint in said


def test_counting_gives_the_number_predicted():
    names = of_the_notebook(*FORMULAS, *COUNTING)
    e = names["X"]
    for _ in range(10):
        e = e * e
    d = names["derivative"](e)
    assert (names["shared"](d), names["written"](d)) == (solution_2(), 11263)


def test_sympy_stops_at_b_and_d_alone_and_grad_at_none():
    functions = of_the_notebook("def a(x)")
    for name, slope in zip("abcd", (4321.0, 1.0, 3.0, 1 / 16), strict=True):
        assert grad(functions[name])(10.0) == slope
        if name in solution_3():
            with pytest.raises(TypeError, match="truth value"):
                functions[name](sympy.Symbol("x"))
        else:
            functions[name](sympy.Symbol("x"))


def test_with_division_f_and_its_derivative_cost_at_most_seven_times_f():
    names = of_the_notebook(*FORMULAS, *COUNTING)
    x, number = names["X"], names["Node"]
    e, d = x, number(1)
    for _ in range(20):  # x / (x / (x / ...)) and its derivative by the rule of exercise 1
        e, d = x / e, (number(1) * e - x * d) / (e * e)
    both = sum(bool(node.args) for node in {**names["order"](e), **names["order"](d)})
    assert names["shared"](e) == 20
    assert 6 * 20 < both <= 7 * 20


@pytest.mark.parametrize("number", [np.int64(39), sympy.Integer(39)])
def test_an_integer_of_another_library_is_an_integer(number):
    assert check_2.verdict(number)[0]


@pytest.mark.parametrize("letters", [["b", "d"], ("d", "b"), {"b", "d"}])
def test_the_letters_may_come_one_by_one(letters):
    assert check_3.verdict(letters)[0]
    assert check_3.verdict([*letters, "c"]) == check_3.verdict("bcd")


def numerator(a, b):
    return derivative(a) * b - a * derivative(b)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (lambda a, b: -numerator(a, b) / (b * b), "A Node knows"),
        (lambda a, b: numerator(a, b) / Node("**", b, Node(2)), "A Node knows"),
        (lambda a, b: Node("-", derivative(a), b), "A Node knows"),
        (lambda a, b: numerator(a, b) / (Node("b") * b), "here is 'b'"),
        (lambda a, b: Node(1) / (b * b) * (Node(-1) * numerator(a, b)), "the sign"),
        (lambda a, b: Node(1) / b * derivative(a), "if b were constant"),
    ],
)
def test_a_formula_is_judged_by_what_it_is(formula, said):
    right, text = check_1.verdict(formula)
    assert not right
    assert said in text
