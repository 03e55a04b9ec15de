"""A picture in words, for those who cannot see it: a title, a description, a line for each box."""

import re
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ..compiler.printer import Notation
from ..errors import counted
from ..graph import is_current
from ..scopes import Scope
from ..tracing import Formula, name_of_result, over_formulas, whole
from ..value import Value
from .arrangement import Box
from .markup import lines
from .styles import FONT, Facts, role_of
from .texts import number, printable, raised, sign

SVG = "http://www.w3.org/2000/svg"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
LONGEST_FORMULA = 120  # characters; a longer one gives way to a summary


def description(facts: Facts) -> str:
    """What a picture shows: "c = a·b + b³ = 0; ∂c/∂a = 2, ∂c/∂b = 8"; a summary if it is large."""
    root, names = facts.root, {node: _name(node, facts) for node in facts.plan.nodes}
    value = f"{number(root.data)}"
    output = names[root] or name_of_result(names.values())
    formula = _formula(facts, names) if len(facts.plan.nodes) <= 30 else ""
    if 0 < len(formula) <= LONGEST_FORMULA:
        equation = f"{names[root]} = {formula}" if names[root] else formula
        inputs = [x for x in facts.plan.nodes if not x.parents and names[x]]
        found = [
            f"∂{output}/∂{names[x]} = {number(facts.gradients[x])}"
            for x in inputs
            if x in facts.gradients and x is not root
        ]
        return f"{equation} = {value}" + (f"; {', '.join(found)}" if found else "")
    roles = [role_of(box, facts) for box in facts.plan.nodes]
    counts = [(role, roles.count(role)) for role in ("input", "parameter", "constant")]
    leaves = [counted(count, role) for role, count in counts if count]
    operations = counted(sum(bool(node.parents) for node in facts.plan.nodes), "operation")
    return f"{operations} on {', '.join(leaves)}; the output is {value}"


class Words(NamedTuple):
    """A picture in words."""

    said: str
    titles: dict[str, str]  # of each node of DOT


def words(facts: Facts) -> Words:
    """The description of a picture, and a line for each box."""
    titles = {name: box_title(box, facts) for box, name in facts.ids.items()}
    for entries in facts.leaves:
        titles[facts.ids[entries[0]]] = "; ".join(box_title(leaf, facts) for leaf in entries)
    return Words(description(facts), titles)


def box_title(box: Box, facts: Facts) -> str:
    """What a box says, in one line: "b = 2, grad 8"."""
    said = [line.replace("\n", " ") for line in lines(box, facts)]
    if isinstance(box, Scope):
        return ", ".join(said)
    label, (data, *grad) = facts.label(box), said[bool(facts.label(box)) :]
    name = said[0] if label else sign(box.op)
    equal = f"{name} = " if name else ""
    return ", ".join([equal + data.removeprefix("data "), *grad])


def described(svg: bytes, words: Words) -> bytes:
    """An SVG with its description in it, for screen readers and as tooltips."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ElementTree.fromstring(svg)
    root.set("role", "img")
    root.set("aria-label", words.said)
    for i, (tag, text) in enumerate([("title", "A computational graph"), ("desc", words.said)]):
        element = Element(f"{{{SVG}}}{tag}")
        element.text = text
        root.insert(i, element)
    compact(root)
    for group in root.iter(f"{{{SVG}}}g"):
        title = group.find(f"{{{SVG}}}title")
        if title is not None:
            said = words.titles.get(title.text or "", "") if group.get("class") == "node" else ""
            group.remove(title)
            if said:
                title.text = said
                group.insert(0, title)
    text = ElementTree.tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()


def compact(root: Element) -> None:
    """Make an SVG smaller: common attributes of texts once, no empty text, no second decimals."""
    same = {"font-family": FONT, "text-anchor": "start", "font-size": "10.50", SPACE: "preserve"}
    for group in root.findall(f"{{{SVG}}}g"):
        group.attrib.update(same)
    for text in root.iter(f"{{{SVG}}}text"):
        for name, value in same.items():
            if text.get(name) == value:
                del text.attrib[name]
    for element in root.iter():
        element.tail = None
        if element.tag != f"{{{SVG}}}text" and not (element.text or "").strip():
            element.text = None
        for name in ("d", "points"):
            if name in element.attrib:
                element.set(name, re.sub(r"(\.\d)\d+", r"\1", element.attrib[name]))


def _name(node: Value, facts: Facts) -> str:
    return printable(facts.label(node)).replace("\n", " ").strip(" ")


def _formula(facts: Facts, names: dict[Value, str]) -> str:
    """The output as a formula of the inputs; "" for a leaf, and if numbers have changed."""
    notation = Notation()
    formulas: dict[Value, Any] = {}
    for node in facts.plan.nodes:
        if node.parents:
            if not is_current(node):
                return ""
            inputs = [formulas[parent] for parent in node.parents]
            notation.chosen = False
            formulas[node] = over_formulas(node, inputs, notation)[0]
            if notation.chosen:  # the formula of its lines holds only at these numbers
                formulas[node] = whole(node, inputs, notation)
        elif names[node]:
            formulas[node] = Formula(notation, names[node], (), node.data)
        else:
            formulas[node] = node.data
    formula = formulas[facts.root]
    if not facts.root.parents or not isinstance(formula, Formula):
        return ""
    text = notation.of(formula).replace(" - ", " − ")
    return raised(text)
