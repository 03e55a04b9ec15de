"""No answer that differs from ours on more inputs than a check asks about is praised.

The answers are ours with one thing changed, each in turn, and those that the lessons know as wrong.
`WIDER` of a lesson's answers holds the inputs, as the check's own.
"""

import ast
import inspect
from itertools import zip_longest

import pytest
from test_exercises import ANSWERS, CHECKS, RIGHT

from autodiff.course.verdicts import same

WIDER = {f"{n:02}.{k}": points for n, x in enumerate(ANSWERS, 1) for k, points in getattr(x, "WIDER", {}).items()}  # fmt: skip

SWAPS = {
    ast.Eq: ast.NotEq, ast.Lt: ast.LtE, ast.In: ast.NotIn, ast.IsNot: ast.Is, ast.Is: ast.IsNot,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip


def changed(node):
    """What may stand in a program where this stands."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in SWAPS:
        yield type(node)(**vars(node) | {"op": SWAPS[type(node.op)]()})
    if isinstance(node, ast.BinOp):
        yield ast.BinOp(node.right, node.op, node.left)
        yield from (node.left, node.right)
    if isinstance(node, ast.Compare):
        if type(node.ops[0]) in SWAPS:
            yield ast.Compare(node.left, [SWAPS[type(node.ops[0])]()], node.comparators)
        yield from map(ast.Constant, (True, False))
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield from map(ast.Constant, (node.value + 1, node.value - 1))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from map(ast.Constant, (node.value.strip(), "1", ""))
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield node.value
    if isinstance(node, ast.Call) and node.args:
        yield node.args[0]
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):
        yield ast.Tuple(node.elts[::-1], node.ctx)
    if isinstance(node, ast.Continue):
        yield ast.Break()
    if isinstance(node, (ast.If, ast.AugAssign, ast.Continue, ast.Expr)):
        yield ast.Pass()
    if isinstance(node, ast.AugAssign):
        yield ast.Assign([node.target], node.value)


class Swap(ast.NodeTransformer):
    """Puts a node in the place of another."""

    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else self.generic_visit(node)


def mutants(solution):
    """Our answer with one thing changed, in every way that is known here; with its text."""
    source = inspect.getsource(solution)
    for place, node in enumerate(ast.walk(ast.parse(source))):
        for which in range(len([*changed(node)])):
            tree = ast.parse(source)
            old = [*ast.walk(tree)][place]
            tree = ast.fix_missing_locations(Swap(old, [*changed(old)][which]).visit(tree))
            space = dict(vars(inspect.getmodule(solution)))
            try:
                exec(compile(tree, "a mutant", "exec"), space)
            except (SyntaxError, TypeError, ValueError):
                continue
            yield ast.unparse(tree), space[solution.__name__]


def agree(check, answer, points):
    """Whether an answer does at all points what ours does."""
    for point in points:
        pairs = zip_longest(check._parts(answer, point), check._parts(check.solution, point))
        if not all(x and y and x[0] == y[0] and same(x[1], y[1], 1e-9) for x, y in pairs):
            return False
    return True


@pytest.mark.parametrize("name", WIDER)
def test_no_answer_that_differs_elsewhere_is_praised(name):
    check, points = CHECKS[name], WIDER[name]
    assert agree(check, check.solution, points)
    for right in RIGHT[name]:
        assert agree(check, right, points), right
    tried = [*mutants(check.solution)]
    tried += [(hint, slip) for hint, slips in check.slips.items() for slip in slips]
    praised = [text for text, answer in tried if check.verdict(answer).right and not agree(check, answer, points)]  # fmt: skip
    assert len(tried) >= 10
    assert not praised, "\n\n".join(praised)
