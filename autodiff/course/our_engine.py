"""Our answer to the last cell of notebook 4: an engine that needs nothing but `math`."""

import math


def add(x, y):
    return x + y, lambda grad: (grad, grad)


def mul(x, y):
    return x * y, lambda grad: (grad * y, grad * x)


def power(x, n):
    return x**n, lambda grad: (grad * n * x ** (n - 1), 0.0)  # n is a constant


def tanh(x):
    y = math.tanh(x)
    return y, lambda grad: (grad * (1 - y * y),)


def recorded(operation):
    def on_values(*inputs):
        parents = [x if isinstance(x, Value) else Value(x) for x in inputs]
        data, closure = operation(*[x.data for x in parents])
        return Value(data, parents, closure)

    return on_values


class Value:
    def __init__(self, data, parents=(), closure=lambda grad: ()):
        self.data, self.grad = data, 0.0
        self.parents, self.closure = parents, closure

    __add__ = __radd__ = recorded(add)
    __mul__ = __rmul__ = recorded(mul)
    __pow__, tanh = recorded(power), recorded(tanh)
    __neg__ = lambda self: self * -1
    __sub__ = lambda self, other: self + other * -1
    __rsub__ = lambda self, other: self * -1 + other
    __truediv__ = lambda self, other: self * other**-1
    __rtruediv__ = lambda self, other: self**-1 * other

    def backward(self):
        nodes = order(self)
        for node in nodes:
            node.grad = 0.0  # the leaves are not among them: they accumulate
        self.grad = 1.0
        for node in reversed(nodes):
            for parent, message in zip(node.parents, node.closure(node.grad)):
                parent.grad += message


def order(root):  # the nodes that have parents, each after its parents; a loop, so of any depth
    ready, waiting = {}, [root]
    while waiting:
        missing = [p for p in waiting[-1].parents if p.parents and p not in ready]
        waiting += missing
        if not missing:
            ready[waiting.pop()] = None
    return list(ready)
