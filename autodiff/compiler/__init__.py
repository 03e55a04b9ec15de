"""From a graph to a program that computes its value and derivatives.

    expression.py   Expression, the graph of an output: propagate, backpropagate, compile
    symbolic.py     symbols: numbers that are not known yet
    printer.py      symbols as source text
    program.py      programs that compute number by number
    stages.py       programs for a batch of samples: the five stages, one after the other
    normal.py       chains of additions and products as sums and dots
    groups.py       nodes of the same kind, each group of which becomes an array
    places.py       where the numbers that a group reads lie in an array
    arrays.py       operations on symbols of arrays
    batch.py        each group's operation, run once over symbols of arrays, and back
    array_text.py   symbols of arrays as source text
    backends.py     what NumPy, JAX and PyTorch do differently

A graph is run once more over symbols, forward and backward. Each operation on a symbol is recorded,
and the printer turns the record into lines of Python. For a batch there are five stages, each of
which can be printed: the recorded graph, its normal form, its groups, the operations on arrays, and
the text.
"""
