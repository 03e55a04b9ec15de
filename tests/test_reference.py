"""The documentation: the docstrings of public names, and the pages that are made from them."""

import importlib.util
import inspect
import math
import re
import warnings
from pathlib import Path

import pytest

import autodiff
from autodiff import nn, optim

ROOT = Path(__file__).parent.parent
MODULES = {
    autodiff: [*autodiff.__all__, "abs", "sum"],
    nn: nn.__all__,
    optim: optim.__all__,
}
NAMES = [(module, name) for module, names in MODULES.items() for name in names]

# Functions that have a result for every number, so that there is no error to speak of.
TOTAL = {"abs": 1, "atan": 1, "erf": 1, "less": 2, "maximum": 2, "minimum": 2, "relu": 1,
         "sigmoid": 1, "softplus": 1, "tanh": 1, "where": 3}  # fmt: skip
NO_ERRORS = [*TOTAL, "History", "WalkingWarning"]


@pytest.mark.parametrize(
    ("module", "name"), NAMES, ids=[f"{m.__name__}.{name}" for m, name in NAMES]
)
def test_a_public_name_says_what_it_is_what_can_go_wrong_and_shows_an_example(module, name):
    documented = getattr(module, name)
    said = inspect.getdoc(documented)
    assert ">>> " in said
    assert name in NO_ERRORS or "Error" in said
    if not (inspect.isclass(documented) and issubclass(documented, Warning)):
        parameters = list(inspect.signature(documented).parameters)
        for parameter in parameters if len(parameters) > 3 else []:
            assert re.search(rf"\b{parameter}\b", said), parameter
    for method in dir(documented) if inspect.isclass(documented) else []:
        if not method.startswith("_") and inspect.isroutine(getattr(documented, method)):
            assert inspect.getdoc(getattr(documented, method)), method


@pytest.mark.parametrize("name", TOTAL)
def test_a_function_that_speaks_of_no_error_has_none(name):
    for x in (0.0, -0.0, 1.0, -1e308, 1e308, 5e-324, math.inf, -math.inf, math.nan):
        result = getattr(autodiff, name)(*[autodiff.Value(x)] * TOTAL[name])
        result.backward()
        assert isinstance(result.data, float)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_page_of_a_module_names_all_that_is_in_it(module):
    if module is not optim:  # whose names are those of its five classes
        said = set(re.findall(r"`(\w+)`", module.__doc__))
        listed = set(autodiff.functions.__all__)  # by that file's own table
        assert set(MODULES[module]) - listed <= said


def test_help_begins_with_what_there_is():
    assert autodiff.__doc__.index("`grad`") < autodiff.__doc__.index("ops.py")


@pytest.fixture
def script(monkeypatch):
    """The script that writes the pages."""
    pytest.importorskip("pdoc")
    if not (ROOT / ".github").exists():
        pytest.skip("an unpacked archive has no .github")
    place = importlib.util.spec_from_file_location("pages", ROOT / ".github" / "pages.py")
    loaded = importlib.util.module_from_spec(place)
    place.loader.exec_module(loaded)
    monkeypatch.setattr(autodiff, "__doc__", autodiff.__doc__)
    monkeypatch.setattr(autodiff, "__all__", list(autodiff.__all__))
    for name in autodiff._LATER:  # as in a new process
        monkeypatch.delitem(vars(autodiff), name, raising=False)
    return loaded


def test_the_reference_is_made_without_a_warning(script, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        script.reference(tmp_path)
    pages = {page: (tmp_path / page).read_text(encoding="utf-8")
             for page in ("autodiff.html", "autodiff/nn.html", "autodiff/optim.html")}  # fmt: skip
    for module, name in NAMES:
        page = pages[f"{module.__name__.replace('.', '/')}.html"]
        assert f'<section id="{name}">' in page, name
    for page in pages.values():
        assert "MathJax" in page
        assert "<em>" not in re.sub(r"<style>.*?</style>", "", page, flags=re.S)  # a * b, x_i
    assert r"$$m = \beta_1 m + (1 - \beta_1) g, \quad" in pages["autodiff/optim.html"]


def test_the_notebooks_become_pages_that_lead_to_each_other(script, tmp_path, monkeypatch):
    pytest.importorskip("nbconvert")
    (tmp_path / "notebooks").mkdir()
    for name in ("00_start_here.ipynb", "01_numeric_derivatives.ipynb"):
        text = (ROOT / "notebooks" / name).read_text(encoding="utf-8")
        (tmp_path / "notebooks" / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of nbconvert and what it loads
        script.notebooks(tmp_path / "pages")
    page = (tmp_path / "pages" / "00_start_here.html").read_text(encoding="utf-8")
    assert 'href="01_numeric_derivatives.html"' in page
    assert (tmp_path / "pages" / "01_numeric_derivatives.html").exists()
