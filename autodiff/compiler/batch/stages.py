"""The program for a batch of samples, stage by stage. Each can be printed."""

from typing import Any

from ...engine import ops
from ...engine.errors import refusal
from ...engine.value import Value
from .. import backends
from ..program import Program
from .groups import Groups, in_order_of_use
from .in_place import in_place_program
from .normal import NormalForm, bare_node
from .operations import Batch
from .text import array_program


def batch_program(
    outputs: list[Value], inputs: list[Value], wrt: list[Value], single: bool, xp: Any
) -> Program:
    """The program for a batch of samples at once, from the recorded graph of its outputs.

    Its arguments are an array of inputs, a row for each sample, and one of the parameters: wrt,
    unless these are inputs. For several outputs it returns the values alone.
    """
    backends.keep_memory(xp)
    inside = set(inputs).intersection(wrt)
    if inside and len(inside) < len(wrt):
        expected = "one kind for a batch, because gradients of parameters alone are summed"
        found = "inputs and parameters in wrt"
        raise ValueError(refusal("compile", found, expected, "compile two programs"))
    parameters = [] if inside else wrt
    normal = NormalForm(outputs, inputs, parameters)
    results = [normal[y] for y in outputs]
    root = results[0] if single else bare_node(ops.sum, results)
    groups = Groups(root, inputs, parameters)
    if groups.scattered > 2:  # else it costs less to gather these
        again = Groups(root, inputs, in_order_of_use(root, parameters))
        groups = min(groups, again, key=lambda each: each.scattered)
    leaves = groups[: 1 if inside else 2]
    batch = Batch(groups, root if single else results, wrt)
    names = [each.name for each in leaves]
    if names[-1] == "parameters" and not wrt:
        names[-1] = "parameters=()"  # may be left out
    source = array_program(batch, xp, names)
    running = in_place_program(batch, names) if xp.__name__ == "numpy" else ""
    return Program(source, tuple([len(each.members) for each in leaves]), running)
