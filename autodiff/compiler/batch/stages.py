"""The program for a batch of samples, stage by stage. Each can be printed."""

from typing import Any, NamedTuple

from ...engine import ops
from ...engine.errors import refusal
from ...engine.value import Value
from ..backends import keep_memory
from ..program import Program
from .groups import Groups, in_order_of_use, levels
from .in_place import InPlace
from .normal import NormalForm, bare_node
from .operations import Batch
from .text import ArrayText, program_text


class Graph(list[Value]):
    """The outputs of a graph; printed, how many leaves and operations it has at each depth."""

    def __repr__(self) -> str:
        lines = []
        *depths, _ = levels(bare_node(ops.sum, self))  # without their sum
        for depth, level in enumerate(depths):
            kinds = []
            for (operation, count), nodes in level.items():
                name = operation.__name__ if operation else "leaves"
                kinds.append(f"{len(nodes)} {name}" + f" of {count}" * (count > 2))
            lines.append(f"{depth}: {', '.join(kinds)}")
        return "\n".join(lines)


class Stages(NamedTuple):
    """The stages of a program, each made of the one before; all of them when printed."""

    graph: Graph  # as it was recorded
    normal_form: Graph
    groups: Groups
    arrays: Batch
    text: str

    def __repr__(self) -> str:
        parts = [f"-- {name} --\n{stage}" for name, stage in self._asdict().items()]
        return "\n\n".join(parts)


def stages(
    outputs: list[Value], inputs: list[Value], wrt: list[Value], single: bool, xp: Any
) -> Stages:
    """The stages of the program for a batch of samples, from the graph of its outputs."""
    inside = set(inputs).intersection(wrt)
    if inside and len(inside) < len(wrt):
        expected = "one kind for a batch, because gradients of parameters alone are summed"
        found = "inputs and parameters in wrt"
        raise ValueError(refusal("compile", found, expected, "compile two programs"))
    parameters = [] if inside else wrt
    normal = NormalForm(outputs, inputs, parameters)
    results = Graph([normal[y] for y in outputs])
    root = results[0] if single else bare_node(ops.sum, results)
    groups = Groups(root, inputs, parameters)
    if groups.scattered > 2:  # else it costs less to gather these
        again = Groups(root, inputs, in_order_of_use(root, parameters))
        groups = min(groups, again, key=lambda each: each.scattered)
    arrays = Batch(groups, root if single else results, wrt)
    text = ArrayText(xp, "inputs", arrays.results)
    source = program_text(text, arrays, _arguments(inside, wrt))
    return Stages(Graph(outputs), results, groups, arrays, source)


def _arguments(inside: set[Value], wrt: list[Value]) -> list[str]:
    """The arguments of a program, as its text names them; `inside`: the inputs that are in wrt."""
    return ["inputs"] if inside else ["inputs", "parameters" if wrt else "parameters=()"]


def batch_program(
    outputs: list[Value], inputs: list[Value], wrt: list[Value], single: bool, xp: Any
) -> Program:
    """The program for a batch of samples at once, from the recorded graph of its outputs.

    Its arguments are an array of inputs, a row for each sample, and one of the parameters: wrt,
    unless these are inputs. For several outputs it returns the values alone.
    """
    keep_memory()
    made = stages(outputs, inputs, wrt, single, xp)
    arguments = _arguments(set(inputs).intersection(wrt), wrt)
    sizes = tuple([len(each.members) for each in made.groups[: len(arguments)]])
    batch, running = made.arrays, ""
    if xp.__name__ == "numpy":
        text = InPlace(batch.writer.symbols.values(), batch.results)
        if all(isinstance(x.op, str) for x in text.needed):  # a user's function gives float64
            running = program_text(text, batch, arguments)
    return Program(made.text, sizes, running)
