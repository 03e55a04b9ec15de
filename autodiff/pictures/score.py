"""What the viewer and the animation show, and when: both halves of the pass, step by step.

With n operations there are 2n + 2 steps. At step 0 the inputs are known; each of the next n runs
an operation. At step n + 1 the gradient of the root is 1; each of the last n runs a closure, from
the last operation back to the first.

Numbers are shown in texts with holes, and each hole names a number by its place in a list. So the
same text serves for all numbers, in Python and in the page.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

from ..errors import DOMAINS, message, named, shortened
from ..graph import is_current, topological_order
from ..scopes import entry_names
from ..tracing import Formula, factor, steps, subscript, written
from ..value import Value
from .arrangement import path_of
from .drawing import draw
from .styles import Facts
from .texts import SUPERSCRIPTS, number, printable, raised

LARGEST = 60  # nodes

# A text with holes: strings as they are, the places of numbers, and [place] for a factor, which
# is put in brackets if it is negative.
Text = list[str | int | list[int]]


class Sent(NamedTuple):
    """A message of the backward pass: what a node sends to one of its parents."""

    sender: int  # its place among the nodes
    argument: int
    receiver: int
    before: int | None  # the place of the sum that the receiver had, if any
    silent: bool  # whether it is 0 whatever the numbers are, as what a condition receives


class Stage(NamedTuple):
    """A gradient from a step on: the place of its number, and the places of its terms so far."""

    step: int
    place: int
    terms: list[int]


class Score:
    """The pass over the graph of a root, forward and backward.

    The numbers are, in this order, the value of each node, the adjoint of each, and for each
    message the local derivative, the message and the sum that the receiver then has.
    """

    def __init__(self, root: Value, caller: str, names: Mapping[str, Any] | None = None) -> None:
        self.root = root
        everything = _checked(root, caller)
        self.nodes = [node for node in everything if node.requires_grad]
        self.place = {node: i for i, node in enumerate(self.nodes)}
        self.operations = [i for i, node in enumerate(self.nodes) if node.parents]
        self.facts = _named(root, self.nodes, names)
        self.names = [_name(self.facts, x) or self.facts.labels[x] for x in self.nodes]
        _check_current(everything, caller)
        self.messages: list[Sent] = []
        self.numbers: list[float] = [node.data for node in self.nodes]
        self.formulas: list[Text] = [[] for _ in self.nodes]  # of an operation, over its parents
        self.slopes: dict[int, str] = {}  # the formula of a message's local derivative
        self._run()
        self._write()

    def _run(self) -> None:
        """Record the messages of the backward pass, and all numbers."""
        passed = list(steps(self.root))
        adjoints = {step.node: step.adjoint for step in passed}
        self.numbers += [adjoints[node] for node in self.nodes]
        sums: dict[Value, int] = {}  # the place of the sum so far
        reached = {self.root}  # the nodes whose closure runs
        for node, _, messages in passed:
            slopes = node._backward(1.0)
            for j, (parent, local, sent) in enumerate(messages):
                if parent.requires_grad:
                    before, silent = sums.get(parent), node not in reached or slopes[j] is None
                    if not silent:
                        reached.add(parent)
                    places = self.place[node], j, self.place[parent]
                    self.messages.append(Sent(*places, before, silent))
                    total = sent if before is None else self.numbers[before] + sent
                    sums[parent] = len(self.numbers) + 2
                    self.numbers += [local, sent, total]

    def _write(self) -> None:
        """Record the formulas of operations and derivatives."""
        marks = {node: chr(MARKS + i) for i, node in enumerate(self.nodes)}
        for i in self.operations:
            formula, partials = _formulas(self.nodes[i], marks)
            self.formulas[i] = _holes(formula)
            sent = [m for m, each in enumerate(self.messages) if each.sender == i]
            for m, partial in zip(sent, partials):
                if isinstance(partial, Formula):
                    self.slopes[m] = self.filled(_holes(factor(partial)), names=True)

    @property
    def last(self) -> int:
        """The last step."""
        return 2 * len(self.operations) + 1

    def local(self, m: int) -> int:
        """The place of the local derivative of a message; the message and the sum come next."""
        return 2 * len(self.nodes) + 3 * m

    def title(self, step: int) -> str:
        """The name of a step."""
        n = len(self.operations)
        half, i = ("forward", step) if step <= n else ("backward", step - n - 1)
        return f"{half} {i} of {n}"

    @cached_property
    def forward(self) -> dict[int, int]:
        """The step at which each operation runs."""
        return {node: i for i, node in enumerate(self.operations, start=1)}

    @cached_property
    def backward(self) -> dict[int, int]:
        """The step at which each closure runs."""
        return {node: self.last + 1 - i for node, i in self.forward.items()}

    @cached_property
    def stages(self) -> list[list[Stage]]:
        """The stages of each node's gradient."""
        found: list[list[Stage]] = [[] for _ in self.nodes]
        terms: list[list[int]] = [[] for _ in self.nodes]
        for m, sent in enumerate(self.messages):
            step, receiver = self.backward[sent.sender], sent.receiver
            terms[receiver].append(self.local(m) + 1)
            found[receiver].append(Stage(step, self.local(m) + 2, [*terms[receiver]]))
        root = self.place[self.root]
        found[root] = [Stage(len(self.operations) + 1, len(self.nodes) + root, [])]
        return found

    def filled(self, text: Text, names: bool = False) -> str:
        """A text with the numbers in it, or with the names of the nodes at these places."""
        return "".join([self._part(part, names) for part in text])

    def _part(self, part: str | int | list[int], names: bool) -> str:
        if isinstance(part, str):
            return part
        place = part[0] if isinstance(part, list) else part
        said = self.names[place] if names else number(self.numbers[place])
        return f"({said})" if isinstance(part, list) and said.startswith("−") else said

    @cached_property
    def lines(self) -> list[list[Text]]:
        """What is computed at each step."""
        name = self.names[self.place[self.root]]
        inputs: Text = []
        for i, node in enumerate(self.nodes):
            if not node.parents:
                inputs += [f"{', ' if inputs else ''}{self.names[i]} = ", i]
        forward = [[self._computed(i)] for i in self.operations]
        start: Text = [f"{name}.grad = 1, the derivative of {name} by itself"]
        backward = [
            [self._added(m) for m, sent in enumerate(self.messages) if sent.sender == i]
            for i in reversed(self.operations)
        ]
        return [[inputs], *forward, [start], *backward]

    def _computed(self, i: int) -> Text:
        """v₁ = a·b = −4·2 = −8"""
        formula = self.formulas[i]
        equation = f"{self.names[i]} = {self.filled(formula, names=True)} = "
        known = [*formula, " = "] if any(not isinstance(part, str) for part in formula) else []
        return [equation, *known, i]

    def _added(self, m: int) -> Text:
        """b.grad += v₂.grad · ∂v₂/∂b = 1 · 3·b² = 1 · 12 = 12   →   b.grad = 12"""
        sender, _, receiver, before, _ = self.messages[m]
        y, x, local = self.names[sender], self.names[receiver], self.local(m)
        upstream = len(self.nodes) + sender
        line: Text = [f"{x}.grad += {y}.grad · ∂{y}/∂{x} = "]
        if m in self.slopes:
            line += [upstream, f" · {self.slopes[m]} = "]
        line += [upstream, " · ", [local], " = ", local + 1, f"   →   {x}.grad = "]
        if before is not None:
            line += [before, " + ", [local + 1], " = "]
        return [*line, local + 2]

    def steep(self, m: int) -> Text:
        """The text to show if the local derivative of a message is not finite."""
        sender, _, receiver, *_ = self.messages[m]
        slope = f"∂{self.names[sender]}/∂{self.names[receiver]}"
        return [f"{slope} is ", self.local(m), f" at {self.names[receiver]} = ", receiver]

    def trouble(self, i: int) -> tuple[Text, str]:
        """The text to show if the value of an operation is not finite, and its domain, if any."""
        node = self.nodes[i]
        text: Text = [f"{self.filled(self.formulas[i], names=True)} is ", i]
        for j, parent in enumerate(dict.fromkeys(x for x in node.parents if x in self.place)):
            place = self.place[parent]
            text += [f" {'and' if j else 'at'} {self.names[place]} = ", place]
        rule: Any = node._rule
        limits = DOMAINS.get(rule.__name__, "")
        arguments = {
            key: self.names[self.place[x]] if x in self.place else number(x.data)
            for key, x in named(rule, node.parents).items()
        }
        said = re.sub(r"\b[a-z]\b", lambda found: arguments.get(found[0], found[0]), limits)
        return text, said


