# pyright: analyzeUnannotatedFunctions=false
"""Notebook 11: its guesses and exercises, drawings that a program makes, the page that reads yours."""

import ast
import json
import linecache
import math
import re
from fractions import Fraction
from inspect import isfunction
from pathlib import Path
from random import Random
from string import Template

import numpy as np

from autodiff.pages.page import COURSE, Page, as_json, read, tightened

from . import our_reader, verdicts
from .figures import show, show_images
from .neural_networks import engine_of, noted
from .our_engine import Value
from .our_reader import Text, cross_entropy, node, slanted
from .verdicts import Exercise, Hint, after_your_guess, empty, expect, several
from .your_engine import long

# -- Drawings: nobody's. A stroke is points of two digits each way, from the left and from the top.

GLYPHS = {
    0: "5015 3018 2240 2262 3282 5085 7080 7860 7838 7018 5015; 5814 3622 2650 3280 5086 7072 7444 6620 4818",
    1: "5015 5085; 3238 5515 5585; 3535 5215 5285, 3585 7085",
    2: "2632 3418 5213 7022 7038 5558 2684 7684; 2830 4015 6218 6838 5060 3080 3688 4480 7486",
    3: "2822 4814 6824 6640 4648 6856 7072 5086 2878; 2616 7016 4644 6852 7070 5286 2878",
    4: "3815 2855 7455, 6240 5888; 6015 2260 7660, 6015 6088; 3015 2850 7050, 7015 6888",
    5: "7016 3416 3046 5240 7056 6876 4686 2678; 3416 3046 5240 7258 6678 4686 2678, 3416 7214",
    6: "6414 4028 2658 3280 5286 7070 6254 4252 2864; 5812 3248 2870 4286 6480 6660 4856 3064",
    7: "2418 7416 5050 4288; 2418 7416 5246 4288, 3450 6850; 2426 2616 7416 5448 4488",
    8: "6824 5014 3226 4244 6258 6878 5088 3276 3860 6040 6824; "
    "5048 3436 3820 5214 6622 6238 5048 3262 3480 5288 7078 6660 5048",
    9: "6630 5016 3228 3446 5250 6832 6830 6660 6088; 6826 4816 3032 4048 6636 6826 6862 5486 3280",
}


def hand(seed, copies=2):
    """Drawings as one hand might make them: of each digit one form, wobbling, at one slant."""
    rng = Random(seed)
    slant, width, wobble = rng.gauss(0.1, 0.2), rng.uniform(0.75, 1.15), rng.uniform(1, 4)
    for digit, forms in GLYPHS.items():
        form = rng.choice(forms.split("; "))
        for _ in range(copies):
            lean, strokes = slant + rng.gauss(0, 0.05), []
            for stroke in form.split(", "):
                strokes.append([])
                for point in stroke.split():
                    x, y = int(point[:2]), int(point[2:])
                    x = width * x - lean * (y - 50)
                    strokes[-1].append((x + rng.gauss(0, wobble), y + rng.gauss(0, wobble)))
            yield strokes, digit


