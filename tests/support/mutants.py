"""Small changes of a program: what somebody may write who has one thing wrong."""

import ast
import copy

SIGNS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
}  # fmt: skip


def instead(node):
    """What may stand in place of a node: another sign or number, one side, the other order, nothing."""
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
        if type(node.op) in SIGNS:
            yield ast.BinOp(node.left, SIGNS[type(node.op)](), node.right)
        if not isinstance(node.op, (ast.Add, ast.Mult)):
            yield ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Compare):
        yield from (ast.UnaryOp(ast.Not(), node), ast.Constant(True), ast.Constant(False))
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield from map(ast.Constant, (node.value + 1, node.value - 1, 2 * node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from map(ast.Constant, (node.value.strip(), "1"))
    elif isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
        yield type(node)(node.elts[::-1], node.ctx)
    elif isinstance(node, ast.Call):
        yield ast.Call(node.func, node.args[::-1], node.keywords)
        yield from [each for each in node.args[:1] if not isinstance(each, ast.Starred)]
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.If, ast.Return)):
        yield ast.Pass()
        if isinstance(node, ast.AugAssign):
            yield ast.Assign([node.target], node.value)
            yield ast.AugAssign(node.target, SIGNS[type(node.op)](), node.value)
    elif isinstance(node, ast.Continue):
        yield from (ast.Break(), ast.Pass())


def untold(node):
    """Whether no result shows it: a default, which is given, an error, or a docstring."""
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or isinstance(node, (ast.arguments, ast.Raise))


class Replaced(ast.NodeTransformer):
    def __init__(self, node, other):
        self.node, self.other = node, other

    def visit(self, node):
        if untold(node):
            return node
        return self.other if node is self.node else self.generic_visit(node)


def mutants(source):
    """The texts of a program with one thing changed."""
    tree = ast.parse(source)
    texts = []
    for i, node in enumerate(ast.walk(tree)):
        for other in instead(node):
            changed = copy.deepcopy(tree)
            there = list(ast.walk(changed))[i]
            changed = ast.fix_missing_locations(Replaced(there, other).visit(changed))
            texts.append(ast.unparse(changed))
    return sorted({*texts} - {ast.unparse(tree)})
