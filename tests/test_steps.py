"""The steps of a training: however it ends, the model holds a whole number of them."""

import signal
import sys
from contextlib import suppress

import numpy as np
from trainings import OPTIMIZERS, numbers

from autodiff import nn
from autodiff.nn.steps import Steps

STEPPING = {"change", "move", "store", "_stepped", "_write"}


def left_by_an_interrupt_at(number):
    """Of two steps, with Ctrl-C at a line: whether it came, and the states afterwards."""
    layer, count = nn.Linear(2, 1, seed=0), 0
    optimizer = OPTIMIZERS["Adam"](layer.parameters())
    steps = Steps(optimizer)

    def line(frame, event, arg):
        nonlocal count
        count += event == "line"
        if event == "line" and count == number:
            signal.raise_signal(signal.SIGINT)
        return line

    def call(frame, event, arg):
        ours = "autodiff" in frame.f_globals["__name__"]
        return line if ours and frame.f_code.co_name in STEPPING else None

    before = sys.gettrace()
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background
    try:
        with suppress(KeyboardInterrupt), steps.written_back():
            sys.settrace(call)
            for gradient in ([1.0, 2.0, 3.0], [3.0, -1.0, 2.0]):
                steps.move(np.array(gradient))
                steps.store()
    finally:
        sys.settrace(before)
        signal.signal(signal.SIGINT, usual)
    assert [p.grad for p in layer.parameters()] == [0.0] * 3
    return count >= number, (numbers(layer), optimizer.state_dict())


def test_an_interrupt_leaves_a_whole_number_of_steps():
    """At each line: parameters, gradients and the state of the optimiser belong together."""
    states, lines, came = [], 0, True
    while came:
        lines += 1
        came, left = left_by_an_interrupt_at(lines)
        states += [left] * (left not in states)
    assert [optimizer["steps"] for _, optimizer in states] == [0, 1, 2]
    assert lines > 40
