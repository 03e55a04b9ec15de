"""Arrays as grids."""

import math
import re
import zlib

import numpy as np
import pytest
from pictures import tables

import autodiff
from autodiff import Matrix, Value, Vector, dot, draw, relu, sin, tanh
from autodiff.compiler.groups import groups
from autodiff.nn import Linear, Sequential, cross_entropy, mse_loss
from autodiff.pictures.grids import arranged, cells_of, png, shades
from autodiff.scopes import entry_names


def classifier(*sizes):
    layers = [Linear(n, m, activation=tanh, seed=n) for n, m in zip(sizes[:-2], sizes[1:-1])]
    model = Sequential(*layers, Linear(*sizes[-2:], seed=0))
    return model, cross_entropy(model(Vector([math.sin(i) for i in range(sizes[0])])), 3)


def boxes(root, **names):
    """Each array of a picture: its operation, its name or what it is, and its shape."""
    known = {x: name for name, held in names.items() for x, name in entry_names(name, held)}
    shown = arranged(root, known, None).scene.boxes
    return [(box.op or box.name or box.role, box.shape) for box in shown]


def test_a_classifier_is_a_few_boxes_in_the_order_of_its_formula():
    _, loss = classifier(64, 32, 10)
    assert boxes(loss) == [
        ("input", (64,)), ("weight", (32, 64)), ("dot", (32,)), ("bias", (32,)), ("+", (32,)),
        ("tanh", (32,)), ("weight", (10, 32)), ("dot", (10,)), ("bias", (10,)), ("+", (10,)),
        ("loss", (1,)),
    ]  # fmt: skip
    picture = draw(loss, arrays=True)
    assert repr(picture).startswith("<Drawing: input 64 → dot 32 → + 32 → tanh 32 → dot 10 → + 10")


def test_a_loss_keeps_its_name_and_targets_are_constants():
    model = Linear(2, 3, seed=0)
    targets = Vector([1.0, 0.0, 2.0]).requires_grad_(False)
    loss = mse_loss(model(Vector([1.0, 2.0])), targets)
    assert boxes(loss)[-1] == ("loss", (1,))  # the targets, which have no name, are in it
    loss.label = "mse"
    assert boxes(loss, t=targets)[-2:] == [("t", (3,)), ("mse", (1,))]
    shown = arranged(loss, dict.fromkeys(targets, "t"), None).scene.boxes
    assert [box.role for box in shown if box.name == "t"] == ["constant"]


def test_arrays_have_the_names_of_all_that_is_in_them():
    a, b = Matrix([[1.0, 2.0], [3.0, 4.0]]), Matrix([[5.0, 6.0], [7.0, 8.0]])
    x = Vector([1.0, 2.0])
    assert ("A, B", (4, 2)) in boxes((a @ x).sum() + (b @ x).sum(), A=a, B=b, x=x)


def test_one_number_keeps_its_label():
    x = Value(1.5, label="x")
    y = x * x
    y.label = "y"
    assert ">x<" in (source := draw(y.sin(), arrays=True).source)
    assert ">· y<" in source


def test_an_edge_says_what_all_arguments_read():
    x, w = Value(2.0, label="x"), Value(3.0, label="w")
    assert "1 of 2" not in draw(dot([x, w], [w, 5.0]), arrays=True).source


def test_parameters_keep_their_order_in_the_grid():
    model, loss = classifier(4, 3, 2 + 2)
    shown = arranged(loss, {}, None).scene.boxes
    first = next(box for box in shown if box.name == "weight")
    assert [x.data for x in first.nodes] == [x for row in model.layers[0].weight.data for x in row]


def test_any_graph_has_arrays():
    x, y = Value(2.0, label="x"), Value(3.0, label="y")
    assert [len(g.members) for g in groups(x.tanh() * y.tanh())] == [2, 1]
    assert "x" in draw(sin(x) * y, arrays=True).source
    assert "data 2" in draw(x, arrays=True).source
    matrix = Matrix([[1.0, 2.0], [3.0, 4.0]])
    named = draw((matrix @ matrix).sum(), arrays=True, names={"A": matrix})
    assert "A" in named.source


def pixels(image):
    """The colours in a PNG that `png` has written, without its frame."""
    width, height = int.from_bytes(image[16:20], "big"), int.from_bytes(image[20:24], "big")
    data = zlib.decompress(image[image.index(b"IDAT") + 4 : -16])
    rows = np.frombuffer(data, np.uint8).reshape(height, 1 + 3 * width)[:, 1:]
    return rows.reshape(height, width, 3)[2:-2, 2:-2]


