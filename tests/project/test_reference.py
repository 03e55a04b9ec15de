"""The documentation: the docstrings of public names, and the pages that are made from them."""

import inspect
import math
import re
from pathlib import Path

import pytest

import autodiff
from autodiff import nn, ops, optim

ROOT = Path(__file__).parents[2]
MODULES = {autodiff: [*autodiff.__all__, "abs", "sum"], nn: nn.__all__, optim: optim.__all__}
NAMES = {f"{m.__name__}.{name}": (m, name) for m, names in MODULES.items() for name in names}

# Functions that have a result for every number, so that there is no error to speak of.
TOTAL = {"abs": 1, "atan": 1, "erf": 1, "less": 2, "maximum": 2, "minimum": 2, "relu": 1,
         "sigmoid": 1, "softplus": 1, "tanh": 1, "where": 3}  # fmt: skip
INITIAL = [name for name in nn.__all__ if name.endswith(("normal", "uniform"))]  # of sizes above 0
NO_ERRORS = [*TOTAL, "History", "WalkingWarning", *INITIAL]


@pytest.mark.parametrize(("module", "name"), NAMES.values(), ids=NAMES)
def test_a_public_name_says_what_it_is_what_can_go_wrong_and_shows_an_example(module, name):
    documented = getattr(module, name)
    said = inspect.getdoc(documented)
    assert ">>> " in said or documented in ops.LISTED  # whose examples pages.py makes
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


@pytest.mark.parametrize("module", [autodiff, nn], ids=["autodiff", "nn"])
def test_the_page_of_a_module_names_all_that_is_in_it(module):
    said = set(re.findall(r"`(\w+)`", module.__doc__))
    assert set(MODULES[module]) <= said
    assert "`grad`" in autodiff.__doc__.partition("ops.py")[0]  # help begins with what there is
