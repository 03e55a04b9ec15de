# pyright: analyzeUnannotatedFunctions=false
"""Notebook 3: a dial for the direction, passes counted; its guesses and exercises."""

import math
from collections.abc import Mapping

from autodiff import jvp, log, operation, sin
from autodiff.engine.errors import kind_of

from .verdicts import Exercise, Hint, after_your_guess, empty, guesses, number, solutions

predict = guesses(
    {
        32: "Right: the derivative of x⁴ is 4x³, and at 2 that is 32.",
        16: "That is the value of x⁴, which stands before the point.",
        ...: "In x³ it was the derivative, 12. What is the derivative of x⁴ at 2?",
    },
    {
        4: "Right: x₁ from the product, and 1 from the sum.",
        3: "That is the product alone. x₂ is used once more.",
        ...: "x₂ is used twice, in the product and in the sum.",
    },
    {
        (4.65, 4.75): "Right: 0.6 times the one, and 0.8 times the other.",
        ...: "The inputs move at 0.6 and 0.8. What does each bring to y?",
    },
    {
        2: "Right, and it is wrong! Where does the 2 come from?",
        1: "So says calculus, and so should our pairs. Run the next cell.",
        ...: "Run the next cell, and be surprised.",
    },
    {
        1: "Right. How many rounds does the loop run at a = 1?",
        0.5: "So says calculus. Run the next cell.",
        ...: "Calculus says 1/2. What do you think the program says?",
    },
)


class Pair:
    """A dual number: primal + tangent ε."""

    def __init__(self, primal, tangent=0.0):
        self.primal, self.tangent = primal, tangent

    def __repr__(self):
        return f"{self.primal:.6g} + {self.tangent:.6g}ε"

    def __add__(self, other):
        return Pair(self.primal + other.primal, self.tangent + other.tangent)

    def __mul__(self, other):
        tangent = self.tangent * other.primal + self.primal * other.tangent
        return Pair(self.primal * other.primal, tangent)

    def __truediv__(self, other):
        z = self.primal / other.primal  # z b = a, so ż b + z ḃ = ȧ
        return Pair(z, (self.tangent - z * other.tangent) / other.primal)


solution_1 = Pair


def operators(Pair, left, right):
    for sign, method in (("+", "__add__"), ("*", "__mul__"), ("/", "__truediv__")):
        found = getattr(Pair, method)(Pair(*left), Pair(*right))
        if found is None or found is ...:
            yield f"a {sign} b", ...
            continue
        if not hasattr(found, "tangent"):
            raise Hint(f"a {sign} b: return a Pair. Yours returns {kind_of(found)}.")
        yield f"the primal of a {sign} b", found.primal
        yield f"the tangent of a {sign} b", found.tangent


def pair_with(**rules):
    """Our Pair with other rules: each takes a, ȧ, b, ḃ and returns the primal and the tangent."""

    def method(rule):
        return lambda x, y: Pair(*rule(x.primal, x.tangent, y.primal, y.tangent))

    return type("Pair", (Pair,), {f"__{name}__": method(rule) for name, rule in rules.items()})


check_1 = Exercise(
    solution_1,
    ask=operators,
    at={
        f"a = {x[0]} + {x[1]}ε and b = {y[0]} + {y[1]}ε": (x, y)
        for x, y in [((3, 1), (4, 10)), ((-5, 2), (12, 1)), ((8, 0), (-6, 3)), ((6, 1), (8, 0))]
    },
    praise="Right: sums, products and quotients bring their tangents along.",
    otherwise="Write a + ȧε and b + ḃε, and drop what has an ε².",
    slips={
        "A product of two tangents has an ε², which is 0: what is left of (a + ȧε)(b + ḃε)?": [
            pair_with(mul=lambda a, da, b, db: (a * b, da * db)),
            pair_with(mul=lambda a, da, b, db: (a * b, da * b + a * db + da * db)),
        ],
        "Both factors move: that is the term of one of them.": [
            pair_with(mul=lambda a, da, b, db: (a * b, da * b)),
            pair_with(mul=lambda a, da, b, db: (a * b, a * db)),
        ],
        "In a sum the tangents add, as the primals do.": [
            pair_with(add=lambda a, da, b, db: (a + b, da)),
            pair_with(add=lambda a, da, b, db: (a + b, a + b)),
        ],
        "That divides tangent by tangent. If z = a/b, then z b = a: use your product.": pair_with(
            truediv=lambda a, da, b, db: (a / b, da / db if db else da)
        ),
        "b moves too: if it grows, a/b shrinks.": pair_with(
            truediv=lambda a, da, b, db: (a / b, da / b)
        ),
        "Look at the sign: if b grows, a/b shrinks.": pair_with(
            truediv=lambda a, da, b, db: (a / b, (da * b + a * db) / b**2)
        ),
        "Nearly: divide by b squared.": [
            pair_with(truediv=lambda a, da, b, db: (a / b, da * b - a * db)),
            pair_with(truediv=lambda a, da, b, db: (a / b, (da * b - a * db) / b)),
        ],
    },
)


