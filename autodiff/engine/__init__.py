"""Numbers that can be differentiated: begin with `tiny.py`, then read in this order.

    ops.py           every operation once: its value, its derivative, its domain
    decorators.py    how one is stated: @primitive, @composite, @operation
    operation.py     what an operation is: its facts, its domain
    calls.py         how it is called: with floats, arrays, any other number
    admission.py     what is a number, an array of them, a row of them
    levels.py        which derivative a number belongs to
    number.py        what all kinds of number have in common: operators
    graph.py         the nodes of a graph in order, and their adjoints
    value.py         Value: a node of the graph, and backward()
    dual.py          Dual: forward mode
    linalg.py        Vector and Matrix
    ufuncs.py        NumPy's functions of these numbers
    transforms.py    grad, jvp, vjp, jacfwd, jacrev, hessian, hvp
    errors.py        how error messages are worded
    interrupts.py    what Ctrl-C cannot leave half done
    scopes.py        names for the parts of a computation
    stepwise.py      the backward pass, node by node
    checks.py        finite differences, and checking gradients with them

The files up to `dual.py` hold every derivative; the others add breadth, not ideas.
"""
