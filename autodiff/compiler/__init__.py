"""From a graph to a program that computes its value and derivatives.

    expression.py   Expression, the graph of an output: propagate, backpropagate, compile
    symbolic.py     symbols: numbers that are not known yet
    printer.py      symbols as source text
    program.py      programs that compute number by number
    tracing.py      evaluation trace tables: formulas with their derivatives
    backends.py     array libraries: a class for each
    batch/          programs for a batch of samples, in five stages

A graph is run once more over symbols, forward and backward. Each operation on a symbol is recorded,
and the printer turns the record into lines of Python. For a batch there are five stages, which
`Expression.stages` prints: the recorded graph, its normal form, its groups, the operations on
arrays, and the text.
"""
