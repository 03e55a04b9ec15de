# pyright: analyzeUnannotatedFunctions=false
"""Notebook 5: its guesses and exercises."""

import math
from types import SimpleNamespace

import autodiff as ad
from autodiff import Dual, cosh, exp, log, operation, ops, sigmoid, sinh, softplus, tanh

from .reverse_mode import result_and_messages
from .verdicts import Exercise, Hint, after_your_guess, expect, guesses, several, solutions

predict = guesses("""
    1. 8: Right: both read the same wrong line.
       else: Where does reverse mode get its derivative from? It reads the same line.
    2. 50: Right: ten times the local derivative 5, the other factor.
       else: The local derivative is the other factor, 5. The closure was given 10.
    3. 0: Right: they read the page, and know nothing else.
       else: Then a derivative would have to stand in a second place.
    4. 0.5: Right: the mean of the slopes on either side, as if there were no corner.
       else: It does not read the page. It takes a step to either side: (relu(h) - relu(-h)) / 2h.
    5. 0: Right: at 40 the sigmoid is rounded to 1.
       0 to 1e-10: That is right on paper. And in floats? What is 1 - s, when s is nearly 1?
       else: At 40, s is so close to 1 that it is rounded to 1. What is 1 - s?
""")


def moved(forward, rule, primals, tangents):
    found = forward(rule, primals, tangents)
    expect(several(found, 2), "two things, the result and its tangent", found)
    for name, x in zip(("the result", "the tangent"), found):
        yield name, f"{x.primal:.6g} + {x.tangent:.6g}ε" if isinstance(x, Dual) else x


def solution_1(rule, primals, tangents):
    y, closure = rule(*primals)
    return y, sum(m * t for m, t in zip(closure(1.0), tangents) if m is not None)


check_1 = Exercise(
    solution_1,
    ask=moved,
    at={
        "mul at (2, 5), tangents (3, 4),": (ops.mul.rule, (2.0, 5.0), (3.0, 4.0)),
        "power at (3, 2), tangents (1, 0),": (ops.power.rule, (3.0, 2.0), (1.0, 0.0)),
        "cosh at the dual number 0 + 1ε, tangent 1,": (ops.cosh.rule, (Dual(0.0, 1.0),), (1.0,)),
    },
    praise="Right: that is forward mode, for every rule there is.",
    otherwise="Each input adds its local derivative times its tangent. Only None is left out, not 0.",
    slips="""
        Those are the local derivatives. How fast does each input move?
            m * t → m
        Each input that moves adds a term: that is one of them.
            sum( → next(
        The closure takes an adjoint, not a tangent: give it 1.
            m * t → m; closure(1.0) → closure(tangents[0])
            closure(1.0) → closure(tangents)
        {at} a message is None: that input has no derivative. Leave it out.
            if m is not None →
            m * t → t * m; if m is not None →
    """,
)
forward = solution_1  # the name that later solutions use


def forged(forge, rule, x, grad):
    op = SimpleNamespace(rule=rule)
    forge(op)
    if op.rule is rule:
        raise Hint("op.rule is as before: assign another rule to it.")
    try:
        yield from result_and_messages(op.rule, (x,), grad)
    except RecursionError:
        raise Hint(
            "By then op.rule is your rule: it calls itself. Keep the old one first."
        ) from None


def solution_2(op):
    honest = op.rule
    op.rule = lambda x: (honest(x)[0], lambda grad: (7 * grad,))


check_2 = Exercise(
    solution_2,
    ask=forged,
    at={
        "exp at 0.5, grad = 2,": (ops.exp.rule, 0.5, 2.0),
        "sin at 2, grad = -1,": (ops.sin.rule, 2.0, -1.0),
    },
    praise="Right: the result is honest, the slope is not.",
    otherwise="The result is as before, and the closure says that the slope is 7.",
    slips="""
        That is the slope. A message is grad times that.
            7 * grad → 7.0
        That is 7 times the true slope. It should say 7, whatever is true.
            → 7 * honest(x)[1](grad)[0]
        The result is forged too. Take that of the old rule.
            honest(x)[0] → 7 * x
            → 7.0
            → x
            → 7 * honest(x)[0]
    """,
)


