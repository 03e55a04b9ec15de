"""Side-by-side measurement: rounds interleaved, medians, a table with ratios.

With QUICK=1 everything runs once: that shows whether a benchmark works, not how long anything takes.
"""

import gc
import os
import statistics
import time

import pytest

QUICK = bool(os.environ.get("QUICK"))


def pytest_ignore_collect(config):
    """Skip the benchmarks unless they are named: pytest tests/benchmarks -s."""
    return None if any("benchmarks" in argument for argument in config.args) else True


def of_a_call(function):
    """Measures a call, as one of many that take about 5 ms: one alone would find cold caches."""

    def seconds(calls):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        return (time.perf_counter() - start) / calls

    calls = 1 if QUICK else max(1, int(0.005 / min(seconds(1), seconds(1))))
    return lambda: seconds(calls)


def of_an_epoch(train, epochs):
    """Measures an epoch: the difference between many and one, without recording and compiling.

    Of processor time: all use one thread, and others may use the machine.
    """

    def seconds(n):
        start = time.process_time()
        train(n)
        return time.process_time() - start

    epochs = min(epochs, 20) if QUICK else epochs
    return lambda: (seconds(1 + epochs) - seconds(1)) / epochs


@pytest.fixture
def side_by_side(capsys):
    """Measure functions side by side, and print a line for each.

    The rounds are interleaved (a, b, c, a, b, c ...), so that a machine that slows down slows
    all of them; pytest-benchmark runs one after the other and cannot do this. The ratio is that
    of the medians, each function's to the first. With `epochs`, a number for each, the functions
    train for n epochs.
    """

    def measure(title, functions, rounds, unit=1.0, per="", epochs=None):
        gc.collect()
        gc.freeze()  # so that no garbage collection scans all loaded libraries
        measures = {
            name: of_an_epoch(function, epochs[name]) if epochs else of_a_call(function)
            for name, function in functions.items()
        }
        found = {name: [] for name in functions}
        for _ in range(1 if QUICK else rounds):
            for name, seconds in measures.items():
                gc.collect()  # so that none clears away the garbage of another
                found[name].append(seconds() / unit)
        gc.unfreeze()
        medians = {name: statistics.median(each) for name, each in found.items()}
        first = next(iter(medians.values()))
        with capsys.disabled():
            print(f"\n{title}")
            for name, median in medians.items():
                print(
                    f"  {name:<32} {median * 1e6:12.3f} µs{per}"
                    f"   (lowest {min(found[name]) * 1e6:.3f})   {median / first:8.3g}x"
                )
        return medians

    return measure