def of_pair(answer, primal, tangent):
    found = answer(Pair(primal, tangent))
    if not hasattr(found, "tangent"):
        raise Hint(f"Return a Pair. Yours returns {kind_of(found)}.")
    yield "the primal", found.primal
    yield "the tangent", found.tangent


def solution_2(a):
    return Pair(math.sin(a.primal), math.cos(a.primal) * a.tangent)


check_2 = Exercise(
    solution_2,
    ask=of_pair,
    at={"a = 1 + 2ε": (1.0, 2.0), "a = 5 + 0.8ε": (5.0, 0.8), "a = 2 + 0ε": (2.0, 0.0)},
    praise="Right: the chain rule, cos a times ȧ.",
    otherwise="The sine of the primal; and its derivative there, times the tangent.",
    slips={
        "That forgets how fast a moves.": lambda a: Pair(math.sin(a.primal), math.cos(a.primal)),
        "The derivative is taken at the primal: cos a, not cos ȧ.": [
            lambda a: Pair(math.sin(a.primal), math.cos(a.tangent)),
            lambda a: Pair(math.sin(a.primal), math.cos(a.primal * a.tangent)),
        ],
        "That is the sine of the tangent. What is the derivative of the sine?": lambda a: Pair(
            math.sin(a.primal), math.sin(a.tangent)
        ),
        "The derivative of the sine is the cosine, without a minus.": lambda a: Pair(
            math.sin(a.primal), -math.cos(a.primal) * a.tangent
        ),
    },
)


def split(x, tag):
    """Primal and tangent of x, as the derivative with this tag sees them."""
    own = getattr(x, "tag", 0) == tag
    return (x.primal, x.tangent) if own else (x, 0.0)


class Tagged:
    def __init__(self, primal, tangent, tag):
        self.primal, self.tangent, self.tag = primal, tangent, tag

    def __add__(self, other):
        tag = max(self.tag, getattr(other, "tag", 0))
        (a, a_dot), (b, b_dot) = split(self, tag), split(other, tag)
        return Tagged(a + b, a_dot + b_dot, tag)

    def __mul__(self, other):
        tag = max(self.tag, getattr(other, "tag", 0))
        (a, a_dot), (b, b_dot) = split(self, tag), split(other, tag)
        return Tagged(a * b, a_dot * b + a * b_dot, tag)

    __radd__, __rmul__ = __add__, __mul__


solution_3 = Tagged


def with_tags(kind, x, y):
    """What sums and products of these numbers are; a tuple stands for a pair with a tag."""
    made = [kind(*each) if isinstance(each, tuple) else each for each in (x, y)]
    for sign, method in (("+", "__add__"), ("*", "__mul__")):
        found = getattr(kind, method)(*made)
        if found is None or found is ...:
            yield f"x {sign} y", ...
            continue
        if not hasattr(found, "tag"):
            raise Hint(f"x {sign} y: return a Tagged. Yours returns {kind_of(found)}.")
        for part in ("tag", "tangent", "primal"):
            yield f"the {part} of x {sign} y", written(getattr(found, part))


def written(x):
    if not hasattr(x, "tag"):
        return f"{x:g}"
    return f"({written(x.primal)} + {written(x.tangent)} ε{x.tag})"


