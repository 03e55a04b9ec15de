"""What a picture shows: boxes, the frames around them, edges."""

import pytest
from pictures import network, output, said, shown

import autodiff as ad
from autodiff import Matrix, Value, Vector, draw, scope
from autodiff.nn import Linear, Module, Sequential, mse_loss
from autodiff.pictures.scene import scene

X = Value(0.5, label="x")


def constant(x, label=""):
    found = Value(x, label=label)
    found.requires_grad = False
    return found


def boxes(root, names=(), **options):
    """Each box: its role, name, operation, the scopes around it, and how many nodes it shows."""
    found = scene(root, dict(names), **options).boxes
    return [(x.role, x.name, x.op, "/".join(s.name for s in x.path), len(x.nodes)) for x in found]


def first_lines(picture):
    return [box[0] for box in said(picture)]


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


def test_parameters_stand_at_their_operation_unless_numbers_stand_on_edges():
    y = Linear(2, 1, seed=0)([1.0, 2.0])[0]
    names = [[line for line in box if "[" in line or line in "dot+"] for box in said(draw(y))]
    assert names == [[], ["weight[0,0…1]", "dot"], ["bias[0]", "+"]]
    assert len(said(draw(y, edges="local"))) == 5


def test_leaves_are_inputs_parameters_or_constants():
    layer, plain = Linear(1, 1, seed=0), constant(4.0)
    y = layer([plain])[0] * layer([X])[0] + X * 2.0
    assert [box[:2] for box in boxes(y) if not box[2]] == [
        ("parameter", "weight[0,0]"), ("input", ""), ("parameter", "bias[0]"), ("input", "x"),
        ("constant", ""),
    ]  # fmt: skip
    with scope("part"):
        inside = plain * X  # made outside, and so given to the part
        hidden = X + 7.0
    found = boxes(inside * hidden)
    assert [box[0] for box in found] == [
        "input", "input", "operation", "constant", "operation", "output",
    ]  # fmt: skip
    assert found[3][3] == "part"


class Scaled(Module):
    def __init__(self):
        super().__init__()
        self.w = Value(2.0)

    def forward(self, x):
        with scope("part"):
            return self.w * x


@pytest.mark.parametrize(
    ("model", "path"), [(Scaled(), "Scaled"), (Sequential(Scaled()), "Sequential/Scaled")]
)
def test_a_parameter_is_in_the_frame_of_the_module_that_holds_it(model, path):
    assert boxes(model(X))[0] == ("parameter", "w", "", path, 1)


def test_the_loss_is_one_box_if_a_network_is_there():
    layer = Linear(2, 2, seed=0)
    loss = mse_loss(layer([1.0, 2.0]), [1.0, constant(3.0, "t")])
    assert [box[:3] for box in boxes(loss, collapse=True)] == [
        ("input", "", ""), ("collapsed scope", "Linear", ""), ("constant", "t", ""), ("output", "loss", ""),
    ]  # fmt: skip
    loss.label = "mse"
    assert boxes(loss, collapse=True)[-1][1] == "mse"
    one = layer([1.0, 2.0])[0].sin()  # a single operation keeps its sign
    assert boxes(one, collapse=True)[-1][2] == "sin"


def test_an_exponent_that_is_used_elsewhere_has_a_box():
    two = constant(2.0)
    assert ["2"] in said(draw(X**two + two))
    assert ["2"] not in said(draw(X**two + X))


def test_names_of_variables():
    a, labelled = Value(1.0), Value(2.0, label="mine")
    w, big = Vector([3.0, 4.0]), Matrix([[5.0, 6.0]])
    _, _hidden = a, w
    _alone = Value(7.0)
    y = ad.sum([a, labelled, *w, big[0, 1], _alone])
    found = said(draw(y, names=locals()))
    assert [box[0] for box in found] == ["a", "mine", "w[0…1]", "big[0,1]", "data 7", "sum"]
    assert found[-1][1] == "y"


def test_entries_of_a_vector_are_a_table_with_one_edge():
    x, w = Vector([1.0, 2.0]), Vector([float(i) for i in range(20)])
    picture = draw(x @ x + w @ w, names={"w": w})
    assert ["w[0…19]", "data", "0", "1", "2", "3", "4", "5", "…", "19"] in said(picture)
    assert picture.source.count("->") == 4
    alone = draw(x @ Vector([3.0, 4.0]) + x[0])
    assert ["data 1"] in said(alone)
    x = Vector([1.0, 1.0])  # equal numbers, and two dots with the same data
    assert len(said(draw(x.dot(x) + Vector([1.0, 1.0]).dot(x)))) == 5


def test_collapsed_layers():
    y = output(9, 9, 9, 9)
    picture = draw(y, collapse=True)
    layers = [[f"{i}: Linear", "90 parameters"] for i in range(3)]
    assert said(picture)[1:] == [*layers, ["sum", f"data {y.data:.4g}".replace("-", "−")]]
    assert said(picture, "e") == [["9 values"]] * 4
    layer = network(1, 1)  # its parameters are in both calls
    twice = draw(layer([1.0])[0] * layer([2.0])[0], collapse=True)
    assert first_lines(twice).count("0: Linear") == 2
    assert not any("[" in line for line in shown(twice))


def test_a_collapsed_scope_and_its_largest_gradient():
    x = Value(1.0, label="x")
    with scope("part"):
        y = x * 3.0 * 5.0
    picture = draw((y * 1.0 + 2.0) * 3.0, collapse=True, color="grad")
    assert first_lines(picture) == ["x", "part", "1", "·", "2", "+", "3", "·"]
    assert "|grad| ≤ 15" in shown(picture)  # x is outside, and 3 x has 15
