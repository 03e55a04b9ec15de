"""The whole idea on one screen. The package is this, made right, quick and pleasant.

>>> a, b = Value(-4.0), Value(2.0)
>>> c = a * b + b**3
>>> c.backward()
>>> c.data, a.grad, b.grad
(0.0, 2.0, 8.0)
"""

import math

# An operation takes numbers. It returns its result, and a closure from the gradient
# of the result to a message for each input: the gradient times the local derivative.


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
    """The operation on Values: the result keeps its parents and the closure."""

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

    def __sub__(self, other):
        return self + other * -1

    def backward(self):
        """Add the derivative with respect to each node to its `grad`."""
        self.grad = 1.0
        for node in reversed(topological_order(self, {})):  # each after its users
            for parent, message in zip(node.parents, node.closure(node.grad)):
                parent.grad += message


def topological_order(node, order):
    """Enter a node into `order`, a dict, after its parents; return `order`."""
    if node not in order:
        for parent in node.parents:
            topological_order(parent, order)
        order[node] = None
    return order
