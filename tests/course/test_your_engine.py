"""The engine that a reader types: faults that hear their own name, and which file is used."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from autodiff.course import our_engine
from autodiff.course.your_engine import check_7, my_engine, your_engine

OURS = inspect.getsource(our_engine)

ENGINES = Path(__file__).with_name("engines")
CLOSURES, DERIVATIVES = [
    (ENGINES / f"{name}.py").read_text() for name in ("closures", "derivatives")
]

# fault: the style, what is replaced, by what, and a word of the hint that names it
FAULTS = {
    "assign instead of add": (OURS, "parent.grad += message", "parent.grad = message", "+="),
    "assign, by closures": (CLOSURES, "self.grad += out.grad", "self.grad = out.grad", "+="),
    "no topological order": (
        OURS, "nodes = order(self)",
        "nodes = [self]\n        for node in nodes:\n            nodes += [p for p in node.parents if p.parents and p not in nodes]\n        nodes = nodes[::-1]",
        "topological order",
    ),
    "order by data": (DERIVATIVES, "key=lambda x: -x.born", "key=lambda x: -x.data", "puts your nodes in order"),
    "order by size": (DERIVATIVES, "key=lambda x: -x.born", "key=lambda x: -abs(x.data)", "puts your nodes in order"),
    "set of parents": (OURS, "zip(node.parents, node.closure(node.grad))", "dict(zip(node.parents, node.closure(node.grad))).items()", "A set, or a dict, has it once"),
    "no zeroing between calls": (OURS, "node.grad = 0.0 ", "pass ", "hold the grad of the first call"),
    "leaves zeroed too": (OURS, "node.grad = 0.0 ", "node.grad = 0.0\n            for p in node.parents: p.grad = 0.0 ", "Inputs accumulate"),
    "wrong sign in rsub": (OURS, "self * -1 + other", "self + other * -1", "It means 5 - x"),
    "rsub right in its number only": (
        OURS, "lambda self, other: self * -1 + other",
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
    "rmul missing": (OURS, "__mul__ = __rmul__ =", "__mul__ =", "__rmul__"),
    "a closure captures a late variable": (
        OURS, "    def backward(self):",
        "    for name, operation in dict(add=add, mul=mul).items():\n        locals()[f'__{name}__'] = lambda self, other: recorded(Value.late)(self, other)\n        late = staticmethod(operation)\n\n    def backward(self):",
        "made in a loop",
    ),
    "tanh derivative 1 - y": (OURS, "(1 - y * y)", "(1 - y)", "1 - y²"),
    "tanh derivative 1 - x²": (OURS, "(1 - y * y)", "(1 - x * x)", "1 - y²"),
    "two frames for each step": (
        CLOSURES, "                for child in v._prev:\n                    build(child)",
        "                list(map(lambda child: build(child), v._prev))",
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
    "x itself comes back": (CLOSURES, "        out = Value(self.data + other.data, (self, other))", "        return self", "a result is a new Value"),
    "root begins at 0": (OURS, "self.grad = 1.0", "pass", "of the result itself is 1"),
    "sub by add": (OURS, "__sub__ = lambda self, other: self + other * -1", "__sub__ = lambda self, other: self + other", "`__sub__`"),
    "division without the square": (
        CLOSURES, "def __truediv__(self, other):\n        return self * other**-1",
        "def __truediv__(self, other):\n        other = self._wrap(other)\n        out = Value(self.data / other.data, (self, other))\n        def _backward():\n            self.grad += out.grad / other.data\n            other.grad -= self.data / other.data * out.grad\n        out._backward = _backward\n        return out",
        "-x / y²",
    ),
    "the message for y forgotten": (CLOSURES, "            other.grad += self.data * out.grad\n", "", "*other* factor"),
    "no walk at all": (OURS, "for node in reversed(nodes):", "for node in []:", "Addition copies"),
    "no backward": (OURS, "def backward(", "def back(", "no method `backward`"),
    "no tanh": (OURS, "__pow__, tanh = recorded(power), recorded(tanh)", "__pow__ = recorded(power)", "x.tanh()"),
    "plain numbers are no nodes": (OURS, "x if isinstance(x, Value) else Value(x)", "x", "becomes a node too"),
    "sub the other way round": (CLOSURES, "self + (-other)", "other + (-self)", "x + (-y)"),
    "from the first born on": (DERIVATIVES, "-x.born", "x.born", "Walk from the result back"),
    "one step alone": (CLOSURES, "for v in reversed(topo):\n            v._backward()", "self._backward()", "Walk from the result back"),
    "the shortest way counts": (
        DERIVATIVES, "for node in sorted(found, key=lambda x: -x.born):",
        "level, todo = {}, [(self, 0)]\n        while todo:\n            n, k = todo.pop(0)\n            if n not in level:\n                level[n] = k\n                todo += [(x, k + 1) for x, _ in n.edges]\n        for node in sorted(found, key=level.get):",
        "the longest way",
    ),
    "equal numbers are one node": (
        OURS, "    def backward", "    __eq__ = lambda self, other: self.data == other.data\n    __hash__ = lambda self: hash(self.data)\n\n    def backward",
        "tells them apart",
    ),
    "add sends 1": (OURS, "lambda grad: (grad, grad)", "lambda grad: (1.0, 1.0)", "The grad of p is 3"),
    "mul forgets grad": (CLOSURES, "other.data * out.grad", "other.data", "The grad of p is 3"),
    "tanh forgets grad": (OURS, "(grad * (1 - y * y),)", "(1 - y * y,)", "which is 7 here"),
    "tanh takes its own grad": (CLOSURES, "(1 - t**2) * out.grad", "(1 - t**2) * self.grad", "the grad of the result"),
    "tanh assigns": (CLOSURES, "self.grad += (1 - t**2)", "self.grad = (1 - t**2)", "replaces what was there"),
    "power assigns": (CLOSURES, "self.grad += n * ", "self.grad = n * ", "replaces what was there"),
    "power of the size": (DERIVATIVES, "Value(self.data**n,", "Value(abs(self.data)**n,", "-0.125, not 0.125"),
    "neg made from nothing": (CLOSURES, "return self * -1", "return Value(-self.data)", "no message has reached it"),
    "mul not swapped": (OURS, "(grad * y, grad * x)", "(grad * x, grad * y)", "*other* factor"),
    "rtruediv missing": (OURS, "    __rtruediv__ = lambda self, other: self**-1 * other\n", "", "__rtruediv__"),
    "tan": (OURS, "math.tanh", "math.tan", "Take math.tanh"),
    "a walk for each path, and right": (
        DERIVATIVES, "    def backward(self):\n",
        "    def backward(self, grad=None):\n        self.grad = 1.0 if grad is None else self.grad + grad\n        for x, slope in self.edges:\n            x.backward(slope * (grad or 1.0))\n        return\n",
        "path by path",
    ),
    "one visited for all": (CLOSURES.replace("class Value", "visited = set()\n\nclass Value"), "topo, visited = [], set()", "topo = []", "called twice"),
    "the root twice": (CLOSURES, "            v._backward()\n", "            v._backward()\n        self._backward()\n", "should be 1, not 2"),
    "a typo": (OURS, "def backward(self):", "def backward(self:", "Line 46, `def backward(self:`"),
    "an error while it is run": (OURS, "import math", "import math\n1 / 0", "ZeroDivisionError in line 4, `1 / 0`"),
    "a return forgotten": (CLOSURES, "        out._backward = _backward\n        return out\n\n    def __mul__", "\n    def __mul__", "x + y at x = 3, y = -2 gives None, which is no Value. Is a `return` missing?"),
    "data that is a Value": (CLOSURES, "return self * other**-1", "return Value(self * other**-1)", "should be -1.5, not a Value"),
    "no grad": (CLOSURES, "self.data, self.grad = data, 0.0", "self.data = data", "x has no `grad`"),
    "no class": (OURS, OURS, "Value = 5", "should be a class, not an int"),
    "another name": (OURS, "class Value", "class Val", "There is no class `Value` here"),
    "each parent's own backward": (
        CLOSURES, "for v in reversed(topo):\n            v._backward()",
        "self._backward()\n        for child in self._prev:\n            child.backward()",
        "Does backward call that of the parents?",
    ),
    "an assertion without words": (
        CLOSURES, "    def _wrap(self, other):\n", "    def _wrap(self, other):\n        assert other != 2.5\n",
        "raises AssertionError in line 12, `assert other != 2.5`. A plain",
    ),
    "cleared after sending, all but the root": (
        OURS.replace("node.grad = 0.0 ", "pass "), "parent.grad += message\n", "parent.grad += message\n            node.grad = 1.0 * (node is self)\n",
        "p still holds its 1 as a root",
    ),
    "the package's": (OURS, OURS, "from autodiff import Value", "`Value` is the package's"),
    "the package's, by its name": (OURS, OURS, "import autodiff as ad\n\nclass Value(ad.Value): pass", "`ad` is the package's"),
    "nothing": (OURS, OURS, "...", "Nothing here yet"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_hears_its_name(name, tmp_path):
    style, old, new, word = FAULTS[name]
    assert old in style
    path = tmp_path / "my_engine.py"
    path.write_text(style.replace(old, new), encoding="utf-8")
    right, text, _ = check_7.verdict(path)
    assert not right
    assert word in text


def test_a_wrong_engine_never_replaces_a_right_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert your_engine() is our_engine
    my_engine("", OURS.replace("parent.grad +=", "parent.grad ="))
    assert not [*tmp_path.iterdir()]
    my_engine("", OURS)
    my_engine("", OURS.replace("parent.grad +=", "parent.grad ="))
    assert Path("my_engine.py").read_text() == OURS
    my_engine("", DERIVATIVES)
    assert Path("my_engine.py").read_text() == DERIVATIVES
    assert hasattr(your_engine().Value, "exp")
    said = capsys.readouterr().out
    assert "Written to my_engine.py: 45 lines" in said
    assert said.endswith("From here on your engine runs: my_engine.py, 48 lines.\n")
    use = "from my_engine import Value; x = Value(3.0); (x * x).backward(); print(x.grad)"
    alone = subprocess.run([sys.executable, "-c", use], capture_output=True, text=True, check=True)
    assert alone.stdout == "6.0\n"


def test_a_file_that_is_wrong_is_not_used_and_says_why(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("my_engine.py").write_text(OURS.replace("parent.grad +=", "parent.grad ="))
    assert your_engine() is our_engine
    said = "From here on our engine runs, until yours is right: x * y + x at x = 3, y = 2"
    assert capsys.readouterr().out.startswith(said)


def test_a_folder_that_cannot_be_written_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("my_engine.py").mkdir()
    my_engine("", OURS)
    assert "But it cannot be kept" in capsys.readouterr().out
    assert your_engine() is our_engine


def test_the_cell_is_run_once_for_its_verdict(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    my_engine("", OURS + "\nprint('seen')")
    assert capsys.readouterr().out.count("seen") == 1
