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


def _calls(function):
    """How many calls take about 5 ms: one alone would be measured with cold caches."""
    function()
    start = time.perf_counter()
    function()
    return max(1, int(0.005 / (time.perf_counter() - start)))


def _per_epoch(train, epochs, *given):
    """Seconds per epoch: the difference between many epochs and few, without recording and compiling.

    Of processor time: all use one thread, and others may use the machine.
    """
    times = []
    for n in (1, 1 + epochs):
        start = time.process_time()
        train(n, *given)
        times.append(time.process_time() - start)
    return (times[1] - times[0]) / epochs


@pytest.fixture
def side_by_side(capsys):
    """Measure functions side by side, and print a line for each.

    The rounds are interleaved (a, b, c, a, b, c ...), so that a machine that slows down slows
    all of them; pytest-benchmark runs one after the other and cannot do this. The ratio is that
    of the medians, the first function's to each.
    """

    def measure(title, functions, rounds, unit=1.0, per=""):
        gc.collect()
        gc.freeze()  # so that no garbage collection scans all loaded libraries
        rounds = 1 if QUICK else rounds
        calls = {name: 1 if QUICK else _calls(function) for name, function in functions.items()}
        seconds = {name: [] for name in functions}
        for _ in range(rounds):
            for name, function in functions.items():
                gc.collect()  # so that none clears away the garbage of another
                start = time.perf_counter()
                for _ in range(calls[name]):
                    function()
                seconds[name].append((time.perf_counter() - start) / calls[name])
        gc.unfreeze()
        medians = {name: statistics.median(times) for name, times in seconds.items()}
        first = next(iter(medians.values()))
        with capsys.disabled():
            print(f"\n{title}")
            for name, median in medians.items():
                lowest = min(seconds[name])
                print(
                    f"  {name:<32} {median / unit * 1e6:12.3f} µs{per}"
                    f"   (lowest {lowest / unit * 1e6:.3f})   {first / median:8.3g}x"
                )
        return medians

    def say(text):
        with capsys.disabled():
            print(text)

    measure.say, measure.quick, measure.per_epoch = say, QUICK, _per_epoch
    return measure
