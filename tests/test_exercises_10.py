"""Notebook 10: answers get their verdicts, everyone in the race computes the same, names are right."""

import importlib
import re
from pathlib import Path

import matplotlib.pyplot as plt
import micrograd.engine
import nbformat
import numpy as np
import pytest
from exercises import back_to_matrices, race
from sklearn.datasets import load_digits, load_iris

import autodiff as ad
from autodiff import Value, Vector

NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "10_back_to_matrices.ipynb"
CELLS = nbformat.read(NOTEBOOK, as_version=4).cells


def by_hand():
    """The function of the notebook, so that what is raced is what is read."""
    (source,) = [c.source for c in CELLS if c.source.startswith("def by_hand")]
    scope = {"np": np}
    exec(source.partition("\n\n\n")[0], scope)
    return scope["by_hand"]


# -- 1. Predict the groups ------------------------------------------------------------------------


def test_the_groups_are_predicted():
    assert back_to_matrices.solution_1() == (15, 141)
    assert back_to_matrices.solution_1(30) == (15, 201)
    right, text = back_to_matrices.check_1.verdict(15)
    assert right, text


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (12, "one hidden layer"),
        (13, "has biases"),
        (14, "make the loss"),
        (16, "Leaves are not operations"),
        (17, "no tanh"),
        (24, "twice"),
        (141, "How many different ones"),
        (40, "one more hidden layer"),
        (True, "Expected an integer"),
        (15.0, "Expected an integer"),
        ("15", "Expected an integer"),
        ((15, 141), "Expected an integer"),
    ],
)
def test_another_number_of_groups_gets_its_hint(answer, hint):
    right, text = back_to_matrices.check_1.verdict(answer)
    assert not right
    assert hint in text


# -- 2. Be the compiler ---------------------------------------------------------------------------


LINES = {
    "h": "W @ x + b[:, None]",
    "r": "np.maximum(h, 0)",
    "error": "v @ r + c - t",
    "error_bar": "2 * error",
    "r_bar": "v[:, None] * error_bar",
    "h_bar": "np.where(h > 0, r_bar, 0.0)",
    "W_bar": "h_bar @ x.T",
    "b_bar": "h_bar.sum(axis=1)",
    "v_bar": "r @ error_bar",
    "c_bar": "error_bar.sum()",
}


def answer_2(**changed):
    """An answer to the second exercise, with some of its lines changed."""

    def answer(*given):
        scope = {"np": np} | dict(zip("xtWbvc", given))
        for name, line in (LINES | changed).items():
            scope[name] = eval(line, scope)
        return scope["error"] ** 2, tuple(scope[f"{name}_bar"] for name in "Wbvc")

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        back_to_matrices.solution_2,
        answer_2(),
        answer_2(h_bar="r_bar * (h > 0)"),
        answer_2(W_bar="np.einsum('in,jn->ij', h_bar, x)", v_bar="(r * error_bar).sum(axis=1)"),
    ],
)
def test_a_right_backward_pass_is_praised(answer):
    right, text = back_to_matrices.check_2.verdict(answer)
    assert right, text


