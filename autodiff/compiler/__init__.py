"""From a graph to a program that computes its value and derivatives.

    expression.py   Expression, the graph of an output: propagate, backpropagate, compile
    program.py      a program, and how a graph becomes one number by number
    vectorize.py    how a graph becomes a program of arrays: what is alike is one array
    groups.py       the groups alone, for pictures
    nodes.py        the arrays of such a program, and the messages sent back to them
    places.py       where numbers lie in an array
    arrays.py       symbols of arrays
    symbolic.py     symbols: numbers that are not known yet
    printer.py      symbols as source text
    backends.py     what NumPy, JAX and PyTorch do differently

A graph is computed once more over symbols, forward and backward. Each operation on a symbol is
written down, and the printer turns what was written into lines of Python.
"""