def solution_3(rule, x):
    _, slope = forward(rule, [Dual(x, 1.0)], [1.0])
    return slope.tangent


check_3 = Exercise(
    solution_3,
    at={"tanh at 0.5": (ops.tanh.rule, 0.5), "log at 0.01": (ops.log.rule, 0.01)},
    praise="Right: the rule was written for one derivative, and gives two.",
    otherwise="How fast does the slope move when x does?",
    slips="""
        That is the slope. How fast does it move?
            slope.tangent → slope.primal
        You find 0, as if x stood still.
            Dual(x, 1.0) → Dual(x, 0.0)
    """,
    rests_on={"forward": check_1},
)


def of_rule(rule, x, grad):
    yield from result_and_messages(rule, (x,), grad)
    if grad == 2.0:  # right once: and its derivative?
        try:
            yield "the second derivative", ad.grad(ad.grad(operation(rule)))(x)
        except TypeError:
            raise Hint("Right for floats. Use autodiff's functions; return a tuple.") from None


def solution_4(x):
    s = sigmoid(x)
    return x * s, lambda grad: (grad * s * (1 + x * sigmoid(-x)),)


check_4 = Exercise(
    solution_4,
    ask=of_rule,
    at=[(0.7, 1.0), (-1.0, 3.0), (0.7, 2.0)],
    praise="Right: an operation like those of the page.",
    otherwise="Both factors of x·σ(x) move: x at speed 1, and σ(x) at σ(x)·σ(-x).",
    slips="""
        One factor moves in yours. Both do: a product has two terms.
            * (1 + x * sigmoid(-x)) →
            1 + x → x
        That is the local derivative. A message is grad times that.
            grad * s → s
        A product is not differentiated factor by factor: one moves while the other stays.
            1 + x * →
        As σ(x) moves, its factor x stays: one term lacks it.
            x * sigmoid(-x) → sigmoid(-x)
        Both terms are there, but only one of them has grad as a factor.
            grad * s * (1 + x * sigmoid(-x)) → grad * s + x * s * sigmoid(-x)
            → s + grad * x * s * sigmoid(-x)
    """,
)


def solution_5(x):
    return softplus(2 * x) - x - math.log(2.0), lambda grad: (grad * tanh(x),)


check_5 = Exercise(
    solution_5,
    ask=of_rule,
    at=[(x, 1.0) for x in (0.5, 1000.0, -1000.0, -5.0, 2.5)] + [(0.5, 2.0)],
    praise="Right: it holds at both ends, and the second derivative comes with it.",
    otherwise="The result is ln cosh x, and its derivative is sinh x / cosh x.",
    slips="""
        Off by ln 2: cosh is HALF of exp(x) + exp(-x).
            - math.log(2.0) →
        {at} cosh overflows. Take the larger of the two powers out of the logarithm.
            softplus(2 * x) - x - math.log(2.0) → log(cosh(x))
            → math.log(math.cosh(x))
        That holds at one end. {at} exp overflows: the page knows ln(1 + exp(u)) for every u.
            → x + log(1 + exp(-2 * x)) - math.log(2.0)
            → x + math.log(1 + math.exp(-2 * x)) - math.log(2.0)
            → log(1 + exp(2 * x)) - x - math.log(2.0)
            → math.log(1 + math.exp(2 * x)) - x - math.log(2.0)
        {at} the derivative overflows. What is sinh x / cosh x?
            tanh(x) → sinh(x) / cosh(x)
            → (exp(2 * x) - 1) / (exp(2 * x) + 1)
            → (1 - exp(-2 * x)) / (1 + exp(-2 * x))
        Right as long as grad is 1: it is not used.
            grad * tanh(x) → tanh(x)
    """,
)

solution = solutions(globals())