def seen_as(strokes):
    """Strokes as 64 numbers: drawn on 32 by 32 dots, the ink counted in blocks, as by reads.js."""
    radius, (xs, ys) = 2.75, zip(*[point for stroke in strokes for point in stroke])
    scale = (31 - 2 * radius) / max(max(xs) - min(xs), max(ys) - min(ys), 3.4)
    x0, y0 = [15.5 - (min(each) + max(each)) / 2 * scale for each in (xs, ys)]
    ink, lines = [0] * 64, []
    for stroke in strokes:
        points = [(x * scale + x0, y * scale + y0) for x, y in stroke]
        lines += zip([points[0], *points], points)
    for k in range(1024):
        y, x = divmod(k, 32)
        ink[y // 4 * 8 + x // 4] += any(distance(x, y, *line) <= radius for line in lines)
    return [count / 16 for count in ink]


def distance(x, y, start, end):
    """From a point to a line between two points."""
    (a, b), (c, d) = start, (end[0] - start[0], end[1] - start[1])
    along = ((x - a) * c + (y - b) * d) / (c * c + d * d or 1)
    t = min(1, max(0, along))
    return math.hypot(x - a - t * c, y - b - t * d)


def hands(seeds, copies=2):
    """What is seen of the drawings of several such hands, each with its digit."""
    return [(seen_as(s), digit) for seed in seeds for s, digit in hand(seed, copies)]


def drawings(pasted):
    """What was copied from the page; without it those of a program. Says which."""
    if empty(pasted):
        print("No drawings of yours: these twenty are a program's. Nobody has drawn them.")
        return hands([100])
    found = [([ink / 16 for ink in pixels], digit) for pixels, digit in pasted]
    print(f"{len(found)} drawings of yours.")
    return found


# -- One file


def text_of(piece):
    """The text of a function or a class, wherever it stands: in a cell too."""
    methods = [piece] if isfunction(piece) else filter(isfunction, vars(piece).values())
    source = "".join(linecache.getlines(next(iter(methods)).__code__.co_filename))
    found = [x for x in ast.parse(source).body if getattr(x, "name", "") == piece.__name__]
    return ast.get_source_segment(source, found[-1])


def one_file(name, value, *pieces):
    """Write an engine, the file in which its Value stands, and the pieces; return how many lines."""
    engine = "".join(linecache.getlines(value.backward.__code__.co_filename)).strip()
    text = "\n\n\n".join([engine, "import math\nimport random", *map(text_of, pieces)]) + "\n"
    text = text.replace("engine.Value", "Value")  # as it is called in a notebook
    Path(name).write_text(text, encoding="utf-8")
    print(f"{name}: {long(text)} lines, {long(engine)} of them the engine.")
    return long(text)


# -- The page

OURS = json.loads(read("reads.json", COURSE))


def packed(pixels):
    """An image as 32 signs, for two pixels each."""
    levels = [round(8 * pixel) for pixel in pixels]
    return "".join(chr(35 + 9 * a + b) for a, b in zip(levels[::2], levels[1::2]))


def reads(program, numbers, strangers, by, lines, seconds):
    """The page that reads digits: by a program, with these numbers; it keeps some strangers."""
    hundredths = "+".join(np.base_repr(round(100 * x), 36) for x in numbers).replace("+-", "-")
    data = {"by": by, "lines": lines, "seconds": round(seconds), "hundredths": hundredths}
    parts = {"style": read("reads.css", COURSE), "frame": read("frame.js"), "program": program}
    data["strangers"] = "".join(f"{digit}{signs}" for signs, digit in strangers)
    parts["script"] = read("reads.js", COURSE)
    for name, text in parts.items():
        parts[name] = tightened(re.sub(r"(?<=[;{}])\n", "", re.sub(r"\n\s+", "\n", text)))
    page = Template(read("reads.html", COURSE)).substitute(parts, data=as_json(data))
    return Page(page, "Can it read my handwriting?")


def our_page():
    """The page with our network, which our_reader.py has trained."""
    net = our_reader.network([64, 16, 10])
    for p, number in zip(net.parameters(), OURS["weights"]):
        p.data = number
    return reads(our_reader.javascript(net, 64), *OURS.values())


def your_page(program, net, samples, **facts):
    """The page with the reader's network; of what that has learnt it keeps three of each digit."""
    kept = []
    for k in range(10):
        kept += [[packed(x), k] for x, digit in samples if digit == k][:3]
    return reads(program, [p.data for p in net.parameters()], kept, **facts)


def show_drawings(images, titles):
    """Images of 64 numbers, at most ten in a row."""
    for k in range(0, len(images), 10):
        show_images([np.array(image) for image in images[k : k + 10]], titles[k : k + 10])


def show_slopes(pixels, slopes):
    """An image, and beside it the derivatives with respect to its pixels: orange above 0, sand below."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import LinearSegmentedColormap

    figure, (left, right) = plt.subplots(1, 2, figsize=(5, 2.6), layout="constrained")
    most, sides = max(map(abs, slopes)), ["#8b7052", "white", "#dd7429"]
    colours = LinearSegmentedColormap.from_list("", sides)
    left.imshow(np.reshape(pixels, (8, 8)), cmap="Blues", vmin=0, vmax=1)
    right.imshow(np.reshape(slopes, (8, 8)), cmap=colours, vmin=-most, vmax=most)
    for k, slope in enumerate(slopes):
        if abs(slope) > most / 3:
            right.text(k % 8, k // 8, "+" if slope > 0 else "−", ha="center", va="center")
    for axes, title in ((left, "ink"), (right, "derivative with respect to each pixel")):
        axes.set(title=title, xticks=[], yticks=[])
    show(figure, "A drawing, and the derivative with respect to each of its 64 pixels.")


# -- The exercises


solution_1 = node


def noding(node):
    kind = engine_of(node)
    x, y = kind(2.0), kind(-3.0)
    with noted(kind) as nodes:
        z = node(7.0, [x, y], [4.0, 5.0])
    expect(isinstance(z, kind), "one Value of the engine", z)
    yield "the number of node(7.0, [x, y], [4.0, 5.0])", z.data
    (z * 3).backward()
    yield "the gradients of x and y in node(7.0, [x, y], [4.0, 5.0]) * 3", [x.grad, y.grad]
    x = kind(2.0)
    p = node(1.0, [x, x], [2.0, 3.0])
    node(1.0, [p, x, p], [10.0, 1.0, 100.0]).backward()
    yield "the gradient of x, with p = node(1.0, [x, x], [2.0, 3.0]), in one of p, x, p", x.grad
    yield "the number of new nodes", len(nodes)
    yield "the number of node(Fraction(1, 3), [], [])", str(node(Fraction(1, 3), [], []).data)


check_1 = Exercise(
    solution_1,
    ask=noding,
    praise="Right: a node of any size. It needs to know its number, and a slope for each parent.",
    otherwise=lambda part, found: (
        "The numbers are right. Now make one node of it, with all of the parents."
        if part == "the number of new nodes"
        else "To each parent it sends the parent's slope times its own grad; a parent adds what it gets."
    ),
    slips="""
    A message is the slope times *grad*, which comes from above: yours sends the slope alone.
        [grad * slope for slope in slopes] → slopes
    A message is *the slope* times grad: yours sends grad alone.
        grad * slope → grad
    The parents hear nothing: they belong to the node, and each gets a message.
        , parents, lambda grad: [grad * slope for slope in slopes] →
    Keep the number as it comes. A float(…), here or in your `Value`, turns it into another; later
    it will be a text.
        Value(number → Value(float(number)
    """,
)

solution_2 = cross_entropy


def losing(loss, numbers, target):
    found = loss(numbers, target)
    found = (...,) * 2 if empty(found) else found
    expect(several(found, 2), "two things, the loss and the list of slopes", found)
    yield "the loss", found[0]
    yield "the slopes", found[1]


check_2 = Exercise(
    solution_2,
    ask=losing,
    at={
        "logits 1, 2, 3, target 0:": ([1.0, 2.0, 3.0], 0),
        "logits 0, 0, target 1:": ([0.0, 0.0], 1),
        "logits 1000, 0, target 1:": ([1000.0, 0.0], 1),
        "logits -1000, -1001, target 0:": ([-1000.0, -1001.0], 0),
    },
    praise="Right: a loss in one node, wherever between -1000 and 1000 the logits are.",
    otherwise=lambda part, found: (
        "The slopes are softmax, minus 1 for the target."
        if part == "the slopes"
        else "The loss is the logarithm of the sum of all powers, minus the logit of the target."
    ),
    slips="""
    The slopes are softmax, *minus 1 for the target*.
        share - (k == target) → share
    Softmax divides each power by the sum of all.
        shares = [p / sum(powers) → shares = [p
    Minus 1 for the target alone, not for all.
        (k == target) → 1
    The sign of the slopes: the loss falls as the logit of the target rises.
        share - (k == target) → (k == target) - share
    The sign of the loss: it falls as the probability rises.
        return loss → return -loss
    That is the probability of the target. Its logarithm, with a minus, is the loss.
        math.log(sum(powers)) + max(logits) - logits[target] → shares[target]
    exp(1000) is too large for a float: subtract the largest logit first, from all.
        math.exp(z - max(logits)) → math.exp(z); + max(logits) →
        → math.exp(z); + max(logits) →; shares = [p → shares = math.log(sum(powers)) and [p
    A probability may round to 0, which has no logarithm. The loss as it stands above needs none.
        math.log(sum(powers)) + max(logits) - logits[target] → -math.log(shares[target])
    The largest is subtracted in the sum, but not from the logit of the target.
        + max(logits) →
    """,
)

solution_3 = Text


def written(kind, f):
    """What is written down of a function of two texts: its lines, and what comes back."""
    found, ours = noted_down(kind, f), noted_down(Text, f)
    text, lines = ours if in_order(found) == in_order(ours) else found
    yield "the text", text
    yield "the lines before it", lines


def noted_down(kind, f):
    kind.lines.clear()
    result = f(kind("x0"), kind("w[1]"))
    if empty(result):
        return ..., ...
    expect(isinstance(getattr(result, "text", None), str), "a Text from each operator", result)
    text, lines = result.text.replace(" ", ""), [line.replace(" ", "") for line in kind.lines]
    name, _, formula = lines[-1].partition("=") if lines else ("", "", "")
    if text == f"Math.tanh({name})":  # a tanh by its name is as good
        text = f"Math.tanh({formula})"
        lines.pop()
    return text, "; ".join(lines) or "none"


def in_order(texts):
    """The pieces of texts by the alphabet, on each side of a minus: x*y is as good as y*x."""
    sides = [side for text in texts for side in str(text).split("-")]
    return [sorted(re.findall(r"[\w.[\]]+|.", side)) for side in sides]


check_3 = Exercise(
    solution_3,
    ask=written,
    at={
        "x + y": (lambda x, y: x + y,),
        "x * y": (lambda x, y: x * y,),
        "1 - x": (lambda x, y: 1 - x,),
        "x.tanh()": (lambda x, y: x.tanh(),),
        "sum([x, y, x])": (lambda x, y: sum([x, y, x]),),
        "1.0 * x": (lambda x, y: 1.0 * x,),
        "(x + y) * x": (lambda x, y: (x + y) * x,),
        "y * (x * y)": (lambda x, y: y * (x * y),),
        "1 - (x + y)": (lambda x, y: 1 - (x + y),),
        "(x * y + x).tanh()": (lambda x, y: (x * y + x).tanh(),),
    },
    praise="Right: it computes nothing. Your engine will run on it, and a program stays behind.",
    otherwise="A sum takes the texts as they are, `self.text`; a product takes names, `self.name()`.",
    slips="""
    A factor that is a sum would need brackets: take its name, `self.name()`.
        {self.name()}*{other.name()} → {self.text}*{other.text}
    What is taken from 1 may be a sum, and would need brackets: take its name.
        {other}-{self.name()} → {other}-{self.text}
    sum begins with 0 + x, and a grad with 0.0: nothing to add, so return self.
        self if other == 0 else →
    A grad begins with 1.0: nothing to multiply by, so return self.
        self if other == 1 else →
    A sum needs no names: long lists of short lines would fill the page. Take the texts.
        {self.text}+{other.text} → {self.name()}+{other.name()}
    It will run in a browser, where tanh is called Math.tanh.
        Math.tanh → tanh
        Math.tanh → math.tanh
    `1 - x` calls `x.__rsub__(1)`: 1 comes first.
        {other}-{self.name()} → {self.name()}-{other}
    """,
)

solution_4 = slanted


def leaning(slanted, rows, slant):
    image = slanted([float(x) for x in rows], slant)
    yield "", ... if image == [] else image


BAR = [int(x == 4) for _ in range(8) for x in range(8)]
RAMP = [x / 8 for _ in range(8) for x in range(1, 9)]
check_4 = Exercise(
    solution_4,
    ask=leaning,
    at={
        "a bar, slant 0:": (BAR, 0.0),
        "a bar, slant 0.4:": (BAR, 0.4),
        "a ramp, slant -0.3:": (RAMP, -0.3),
    },
    praise="Right: the top goes one way, the bottom the other, and the ink is shared between neighbours.",
    otherwise="A new pixel is (1 - part) times row[x] plus part times row[x + 1].",
    slips="""
    It leans the wrong way: the new row begins at `left`, so count x from there, upwards.
        slant * (y → -slant * (y
    The two shares are exchanged: if part is 0, it is row[x] alone.
        (1 - part) → part; + part → + (1 - part)
    It moves by whole pixels: part is lost. Mix row[x] and row[x + 1].
        (1 - part) * row[x] + part * row[x + 1] → row[x]
    Nothing moves: x begins at `left`, which differs from row to row.
        slant * (y - 3.5) → 0
    """,
)


def solution_5(xs, scores, right, rival):
    (scores[right] - scores[rival]).backward()
    return [x.grad for x in xs]


def by_pixel(by_pixel, right, rival):
    x, y = xs = [Value(2.0), Value(-3.0)]
    found = by_pixel(xs, [x * y, y * y * y, x * x], right, rival)
    if isinstance(found, (list, tuple)) and any(isinstance(each, Value) for each in found):
        raise Hint("Those are the Values. What is asked for is the grad of each, a number.")
    return found


check_5 = Exercise(
    solution_5,
    ask=by_pixel,
    at={"of x*y, y*y*y, x*x at 2, -3; right 0, rival 1:": (0, 1), "right 2, rival 0:": (2, 0)},
    praise="Right: backward has left it there all the time, and nobody had read it.",
    otherwise="Walk back from the difference of two scores; then read grad, pixel by pixel.",
    slips="""
    Ahead *of its rival*: more ink can speak for both. Walk back from the difference.
        (scores[right] - scores[rival]) → scores[right]
    How far is the right one ahead: its score, minus its rival's.
        (scores[right] - scores[rival]) → (scores[rival] - scores[right])
        - scores[rival] → + scores[rival]
    Nobody has walked back yet: call `backward()` of the difference.
        .backward() →
    That is the ink. The derivative with respect to a pixel is its grad.
        x.grad → x.data
    """,
)


def questions(share):
    """The guesses; question 5 is about this share of the drawings at hand."""
    low, high = 100 * share - 7, 100 * share + 7
    return verdicts.guesses(f"""
    1. 110 to 175: Right, or near enough: ours has 155 at the end.
       45 to 110: More: the engine alone has some 45. Then come layers, a loss, an optimiser.
       0 to 45: That is the engine alone.
       else: Fewer. A loop of learning takes 15 lines, a layer 9.
    2. 128: Right: 64 products, 63 sums, and one more for the bias.
       126 to 130: Nearly: 64 products, then 63 sums, then the bias.
       else: Count the products, then the sums, then the bias.
    3. 94 to 97.5: Right, from all three first weights.
       90 to 100: Near: open the box.
       0 to 1: In percent, please: 50 for one half.
       1 to 20: One guess in ten would be right by luck. More than that.
       else: More: the same digits as in notebook 8, which came above 95.
    4. 1284: Right: 10 scores, and derivatives with respect to 64 pixels and 1,210 numbers.
       1274: Those are the derivatives. And the scores?
       1210: Those are the derivatives for its own numbers. And for the pixels? And the scores?
       else: Ten scores, and a derivative for each pixel and for each number of the network: how many?
    5. {low} to {high}: Right, or nearly.
       0 to 1: In percent, please: 50 for one half.
       {high} to 100: Fewer. Open the box.
       else: More. Open the box.
    6. 2: Right. A larger network and a longer time change hardly anything.
       1: Look at 32 tanhs: is the gap much smaller?
       3: Look at the longer ones: is the gap much smaller?
       else: 1, 2 or 3?
    7. 0: Right: not one of the 13, whichever the network. It has never seen a six like that.
       1 to 3: Nearly: open the box.
       3 to 13: Fewer. How far did a six lean that it has learnt from?
       else: How many of 13?
    8. 74 to 82: Right. The network is as small as before; it has seen other data.
       0 to 1: In percent, please: 50 for one half.
       1 to 74: More: it is the first thing here that helps.
       else: Fewer: leaning is not all that is different.
    9. 35 to 50: Right. Nobody asked it to keep them.
       50 to 100: Fewer. Nobody asked it to keep them.
       0 to 1: In percent, please: 50 for one half.
       else: Not quite as bad. Open the box.
    10. 88 to 94: Right. A hand is like itself.
        94 to 100: Nearly: a hand wobbles.
        0 to 1: In percent, please: 50 for one half.
        else: More: the other ten are by the same hand.
    11. 2: Right for the program's: each is worth a third or so, and it is behind by 0.4.
        1: Nearly: one is worth a third or so.
        else: A sixteenth of the steepest derivative, and again: when have you made up for what is missing?
""")


predict = questions(0.65)  # of those of the program
solution = verdicts.solutions(globals())
