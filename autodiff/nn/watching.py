"""While a graph is made that has to serve other numbers, too, nobody may look at the numbers."""

import linecache
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from ..compiler.symbolic import NotRecordable
from ..engine.errors import refusal, typed
from ..engine.graph import topological_order
from ..engine.interrupts import with_variable
from ..engine.value import Value, leaf, watch
from .modules import Dropout, Masks, mask
from .samples import Samples

if TYPE_CHECKING:
    from numpy.random import Generator

T = TypeVar("T")

LOOKS = (
    "looks at a number, which varies; write where(less(0.0, x), a, b) for an if, "
    "adjoints(..., create_graph=True) or grad for a derivative"
)
WRITES = "writes a number that a graph was made of; make a new list: [0.0, *x[1:]]"


class Watch:
    """Looking at what depends on its leaves is refused, and writing it, in what it runs.

    `masks` are leaves: a factor for each number that a layer of Dropout was given meanwhile, drawn
    from `rng`, or 1.
    """

    def __init__(self, leaves: Iterable[Value], rng: "Generator | None" = None) -> None:
        self.leaves, self.rng = set(leaves), rng
        self.masks: Masks = defaultdict(list)
        # what the losses of all targets have in common is computed once
        self.once = cache(lambda function, *numbers: function(*numbers))
        self.refused: NotRecordable | None = None

    def run(self, function: Callable[..., T], *args: Any) -> T:
        """function(*args), watched in this thread; a refusal that it has caught is raised again."""
        try:
            result = with_variable(watch, self, function, *args)
        except Exception:
            if self.refused:
                raise self.refused from None
            raise
        if self.refused:
            raise self.refused
        return result

    def depends(self, node: Value) -> bool:
        """Whether a node was computed from the leaves."""
        return bool(self.leaves) and not self.leaves.isdisjoint(topological_order(node))

    def look(self, node: Value, writes: bool = False) -> None:
        """Refuse to look at a node that depends on a leaf, or to write it."""
        if type(node._data) is float and self.depends(node):
            frame = user_frame()
            file, line = frame.f_code.co_filename, frame.f_lineno
            text = linecache.getline(file, line, frame.f_globals).strip()
            name = "a cell" if "ipykernel_" in file else Path(file).name
            subject = f"line {line} of {name}{f', {text},' * bool(text)}"
            self.refused = self.refused or NotRecordable(f"{subject} {WRITES if writes else LOOKS}")
            raise self.refused

    def mask(self, layer: Dropout, count: int) -> list[Value]:
        """A leaf for each factor that a layer of Dropout needs."""
        drawn = mask(self.rng.random(count), layer.p).tolist() if self.rng else [1.0] * count
        new = [leaf(factor, 0) for factor in drawn]
        self.leaves.update([] if self.rng else new)
        self.masks[layer.rng].append((layer, new))
        return new


def only_data(
    inputs: Any, targets: Any, validation: Any, trained: Iterable[Value], subject: str
) -> list[Samples]:
    """The samples of a training, and those of its validation, a pair, unless it is None.

    ValueError if a number in them depends on a parameter that is trained.
    """
    given = [(inputs, targets, subject)]
    match validation:
        case None:
            pass
        case held, answers:
            given.append((held, answers, f"{subject}, validation"))
        case _:
            found = typed(validation)
            raise TypeError(refusal(f"{subject}, validation", found, "(inputs, targets)"))
    try:
        return Watch(trained).run(lambda: [Samples(*each) for each in given])
    except NotRecordable:
        found = "an input or a target that depends on a parameter that is trained"
        remedy = "choose it in the model or the loss, as centers[target]"
        raise ValueError(
            refusal(subject, found, "numbers, which stay as they are", remedy)
        ) from None


def user_frame() -> FrameType:
    """The innermost frame that is neither of this package, nor of Python or another library."""
    frame = sys._getframe()
    python, package = Path(linecache.__file__).parent, Path(__file__).parents[1]
    others = str(python), str(package), "<frozen"
    while frame.f_back and (
        frame.f_code.co_filename.startswith(others) or "site-packages" in frame.f_code.co_filename
    ):
        frame = frame.f_back
    return frame
