"""Arrays as grids."""

import math
import re
import sys

import numpy as np
import pytest
from pictures import constant, looks, network, pixels

import autodiff as ad
from autodiff import Matrix, Vector, draw
from autodiff.nn import Linear, cross_entropy
from autodiff.pictures import sheet
from autodiff.pictures.drawing import named
from autodiff.pictures.grids import cells_of, enlarged, scene_of_arrays, shades
from autodiff.pictures.sheet import INK, VALUE, WRONG, rgb


def classifier(*sizes):
    model = network(*sizes)
    return model, cross_entropy(model(Vector([math.sin(i) for i in range(sizes[0])])), 3)


def names_of(root, **names):
    """Each array: its operation, its name or what it is, and its shape."""
    boxes = scene_of_arrays(root, named(names)).boxes
    return [" ".join(map(str, (x.op or x.name or x.role, *x.shape))) for x in boxes]


def test_a_classifier_is_a_few_boxes_in_the_order_of_its_formula():
    model, loss = classifier(64, 32, 10)
    assert names_of(loss) == [
        "input 64", "weight 32 64", "dot 32", "bias 32", "+ 32", "tanh 32", "weight 10 32", "dot 10",
        "bias 10", "+ 10", "loss 1",
    ]  # fmt: skip
    expected = "<Drawing: input 64 → dot 32 → + 32 → tanh 32 → dot 10 → + 10"
    assert repr(draw(loss, arrays=True)).startswith(expected)
    weight = [x.data for x in scene_of_arrays(loss, {}).boxes[1].nodes]  # in order
    assert weight == [x for row in model.layers[0].weight.data for x in row]


def test_a_box_has_the_names_of_all_that_is_in_its_array():
    a, b, c, d = (Matrix([[1.0, 2.0], [3.0, 4.0]]) for _ in range(4))
    v = Vector([1.0, 2.0])
    two, four = (ad.sum([(m @ v).sum() for m in held]) for held in ((a, b), (a, b, c, d)))
    assert "A, B 4 2" in names_of(two, A=a, B=b, v=v)
    assert "A, …, D 8 2" in names_of(four, A=a, B=b, C=c, D=d)


def unframed(image):
    """The colours in an image, without its frame."""
    colours = np.frombuffer(image.pixels, np.uint8).reshape(image.height, image.width, 3)
    assert {*colours[[0, 1, -2, -1]].flat, *colours[:, [0, 1, -2, -1]].flat} == {100}
    return colours[2:-2, 2:-2]


def test_cells_are_shaded_by_data_or_by_gradient_as_boxes_are():
    cells, note = cells_of([-2.0, 0.0, 1.0, math.nan], (2, 2))
    assert note == ""
    found = enlarged(shades(cells, None))
    assert found.shape == (44, 44, 3)
    assert found[[2, 2, 41, 41], [2, 41, 2, 41]].tolist() == [
        [160, 127, 60], [255, 255, 255],  # the largest in size, negative: sand
        [132, 175, 215], [192, 0, 0],  # half way from white to blue; nan: red
    ]  # fmt: skip
    (found,) = shades(np.array([[0.0, 1e-9, 0.5, 1e9, math.inf]]), "grad")
    expected = [*map(sheet.shade, (0.0, 1e-9, 0.5, 1e9)), WRONG]
    assert [f"#{bytes(colour).hex()}" for colour in found] == expected


def test_of_several_numbers_in_a_cell_the_largest_is_shown():
    numbers = np.zeros((128, 200))
    numbers[77, 150], numbers[3, 3] = -5.0, math.nan
    cells, note = cells_of(numbers.ravel(), (128, 200))
    assert (note, cells.shape) == (", cell: 2 × 4", (64, 50))
    assert cells[38, 37] == -5.0
    assert math.isnan(cells[1, 0])
    assert np.count_nonzero(cells) == 2


