"""The program of another process, which lays out graphs: it may change what it likes there.

It reads requests, and writes a picture for each, or None if Graphviz could not draw it. A process
of `multiprocessing` would import the program that asks, and run it again if it has no guard.
"""

import pickle
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Any

from pygraphviz import AGraph


@lru_cache(8)
def laid_out(source: str) -> Any:
    graph = AGraph(string=source)
    graph.layout(prog="dot")
    return graph, graph.graph_attr.get("bgcolor")


def written(source: str, attributes: dict[str, str], format: str) -> bytes | None:
    """A graph in DOT as a picture, with other attributes of the whole, which move nothing."""
    try:
        graph, ground = laid_out(source)
        graph.graph_attr.update(**attributes)
        if ground:  # the source says which
            graph.graph_attr["bgcolor"] = ground
        return bytes(graph.draw(format=format))
    except Exception:
        return None


if __name__ == "__main__":
    with suppress(EOFError):  # the other process has ended
        while True:
            pickle.dump(written(*pickle.load(sys.stdin.buffer)), sys.stdout.buffer)
            sys.stdout.buffer.flush()
