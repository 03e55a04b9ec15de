"""An engine of local derivatives, sorted by the time of making; its tanh is made of exp."""

import itertools
import math

clock = itertools.count()


class Value:
    def __init__(self, data, edges=()):
        self.data, self.grad, self.edges, self.born = float(data), 0.0, edges, next(clock)

    def __add__(self, other):
        if not isinstance(other, Value):
            return Value(self.data + other, [(self, 1.0)])
        return Value(self.data + other.data, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other):
        if not isinstance(other, Value):
            return Value(self.data * other, [(self, other)])
        return Value(self.data * other.data, [(self, other.data), (other, self.data)])

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, n):
        return Value(self.data**n, [(self, n * self.data ** (n - 1))])

    def exp(self):
        y = math.exp(self.data)
        return Value(y, [(self, y)])

    def __neg__(self):
        return -1 * self

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return other + -self

    def __truediv__(self, other):
        return self * (1 / other if not isinstance(other, Value) else other**-1)

    def __rtruediv__(self, other):
        return other * self**-1

    def tanh(self):
        e = (2 * self).exp()
        return (e - 1) / (e + 1)

    def backward(self):
        found, todo = {self}, [self]
        while todo:
            for x, _ in todo.pop().edges:
                if x not in found:
                    found.add(x)
                    todo.append(x)
        for x in found:
            if x.edges:
                x.grad = 0.0
        self.grad = 1.0
        for node in sorted(found, key=lambda x: -x.born):
            for x, slope in node.edges:
                x.grad += slope * node.grad
