# pyright: analyzeUnannotatedFunctions=false
"""Notebook 8: its guesses and exercises: three rules of a step, a sweep, and when to stop."""

from collections.abc import Iterable
from dataclasses import InitVar, dataclass
from typing import NamedTuple

from autodiff import Value, nn, optim

from . import verdicts
from .verdicts import Exercise, Hint, after_your_guess, edits, empty, expect, several


@dataclass(eq=False, repr=False)
class Rule(optim.Optimizer):
    """An optimiser that counts steps, and lacks change(grad, state): what to subtract."""

    params: InitVar[Iterable[Value]]
    lr: float
    weight_decay: float = 0.0

    def moved(self, data, grad, state):
        if "steps" in state:
            state["steps"] = state["steps"] + 1
        if empty(amounts := self.change(grad, state)):
            raise Hint("change() returns nothing: a `return` is missing.")
        return data - amounts - self.lr * self.weight_decay * data


class Place(NamedTuple):
    x: float
    y: float


def path_of(kind, lr, start):
    """Where an optimiser goes in the valley x²/20 + y², in 12 steps."""
    if not issubclass(kind, Rule):
        raise Hint("Keep the first line: a Rule brings step() and zero_grad().")
    x, y = params = [Value(each) for each in start]
    optimizer, path = kind(params, lr), [Place(*start)]
    for _ in range(12):
        optimizer.zero_grad()
        (x**2 / 20 + y**2).backward()
        optimizer.step()
        path.append(Place(x.data, y.data))
    yield "path", path


class Signed(Rule):
    def change(self, grad, state):
        return self.lr * grad / (abs(grad) + 1e-8)


POINTS = {
    "lr = 0.1:": (0.1, (8.0, 2.0)),
    "a gradient of 0:": (0.5, (8.0, 0.0)),
    "lr = 0.3:": (0.3, (1.0, 2.0)),
}

solution_1 = Signed
check_1 = Exercise(
    solution_1,
    ask=path_of,
    at=POINTS,
    close=1e-5,  # with ε, or without
    praise="Right: each coordinate moves by the rate, whatever its slope.",
    otherwise="Each gradient, divided by its own size, is 1 or -1.",
    slips="""
        That is SGD: divide by the size.
            / (abs(grad) + 1e-8) →
        How long a step is depends on the rate, too: self.lr.
            self.lr * →
        Uphill: what you return is subtracted already.
            return → return -
        The sign is lost: a size is positive, and the gradient stays above it.
            * grad → * abs(grad)
        Each coordinate by *its own* size: abs(grad), entry by entry.
            abs(grad) + → (grad @ grad) ** 0.5 +
            → abs(grad).max() +
            → abs(grad).sum() +
            → abs(grad).mean() +
        That divides by the square, so flat directions get the longest steps.
            abs(grad) + → grad * grad +
        A gradient of 0 divides by 0: add ε to what you divide by.
            + 1e-8 →
        Take the root first, and add ε after that: inside the root 1e-8 counts for 1e-4.
            (abs(grad) + 1e-8) → (grad**2 + 1e-8) ** 0.5
    """,
)


class Averaged(Rule):
    memory = "m", "s"

    def change(self, grad, state):
        state["m"] = 0.9 * state["m"] + 0.1 * grad
        state["s"] = 0.999 * state["s"] + 0.001 * grad**2
        m, s = state["m"], state["s"]
        return self.lr * m / (s**0.5 + 1e-8)


class Late(Averaged):
    def change(self, grad, state):
        amounts = self.lr * state["m"] / (state["s"] ** 0.5 + 1e-8)
        super().change(grad, state)
        return amounts


class Adaptive(Rule):
    memory = "m", "s", "steps"

    def change(self, grad, state):
        state["m"] = 0.9 * state["m"] + 0.1 * grad
        state["s"] = 0.999 * state["s"] + 0.001 * grad**2
        m = state["m"] / (1 - 0.9 ** state["steps"])
        s = state["s"] / (1 - 0.999 ** state["steps"])
        return self.lr * m / (s**0.5 + 1e-8)


