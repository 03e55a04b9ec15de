"""What a picture shows: boxes, the frames around them, edges."""

from pictures import network, said, shown

import autodiff
from autodiff import Matrix, Value, Vector, draw, scope
from autodiff.nn import Linear, Module, Sequential, cross_entropy, mse_loss
from autodiff.pictures.scene import scene

X = Value(0.5, label="x")


def constant(x, label=""):
    found = Value(x, label=label)
    found.requires_grad = False
    return found


def boxes(root, names=(), **options):
    """Each box: its role, name, operation, the scopes around it, and how many nodes it shows."""
    found = scene(root, dict(names), **options).boxes
    return [
        (x.role, x.name, x.op, "/".join(scope.name for scope in x.path), len(x.nodes))
        for x in found
    ]


def test_the_boxes_of_a_layer():
    x = Vector([1.0, 2.0])
    y = Linear(2, 1, seed=0)(x)[0] * 3.0
    assert boxes(y, {x[0]: "x[0]", x[1]: "x[1]"}) == [
        ("parameter", "weight[0,0…1]", "", "Linear", 2), ("input", "x[0…1]", "", "", 2),
        ("operation", "", "dot", "Linear", 1), ("parameter", "bias[0]", "", "Linear", 1),
        ("operation", "", "+", "Linear", 1), ("constant", "", "", "", 1), ("output", "", "*", "", 1),
    ]  # fmt: skip
    edges = [(x.tail.name or x.tail.op, x.head.op, x.slot, len(x.uses)) for x in scene(y, {}).edges]
    assert edges == [
        ("weight[0,0…1]", "dot", None, 2), ("", "dot", None, 2), ("dot", "+", 0, 1),
        ("bias[0]", "+", 1, 1), ("+", "*", 0, 1), ("", "*", 1, 1),
    ]  # fmt: skip
    assert boxes(y, collapse=True) == [
        ("input", "", "", "", 2), ("collapsed scope", "Linear", "", "", 5),
        ("constant", "", "", "", 1), ("output", "", "*", "", 1),
    ]  # fmt: skip


def test_leaves_are_inputs_parameters_or_constants():
    layer, plain = Linear(1, 1, seed=0), constant(4.0)
    y = layer([plain])[0] * layer([X])[0] + X * 2.0
    leaves = [box[:2] + box[3:] for box in boxes(y) if not box[2]]
    assert leaves == [
        ("parameter", "weight[0,0]", "", 1), ("input", "", "", 1), ("parameter", "bias[0]", "", 1),
        ("input", "x", "", 1), ("constant", "", "", 1),
    ]  # fmt: skip
    with scope("part"):
        inside = plain * X  # made outside, and so given to the part
        hidden = X + 7.0
    assert [box[0] for box in boxes(inside * hidden)] == [
        "input", "input", "operation", "constant", "operation", "output",
    ]  # fmt: skip
    assert boxes(inside * hidden)[3][3] == "part"


class Scaled(Module):
    def __init__(self):
        super().__init__()
        self.w = Value(2.0)

    def forward(self, x):
        with scope("part"):
            return self.w * x


def test_a_parameter_is_in_the_frame_of_the_module_that_holds_it():
    assert boxes(Scaled()(X))[0] == ("parameter", "w", "", "Scaled", 1)
    assert boxes(Sequential(Scaled())(X))[0] == ("parameter", "w", "", "Sequential/Scaled", 1)


def test_the_loss_is_one_box_if_a_network_is_there():
    layer = Linear(2, 2, seed=0)
    target = constant(3.0, "t")
    loss = mse_loss(layer([1.0, 2.0]), [1.0, target])
    assert [box[:3] for box in boxes(loss, collapse=True)] == [
        ("input", "", ""), ("collapsed scope", "Linear", ""), ("constant", "t", ""), ("output", "loss", ""),
    ]  # fmt: skip
    loss.label = "mse"
    assert boxes(loss, collapse=True)[-1][1] == "mse"
    one = layer([1.0, 2.0])[0].sin()  # a single operation keeps its sign
    assert [box[2] for box in boxes(one, collapse=True)][-1] == "sin"


def test_an_exponent_that_is_used_elsewhere_has_a_box():
    two = Value(2.0)
    two.requires_grad = False
    assert ["2"] in said(draw(X**two + two))
    assert ["2"] not in said(draw(X**two + X))


def test_names_of_variables():
    a, labelled = Value(1.0), Value(2.0, label="mine")
    w, big = Vector([3.0, 4.0]), Matrix([[5.0, 6.0]])
    _, _hidden = a, w
    _alone = Value(7.0)
    y = autodiff.sum([a, labelled, *w, big[0, 1], _alone])
    names = [box[0] for box in said(draw(y, names=locals()))]
    assert names == ["a", "mine", "w[0…1]", "big[0,1]", "data 7", "sum"]
    assert said(draw(y, names=locals()))[-1][1] == "y"


def test_entries_of_a_vector_are_a_table_with_one_edge():
    x, w = Vector([1.0, 2.0]), Vector([float(i) for i in range(20)])
    picture = draw(x @ x + w @ w, names={"w": w})
    assert ["w[0…19]", "data", "0", "1", "2", "3", "4", "5", "…", "19"] in said(picture)
    assert picture.source.count("->") == 4
    scalar = draw(x @ Vector([3.0, 4.0]) + x[0])
    assert ["data 1"] in said(scalar)  # it is used alone, too


def test_parameters_stand_at_the_operation_that_uses_them():
    y = Linear(2, 1, seed=0)([1.0, 2.0])[0]
    boxes = said(draw(y))
    assert [[line for line in box if "[" in line or line in "dot+"] for box in boxes] == [
        [], ["weight[0,0…1]", "dot"], ["bias[0]", "+"],
    ]  # fmt: skip
    assert len(said(draw(y, edges="local"))) == 5  # where numbers stand on their edges


def test_equal_numbers_are_not_taken_for_the_same_value():
    x = Vector([1.0, 1.0])
    y = x.dot(x) + Vector([1.0, 1.0]).dot(x)  # two dots with the same data
    assert len(said(draw(y))) == 5


def test_ten_layers_collapse_to_ten_boxes():
    y = autodiff.sum(network(*[9] * 11)([0.1 * i for i in range(9)]))
    boxes = said(draw(y, collapse=True))
    layers = [[f"{i}: Linear", "90 parameters"] for i in range(10)]
    assert boxes[1:] == [*layers, ["sum", f"data {y.data:.4g}".replace("-", "−")]]
    assert said(draw(y, collapse=True), "e") == [["9 values"]] * 11


def test_a_collapsed_network_and_its_loss():
    loss = cross_entropy(network(4, 3, 2)([1.0, 2.0, 3.0, 4.0]), 1)
    loss.backward()
    names = [box[0] for box in said(draw(loss, collapse=True))]
    assert names == ["data", "0: Linear", "1: Linear", "loss"]
    x = Value(1.0, label="x")
    with scope("part"):
        y = x * 3.0 * 5.0
    picture = draw((y * 1.0 + 2.0) * 3.0, collapse=True, color="grad")
    assert [box[0] for box in said(picture)] == ["x", "part", "1", "·", "2", "+", "3", "·"]
    assert "|grad| ≤ 15" in shown(picture)  # x is outside, and 3 x has 15


def test_parameters_of_two_collapsed_calls_are_in_both():
    layer = Linear(1, 1, seed=0)
    boxes = said(draw(layer([1.0])[0] * layer([2.0])[0], collapse=True))
    assert [box[0] for box in boxes].count("Linear") == 2
    assert not any("[" in line for box in boxes for line in box)
