"""The graph as a picture.

    drawing.py       draw, and the Drawing that it returns
    arrangement.py   which box stands in which frame, and which leaves stand together
    styles.py        what a picture is to show; colours and borders
    texts.py         numbers and labels, short and safe
    edges.py         where each edge comes from, and what it says
    markup.py        each box as a table, in Graphviz's HTML
    fit.py           the direction and the digits with which a picture fits into a page
    dot.py           boxes, frames and edges in DOT, Graphviz's language
    layout.py        Graphviz in this process
    grids.py         arrays as grids: networks of any size
    description.py   the picture in words, for those who cannot see it
    viewer.py        show_steps and animate: the backward pass step by step
    viewer.html      the viewer's page
    displays.py      Vectors, programs and training runs as notebooks show them

`draw` arranges the nodes of a graph, finds out what fits and writes DOT, which Graphviz lays out.
The viewer takes the SVG that comes back and adds what the backward pass will write.
"""
