"""The engine that a reader types: right ones in three styles, and faults that hear their own name."""

import inspect
from pathlib import Path

import pytest

from autodiff.course import our_engine
from autodiff.course.your_engine import check_7, made, my_engine, your_engine

OURS = inspect.getsource(our_engine)

CLOSURES = """
import math

class Value:
    def __init__(self, data, _children=()):
        self.data, self.grad = data, 0.0
        self._backward, self._prev = lambda: None, _children

    def _wrap(self, other):
        return other if isinstance(other, Value) else Value(other)

    def __add__(self, other):
        other = self._wrap(other)
        out = Value(self.data + other.data, (self, other))
        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward
        return out

    def __mul__(self, other):
        other = self._wrap(other)
        out = Value(self.data * other.data, (self, other))
        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def __pow__(self, n):
        out = Value(self.data**n, (self,))
        def _backward():
            self.grad += n * self.data ** (n - 1) * out.grad
        out._backward = _backward
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,))
        def _backward():
            self.grad += (1 - t**2) * out.grad
        out._backward = _backward
        return out

    def __radd__(self, other): return self + other
    def __rmul__(self, other): return self * other
    def __neg__(self): return self * -1
    def __sub__(self, other): return self + (-other)
    def __rsub__(self, other): return -self + other
    def __truediv__(self, other): return self * other**-1
    def __rtruediv__(self, other): return other * self**-1

    def backward(self):
        topo, visited = [], set()
        def build(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build(child)
                topo.append(v)
        build(self)
        for v in topo:
            if v._prev:
                v.grad = 0.0
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()
"""

# One class of nodes with local derivatives in a list; order by the time of making; tanh in pieces.
DERIVATIVES = """
import itertools, math
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
    def __pow__(self, n): return Value(self.data**n, [(self, n * self.data ** (n - 1))])
    def exp(self):
        y = math.exp(self.data)
        return Value(y, [(self, y)])
    def __neg__(self): return -1 * self
    def __sub__(self, other): return self + -other
    def __rsub__(self, other): return other + -self
    def __truediv__(self, other): return self * (1 / other if not isinstance(other, Value) else other**-1)
    def __rtruediv__(self, other): return other * self**-1
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
"""

