"""What each stage of the compiler makes of the models, as `compiler/stages.json` holds it.

When a change of it is meant, run this file by `.venv/bin/python`, and read what changed there.
"""

import difflib
import json
from pathlib import Path

from catalogue import MAKE

from autodiff import Expression

PLACE = Path(__file__).parents[1] / "compiler" / "stages.json"
MODELS = [  # a model, its sizes, and the lines that its program had when it was read
    *[("lecture", sizes, 25) for sizes in ((4, 16, 16, 1), (2, 2, 1), (1, 5, 1))],
    *[("demo", sizes, 28) for sizes in ((2, 8, 8, 1), (2, 2, 1), (1, 5, 1))],
    ("shuffled", (4, 8, 8, 1), 40), ("shuffled", (3, 5, 4, 1), 37),
    ("linear", (5,), 15), ("softmax", (4, 3), 19), ("network", (4, 10, 3), 25),
    ("network", (7, 5, 2), 25), ("residual", (4,), 27), ("tied", (6, 3), 13), ("logistic", (5,), 15),
    ("RNN", (3, 2, 4), 27), ("RNN", (6, 2, 4), 34), ("LSTM", (2, 3, 4), 43), ("attention", (4, 3), 26),
    ("attention", (12, 8), 26), ("attention", (5, 3), 26), ("conv1d", (9, 3), 21), ("convolution", (6, 3), 24),
    ("convolution", (7, 2), 24), ("loops", (6, 3), 19),
]  # fmt: skip


def stages_of(model):
    """The lines of each stage."""
    stages = Expression(model.loss).stages(model.x, model.parameters)
    return {name: str(stage).splitlines() for name, stage in stages._asdict().items()}


SHOWN = {name: sizes for name, sizes, _ in MODELS}  # those of the last row of each


def first_difference(name, found):
    """The first stage that is not as it was, and how; "" if all are."""
    for stage, before in json.loads(PLACE.read_text("utf-8"))[name].items():
        if found[stage] != before:
            lines = difflib.unified_diff(before, found[stage], "before", "now", lineterm="", n=1)
            return "\n".join([f"The stage that differs first: {stage}", *lines])
    return ""


if __name__ == "__main__":
    made = {name: stages_of(MAKE[name](*sizes)) for name, sizes in SHOWN.items()}
    PLACE.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
