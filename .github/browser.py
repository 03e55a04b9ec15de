"""What a notebook in the browser needs before its first cell: `await start([...])` (see lite.py).

Graphviz comes as a script, which writes SVG. A browser's stack is short: there Python cannot free a
chain of thousands of nodes, each by the one before it, and would end without a word. So each node
is held in a list until nothing else holds it, and the newest go first.
"""

import sys
from typing import Any

nodes: list[Any] = []
enough = 10_000  # nodes: with more, those that nobody needs are freed


def held(kind: type) -> Any:
    """A new node, as value.py makes it with object.__new__."""
    global enough
    node = object.__new__(kind)
    nodes.append(node)
    if len(nodes) > enough:
        free()
        enough = 2 * len(nodes) + 10_000
    return node


def free() -> None:
    """Free the nodes that nobody else holds."""
    needed, node = [], object()
    alone = sys.getrefcount(node)
    while nodes:
        node = nodes.pop()
        if sys.getrefcount(node) > alone:
            needed.append(node)
    nodes.extend(reversed(needed))


def spare_the_stack() -> None:
    """Long chains are freed one by one, and a deep recursion is an error that Python raises."""
    sys.setrecursionlimit(250)
    from autodiff.engine import value

    value._new = held


def draw_by(viz: Any) -> None:
    """Let viz.js lay out pictures: in SVG alone, which a notebook that runs always shows."""
    from autodiff.pictures import layout
    from autodiff.pictures.drawing import Drawing

    def picture_of(source: str, attributes: dict[str, str], format: str) -> bytes:
        if format != "svg":
            raise OSError("viz.js writes SVG alone")
        said = " ".join(f'{name}="{x}"' for name, x in attributes.items())
        text = f"{source.rstrip().removesuffix('}')}{said}}}"
        return viz.renderString(text, format="svg").encode()

    layout.picture_of = picture_of
    layout.Layout.png = lambda layout: b""
    Drawing.image = lambda drawing: "<svg" + drawing.layout().svg.decode().partition("<svg")[2]


async def start(libraries: list[str]) -> None:
    import js
    import piplite
    from pyodide.code import run_js

    spare_the_stack()
    for library in libraries:
        try:
            await piplite.install(library)
        except Exception as error:
            print(f"Cells that need {library} will fail: it could not be loaded ({error}).")
    try:
        script = f"{js.location.href.partition('/extensions/')[0]}/viz.mjs"
        draw_by(await (await run_js(f"import('{script}')")).instance())
    except Exception as error:
        print(f"Pictures of graphs are shown as text: viz.js could not be loaded ({error}).")
