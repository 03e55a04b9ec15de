"""What a picture shows: boxes, the frames around them, edges."""

import pytest
from pictures import box_texts, constant

import autodiff as ad
from autodiff import Matrix, Value, Vector, draw, scope
from autodiff.nn import Linear, Module, Sequential
from autodiff.pictures.scene import scene

X = Value(0.5, label="x")


def boxes(root):
    """Each box: what it is, its name or operation, how many nodes it shows, the scopes around it."""
    return [
        f"{x.role} {x.name or x.op} {len(x.nodes)} {'/'.join(s.name for s in x.path)}".strip()
        for x in scene(root, {}).boxes
    ]


def test_a_leaf_that_very_many_boxes_use_stands_at_each_of_them():
    for count, edges in ((20, 40), (21, 21)):
        y = Value(1.0)
        for _ in range(count):
            y = y - X
        page = draw(y).sheet
        assert (len(page.arrows), page.arrows[0].slot) == (edges, 0)
    assert [len(panel.faces) for panel in page.panels.values()] == [1, *[2] * 21]


def test_leaves_are_inputs_parameters_or_constants():
    layer, plain = Linear(1, 1, seed=0), constant(4.0)
    y = layer([plain])[0] * layer([X])[0] + X * 2.0
    leaves = [box for box in boxes(y) if not box.startswith(("operation", "output"))]
    of_layer = ["parameter weight[0,0] 1", "input  1", "parameter bias[0] 1", "input x 1"]
    assert leaves == [*of_layer, "constant  1"]
    with scope("part"):
        inside = plain * X  # made outside, and so given to the part
        hidden = X + 7.0
    assert boxes(inside * hidden) == [
        "input  1", "input x 1", "operation * 1 part", "constant  1 part", "operation + 1 part",
        "output * 1",
    ]  # fmt: skip


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
    assert boxes(model(X))[0] == f"parameter w 1 {path}"


def test_names_of_variables():
    a, labelled = Value(1.0), Value(2.0, label="mine")
    w, big = Vector([3.0, 4.0]), Matrix([[5.0, 6.0]])
    _, _hidden = a, w
    _alone = Value(7.0)
    y = ad.sum([a, labelled, *w, big[0, 1], _alone])
    assert box_texts(y, names=locals()) == [
        "a | data 1", "mine | data 2", "w[0…1] | data | 3 | 4", "big[0,1] | data 6", "data 7",
        "sum | y | data 23",
    ]  # fmt: skip


def test_entries_of_a_vector_are_a_table_with_one_edge():
    x, w = Vector([1.0, 2.0]), Vector([float(i) for i in range(20)])
    y = x @ x + w @ w
    assert "w[0…19] | data | 0 | 1 | 2 | 3 | 4 | 5 | … | 19" in box_texts(y, names={"w": w})
    assert len(draw(y).sheet.arrows) == 4
    x = Vector([1.0, 1.0])  # equal numbers, and two dots with the same data
    assert len(box_texts(x @ x + Vector([1.0, 1.0]) @ x)) == 5
