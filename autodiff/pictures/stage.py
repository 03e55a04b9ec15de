"""The drawing of a graph with a mark on each part that a step changes.

data-node="3"     on the texts of a box, of class data, grad or sum: the node of their numbers
data-message="7"  on the text on an edge: the message that it shows
data-half="7 1"   on the first half of an edge ("7 2": the second): the message that moves along it
data-lit="2 5"    on a box, an operation or an edge: the steps at which it is lit
"""

import re
from itertools import pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from .description import SVG, compact
from .drawing import drawn
from .fit import fitted
from .layout import Layout
from .markup import LONGEST_LIVE_SUM
from .score import Score, Stage
from .styles import Facts
from .texts import snug

Groups = dict[str, list[Element]]  # of the drawing, by the name of their node or edge


def staged(score: Score, rankdir: str | None) -> Element:
    """The drawing of a score as SVG, with the numbers of the last step."""
    facts = fitted(score.facts, rankdir)
    svg, groups = _drawn(facts)
    picture = svg[0]
    ids = [facts.ids[node] for node in score.nodes]
    for i, name in enumerate(ids):
        _mark_box(groups[name][0], i, score)
        if i in score.forward:
            steps = [score.forward[i], score.backward[i]]
            _light(groups[f"{name}op"] + groups[f"{name}op->{name}"], steps)
    for m, sent in enumerate(score.messages):
        operation, middle = f"{ids[sent.sender]}op", f"{ids[sent.sender]}m{sent.argument}"
        halves = groups[f"{ids[sent.receiver]}->{middle}"] + groups[f"{middle}->{operation}"]
        _mark_message(groups[middle][0], halves, m, score)
        picture.remove(groups[middle][0])
        picture.append(groups[middle][0])  # above the edge
    return svg


def _drawn(facts: Facts) -> tuple[Element, Groups]:
    """The drawing that shows `facts` as a small SVG without a background, and its groups."""
    svg = ElementTree.fromstring(Layout(drawn(facts).source).written("svg"))
    compact(svg)
    for element in svg.iter():
        element.tag = element.tag.removeprefix(f"{{{SVG}}}")
    svg.set("xmlns", SVG)
    picture = svg[0]
    picture.set("font-size", f"{facts.size:.2f}")
    groups: Groups = {}
    for group in svg.iter("g"):
        del group.attrib["id"]
        name = re.sub(r":\w+(:\w+)?", "", group.findtext("title", ""))  # without the ports
        groups.setdefault(name, []).append(group)
        for title in group.findall("title"):
            group.remove(title)  # a browser shows it under the mouse
        for text in group.findall("text"):
            same = {"font-size": picture.get("font-size"), "fill": "#000000"}
            text.attrib = {k: v for k, v in text.attrib.items() if same.get(k) != v}
        _merge(group)
    for background in [*picture.findall("polygon"), *picture.findall("g[@class='cluster']/*")]:
        if background.tag != "text":
            background.set("fill", "none")
    return svg, groups


def _merge(group: Element) -> None:
    """Make the ground of a box and its border one shape, where Graphviz draws two."""
    shapes = [x for x in group if x.tag in ("path", "polygon")]
    for ground, border in pairwise(shapes):
        if ground.get("stroke") == "none" and _points(ground) == _points(border):
            ground.attrib |= {k: v for k, v in border.attrib.items() if k != "fill"}
            group.remove(border)


def _mark_box(box: Element, i: int, score: Score) -> None:
    """Mark the texts of a box, and write its numbers into them."""
    shape = next(x for x in box if x.tag in ("polygon", "path"))
    xs = [x for x, _ in _points(shape)]
    texts = box.findall("text")
    stage = score.stages[i][-1]
    kinds = ["data", "grad", *(["sum"] if stage.terms[1:] else [])]
    said = [f"data {snug(score.numbers[i])}", *gradient(stage, score)]
    for text, kind, new in zip(texts[-len(kinds) :], kinds, said):
        text.attrib.update({"class": kind, "data-node": str(i)})
        _write(text, new, (min(xs) + max(xs)) / 2)
    start = [len(score.operations) + 1] if score.nodes[i] is score.root else []
    _light([box], [score.forward[i], *start, score.backward[i]] if i in score.forward else start)


def gradient(stage: Stage, score: Score) -> list[str]:
    """The two lines of a box about its gradient: the number, and the sum that it is."""
    terms = [snug(score.numbers[place]) for place in stage.terms]
    total = " + ".join(terms[:LONGEST_LIVE_SUM]).replace("+ −", "− ")
    more = " + …" if len(terms) > LONGEST_LIVE_SUM else ""
    return [f"grad {snug(score.numbers[stage.place])}", f"= {total}{more}"]


def _mark_message(text: Element, halves: list[Element], m: int, score: Score) -> None:
    """Mark the text on an edge and the two halves of the edge, and write the message."""
    sender = score.messages[m].sender
    _light(halves, [score.forward[sender], score.backward[sender]])
    for i, half in enumerate(halves, start=1):
        half.set("data-half", f"{m} {i}")
    paths = [next(x for x in half if x.tag == "path") for half in halves]
    (left, _), (right, y) = _points(paths[0])[-1], _points(paths[1])[0]
    paths[0].set("d", f"{paths[0].get('d')}L{right:g},{y:g}")  # the text stands on the edge
    for line in text.findall("text"):
        line.attrib.update({"class": "message", "data-message": str(m)})
        _write(line, snug(score.numbers[score.local(m) + 1]), (left + right) / 2)


def _write(text: Element, said: str, x: float) -> None:
    """Write a text and centre it on x, because its length will change."""
    text.text = said
    text.attrib.update({"text-anchor": "middle", "x": f"{x:.1f}"})


def _points(shape: Element) -> list[tuple[float, float]]:
    numbers = [float(x) for x in re.findall(r"-?[\d.]+", shape.get("d", shape.get("points", "")))]
    return list(zip(numbers[::2], numbers[1::2]))


def _light(groups: list[Element], steps: list[int]) -> None:
    for group in groups:
        if steps:
            group.set("data-lit", " ".join(map(str, steps)))
