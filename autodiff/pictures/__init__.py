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
    score.py         what a pass over the graph computes, step by step, as texts with holes
    stage.py         the drawing, with a mark on each part that a step changes
    viewer.py        show_steps: the live graph, a page made of viewer.html, .css and .js
    animation.py     animate: a picture that plays by itself
    displays.py      Vectors, programs and training runs as notebooks show them

`draw` arranges the nodes of a graph, finds out what fits and writes DOT, which Graphviz lays out.
The viewer and the animation take the SVG that comes back, and show in it what a pass computes.
"""