GRADIENTS = {
    "dots": (answer_2(v_bar="...", W_bar="...", b_bar="..."), "Right so far: c_bar. Not filled in yet: v_bar"),
    "more dots": (answer_2(W_bar="..."), "Right so far: c_bar, v_bar, b_bar. Not filled in yet: W_bar"),
    "computing with dots": (answer_2(W_bar="... * x.T"), "still computes with the dots"),
    "a product of dots": (answer_2(W_bar="... @ x.T"), "Are the dots still there?"),
    "no mask": (answer_2(h_bar="r_bar"), "b_bar: relu stops what is negative"),
    "no mask in W": (answer_2(W_bar="r_bar @ x.T"), "W_bar: relu stops what is negative"),
    "no factor of two": (answer_2(error_bar="error"), "c_bar: error_bar is 2 * error"),
    "the message for r": (answer_2(v_bar="r_bar.sum(axis=1)"), "v_bar: That is the message for relu's"),
    "h for r": (answer_2(v_bar="h @ error_bar"), "v_bar: The message for v is error_bar times r"),
    "not summed": (answer_2(b_bar="h_bar"), "b_bar has the shape (8, 30), its parameter (8,)"),
    "not summed to c": (answer_2(c_bar="error_bar"), "c_bar has the shape (30,), its parameter ()"),
    "summed over neurons": (answer_2(b_bar="h_bar.sum(axis=0)"), "b_bar has the shape (30,)"),
    "transposed": (answer_2(W_bar="x @ h_bar.T"), "W_bar is (3, 8): transposed"),
    "shapes that do not fit": (answer_2(W_bar="h_bar @ x"), "Two shapes do not fit"),
    "the mean": (answer_2(c_bar="error_bar.mean()"), "c_bar is that of the mean"),
    "the wrong sign": (answer_2(v_bar="-(r @ error_bar)"), "v_bar has the wrong sign"),
    "something else": (answer_2(v_bar="v"), "v_bar is not what the compiler finds"),
    "no array": (answer_2(v_bar="'v'"), "v_bar should be an array"),
    "an unknown name": (answer_2(v_bar="r_bra"), "NameError: name 'r_bra' is not defined"),
    "other losses": (
        lambda *given: (given[1], back_to_matrices.solution_2(*given)[1]),
        "The losses have changed",
    ),
    "zeros": (
        lambda *given: (back_to_matrices.solution_2(*given)[0], (np.zeros((8, 3)), np.zeros(8), np.zeros(8), 0.0)),
        "c_bar is not what the compiler finds",
    ),
    "three gradients": (lambda *given: (0.0, (1.0, 2.0, 3.0)), "four gradients"),
    "nothing": (lambda *given: None, "Return the losses and four gradients"),
    "no function": (3.0, "Expected a function"),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_wrong_backward_pass_gets_its_hint(name):
    answer, hint = GRADIENTS[name]
    right, text = back_to_matrices.check_2.verdict(answer)
    assert not right
    assert hint in text


def test_what_was_right_once_is_not_right_again():
    given = back_to_matrices.random_regression()
    remembered = back_to_matrices.solution_2(*given)
    assert not back_to_matrices.check_2.verdict(lambda *ignored: remembered)[0]


# -- 3. Out of the chain --------------------------------------------------------------------------


def horner(coefficients, x):
    y = 0.0
    for c in reversed(coefficients):
        y = y * x + c
    return y


def powers(x, n):
    found = [x**0]
    for _ in range(n - 1):
        found.append(found[-1] * x)
    return found


@pytest.mark.parametrize(
    "answer",
    [
        back_to_matrices.solution_3,
        lambda c, x: ad.sum([a * x**k for k, a in enumerate(c)]),
        lambda c, x: c @ Vector([x**k for k in range(len(c))]),
    ],
)
def test_a_polynomial_without_a_chain_is_praised(answer):
    right, text = back_to_matrices.check_3.verdict(answer)
    assert right, text
    assert "groups, for 6 coefficients as for 12" in text


POLYNOMIALS = {
    "the one to repair": (horner, "Each step waits"),
    "Python's sum": (lambda c, x: sum(a * x**k for k, a in enumerate(c)), "Only the additions"),
    "a chain of powers": (lambda c, x: ad.dot(c, powers(x, len(c))), "The powers wait"),
    "both": (lambda c, x: sum(a * b for a, b in zip(c, powers(x, len(c)))), "Each step waits"),
    "backwards": (lambda c, x: ad.dot(c, [x**k for k in range(len(c))][::-1]), "Coefficient 0 comes first"),
    "a power too high": (lambda c, x: ad.dot(c, [x ** (k + 1) for k in range(len(c))]), "A sum of c * x**k"),
    "a power too few": (lambda c, x: ad.dot(c, [x**k for k in range(1, len(c))]), "as many powers"),
    "its number alone": (lambda c, x: Value(horner(c, x).data), "`.data` takes it out"),
    "its number, with x": (lambda c, x: Value(horner(c, x).data) + 0 * x + 0 * ad.sum(c), "not at other points"),
    "numbers for powers": (lambda c, x: ad.dot(c, [x.data**k for k in range(len(c))]), "`.data` takes it out"),
    "a function of math": (lambda c, x: ad.dot(c, [float(x) ** k for k in range(len(c))]), "functions of `math`"),
    "a float": (lambda c, x: horner(c.data, x.data), "Expected a Value, found a float"),
    "a vector": (lambda c, x: Vector([a * x**k for k, a in enumerate(c)]), "found a Vector"),
    "nothing": (lambda c, x: None, "returns nothing"),
    "no function": (..., "Nothing here yet"),
    "a number": (2, "Expected a function"),
    "an unknown name": (lambda c, x: dott(c, x), "NameError"),  # noqa: F821
}  # fmt: skip


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_another_polynomial_gets_its_hint(name):
    answer, hint = POLYNOMIALS[name]
    right, text = back_to_matrices.check_3.verdict(answer)
    assert not right
    assert hint in text


# -- Two programs side by side --------------------------------------------------------------------


def test_every_array_of_the_hand_written_program_is_in_the_compiled_one():
    task = race.Task(load_iris(), 10)
    x, target, loss = task.recorded()
    wrt = task.model.parameters()
    program = ad.Expression(loss).compile([x, target], wrt, xp=np, batch=True)
    text = back_to_matrices.side_by_side(
        program,
        (np.hstack([task.x, task.t]), task.p),
        by_hand(),
        (task.x.T, task.t.T, *task.layers),
    )
    named = {name for line in text.splitlines() for name in line[:8].split()}
    assert named >= {"x", "t", "W1", "b1", "W2", "b2", "a", "z", "e", "s", "losses"}
    assert named >= {"z_bar", "b2_bar", "W2_bar", "h_bar", "b1_bar", "W1_bar"}


# -- The race -------------------------------------------------------------------------------------


def by_torch(task):
    import torch

    return race.by_torch(torch)(task)


def by_jax(task):
    import jax

    jax.config.update("jax_enable_x64", True)
    return race.compiled(task, jax.numpy, jax.jit)


RUNNERS = [
    pytest.param(race.compiled, id="compiled"),
    pytest.param(race.plain_python, id="plain Python"),
    pytest.param(race.walking, id="a node per neuron"),
    pytest.param(
        race.product_by_product(ad.Value, ad.tanh, ad.exp, ad.log), id="a node per product"
    ),
    pytest.param(race.by_scikit_learn, id="scikit-learn"),
    pytest.param(race.by_micrograd(micrograd.engine), id="micrograd"),
    pytest.param(by_torch, id="torch", marks=pytest.mark.torch),
    pytest.param(by_jax, id="jax", marks=pytest.mark.jax),
]


@pytest.mark.parametrize("runner", RUNNERS)
def test_everyone_in_the_race_computes_the_same(runner):
    for data, hidden, n in ((load_iris(), 10, None), (load_digits(), 4, 12)):
        task = race.Task(data, hidden, n)
        epoch = runner(task)
        epoch()  # what the first leaves behind does not count
        race.check("the runner", epoch(), race.by_numpy(by_hand())(task)())


def test_a_runner_that_computes_something_else_is_disqualified():
    task = race.Task(load_iris(), 10, 7)
    total, gradients = race.walking(task)()
    expected = race.by_numpy(by_hand())(task)()
    with pytest.raises(AssertionError, match="walker"):
        race.check("walker", (total + 1e-3, gradients), expected)
    gradients[0][40] += 1e-3
    with pytest.raises(AssertionError, match="walker"):
        race.check("walker", (total, gradients), expected)


def test_results_are_a_table_and_bars_on_one_axis():
    results = {
        "small": {"NumPy by hand": 2e-5, "PyTorch": 4e-3, "plain Python": 3.0},
        "large": {"NumPy by hand": 1e-3, "PyTorch": 5e-3},
    }
    text = race.table(results).splitlines()
    assert text[0].split() == ["small", "one", "epoch", "by", "hand", "=", "1"]
    assert text[1].split() == ["plain", "Python", "3,000,000", "µs", "150,000.0"]
    figure = race.bars(results)
    upper, lower = figure.axes
    assert upper.get_xlim() == lower.get_xlim()
    assert upper.get_xscale() == lower.get_xscale() == "log"
    assert [text.get_text() for text in upper.texts] == ["20 µs", "4 ms", "3 s"]
    plt.close(figure)


# -- The table of names ---------------------------------------------------------------------------


def table_of_names():
    """The dotted names in each column of the table, ours first."""
    (text,) = [c.source for c in CELLS if "| here | PyTorch | JAX |" in c.source]
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) > 15
    for number in range(4):
        cells = [part for row in rows for part in re.findall("`([^`]*)`", row[number])]
        yield sorted({name for cell in cells for name in re.findall(r"\b[a-z_A-Z.]+\b", cell)})