# fault: the style, what is replaced, by what, and a word of the hint that names it
FAULTS = {
    "assign instead of add": (OURS, "parent.grad += message", "parent.grad = message", "+="),
    "assign, by closures": (CLOSURES, "self.grad += out.grad", "self.grad = out.grad", "+="),
    "no topological order": (
        OURS,
        "nodes = order(self)",
        "nodes = [self]\n        for node in nodes:\n            nodes += [p for p in node.parents if p.parents and p not in nodes]\n        nodes = nodes[::-1]",
        "topological order",
    ),
    "a queue, each as often as it turns up": (
        OURS,
        "nodes = order(self)",
        "nodes = [self]\n        for node in nodes:\n            nodes += [p for p in node.parents if p.parents]\n        nodes = nodes[::-1]",
        "topological order",
    ),
    "path by path": (
        CLOSURES,
        "if v not in visited:",
        "if True:",
        "topological order",
    ),
    "path by path, and right": (
        OURS, "    return list(ready)",
        "    def paths(x):\n        return [n for p in x.parents for n in paths(p)] + [x] * bool(x.parents)\n    return list(dict.fromkeys(paths(root)))",
        "path by path",
    ),
    "order by data": (DERIVATIVES, "key=lambda x: -x.born", "key=lambda x: -x.data", "puts your nodes in order"),
    "order by size": (DERIVATIVES, "key=lambda x: -x.born", "key=lambda x: -abs(x.data)", "puts your nodes in order"),
    "set of parents": (
        OURS,
        "zip(node.parents, node.closure(node.grad))",
        "dict(zip(node.parents, node.closure(node.grad))).items()",
        "A set, or a dict, has it once",
    ),
    "no zeroing between calls": (OURS, "node.grad = 0.0 ", "pass ", "hold the grad of the first call"),
    "leaves zeroed too": (
        OURS,
        "node.grad = 0.0 ",
        "node.grad = 0.0\n            for p in node.parents: p.grad = 0.0 ",
        "Inputs accumulate",
    ),
    "wrong sign in rsub": (OURS, "self * -1 + other", "self + other * -1", "It means 5 - x"),
    "rsub right in its number only": (
        OURS,
        "lambda self, other: self * -1 + other",
        "lambda self, other: Value(other - self.data, (self,), lambda grad: (grad,))",
        "slope in x is -1",
    ),
    "rtruediv swapped": (OURS, "self**-1 * other", "self * other**-1", "It means 1 / x"),
    "power rule off by one": (OURS, "x ** (n - 1)", "x**n", "n * x**(n - 1)"),
    "power without n": (OURS, "grad * n * x ** (n - 1)", "grad * x ** (n - 1)", "n * x**(n - 1)"),
    "a message for the exponent": (OURS, "0.0)  # n", "grad * x**n * math.log(x))  # n", "is a constant"),
    "radd missing": (OURS, "__add__ = __radd__ =", "__add__ =", "__radd__"),
    "radd missing, sum alone": (
        OURS, "__add__ = __radd__ = recorded(add)",
        "__add__ = recorded(add)\n    def __radd__(self, other):\n        return self + other if other else NotImplemented",
        "sum begins with 0 + x",
    ),
    "rmul missing": (OURS, "__mul__ = __rmul__ =", "__mul__ =", "`__rmul__"),
    "a closure captures a late variable": (
        OURS,
        "    def backward(self):",
        "    for name, operation in dict(add=add, mul=mul).items():\n        locals()[f'__{name}__'] = lambda self, other: recorded(Value.late)(self, other)\n        late = staticmethod(operation)\n\n    def backward(self):",
        "made in a loop",
    ),
    "tanh derivative 1 - y": (OURS, "(1 - y * y)", "(1 - y)", "1 - y²"),
    "tanh derivative 1 - x²": (OURS, "(1 - y * y)", "(1 - x * x)", "1 - y²"),
    "two frames for each step": (
        CLOSURES, "                for child in v._prev:\n                    build(child)",
        "                [build(child) for child in v._prev]\n                (lambda: None)()",
        "calls itself",
    ),
    "a grad for constants": (
        CLOSURES, "        other = self._wrap(other)\n        out = Value(self.data * other.data, (self, other))",
        "        out = Value(self.data * getattr(other, 'data', other), (self, other))",
        "becomes a Value first",
    ),
    "parents in one list for all": (
        CLOSURES, "_children=()):\n        self.data, self.grad = data, 0.0\n        self._backward, self._prev = lambda: None, _children",
        "_children=(), _prev=[]):\n        self.data, self.grad = data, 0.0\n        self._backward, self._prev = lambda: None, _prev\n        self._prev += _children",
        "parents=[]",
    ),
    "float on the left is Value on the right": (OURS, "__mul__ = __rmul__ = recorded(mul)", "__mul__ = recorded(mul)\n    __rmul__ = lambda self, other: self.data * other", "no Value"),
    "data changed in place": (
        CLOSURES, "        out = Value(self.data + other.data, (self, other))",
        "        self.data += other.data\n        out = Value(self.data, (self, other))",
        "has changed x or y",
    ),
    "x itself comes back": (
        CLOSURES, "        out = Value(self.data + other.data, (self, other))",
        "        self.data += other.data\n        return self",
        "x or y",
    ),
    "root begins at 0": (OURS, "self.grad = 1.0", "pass", "of the result itself is 1"),
    "one tape, never emptied": (
        DERIVATIVES.replace("next(clock)", "next(clock)\n        tape.append(self)").replace("class Value:", "tape = []\nclass Value:"),
        "for node in sorted(found, key=lambda x: -x.born):", "for node in tape[::-1]:",
        "one list for all nodes",
    ),
    "sub by add": (OURS, "__sub__ = lambda self, other: self + other * -1", "__sub__ = lambda self, other: self + other", "`__sub__`"),
    "division without the square": (
        CLOSURES, "def __truediv__(self, other): return self * other**-1",
        "def __truediv__(self, other):\n        other = self._wrap(other)\n        out = Value(self.data / other.data, (self, other))\n        def _backward():\n            self.grad += out.grad / other.data\n            other.grad -= self.data / other.data * out.grad\n        out._backward = _backward\n        return out",
        "-x / y²",
    ),
    "the message for y forgotten": (CLOSURES, "            other.grad += self.data * out.grad\n", "", "*other* factor"),
    "no walk at all": (OURS, "for node in reversed(nodes):", "for node in []:", "Addition copies"),
    "no backward": (OURS, "def backward(", "def back(", "no method `backward`"),
    "no tanh": (OURS, "__pow__, tanh = recorded(power), recorded(tanh)", "__pow__ = recorded(power)", "x.tanh()"),
    "nothing": (OURS, OURS, "# here", "Nothing here yet"),
}  # fmt: skip


@pytest.mark.parametrize("style", [OURS, CLOSURES, DERIVATIVES])
def test_right_engines_of_any_style(style):
    assert check_7.verdict(made(style)).right, check_7.verdict(made(style))


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_hears_its_name(name):
    style, old, new, word = FAULTS[name]
    assert old in style
    right, text, _ = check_7.verdict(made(style.replace(old, new)))
    assert not right
    assert word in text


def test_each_fault_hears_another_text():
    said = {}
    for name, (style, old, new, _) in FAULTS.items():
        said.setdefault(check_7.verdict(made(style.replace(old, new))).text, []).append(name)
    assert len(said) > 25


def test_a_wrong_engine_never_replaces_a_right_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert your_engine() is our_engine
    my_engine("", OURS)
    my_engine("", OURS.replace("parent.grad +=", "parent.grad ="))
    assert Path("my_engine.py").read_text() == OURS
    assert "Written to my_engine.py: 46 lines" in capsys.readouterr().out
    x = your_engine().Value(3.0)
    (x * x).backward()
    assert x.grad == 6.0