@pytest.mark.parametrize(
    ("shape", "cells"),
    [((784,), (28, 28)), ((16,), (16, 1)), ((17,), (1, 17)), ((18,), (3, 6)), ((23,), (1, 23)),
     ((25,), (5, 5)), ((2, 3, 4), (2, 12)), ((65, 1), (33, 1)), ((20, 5), (20, 5))],
)  # fmt: skip
def test_a_long_vector_is_folded_and_says_so(shape, cells):
    found, note = cells_of(range(math.prod(shape)), shape)
    assert found.shape == cells
    assert ("rows of" in note) == (len(shape) == 1 and shape[0] > 16)
    assert f"rows of {cells[1]}" in note or "rows" not in note


def test_images_are_inside_the_picture():
    _, loss = classifier(16, 8, 4)
    picture = draw(loss, arrays=True, color="grad")
    svg = picture.pipe(encoding="utf-8")
    images = {x.name: x for x in picture.sheet.images}
    assert svg.count("data:image/png;base64,") == len(images) == 10
    assert ".png" not in svg
    assert unframed(images["a5.png"]).shape == (144, 18, 3)  # of tanh: 8 numbers in 72 points
    assert picture.pipe("png").startswith(b"\x89PNG")
    assert picture.source == draw(loss, arrays=True, color="grad").source  # no folder is in it
    (y := Linear(2, 2, seed=0)([1.0, 2.0]).sum()).backward()
    sizes = re.findall(
        r"no gradient(?=</font>)|\|grad\| ≤ \d+", draw(y, arrays=True, color="grad").source
    )
    shown, of_legend = (
        ["no gradient", "|grad| ≤ 1", "|grad| ≤ 1", "|grad| ≤ 2", "|grad| ≤ 1"],
        sizes.pop(),
    )
    assert (sizes, of_legend) == (shown, "no gradient")
    wide = draw(Vector([float(i) for i in range(64 * 64)]).sum(), arrays=True)
    assert [unframed(image).shape for image in wide.sheet.images] == [(128, 128, 3)]


def test_a_png_for_a_notebook_keeps_the_colours_of_few_pixels(monkeypatch):
    _, loss = classifier(64, 32, 10)
    layout = draw(loss, arrays=True, color="grad").layout()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "PIL", None)
        large = layout.png()
    files = small, large = layout.png(), large
    found, exact = (np.rint(255 * pixels(png)) for png in files)
    for colour in (
        VALUE,
        sheet.VALUE_LINE,
        sheet.GRADIENT,
        INK,
        sheet.ZERO,
        sheet.PALE[0],
        *sheet.DEEP,
    ):
        where = (exact == [*rgb(colour), 255]).all(axis=2)  # not at edges, which are translucent
        assert abs(found - exact)[where, :3].max(initial=0) <= 6, colour
    assert len(small) < 0.4 * len(large)


def test_nan_is_red_in_an_array_and_beside_it():
    root = (Vector([1.0, math.nan]) * Vector([2.0, 3.0])).sum()
    assert looks(root, arrays=True) == [
        "input VALUE_FILL WRONG: WRONG input | WRONG 2 | WRONG |data| ≤ nan",
        "input VALUE_FILL LINE: INK input | SOFT 2 | VALUE |data| ≤ 3",
        "operation PAPER WRONG: WRONG × | WRONG 2 | WRONG |data| ≤ nan",
        "output PAPER WRONG: WRONG sum | WRONG data nan",
    ]
    colours = unframed(draw(root, arrays=True).sheet.images[0]).reshape(-1, 3)
    assert {*map(tuple, colours)} == {tuple(rgb(WRONG)), tuple(rgb(VALUE))}


def test_what_is_computed_from_a_network_is_one_box():
    layer, x = Linear(2, 2, seed=0), Vector([1.0, 2.0])
    target = constant(3.0, "t")
    y = layer(x)
    loss = (y[0] - target) ** 2 + (y[1] - 1.0) ** 2 * 0.5
    assert names_of(loss) == ["input 2", "t 1", "weight 2 2", "dot 2", "bias 2", "+ 2", "loss 1"]
    loss.label = "error"
    assert names_of(loss)[-1] == "error 1"
    assert names_of(layer(x)[0].sin())[-1] == "sin 1"  # a single operation keeps its sign
    assert "loss 1" not in names_of((x[0] - 1.0) ** 2 + x[1])  # there is no network
