# pyright: analyzeUnannotatedFunctions=false
"""Notebook 3: a dial for the direction, passes counted; its guesses and exercises."""

import math

from autodiff import operation

from .verdicts import Exercise, Hint, after_your_guess, empty, expect, guesses, number, solutions

predict = guesses("""
    1. 32: Right: the derivative of x⁴ is 4x³, and at 2 that is 32.
       16: That is the value of x⁴, which stands before the point.
       else: In x³ it was the derivative, 12. What is the derivative of x⁴ at 2?
    2. 4: Right: x₁ from the product, and 1 from the sum.
       3: That is the product alone. x₂ is used once more.
       else: x₂ is used twice, in the product and in the sum.
    3. 4.65 to 4.75: Right: 0.6 times the one, and 0.8 times the other.
       else: The inputs move at 0.6 and 0.8. What does each bring to y?
    4. 2: Right, and it is wrong! Where does the 2 come from?
       1: So says calculus, and so should our pairs. Open the box.
       else: Open the box, and be surprised.
    5. 1: Right. How many rounds does the loop run at a = 1?
       0.5: So says calculus. Open the box.
       else: Calculus says 1/2. What do you think the program says?
""")


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


def parts_of(found, case, names=("primal", "tangent"), kind="Pair"):
    """The parts of a result by their names: each of them dots as long as there is no result."""
    blank = found is None or found is ...
    fits = blank or all(hasattr(found, name) for name in names)
    expect(fits, f"a {kind} from {case}", found)
    for name in names:
        yield f"the {name} of {case}", ... if blank else getattr(found, name)


def operators(Pair, left, right):
    for sign, method in (("+", "__add__"), ("*", "__mul__"), ("/", "__truediv__")):
        a, b = Pair(*left), Pair(*right)
        found = getattr(Pair, method)(a, b)
        if (a.primal, a.tangent, b.primal, b.tangent) != (*left, *right):
            raise Hint(f"a {sign} b has changed a or b: return a new Pair.")
        yield from parts_of(found, f"a {sign} b")


def pairs(*points):
    return {f"a = {a[0]} + {a[1]}ε and b = {b[0]} + {b[1]}ε,": (a, b) for a, b in points}


check_1 = Exercise(
    solution_1,
    ask=operators,
    at=pairs(((3, 1), (4, 10)), ((-5, 2), (12, 1)), ((8, 0), (-6, 3)), ((6, 1), (8, 0))),
    praise="Right: sums, products and quotients bring their tangents along.",
    otherwise="Write a + ȧε and b + ḃε, and drop what has an ε².",
    slips="""
        A product of two tangents has an ε², which is 0: what is left of (a + ȧε)(b + ḃε)?
            other.primal + self.primal * →
            self.primal * other.tangent → self.primal * other.tangent + self.tangent * other.tangent
        Both factors move: that is the term of one of them.
            + self.primal * other.tangent →
            self.tangent * other.primal + →
        In a sum the tangents add, as the primals do.
            self.tangent + other.tangent → self.tangent
            → self.primal + other.primal
        That divides tangent by tangent. If z = a/b, then z b = a: use your product.
            - z * other.tangent) / other.primal → ) / other.tangent
        b moves too: if it grows, a/b shrinks.
            - z * other.tangent →
        Look at the sign: if b grows, a/b shrinks.
            - z * → + z *
        Look at the sign: if a grows, so does a/b.
            z, ( → z, -(
        Nearly: divide by b squared.
            / other.primal) → )
            → * other.primal)
    """,
)


def of_pairs(answer, a, b):
    found = answer(Pair(*a), Pair(*b))
    expect(hasattr(found, "tangent"), "a Pair", found)
    yield "the primal", found.primal
    yield "the tangent", found.tangent


def solution_2(a, b):
    z = a.primal**b.primal
    return Pair(z, z * (b.tangent * math.log(a.primal) + b.primal * a.tangent / a.primal))


check_2 = Exercise(
    solution_2,
    ask=of_pairs,
    at=pairs(((2, 3), (5, 0)), ((2, 0), (3, 5)), ((2, 3), (3, 5)), ((0.5, 1), (-2, 4))),
    praise="Right: the base moves, the exponent moves, and their effects add.",
    otherwise="The power is e to the b ln a. How fast does that exponent move? It is a product.",
    slips="""
        That is the rule for an exponent that stands still. Here b moves too.
            b.tangent * math.log(a.primal) + →
        That is the rule for a base that stands still. Here a moves too.
            + b.primal * a.tangent / a.primal →
        That is how fast b ln a moves. e to that moves so many times as fast, times itself.
            z * (b → (b
        How fast does a move? Its tangent is missing.
            b.primal * a.tangent → b.primal
            b.tangent * math.log(a.primal) + b.primal * a.tangent → b.primal
        The logarithm of a moves at ȧ/a, not at ȧ.
            a.tangent / a.primal → a.tangent
        In b ln a the derivative of the first factor is ḃ, and that of ln a is ȧ/a: each term
        has the other factor.
            b.primal * a.tangent → a.tangent
            * math.log(a.primal) →
    """,
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
    for sign, method in (("+", "__add__"), ("*", "__mul__")):
        made = [kind(*each) if isinstance(each, tuple) else each for each in (x, y)]
        before = [*map(written, made)]
        try:
            found = getattr(kind, method)(*made)
        except AttributeError:
            if isinstance(y, tuple):
                raise
            raise Hint(
                f"x {sign} y: y may be a plain number, without primal, tangent and tag. `split` takes both."
            ) from None
        if [*map(written, made)] != before:
            raise Hint(f"x {sign} y has changed x or y: return a new Tagged.")
        for name, part in parts_of(found, f"x {sign} y", ("tag", "tangent", "primal"), "Tagged"):
            yield name, part if part is ... else written(part)


def written(x):
    if not hasattr(x, "tag"):
        return f"{x:g}" if isinstance(x, (int, float)) else str(x)
    return f"({written(x.primal)} + {written(x.tangent)} ε{x.tag})"


def confused(x):
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
    slips="""
        The tag of the result is the higher of the two.
            max(self.tag, getattr(other, "tag", 0)) → self.tag
            max(self → (lambda *tags: min(filter(None, tags)))(self
        That adds the tangents of two different ε. To the higher tag the other number is a
        constant.
            split(self, tag), split(other, tag) → confused(self), confused(other)
        Both factors move: the tangent of a product has two terms.
            + a * b_dot →
            a_dot * b + →
        A product of two tangents has an ε², which is 0.
            a_dot * b + a * b_dot → a_dot * b_dot
    """,
)


def modes(answer):
    expect(isinstance(answer, dict), "a dict with the keys 'a', 'b', 'c' and 'd'", answer)
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