def test_cells_are_shaded_by_data():
    cells, said = cells_of([-2.0, 0.0, 1.0, math.nan], (2, 2))
    assert said == ""
    found = pixels(png(shades(cells, None), 3))
    assert found.shape == (6, 6, 3)
    assert found[0, 0].tolist() == [160, 127, 60]  # the largest in size, negative: sand
    assert found[0, 5].tolist() == [255, 255, 255]
    assert found[5, 0].tolist() == [132, 175, 215]  # half way from white to blue
    assert found[5, 5].tolist() == [192, 0, 0]  # nan: red


def test_cells_are_shaded_by_gradient_as_boxes_are():
    found = shades(np.array([[0.0, 1e-9, 0.5, 1e9, math.inf]]), "grad")
    expected = ["c9ccd0", "fff5eb", "f07a1d", "5a2000", "c00000"]
    assert [bytes(colour).hex() for colour in found[0]] == expected


def test_the_legend_is_the_scale_of_the_shades():
    root = Vector([1.0, -2.0]).sum()
    root.backward()
    of_data = ["data:", "− largest", "−", "0", "+", "largest"]
    for color, words in ((None, of_data), ("grad", ["|grad|:"])):
        source = draw(root, arrays=True, legend=True, color=color).source
        legend = re.findall(">([^<>]+)</font>", source.rpartition("label=")[2])
        assert legend[: len(words)] == words


def test_a_number_that_is_computed_twice_has_the_gradient_of_both():
    weights, x = Matrix([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), Vector([1.0, 2.0])
    root = (2.0 * (weights @ x)).sum() + (3.0 * (weights @ x)).sum()
    source = draw(root, arrays=True, color="grad").source
    assert "|grad| ≤ 5<" in source  # of the dots: 2 + 3
    dead = draw(relu(Value(-1.0, label="x")) * 2, arrays=True, color="grad").source
    assert "grad 0<" in dead
    several = autodiff.sum([relu(Value(-1.0)), relu(Value(-2.0))])
    assert "|grad| ≤ 0<" in draw(several, arrays=True, color="grad").source


def test_of_several_numbers_in_a_cell_the_largest_is_shown():
    numbers = np.zeros((128, 200))
    numbers[77, 150], numbers[3, 3] = -5.0, math.nan
    cells, said = cells_of(numbers.ravel(), (128, 200))
    assert said == "cell: 2 × 4"
    assert cells.shape == (64, 50)
    assert cells[38, 37] == -5.0
    assert math.isnan(cells[1, 0])
    assert np.count_nonzero(cells) == 2
    assert cells_of(range(65), (65, 1))[1] == "cell: 2 × 1"


def test_a_long_vector_is_folded():
    assert cells_of(range(784), (784,))[0].shape == (28, 28)
    assert cells_of(range(10), (10,))[0].shape == (10, 1)


def test_a_large_array_has_a_pixel_for_each_cell():
    wide = draw(Vector([float(i) for i in range(64 * 64)]).sum(), arrays=True)
    assert [pixels(image).shape for image in wide.images.values()] == [(128, 128, 3)]


def test_images_are_inside_the_picture():
    _, loss = classifier(16, 8, 4)
    picture = draw(loss, arrays=True, color="grad")
    svg = picture.pipe(encoding="utf-8")
    assert svg.count("data:image/png;base64,") == len(picture.images) == 10
    assert ".png" not in svg
    (tanh_box,) = (
        x for x in tables(picture).values() if "tanh" in [b.text for b in x.iter("font")]
    )
    sizes = [(x.get("width"), x.get("height")) for x in tanh_box.iter("td") if x.get("fixedsize")]
    assert sizes == [("11", "74")]  # points: 72 for 8 numbers, and the frame
    assert pixels(picture.images["a5.png"]).shape == (144, 18, 3)  # two to a point
    assert picture.pipe("png").startswith(b"\x89PNG")
    assert picture.source == draw(loss, arrays=True, color="grad").source  # no folder is in it


def test_too_many_arrays_are_not_drawn():
    x = y = Value(0.5)
    for _ in range(301):
        y = y.tanh() if y is not x else y.sin()
    with pytest.raises(ValueError, match="found 302 boxes and 301 edges"):
        draw(y, arrays=True)