def _checked(root: Any, caller: str) -> list[Value]:
    """The nodes of the graph, in topological order."""
    if not isinstance(root, Value) or type(root.data) is not float:
        raise TypeError(message(caller, shortened(root), "a Value over floats"))
    if not root.requires_grad:
        raise ValueError(message(caller, "a constant", "a Value that requires a gradient"))
    nodes = topological_order(root)
    if len(nodes) > LARGEST:
        remedy = "take a smaller case (one sample, fewer units) or an inner node"
        raise ValueError(message(caller, f"{len(nodes)} nodes", f"at most {LARGEST}", remedy))
    return nodes


def _check_current(nodes: list[Value], caller: str) -> None:
    for node in nodes:
        if node.parents and not is_current(node):
            found = f"{node.op} of numbers that were changed after the graph was recorded"
            remedy = "compute the output again"
            raise ValueError(message(caller, found, "those it was computed from", remedy))


def _name(facts: Facts, node: Value) -> str:
    return " ".join(printable(facts.label(node)).split())


def _named(root: Value, nodes: list[Value], names: Mapping[str, Any] | None) -> Facts:
    """What `draw` shows of the graph, with v₁, v₂ ... for the results that have no name."""
    facts = draw(root, edges="message", names=names).facts
    assert facts is not None
    unnamed = [node for node in nodes if not _name(facts, node)]
    taken = {_name(facts, node) for node in nodes}
    free = (v for i in count(1) if (v := f"v{subscript(i)}") not in taken)
    labels = dict(zip(unnamed, free))
    return replace(facts, labels=facts.labels | _told_apart(facts, nodes) | labels, live=True)


