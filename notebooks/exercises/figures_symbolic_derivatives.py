"""The figure of notebook 2: how the derivatives of two families of functions grow."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt

RED, BLUE = "#D55E00", "#0072B2"
CURVES = {
    "written, ours": {"color": RED, "marker": "o"},
    "shared, ours": {"color": BLUE, "marker": "s"},
    "written, sympy": {"color": RED, "marker": "o", "mfc": "white", "ls": "--"},
    "shared, sympy's cse": {"color": BLUE, "marker": "s", "mfc": "white", "ls": "--"},
}


def look() -> None:
    """Set what all figures have in common."""
    plt.rcParams.update({"svg.hashsalt": "autodiff", "figure.facecolor": "white"})


def plot_swell(families: Mapping[str, Sequence[Sequence[int]]]) -> None:
    """The four sizes of a derivative for n = 1, 2 ..., a panel for each family."""
    figure, axes = plt.subplots(1, 2, figsize=(8.3, 4), layout="constrained")
    for ax, (family, sizes) in zip(axes, families.items()):
        for column, (label, style) in zip(zip(*sizes), CURVES.items()):
            ax.plot(range(1, len(sizes) + 1), column, label=label, **style)
        ax.set(xlabel="n", ylabel="operations", title=f"Derivative of {family}")
    axes[1].set(yscale="log")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    plt.show()