MEANS = edits("""
    That is SGD: it remembers nothing. Keep m and s in state.
        m / (s**0.5 + 1e-8) → grad
    That divides by the size of this one gradient: average first.
        m / (s**0.5 + 1e-8) → grad / (abs(grad) + 1e-8)
        s**0.5 → abs(grad)
    That is momentum: divide by the root of s, too.
        / (s**0.5 + 1e-8) →
        / (s**0.5 + 1e-8) →; 0.1 * grad → grad
    That is momentum's mean. In this one the new gradient counts 1 - β.
        0.1 * grad → grad
    That is RMSprop: move by m, not by g.
        lr * m → lr * grad
    Uphill: what you return is subtracted already.
        return → return -
    How long a step is depends on the rate, too: self.lr.
        self.lr * →
    Nothing is remembered: put the new mean back into state.
        0.9 * state["m"] + →; 0.999 * state["s"] + →
        0.9 * state["m"] + →
        0.999 * state["s"] + →
    The two β have changed places.
        0.9 → 0.999; 0.999 → 0.9; 0.1 → 0.001; 0.001 → 0.1
    The old mean counts β, the new gradient 1 - β.
        0.1 * →; 0.001 * →
        0.9 * → 0.1 *; 0.1 * → 0.9 *; 0.999 * → 0.001 *; 0.001 * → 0.999 *
        0.9 * → 0.1 *; 0.1 * → 0.9 *
    s is the mean of the squares.
        grad**2 → abs(grad)
        grad**2 → grad
        s**0.5 → abs(m)
    Divide by the root of s, not by s.
        s**0.5 → s
    A gradient of 0 divides by 0: add ε to what you divide by.
        + 1e-8 →
""")

solution_2 = Averaged
check_2 = Exercise(
    solution_2,
    ask=path_of,
    at=POINTS,
    close=1e-5,  # any small ε
    praise="Right: two means that forget, one of gradients and one of their squares.",
    otherwise="First the two means, then the step: factor by factor.",
    slips=MEANS
    | edits("""
        Take the root of s first, and add ε after that: inside the root 1e-8 counts for 1e-4.
            (s**0.5 + 1e-8) → ((s + 1e-8) ** 0.5)
    """)
    | {"Both means are corrected already. Leave that out, and see what it is for.": Adaptive}
    | {"Those are the means of the step before. First bring in this gradient, then move.": Late},
)

solution_3 = Adaptive
check_3 = Exercise(
    solution_3,
    ask=path_of,
    at=POINTS,
    close=1e-5,
    praise="Right: step for step where the package's Adam goes. You have derived it.",
    otherwise="Exercise 2, with each mean divided by 1 - β**t before it is used.",
    slips=MEANS
    | edits("""
        m is corrected, s is not.
            / (1 - 0.999 ** state["steps"]) →
        s is corrected, m is not.
            / (1 - 0.9 ** state["steps"]) →
        That divides by 1 - β in every step. After t steps it is 1 - β**t.
            ** state["steps"] →
        state keeps the means as they are: correct them only for the step.
            m = state → m = state["m"] = state; s = state → s = state["s"] = state
        It is β**t, β to the power of t; and t, state["steps"], is 1 in the first step already.
            ** state["steps"] → * state["steps"]
            state["steps"] → (state["steps"] + 1)
            state["steps"] → (state["steps"] - 1)
        state["steps"] is counted for you: yours counts each step twice.
            state["steps"] → (2 * state["steps"])
    """)
    | {"Both means are still too small at first.": Averaged},
)


def swept(sweep, scores):
    """A sweep over rates whose scores are known."""

    def score(lr, seed):
        if lr not in scores:
            raise Hint("The rate comes first: score(lr, seed).")
        return scores[lr][seed]

    found = sweep(score, [*scores], range(3))
    expect(several(found, 2), "two things, the best rate and a dict of the ranges", found)
    best, ranges = found
    if not isinstance(ranges, dict) or ranges.keys() != scores.keys():
        raise Hint(
            "The second is a dict with an entry for each rate: its lowest and highest score."
        )
    for lr, pair in ranges.items():
        expect(several(pair, 2), f"a pair (low, high) at rate {lr}", pair)
        yield f"the lowest score at rate {lr}", pair[0]
        yield f"the highest score at rate {lr}", pair[1]
    yield "the best rate", best


def solution_4(score, rates, seeds):
    scores = {lr: [score(lr, seed) for seed in seeds] for lr in rates}
    best = max(rates, key=lambda lr: sum(scores[lr]))
    return best, {lr: (min(row), max(row)) for lr, row in scores.items()}


