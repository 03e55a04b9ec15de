"""Notebook 0: twelve heights, a curve that misses them, four sliders, and a guess."""

from autodiff import Value, optim, show_training, tanh
from autodiff.pages.page import read

from .reverse_mode import HEIGHTS
from .verdicts import empty

SAID = {
    ("d", "right"): "✓ Right: d lifts the whole curve, and every dot lies above it.",
    ("d", "left"): "✗ The slider is right. But where do the dots lie, above the curve or below?",
    ("a", "right"): "✗ Nearly: that helps on the right. In the middle the curve stays where it is.",
}


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
    other = "✗ Which slider moves the whole curve along the sticks?"
    print(SAID.get((str(slider).strip().lower(), str(way).strip().lower()), other))
