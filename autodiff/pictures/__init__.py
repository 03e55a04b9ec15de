"""The graph as a picture.

    drawing.py       draw, and the Drawing that it returns
    arrangement.py   which box goes into which frame, and which leaves form a vector
    styles.py        what a picture shows; colours and borders
    texts.py         numbers and labels, short and safe
    edges.py         where each edge comes from, and the text on it
    markup.py        each box as a table, in Graphviz's HTML
    fit.py           the direction and the digits with which a picture fits on a page
    dot.py           boxes, frames and edges in DOT, Graphviz's language
    layout.py        Graphviz in this process
    fontconfig.py    the fonts that texts are measured with: the same on every machine
    grids.py         arrays as grids: networks of any size
    description.py   the picture in words, for those who cannot see it
    score.py         what a pass over the graph computes, step by step, as texts with holes
    stage.py         the drawing, with a mark on each part that a step changes
    viewer.py        show_steps: the live graph, a page made of viewer.html, .css and .js
    animation.py     animate: a picture that plays by itself
    tables.py        Vectors and Matrices as a notebook shows them
    displays.py      programs and training runs as a notebook shows them

`draw` arranges the nodes of a graph, finds out what fits and writes DOT, which Graphviz lays out.
The viewer and the animation show in the resulting SVG what a pass computes.
"""