def exists(name):
    module, *rest = name.split(".")
    found = importlib.import_module(module)
    for i, part in enumerate(rest):
        if not hasattr(found, part):
            importlib.import_module(".".join([module, *rest[: i + 1]]))
        found = getattr(found, part)


@pytest.mark.parametrize(
    "module", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("torch", "jax")]
)
def test_the_names_of_other_libraries_exist(module):
    names = {n for column in table_of_names() for n in column if n.startswith(f"{module}.")}
    assert len(names) > 9
    for name in names:
        exists(name)


def test_our_names_exist():
    ours, *_ = table_of_names()
    known = {name for name in ours if hasattr(ad, name.split(".")[0])}
    assert known >= {
        "Value",
        "grad",
        "jvp",
        "vjp",
        "hvp",
        "operation",
        "where",
        "nn.fit",
        "optim.Adam",
    }
    for name in known:
        exists(f"autodiff.{name}")


def test_an_integer_of_numpy_is_an_integer():
    assert back_to_matrices.check_1.verdict(np.int64(15))[0]


def test_an_answer_may_work_in_the_arrays_that_it_is_given():
    def in_place(*given):
        found = back_to_matrices.solution_2(*given)
        for array in given[:5]:
            array *= 2
        return found

    right, text = back_to_matrices.check_2.verdict(in_place)
    assert right, text
