# pyright: analyzeUnannotatedFunctions=false
"""Notebook 5: its guesses and exercises."""

import math

from autodiff import Dual, cosh, exp, grad, log, operation, ops, sigmoid, sinh, softplus, tanh
from autodiff.engine.errors import kind_of

from .reverse_mode import result_and_messages
from .verdicts import Exercise, Hint, after_your_guess, guesses, solutions

predict = guesses(
    {
        8: "Right: both read the same wrong line.",
        ...: "Where does reverse mode get its derivative from? It reads the same line.",
    },
    {
        50: "Right: ten times the local derivative 5, the other factor.",
        ...: "The local derivative is the other factor, 5. The closure was given 10.",
    },
    {
        0: "Right: they read the page, and know nothing else.",
        ...: "Then a derivative would have to stand in a second place.",
    },
    {
        0.5: "Right: the mean of the slopes on either side, as if there were no corner.",
        ...: "It does not read the page. It takes a step to either side: (relu(h) - relu(-h)) / 2h.",
    },
)


def moved(forward, rule, primals, tangents):
    found = forward(rule, primals, tangents)
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise Hint(
            f"Return two things, the result and its tangent. Yours returns {kind_of(found)}."
        )
    for name, x in zip(("the result", "the tangent"), found):
        yield name, f"{x.primal:.6g} + {x.tangent:.6g}ε" if isinstance(x, Dual) else x


def solution_1(rule, primals, tangents):
    y, closure = rule(*primals)
    return y, sum(m * t for m, t in zip(closure(1.0), tangents) if m is not None)


def reading(tangent):
    return lambda rule, primals, ts: (rule(*primals)[0], tangent(rule(*primals)[1], ts))


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
    slips={
        "Those are the local derivatives. How fast does each input move?": [
            reading(lambda closure, ts: sum(closure(1.0))),
        ],
        "Each input that moves adds a term: that is one of them.": [
            reading(lambda closure, ts: closure(1.0)[0] * ts[0]),
        ],
        "The closure takes an adjoint, not a tangent: give it 1.": [
            reading(lambda closure, ts: sum(closure(ts[0]))),
        ],
        "{at} a message is None: that input has no derivative. Leave it out.": [
            reading(lambda closure, ts: sum(m * t for m, t in zip(closure(1.0), ts))),
            reading(lambda closure, ts: sum(t * m for m, t in zip(closure(1.0), ts))),
        ],
    },
)
forward = solution_1  # the name that solution_2 uses


def solution_2(rule, x):
    _, slope = forward(rule, [Dual(x, 1.0)], [1.0])
    return slope.tangent


check_2 = Exercise(
    solution_2,
    at={"tanh at 0.5": (ops.tanh.rule, 0.5), "log at 0.01": (ops.log.rule, 0.01)},
    praise="Right: the rule was written for one derivative, and gives two.",
    otherwise="How fast does the slope move when x does?",
    slips={
        "That is the slope. How fast does it move?": lambda rule, x: forward(rule, [x], [1.0])[1],
        "You find 0, as if x stood still.": lambda rule, x: 0.0,
    },
    rests_on={"forward": check_1},
)


def of_rule(rule, x, given):
    yield from result_and_messages(rule, (x,), given)
    if given == 2.0:  # right once: and its derivative?
        try:
            yield "the second derivative", grad(grad(operation(rule)))(x)
        except TypeError:
            raise Hint("Right for floats. Use autodiff's functions; return a tuple.") from None


def solution_3(x):
    s = sigmoid(x)
    return x * s, lambda grad: (grad * s * (1 + x * sigmoid(-x)),)


check_3 = Exercise(
    solution_3,
    ask=of_rule,
    at=[(0.7, 1.0), (-1.0, 3.0), (0.7, 2.0)],
    praise="Right: an operation like those of the page.",
    otherwise="Both factors of x·σ(x) move: x at speed 1, and σ(x) at σ(x)·σ(-x).",
    slips={
        "One factor moves in yours. Both do: a product has two terms.": [
            lambda x: (x * sigmoid(x), lambda grad: (grad * sigmoid(x),)),
            lambda x: (x * sigmoid(x), lambda grad: (grad * x * sigmoid(x) * sigmoid(-x),)),
        ],
        "That is the local derivative. A message is grad times that.": [
            lambda x: (x * sigmoid(x), lambda grad: (sigmoid(x) * (1 + x * sigmoid(-x)),)),
        ],
    },
)


def solution_4(x):
    return softplus(2 * x) - x - math.log(2.0), lambda grad: (grad * tanh(x),)


def ln_cosh(value, message=lambda grad, x: grad * tanh(x)):
    return lambda x: (value(x), lambda grad: (message(grad, x),))


check_4 = Exercise(
    solution_4,
    ask=of_rule,
    at=[(x, 1.0) for x in (0.5, 1000.0, -1000.0, -5.0, 2.5)] + [(0.5, 2.0)],
    praise="Right: it holds at both ends, and the second derivative comes with it.",
    otherwise="The result is ln cosh x, and its derivative is sinh x / cosh x.",
    slips={
        "Off by ln 2: cosh is HALF of exp(x) + exp(-x).": ln_cosh(lambda x: softplus(2 * x) - x),
        "{at} cosh overflows. Take the larger of the two powers out of the logarithm.": [
            ln_cosh(lambda x: log(cosh(x))),
            ln_cosh(lambda x: math.log(math.cosh(x))),
        ],
        "That holds at one end. {at} exp overflows: the page knows ln(1 + exp(u)) for every u.": [
            ln_cosh(lambda x: x + log(1 + exp(-2 * x)) - math.log(2.0)),
            ln_cosh(lambda x: log(1 + exp(2 * x)) - x - math.log(2.0)),
        ],
        "{at} the derivative overflows. What is sinh x / cosh x?": [
            ln_cosh(lambda x: solution_4(x)[0], lambda grad, x: grad * sinh(x) / cosh(x)),
        ],
        "Right as long as grad is 1: it is not used.": [
            ln_cosh(lambda x: solution_4(x)[0], lambda grad, x: tanh(x)),
        ],
    },
)

solution = solutions(globals())
