"""The whole idea on one screen. The rest of this package is this, made right, quick and pleasant.

>>> a, b = Value(-4.0), Value(2.0)
>>> c = a * b + b**3
>>> c.backward()
>>> c.data, a.grad, b.grad
(0.0, 2.0, 8.0)
"""

import math

# An operation takes numbers. It returns its result, and a closure: given the gradient of the
# result, it returns a message for each input, which is that gradient times the local derivative.


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
    """The operation on Values: its result remembers what it was computed from, and the closure."""

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
        """Add to the `grad` of every node the derivative of this one with respect to it."""
        self.grad = 1.0
        for node in reversed(topological_order(self, {})):  # each sends after all that use it
            for parent, message in zip(node.parents, node.closure(node.grad)):
                parent.grad += message


def topological_order(node, order):
    """Enter a node into `order` after all that it was computed from; return `order`, a dict."""
    if node not in order:
        for parent in node.parents:
            topological_order(parent, order)
        order[node] = None
    return order
