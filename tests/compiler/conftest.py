"""What all tests of programs share."""

import numpy as np
import pytest

from autodiff.compiler.backends import library
from autodiff.compiler.program import Program


@pytest.fixture(scope="session", autouse=True)
def both_programs():
    """Wherever a test calls a program for a batch, what runs and what is read give one result."""
    call = Program.__call__

    def both(self, *given):
        returned = call(self, *given)
        if self.running != self.source:
            arrays = [np.asfortranarray(library(np).floats(x)) for x in given]  # as `fit` has them
            before = [x.copy() for x in arrays]
            found = self.runner()(*arrays)
            plain = self._function(*arrays)
            for x, y in zip(arrays, before):
                np.testing.assert_array_equal(x, y)
            results = [x if type(x) is tuple else (x,) for x in (found, plain)]
            for x, y in zip(*results):
                assert x.dtype == y.dtype, self.running
                np.testing.assert_array_equal(x, y, err_msg=self.running)
        return returned

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "__call__", both)
        yield
