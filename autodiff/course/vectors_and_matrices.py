# pyright: analyzeUnannotatedFunctions=false
"""Notebook 6: a product whose rows light up; its guesses and exercises."""

import inspect
from typing import Any

import numpy as np
from numpy.linalg import inv, norm

from autodiff import Matrix, Vector

from .reverse_mode import SUNFLOWER, result_and_messages
from .verdicts import Exercise, Hint, after_your_guess, edits, guesses, outside, several, solutions


def drawn(*points):
    """Random arrays of the shapes of each point."""
    draw = np.random.default_rng(1).normal
    return {f"shapes {str(point)[1:-1]}": tuple(draw(size=x) for x in point) for point in points}


def of_rule(rule, at, slips, **texts):
    """An exercise to write a rule. Slips are functions from the inputs and grad to the messages."""
    names = [*inspect.signature(rule).parameters]

    def sending(messages):
        return lambda *xs: (rule(*xs)[0], lambda grad: messages(*xs, grad))

    return Exercise(
        rule,
        ask=lambda answer, *point: result_and_messages(answer, point[:-1], point[-1], names),
        at=drawn(*at),
        slips={hint: [*map(sending, functions)] for hint, functions in slips.items()},
        **texts,
    )


def either(to_a):
    """This message to A in A B, or the same to B: the transpose of A B is Bᵀ Aᵀ."""
    yield lambda a, b, g: (to_a(a, b, g), a.T @ g)
    yield lambda a, b, g: (g @ b.T, to_a(b.T, a.T, g.T).T)


def solution_1(a, b):
    return a @ b, lambda grad: (grad @ b.T, a.T @ grad)


check_1 = of_rule(
    solution_1,
    at=[((3, 3), (3, 3), (3, 3)), ((2, 3), (3, 4), (2, 4))],
    praise="Right. That is all that a framework knows about the product of matrices.",
    otherwise="Which entries of C use this one? Add up grad there, each times its local derivative.",
    slips={
        "{part}: over which index do you add? Transpose a factor.": either(lambda a, b, g: g @ b),
        "{part}: the other way round. Do the shapes fit?": either(lambda a, b, g: b.T @ g),
        "{part}: where is grad? Each message has it as a factor.": [
            *either(lambda a, b, g: b.T),
            *either(lambda a, b, g: b),
        ],
        "{part}: only the sign is wrong. Nothing is subtracted here.": either(
            lambda a, b, g: -g @ b.T
        ),
        "{part}: that is the message for the other factor.": either(lambda a, b, g: a.T @ g),
        "{part}: `*` goes entry by entry, `@` adds up.": either(lambda a, b, g: g * b.T),
    },
)


def of_misfit(answer, a, x, b):
    used = {str(getattr(x, "__module__", getattr(x, "__name__", ""))) for x in outside(answer)}
    engine = any(x.startswith("autodiff") for x in used - {Matrix.__module__, __name__})
    if engine or "backward" in inspect.unwrap(answer).__code__.co_names:
        raise Hint("That is the engine's answer. Write yours: a formula of a, x and b, in NumPy.")
    found = answer(a, x, b)
    if not several(found, 2):
        alone = {a.shape: "That is for A alone. ", x.shape: "That is for x alone. "}
        raise Hint(f"{alone.get(np.shape(found), '')}Return two gradients: for A, and for x.")
    to_a, to_x = [part.data if isinstance(part, (Vector, Matrix)) else part for part in found]
    yield "the gradient for A", to_a
    yield "the gradient for x", np.ravel(to_x) if np.shape(to_x) == (len(x), 1) else to_x


def misfit(message, times=1):
    """The gradients, if this function of r = A x - b (b so many times) were the message to it: both
    of them, or that of x alone."""

    def wrong(a, x, b):
        u = message(a @ x - times * b)
        return np.outer(u, x), a.T @ u

    yield wrong
    yield lambda *given: (solution_2(*given)[0], wrong(*given)[1])


def solution_2(a, x, b):
    r = a @ x - b
    u = r / np.linalg.norm(r)
    return np.outer(u, x), a.T @ u


NEAR = np.eye(2), np.ones(2), np.full(2, 1.00001)
check_2 = Exercise(
    solution_2,
    ask=of_misfit,
    at=drawn(((2, 3), (3,), (2,)), ((3, 3), (3,), (3,)))
    | {"A x ≈ b, where no difference quotient is exact,": NEAR},
    praise="Right: the norm sends r/‖r‖ to A x, and your rule passes it on, with x for B.",
    otherwise="What does the norm send to r = A x - b? And what does the product make of it?",
    slips=edits("""
        Your rule sends Aᵀ times what arrives: A has to be transposed.
            a.T @ u → a @ u
        x has one axis, so x.T is x itself. All products of an entry of u and one of x:
        np.outer(u, x).
            np.outer(u, x) → u @ x.T
            → u * x
    """)
    | {
        "That is for half the norm squared.": [*misfit(lambda r: r)],
        "That is for the norm squared. How does the root change it?": [*misfit(lambda r: 2 * r)],
        "The sign is wrong: r is A x - b.": [*misfit(lambda r: -r / norm(r))],
        "Where is b? The norm is that of A x - b.": [*misfit(lambda r: r / norm(r), times=0)],
        "Divide by the norm alone: it is no mean.": [*misfit(lambda r: r / norm(r) / len(r))],
        "A factor of 2 is off: the root brings 1/2, and each square brings 2.": [
            *misfit(lambda r: r / (2 * norm(r))),
            *misfit(lambda r: 2 * r / norm(r)),
        ],
    },
)


