"""The exercises and figures of the notebooks: a module for each, and what gives verdicts.

    from autodiff.course.reverse_mode import check_1, solution

The learner writes `answer_1`; `check_1(answer_1)` prints praise or a hint, `solution(1)` our code.
In a notebook `%load_ext autodiff.course` makes error messages short.
`python -m autodiff.course grade notebook.ipynb` runs a notebook and prints all its verdicts.

    verdicts.py      an exercise: our answer, the slips that people make, and what is said to them
    figures.py       what the figures share
    gallery.py       notebook 4's graphs, which an engine has to get right
    your_engine.py   the engine that the reader types in a cell: its check, its file
    our_engine.py    ours
    our_reader.py    what notebook 11 makes of it: layers, a loss, an optimiser, and a program
    __main__.py      runs notebooks, and reads their verdicts
"""

from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext autodiff.course`: short error messages, as by %xmode Minimal, and %%my_engine."""
    shell.InteractiveTB.set_mode(mode="Minimal")

    def my_engine(line: str, cell: str) -> None:
        from . import your_engine

        your_engine.my_engine(line, cell)

    shell.register_magic_function(my_engine, "cell")
