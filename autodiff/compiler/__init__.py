"""From a graph to a program that computes its value and derivatives.

    expression.py   Expression, the graph of an output: propagate, backpropagate, compile
    program.py      programs that compute number by number
    vectorize.py    programs that compute with arrays, one for each group of similar nodes
    groups.py       the groups alone, for pictures
    nodes.py        the arrays of such a program, and the messages sent back to them
    places.py       where numbers lie in an array
    arrays.py       symbols of arrays
    symbolic.py     symbols: numbers that are not known yet
    printer.py      symbols as source text
    backends.py     what NumPy, JAX and PyTorch do differently

A graph is run once more over symbols, forward and backward. Each operation on a symbol is recorded,
and the printer turns the record into lines of Python.
"""
