"""What the figures share: a colour, how they are shown, and curves."""

from collections.abc import Mapping
from typing import Any

BLUE = "#0072B2"


def show(figure: Any, alt: str) -> None:
    """Display a figure as a small PNG of 128 colours, described for those who cannot see it."""
    from io import BytesIO

    import matplotlib.pyplot as plt
    import PIL.Image
    from IPython.display import Image, display

    drawing, small = BytesIO(), BytesIO()
    figure.savefig(drawing, dpi=120)
    plt.close(figure)
    PIL.Image.open(drawing).convert("RGB").quantize(128).save(small, "png", optimize=True)
    display(Image(small.getvalue(), width=round(100 * figure.get_figwidth()), alt=alt))


def show_images(images: Any, titles: Any) -> None:
    """Images of 8 times 8 pixels in a row, each with its title."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(images), figsize=(8, 1), layout="constrained")
    for axes, image, title in zip(panels, images, titles):
        axes.imshow(image.reshape(8, 8), cmap="gray_r")
        axes.set_title(title, fontsize=9)
        axes.set_axis_off()
    show(figure, f"Handwritten digits: {', '.join(map(str, titles))}")


def lines(curves: Mapping[str, tuple[Any, ...]], **settings: Any) -> None:
    """A figure of curves by their names, each (xs, ys) or (xs, ys, style of matplotlib).

    settings: what `Axes.set` takes, such as xlabel="step", yscale="log".
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for name, curve in curves.items():
        axes.plot(*curve, label=name)
    axes.set(**settings)
    axes.legend()
    said = [
        f"{name} from {ys[0]:.2g} to {ys[-1]:.2g}, between {min(ys):.2g} and {max(ys):.2g}"
        for name, (_, ys, *_) in curves.items()
    ]
    show(figure, f"Curves by {settings['xlabel']}: {'; '.join(said)}")


def drag(label: str, frames: Mapping[Any, tuple[str, Any]], dots: Any = ()) -> Any:
    """A slider over frames by their names: what is said, and points of a curve past dots or a text."""
    from autodiff.pages.page import lesson

    shown = [[str(name), *frame] for name, frame in frames.items()]
    return lesson("drag", {"title": label, "label": label, "frames": shown, "dots": dots})