def _told_apart(facts: Facts, nodes: list[Value]) -> dict[Value, str]:
    """Longer names for parameters, if those of two layers have the same name."""
    names = [facts.label(node) for node in nodes if node in facts.plan.parameters]
    if len(set(names)) == len(names):
        return {}
    longer: dict[Value, str] = {}
    for node in facts.plan.nodes:
        for leaf in node.parents:
            if leaf in facts.plan.parameters:
                held = path_of(node)[0].module.named_parameters()
                longer |= {x: name for pair in held for x, name in entry_names(*pair)}
    return {leaf: longer.get(leaf, name) for leaf, name in facts.plan.parameters.items()}


# -- Texts with holes -----------------------------------------------------------------------------

MARKS = 0xE000  # characters for private use, which stand for names in a formula


def _formulas(node: Value, marks: Mapping[Value, str]) -> tuple[str, list[Any]]:
    """The formula of an operation, and those of its derivatives if they hold for all numbers."""
    formula, partials, chosen = written(node, marks)
    return formula, [] if chosen else [partial for _, partial in partials]


def _holes(formula: str) -> Text:
    """A formula over marks as a text with holes: 3·b² for 3·b**2."""
    text = raised(formula).replace("-", "−")
    pieces = re.split(f"([{chr(MARKS)}-{chr(MARKS + LARGEST)}])", text)
    return [piece if i % 2 == 0 else _hole(pieces, i) for i, piece in enumerate(pieces) if piece]


def _hole(pieces: list[str], i: int) -> int | list[int]:
    """The hole for the name at an odd index, a factor except at the start of an expression."""
    place = ord(pieces[i]) - MARKS
    starts = (pieces[i - 1] == "" and i == 1) or pieces[i - 1].endswith(("(", ", "))
    power = pieces[i + 1].startswith(("*", *map(chr, SUPERSCRIPTS.values())))
    return place if starts and not power else [place]