def tagged_with(tag_of=max, split=split, product=lambda a, da, b, db: da * b + a * db):
    """Our Tagged with another tag, another split, or another rule of the product."""

    def parts(x, y):
        tag = tag_of(x.tag, getattr(y, "tag", 0))
        return tag, *split(x, tag), *split(y, tag)

    class Tagged:
        def __init__(self, primal, tangent, tag):
            self.primal, self.tangent, self.tag = primal, tangent, tag

        def __add__(self, other):
            tag, a, da, b, db = parts(self, other)
            return Tagged(a + b, da + db, tag)

        def __mul__(self, other):
            tag, a, da, b, db = parts(self, other)
            return Tagged(a * b, product(a, da, b, db), tag)

        __radd__, __rmul__ = __add__, __mul__

    return Tagged


def confused(x, tag):
    return getattr(x, "primal", x), getattr(x, "tangent", 0.0)


check_3 = Exercise(
    solution_3,
    ask=with_tags,
    at={
        "x = 3 + 1 ε1, y = 2": ((3.0, 1.0, 1), 2.0),
        "x = 3 + 1 ε1, y = 5 + 2 ε1": ((3.0, 1.0, 1), (5.0, 2.0, 1)),
        "x = 3 + 1 ε1, y = 5 + 2 ε2": ((3.0, 1.0, 1), (5.0, 2.0, 2)),
        "x = 3 + 1 ε2, y = 5 + 2 ε1": ((3.0, 1.0, 2), (5.0, 2.0, 1)),
    },
    praise="Right: each derivative sees its own ε, and takes the rest for constants.",
    otherwise="The higher tag counts. To it, a number with another tag is a constant: whole, with tangent 0.",
    slips={
        "The tag of the result is the higher of the two.": [
            tagged_with(lambda x, y: x),
            tagged_with(lambda x, y: min(x, y) or x),
        ],
        "That adds the tangents of two different ε. To the higher tag the other number is a constant.": (
            tagged_with(split=confused)
        ),
        "Both factors move: the tangent of a product has two terms.": [
            tagged_with(product=lambda a, da, b, db: da * b),
            tagged_with(product=lambda a, da, b, db: a * db),
        ],
        "A product of two tangents has an ε², which is 0.": tagged_with(
            product=lambda a, da, b, db: da * db
        ),
    },
)


def modes(answer):
    if not isinstance(answer, Mapping):
        raise Hint(f"Expected a dict with the keys 'a', 'b', 'c' and 'd', found {kind_of(answer)}.")
    for key in "abcd":
        task = answer.get(key, ...)
        if empty(task):
            yield key, ...
            continue
        try:
            mode, count = task
            mode, count = mode.strip().lower(), number(count)
            {"forward", "reverse"}.remove(mode)
        except (TypeError, ValueError, AttributeError, KeyError, Hint):
            raise Hint(f"{key}: expected a pair, such as ('forward', 7).") from None
        yield key, f"{mode} {count:g}"


def solution_4():
    return {
        "a": ("forward", 1),  # one input
        "b": ("reverse", 1),  # one result
        "c": ("reverse", 3),  # three results against 40 inputs
        "d": ("forward", 1),  # one direction
    }


check_4 = Exercise(
    solution_4(),
    ask=modes,
    praise="Right: one input, one result, three results against 40 inputs, one direction.",
    otherwise=lambda key, _: f"{key}: forward mode pays for inputs, reverse mode for results.",
    slips={
        "d: one walk back gives a row. Which mode gives Jv?": {"d": ("reverse", 1)},
        "{part}: that works, but the other mode needs fewer passes.": [
            {"a": ("reverse", 300)},
            {"b": ("forward", 10_000)},
            {"c": ("forward", 40)},
        ],
    },
)


def dial():
    """The graph of y = ln x₁ + x₁x₂ − sin x₂ at (2, 5), its tangents, and a dial for the direction."""
    from autodiff.engine import ops
    from autodiff.pages.live import printed
    from autodiff.pages.page import lesson

    used = [(ops.log, 1), (ops.mul, 2), (ops.sin, 1), (ops.add, 2), (ops.sub, 2)]
    rules = {operation.__name__: printed(operation, count) for operation, count in used}
    return lesson("dial", {"title": "Tangents, and a dial for the direction"}, rules=rules)


def passes(jacobian, function, x):
    """How many passes jacobian(function)(x) takes, if x or the result is one number."""
    used = []  # noted by an operation that the one number goes through

    @operation
    def gate(x):
        return x, lambda grad: used.append(1) or (grad,)

    jacobian(lambda x: gate(function(x)) if isinstance(x, list) else function(gate(x)))(x)
    return len(used)


solution = solutions(globals())
