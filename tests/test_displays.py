"""Programs as notebooks show them, and what optimisers say."""

import pytest

from autodiff import Expression, Value, optim, sin


def test_a_program_is_shown_with_the_colours_of_its_language():
    x, y = Value(3.0), Value(4.0)
    program = Expression(sin(x) * y).compile([x, y], wrt=[x, y])
    assert program._repr_markdown_() == f"```python\n{program.source}```"


@pytest.mark.parametrize("kind", [optim.SGD, optim.Adagrad, optim.RMSprop, optim.Adam])
def test_optimisers_say_their_options(kind):
    text = repr(kind([Value(1.0)], lr=0.1))
    assert text.startswith(f"{kind.__name__}(1 parameter, lr=0.1")
    assert "0x" not in text
