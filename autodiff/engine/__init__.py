"""Numbers that can be differentiated: begin with `tiny.py`, then read in this order.

    ops.py           every operation once: its value, its derivative, its domain
    dispatch.py      what an operation is, and how it is called
    admission.py     what is a number, an array of them, a row of them
    number.py        what all kinds of number have in common: operators, levels
    graph.py         the nodes of a graph in order, and their adjoints
    value.py         Value: a node of the graph, and backward()
    dual.py          Dual: forward mode
    linalg.py        Vector and Matrix
    ufuncs.py        NumPy's functions of these numbers
    transforms.py    grad, jvp, vjp, jacfwd, jacrev, hessian, hvp
    errors.py        how error messages are worded
    scopes.py        names for the parts of a computation
    checks.py        finite differences, and checking gradients with them

The files up to `dual.py` hold every derivative; the others add breadth, not ideas.
"""
