"""The idea on one screen gives what the package gives."""

import operator
from functools import reduce
from types import SimpleNamespace

from random_graphs import for_all, programs

from autodiff import Value, ops, tiny

FORMULAS = [
    lambda m, a, b: a + b,
    lambda m, a, b: a * b,
    lambda m, a, b: a - b,
    lambda m, a: 2.5 * a + 0.5,
    lambda m, a: a**2,
    lambda m, a: a**3,
    lambda m, a: (a * a + 0.25) ** -0.5,
    lambda m, a: m.tanh(a),
]


def found(number, sin, program, xs):
    """The value of a program and its derivatives, with numbers of one class and their sine."""
    add_up = lambda terms: reduce(operator.add, terms)  # noqa: E731
    leaves = [number(x) for x in xs]
    y = program(leaves, SimpleNamespace(sin=sin, sum=add_up, tanh=number.tanh))
    y.backward()
    return [y.data, *[x.grad for x in leaves]]


@for_all(programs(inputs=3, formulas=FORMULAS), examples=300)
def test_the_numbers_are_those_of_the_package_to_the_last_bit(drawn):
    sin = tiny.recorded(ops.sin.rule)  # any rule of the page will do
    assert found(tiny.Value, sin, *drawn) == found(Value, ops.sin, *drawn)
