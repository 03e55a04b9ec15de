"""Notebook 0: twelve heights, a curve that misses them, four sliders, and a guess."""

import re

from autodiff import Value, optim, show_training, tanh
from autodiff.pages.page import read

from .reverse_mode import HEIGHTS
from .verdicts import after_your_guess, empty, guesses, wrapped

NAMES = {"rise": "a", "pace": "b", "shift": "c", "middle": "d"}
WAYS = {
    "right": ("right", "up", "more", "larger", "bigger", "higher", "increase", "r", "+", "→", "↑"),
    "left": ("left", "down", "less", "smaller", "lower", "decrease", "l", "-", "−", "←", "↓"),
}
ALONG = "Which slider moves the whole curve along the sticks?"
SAID = {
    "d": "✓ Right: d lifts the whole curve, and every dot lies above it.",
    "c": "✗ Nearly: c moves the curve sideways, which shortens the sticks where it is steep. Which "
    "slider shortens them all?",
    "a": "✗ Nearly: that helps on the right. In the middle the curve stays where it is.",
    "b": f"✗ b turns the curve about its middle: on one side the sticks grow. {ALONG}",
}

predict = guesses("""
    1. 5: Right: five steps, and the loss is 0.048.
       6: Nearly: one less. The number of the step stands beside the loss.
       4: Nearly: after four it is still 0.056.
       else: Start again, and press Step until the loss begins with 0.04. How often was that?
    2. 0.012 to 0.0123: Right: 0.012. A curve of this kind cannot come closer to these dots.
       0 to 0.012: No curve of this kind comes so close to all the dots. Run, and wait.
       0.0123 to 0.05: It still falls: press Run, and wait until the last digit rests.
       else: Start again, press Run, and wait until the last digit rests.
    3. 16.4 to 24: Right: four times as large as before the step, or more.
       0.72 to 0.73: That is at 0.02, the rate that it begins with. Drag it to 0.1.
       0 to 4.1: Is a longer step a better one? Start again, drag the rate to 0.1, press Step once.
       else: Start again, drag the rate to 0.1, and press Step once.
    4. -7.25 to -7.15: Right: and the loss falls as c grows.
       7.15 to 7.25: The size is right. But does the loss rise, or fall?
       -13.29 to -13.27: That is a hair of d. The third number is c.
       -3.39 to -3.37: That is a hair of a. The third number is c.
       -1.06 to -1.04: That is a hair of b. The third number is c.
       else: In the line of nudged, give c, the third number, 0.000001, and d its 1.0 again.
""")


def fit_by_hand():
    """The sunflowers of 1919 and a tanh(b t + c) + d, to fit by hand, then by derivatives."""
    start = {"a rise": 1.0, "b pace": 1.0, "c shift": 0.0, "d middle": 1.0}
    parameters = a, b, c, d = [Value(x, label=name) for name, x in start.items()]

    def height(week):
        return a * tanh(b * (week[0] - 6) / 3 + c) + d

    def loss(guess, measured):  # 12 times the square, since training takes the mean of twelve
        return 12 * (guess - measured) ** 2

    page = show_training(
        height, range(1, 13), [x / 100 for x in HEIGHTS], loss, optim.SGD(parameters, lr=0.02),
        title="Fit it by hand", about="Sunflowers week by week, as published in 1919",
        names=["week", "height (m)"],
    )  # fmt: skip
    flower = read("sunflower.css", "autodiff.course")
    page._page = page._page.replace("</style>", f"{flower}</style>", 1)
    page._waiting = "<p>Click here and press Shift-Enter to get the sliders.</p>"
    return page


def guess(slider, way):
    """Print what to say to a guess: which slider changes the loss fastest, and which way it falls."""
    if empty(slider) or empty(way):
        print('✗ Your guess first: put a letter and "left" or "right" where the dots are.')
        return
    names = [NAMES.get(word, word) for word in words(slider)]
    letter = next((name for name in names if name in SAID), None)
    towards = {side for side, ways in WAYS.items() for word in words(way) if word in ways}
    if not letter:
        print("✗ Which slider? Its letter will do: a, b, c or d.")
    elif letter == "d" and towards == {"left"}:
        print("✗ The slider is right. But where do the dots lie, above the curve or below?")
    elif letter == "d" and len(towards) != 1:
        print("✗ The slider is right. And which way, left or right?")
    elif letter != "d" and towards == {"left"}:
        print(wrapped(f"✗ To the left {letter} makes the loss grow. {ALONG}"))
    else:
        print(wrapped(SAID[letter]))


def words(text):
    return re.findall(r"\w+|[^\w\s]", str(text).lower())
