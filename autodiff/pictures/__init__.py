"""The graph as a picture.

    drawing.py       draw, and the Drawing that it returns
    arrangement.py   which box stands in which frame
    styles.py        what each box says, and its colours
    texts.py         numbers and labels, short and safe
    dot.py           boxes, frames and edges in DOT, Graphviz's language
    layout.py        Graphviz in this process
    viewer.py        show_steps and animate: the backward pass step by step
    viewer.html      the viewer's page

`draw` arranges the nodes of a graph, styles them and writes DOT, which Graphviz lays out. The
viewer takes the SVG that comes back and adds what the backward pass will write.
"""
