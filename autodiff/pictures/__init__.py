"""The graph as a picture.

    drawing.py       draw: boxes for Values, round nodes for operations, frames for scopes
    arrangement.py   which box stands in which frame
    styles.py        what a box says, and its colours
    layout.py        Graphviz in this process
    viewer.py        show_steps and animate: the backward pass step by step

An arrangement is made of the nodes of a graph, styled, written as DOT, and laid out by Graphviz;
the viewer adds to the SVG that comes back what the backward pass will write.
"""
