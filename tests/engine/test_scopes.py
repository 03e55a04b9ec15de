"""Scopes: which nodes note one, in threads and tasks and generators too."""

import asyncio
import contextlib
import contextvars
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from autodiff import Value, scope


def noted(node):
    """The name of the scope of a node, or None."""
    found = getattr(node, "_scope", None)
    return found and found.name


def test_nodes_note_the_innermost_scope_they_are_made_in():
    x = Value(2.0)
    before = x * x
    with scope("outer"):
        y = x + 1.0
        with scope("inner"):
            z = y.tanh()
        w = z * y
    after = w - x
    assert [noted(node) for node in (x, before, y, z, w, after)] == [
        None, None, "outer", "inner", "outer", None,
    ]  # fmt: skip
    assert noted(y.parents[1]) == "outer"  # the constant
    assert z._scope.outer is y._scope


def test_a_scope_ends_with_an_error_too():
    with pytest.raises(ZeroDivisionError), scope("failing"):
        Value(1.0) / 0.0


def test_scopes_in_threads_are_their_own_and_lose_no_node():
    turns = threading.Barrier(4, timeout=10)

    def work(name):
        assert noted(Value(1.0) + 1.0) is None
        for _ in range(300):
            with scope(name):
                turns.wait()
                with scope("shared"):
                    turns.wait()
                    assert noted(Value(1.0) * 2.0) == "shared"
                    turns.wait()
                assert noted(Value(1.0) * 2.0) == name

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with scope("here"), ThreadPoolExecutor() as pool:
            assert [*pool.map(work, "abcd")] == [None] * 4
    finally:
        sys.setswitchinterval(before)


def test_scopes_in_tasks_lose_no_node():
    async def work(name, pauses):
        with scope(name):
            for _ in range(pauses):
                await asyncio.sleep(0)
            assert noted(Value(1.0) * 2.0) == name

    async def both():
        await asyncio.gather(work("short", 1), work("long", 5))

    asyncio.run(both())


def test_scopes_that_end_in_another_order_than_they_began():
    x, first, second = Value(2.0), scope("first"), scope("second")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert noted(x * x) == "second"
    second.__exit__(None, None, None)
    assert noted(x * x) is None


def test_another_context_notes_nothing_and_may_end_a_generators_scope():
    def parts():
        with scope("part"):
            yield

    x, begun, other = Value(2.0), parts(), contextvars.Context()
    contextvars.Context().run(next, begun)
    with scope("here"):
        assert noted(other.run(lambda: x * x)) is None
        other.run(begun.close)
        assert noted(other.run(lambda: x * x)) is None


def test_a_generator_that_yields_inside_a_scope_leaves_it_open_as_the_docstring_says():
    def parts():
        with scope("part"):
            yield Value(1.0) * 2.0

    with contextlib.closing(parts()) as running:
        next(running)
        assert noted(Value(1.0) * 2.0) == "part"
    assert noted(Value(1.0) * 2.0) is None