def solution_3(x, bias):
    return x + bias, lambda grad: (grad, grad.sum(axis=0))


check_3 = of_rule(
    solution_3,
    at=[((3, 3), (3,), (3, 3)), ((2, 5), (5,), (2, 5))],
    praise="Right: what is repeated on the way forward is added up on the way back.",
    otherwise="How often is an entry used? Each use sends a message.",
    slips={
        "{part}: it serves every row. Several messages come back.": [lambda x, b, g: (g, g)],
        "{part}: messages add. Nothing is divided.": [lambda x, b, g: (g, g.mean(axis=0))],
        "{part}: that adds along the other axis.": [lambda x, b, g: (g, g.sum(axis=1))],
    },
)


def solution_4(a):
    c = np.linalg.inv(a)
    return c, lambda grad: (-c.T @ grad @ c.T,)  # from Ċ = -C Ȧ C


check_4 = of_rule(
    solution_4,
    at=[((2, 2), (2, 2)), ((3, 3), (3, 3))],
    praise="Right: -1/a² once more, with a factor on either side of grad.",
    otherwise="Solve Ȧ C + A Ċ = 0 for Ċ. What stands left and right of Ȧ moves over to G.",
    slips={
        "The sign: as a grows, 1/a shrinks.": [lambda a, g: (inv(a).T @ g @ inv(a).T,)],
        "That is Ċ, with grad for Ȧ. Both factors move.": [lambda a, g: (-inv(a) @ g @ inv(a),)],
        "In Ċ one factor is right of Ȧ.": [lambda a, g: (-inv(a @ a).T @ g,)],
        "In Ċ one factor is left of Ȧ.": [lambda a, g: (-g @ inv(a @ a).T,)],
        "The factors are those of C, not of A.": [lambda a, g: (-a.T @ g @ a.T,)],
        "That is for 1/a entry by entry.": [lambda a, g: (-g / a**2,)],
        "`*` goes entry by entry. Use `@`.": [lambda a, g: (-inv(a).T * g * inv(a).T,)],
    },
)

times, heights = np.hsplit(np.array(SUNFLOWER), 2)  # two columns
matmul, add_bias = solution_1, solution_3  # the names that solution_5 uses


def of_network(answer, *parameters):
    found = answer(*parameters)
    if not several(found, 4):
        raise Hint("Return four gradients: for W, b, V and d.")
    for name, gradient in zip("dVbW", found[::-1]):
        yield f"the gradient of {name}", gradient


def solution_5(W, b, V, d):
    p, back_1 = matmul(times, W)
    q, back_2 = add_bias(p, b)
    h = np.tanh(q)
    r, back_3 = matmul(h, V)
    y, back_4 = add_bias(r, d)
    r_bar, d_bar = back_4(2 * (y - heights))
    h_bar, V_bar = back_3(r_bar)
    p_bar, b_bar = back_2(h_bar * (1 - h**2))
    _, W_bar = back_1(p_bar)
    return W_bar, b_bar, V_bar, d_bar


check_5 = Exercise(
    solution_5,
    ask=of_network,
    at=drawn(((1, 3), (3,), (3, 1), (1,)), ((1, 2), (2,), (2, 1), (1,))),
    praise="Right: four closures, the last one first, and two lines of calculus between them.",
    otherwise="Walk back from the loss. Which closure comes next, and what has arrived at its result?",
    slips="""
        The derivative of a square is twice what is squared.
            2 * (y - heights) → y - heights
        The sign: the loss grows with y where y is above the heights.
            y - heights → heights - y
        Between q and h stands the tanh: what arrives goes on times 1 - h².
            * (1 - h**2) →
            1 - h**2 → 1 - q**2
        A closure returns its messages in the order of the arguments.
            h_bar, V_bar = → V_bar, h_bar =
            r_bar, d_bar = → d_bar, r_bar =
            _, W_bar = → W_bar, _ =
    """,
    rests_on={"matmul": check_1, "add_bias": check_3},
)

predict = guesses("""
    1. 4: Right: a row of C. Point at it.
       else: It meets all of a row of B. Where in C?
    2. 66: Right: 3 · 11 + 1 · 33.
       else: Each entry that moves: its G, times how far. Add up.
    3. 2: Right: one from each row of M.
       else: Which rows of M multiply it?
    4. 8192: Right: eight times the edges.
       else: n² dots. How many parents has each?
    5. 6: Right: 14 from c, -8 from d.
       else: What do c and d get? What do both send to a?
    6. 0.6: Right: 3/5.
       else: The norm is the root of 3² + 4². What is its slope?
""")


def corner(a: Any, b: Any, gradient: Any = None) -> Any:
    """A, B above, and at the corner C = A B or its gradient: point at an entry, and see why."""
    from autodiff.pages.page import lesson

    data = {"title": "What a nudge moves", "A": a.data, "B": b.data, "G": gradient}
    above = [[""] * len(a.data[0]) + row for row in b.data]
    rows = above + [left + right for left, right in zip(a.data, gradient or (a @ b).data)]
    said = "".join(f"<tr><td>{'<td>'.join(map(str, row))}</tr>" for row in rows)
    return lesson("corner", data, still=f"<table>{said}</table>")


solution = solutions(globals())
