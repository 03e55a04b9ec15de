"""From a graph to a program that computes its value and derivatives.

    expression.py   Expression, the graph of an output: propagate, backpropagate, compile
    symbolic.py     symbols: numbers that are not known yet
    printer.py      symbols as source text
    program.py      programs that compute number by number
    groups.py       nodes that are alike, each group of which becomes an array
    arrays.py       symbols of arrays
    batch.py        each group's operation, run once over symbols of arrays, and back
    array_text.py   symbols of arrays as source text
    backends.py     what NumPy, JAX and PyTorch do differently

A graph is run once more over symbols, forward and backward. Each operation on a symbol is recorded,
and the printer turns the record into lines of Python. For a batch there are four stages, each of
which can be printed: the recorded graph, its groups, the operations on arrays, and the text.
"""
