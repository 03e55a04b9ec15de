"""What the figures share: colours, how they are shown, and small graphs."""

from collections.abc import Callable
from typing import Any

GREY, ORANGE, BLUE, GREEN, PINK = "#A6A6A6", "#D55E00", "#0072B2", "#009E73", "#CC79A7"


def look(**settings: Any) -> None:
    """Set what all figures have in common."""
    import matplotlib.pyplot as plt

    everything: Any = {"svg.hashsalt": "autodiff", "figure.facecolor": "white"} | settings
    plt.rcParams.update(everything)


def show(figure: Any, alt: str) -> None:
    """Display a figure, with its description for those who cannot see it."""
    import matplotlib.pyplot as plt
    from IPython.display import display

    display(figure, metadata={kind: {"alt": alt} for kind in ("image/png", "image/svg+xml")})
    plt.close(figure)


def page(name: str, title: str, still: str, data: Any = None) -> Any:
    """The page `name`.html in the frame that those of the course share; DATA in it is the data."""
    from importlib import resources

    from autodiff.pictures.pages import Page, as_json

    files = resources.files("autodiff.course")
    frame, text = (files.joinpath(f"{each}.html").read_text("utf-8") for each in ("frame", name))
    text = frame.replace("TITLE", title).replace("PAGE", text).replace("DATA", as_json(data))
    return Page(text, title, f"{still} needs scripts, and a notebook that is trusted.")


def graph_of(f: Callable[..., Any], edges: str | None = None, **inputs: float) -> Any:
    """A drawing of the computation of f at these inputs.

    With edges="local" each arrow shows the derivative of one operation with respect to one of its
    arguments.
    """
    from autodiff import Value, draw

    leaves = {name: Value(x, label=name) for name, x in inputs.items()}
    result = f(**leaves)
    result.label = result.label or "y"
    return draw(result, edges=edges)