check_4 = Exercise(
    solution_4,
    ask=swept,
    at={
        "three rates,": ({0.1: (0.95, 0.2, 0.3), 0.01: (0.6, 0.59, 0.6), 0.001: (0.4, 0.4, 0.4)},),
        "three more,": ({0.3: (0.5, 0.9, 0.92), 0.1: (0.6, 0.88, 0.6), 0.03: (0.7, 0.71, 0.76)},),
        "two rates,": ({0.1: (0.9, 0.3, 0.9), 0.01: (0.8, 0.75, 0.8)},),
    },
    praise="Right: the range at every rate, and the rate whose mean is highest.",
    otherwise="Ask for a score for each rate and seed; then compare the means.",
    slips="""
        That is the rate of the luckiest seed. Compare the means.
            sum(scores → max(scores
        That is the rate whose worst seed is best. Compare the means.
            sum(scores → min(scores
        That is the rate with the best median. Compare the means.
            sum(scores[lr]) → sorted(scores[lr])[1]
        That is the rate whose first seed is best. Compare the means.
            → scores[lr][0]
        That is the middle between the lowest and the highest. Compare the means of all seeds.
            → min(scores[lr]) + max(scores[lr])
        That is the worst rate: a score is a share of right answers, so more is better.
            max(rates → min(rates
        One seed ranks nothing: ask for all of them.
            in seeds → in seeds[:1]
        A range begins with the lowest score.
            min(row), max(row) → max(row), min(row)
        That is the best mean. Return the rate that has it.
            return best → return sum(scores[best]) / 3
    """,
)


def told(stop_early, validation):
    """After which epoch it stops, with a patience of 3, and whose parameters it keeps."""
    model, best, history = nn.Module(), {}, nn.History()
    callback, stops, asked = stop_early(model, best, 3), "none", []
    if empty(callback):
        yield "the function that it returns", ...
        return
    for epoch, loss in enumerate(validation, start=1):
        model.state_dict = lambda epoch=epoch: asked.append(epoch) or {"epoch": epoch}
        history.losses.append(1 / epoch)
        history.validation.append(loss)
        try:
            stop = callback(history)
        except UnboundLocalError as error:
            raise Hint(
                f"{error}. What the callback assigns is a new name inside it: begin with `nonlocal`, "
                "or look the lowest up in history.validation."
            ) from None
        if stop:
            stops = str(epoch)
            break
    if best and "epoch" not in best:
        raise Hint("best is to be what state_dict() returns, not to hold it: best.update(...).")
    none = "none, though state_dict() was called" if asked else "none"
    yield "the epoch whose parameters are in best", str(best.get("epoch", none))
    yield "the epoch after which it stops", stops


def solution_5(model, best, patience=5):
    def callback(history):
        losses = history.validation
        lowest = losses.index(min(losses))
        waited = len(losses) - 1 - lowest
        if waited == 0:
            best.update(model.state_dict())
        return waited >= patience

    return callback


check_5 = Exercise(
    solution_5,
    ask=told,
    at=[
        ([5, 4, 3, 4, 4.2, 4.1, 4.3, 4.4],),
        ([5, 3, 4, 2, 1, 1.3, 1.2, 1.4, 1.5],),
        ([3, 2, 3, 4, 5, 6],),
    ],
    praise="Right: it keeps what was best, and waits no longer than it was told.",
    otherwise="In which epoch was the loss lowest so far, and how long ago was that?",
    slips="""
        It stops an epoch too late.
            >= patience → > patience
        It stops too soon: wait for as many epochs as patience says.
            → > patience - 2
            → >= 1
        It never stops: say True in the end.
            waited >= patience → False
        best stays empty: state_dict() is never called. The last loss is in history.validation too,
        so it is never below the minimum of all: ask whether it *is* the minimum.
            waited == 0 → losses[-1] < min(losses)
        best stays empty, though state_dict() was called: fill the dict that is given, by
        best.update(...): `best = ...` makes another.
            best.update(model.state_dict()) → best = model.state_dict()
        best holds the newest parameters: update it at a new lowest loss only.
            waited == 0 → True
        Lower than the epoch before is not yet the lowest so far: compare with all of them.
            waited == 0 → losses[-1] < [9e9, *losses][-2]
        A new lowest loss begins the wait anew: yours counts on.
            waited = len(losses) - 1 - lowest → waited = sum(x > min(losses[:k]) for k, x in enumerate(losses) if k); waited == 0 → lowest == len(losses) - 1
        That is the training loss, which goes on falling. Look at the other.
            .validation → .losses
        That counts how often the loss has risen in a row. Count from the lowest, wherever that was.
            waited >= patience → len(losses) > patience and all(x < y for x, y in zip(losses[-patience - 1 :], losses[-patience:]))
    """,
)


