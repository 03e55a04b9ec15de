"""No answer that differs from ours on more inputs than a check asks about is praised.

The answers are ours with one thing changed, each in turn, and those that the lessons know as wrong.
`WIDER` of a lesson's answers holds the inputs, as the check's own.
"""

import ast
import copy
import inspect

import pytest
from test_exercises import ANSWERS, CHECKS, LESSONS, RIGHT

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


class Changing(ast.NodeTransformer):
    """Replaces the node of one number by its change of another number."""

    def __init__(self, place, which):
        self.place, self.which, self.count = place, which, -1

    def visit(self, node):
        self.count += 1
        if self.count == self.place:
            return copy.deepcopy([*changed(node)][self.which])
        return self.generic_visit(node)


class Numbering(Changing):
    """Lists how many changes each node has, in the order in which `Changing` meets them."""

    def __init__(self):
        super().__init__(-1, 0)
        self.found = []

    def visit(self, node):
        self.found.append(len([*changed(node)]))
        return super().visit(node)


def mutants(solution):
    """Our answer with one thing changed, in every way that is known here."""
    name, module = solution.__name__, inspect.getmodule(solution)
    tree = ast.parse(inspect.getsource(solution))
    numbering = Numbering()
    numbering.visit(copy.deepcopy(tree))
    for place, count in enumerate(numbering.found):
        for which in range(count):
            mutant = ast.fix_missing_locations(Changing(place, which).visit(copy.deepcopy(tree)))
            space = dict(vars(module))
            try:
                exec(compile(mutant, "a mutant", "exec"), space)
            except (SyntaxError, TypeError, ValueError):
                continue
            yield ast.unparse(mutant), space[name]


def agree(check, answer, points):
    def alike(point):
        found, right = check._parts(answer, point), check._parts(check.solution, point)
        return [name for name, _ in found] == [name for name, _ in right] and all(
            check_same(x, y) for (_, x), (_, y) in zip(found, right)
        )

    return all(map(alike, points))


def check_same(found, right):
    from autodiff.course.verdicts import same

    return same(found, right, 1e-9)


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


def test_the_two_lessons_are_asked():
    assert {name[:2] for name in WIDER} >= {"09", "10"}
    assert LESSONS
