"""`network.html`: a network that is built on the page, and learns points that are drawn there.

It is the page of training with an editor in front, and behind it the live graph of one point. It
needs no Python: the rules of operations and the steps of the optimisers are printed into it.
"""

import re
from collections.abc import Iterable

from ..engine import ops
from ..engine.value import Value
from ..optim import SGD, Adam, Optimizer
from . import live
from .page import as_json, assembled, read
from .training import printed_move

LONG = ops.sum, ops.prod, ops.logsumexp, ops.hypot  # no network needs their rules
SHARED = ("numbers", "core", "parser", "points", "unrolled",
          "dom", "frame", "charts", "plots", "trainer", "copy")  # fmt: skip
# Two pages in one: each is a function, so that names of one are not those of the other.
TRAINING = "scenes", "pulls", "training"
TRAINS = "return { t, s, change, repaint, grab, drag, nudge };"
LIVE = [part for part in live.PARTS if part not in (*SHARED, "image", "share", "alone")]
LIVES = """addressOf = () => address();
const shareMenu = () => null;
return { paint, onKey, numbers: () => state.leaves, open(graph, more) {
state = opened(graph, { ranges: null });
set({ step: graph.last, ...more });
new ResizeObserver(paint).observe(main.querySelector(".stage"));
} };"""


def page() -> str:
    """The page on which a network is built."""
    optimizers = SGD([Value(0.0)], lr=0.1), Adam([Value(0.0)], lr=0.03)
    script = [
        live.script(live.all_rules(*LONG), None, SHARED),
        f"const optimizers = {{ {', '.join(map(_printed, optimizers))} }};",
        _function("training(data, programs)", TRAINING, TRAINS),
        _function("liveGraph(data)", LIVE, LIVES),
        read("network.js"),
    ]
    sheets = map(read, ("base.css", "learning.css", "network.css", "graph.css"))
    shorter = re.sub(r" (=>|&&|[!=]==|\?\?|\|\|) |(?<=\)) (?={)", r"\1", "\n".join(script))
    return assembled("Who pulls this weight?", shorter, *sheets)


def _printed(optimizer: Optimizer) -> str:
    """An optimiser as the page has it: its rate, what it remembers at first, and its step."""
    memory = as_json([0.0] * len(optimizer.memory))
    step = f"rate: {optimizer.lr}, memory: {memory}, move: {printed_move(optimizer)}"
    return f"{type(optimizer).__name__}: {{ {step} }}"


def _function(head: str, parts: Iterable[str], end: str) -> str:
    return "\n".join([f"function {head} {{", *(read(f"{x}.js") for x in parts), f"{end}\n}}"])