predict = verdicts.guesses("""
    1. 55 to 70: Right, or nearly.
       0.3 to 1: In percent, please: 50 for one half.
       1 to 45: More: who is wrong pulls harder. Touch some wires: whose arrows are long?
       45 to 55: So it would be if all pulled alike. Touch some wires: whose arrows are long?
       else: Touch some wires. The others pull too: their loss is not 0 yet.
    2. 8 to 30: Right, or nearly.
       0.05 to 0.3: In percent, please: 50 for one half.
       0 to 8: Less is left, but not so little: the network does not say 1 and -1 exactly.
       else: Press Run, and touch a wire when all 80 are right: how long are the arrows now?
    3. 100: Right: every one, though there is nothing to understand.
       5 to 20: So many would be right by chance.
       0 to 1: In percent, please: 50 for one half.
       else: It has 2,410 numbers in which to keep 60 labels.
    4. -1.53 to -1.5: Right: to the other side, half as far again. It will never settle.
       1.5 to 1.53: Right: half as far again. (And on the other side: the factor has a minus.)
       2.5 to 2.53: That is what the step subtracts. What is left of a distance of 1?
       else: From a distance of 1, how far does a step move, and where does it land?
    5. 0.2375 to 0.24: Right: 2 / λ. A little more, and it flies off.
       0.118 to 0.12: With 1 / λ the factor 1 - lr λ is 0. It may go down to -1.
       3.3 to 3.4: That is the limit of the flat direction. The steep one breaks first.
       0 to 0.2375: That does not diverge yet. For which lr is 1 - lr λ = -1?
       else: That diverges, and smaller rates do so too. For which lr is 1 - lr λ = -1?
    6. 0.8 to 0.9: Right, or nearly. Drag, and see.
       0 to 0.8: That forgets too soon to get far along the flat direction. Drag, and see.
       0.9 to 1: That remembers so long that it swings to and fro. Drag, and see.
       else: β is a share of what is remembered: between 0 and 1.
    7. 0.3: Right: as long as the first. It cannot settle.
       -0.3: Right: as long as the first. It cannot settle.
       0: It would have to stop for that. How long is each step?
       else: Each gradient is divided by its size: what is left?
    8. 0.6 to 0.64: Right: 0.1 / √0.001 is 3.16.
       -0.64 to -0.6: Right: 0.1 / √0.001 is 3.16.
       0.2: That is the rate. But m is 0.1 g, and √s is not 0.1 |g|.
       3.15 to 3.17: That many times the rate, which is 0.2.
       else: In the first step m is 0.1 g and s is 0.001 g². What is m / √s?
    9. -3 to 5: Right, or nearly: it is about a draw.
       -100 to -3: It loses less than that, if at all.
       else: That is too much, if each has its best rate.
    10. 0 to 0.01: Right, or nearly.
       0.01 to 0.1: Nearly: even less.
       0.5 to 0.75: So does SGD. But how long are its steps?
       else: What becomes of a tiny gradient, divided by its size?
    11. 95 to 99: Right, or nearly.
       100: Nobody reads them all.
       0 to 1: In percent, please: 50 for one half.
       else: It has seen 1,200 others.
    12. 1.5 to 2.2: Right, or nearly: the rings pay for what the dots gain.
        1: It rises again. Watch it from step 300 on.
        0 to 1: Its lowest value is the lowest: once or more.
        2.2 to 10: Not so far yet. Watch the two numbers, or open the box.
    13. 78 to 88: Right, or nearly.
       88 to 94: For that it takes more images.
       94 to 100: As on the 60 that it knows by heart?
       0 to 1: In percent, please: 50 for one half.
       else: More: six images of each digit teach it that much.
    14. 75 to 90: Right, or nearly.
       68.5 to 75: More: it stops before it knows the wrong labels by heart.
       62 to 68.5: Plain training reads as many. What has it learnt last?
       90 to 100: So much it cannot undo: the labels are still wrong.
       0 to 1: In percent, please: 50 for one half.
       else: That is worse than plain training.
""")

solution = verdicts.solutions(globals())
