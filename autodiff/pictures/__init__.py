"""The graph as a picture.

    texts.py         numbers and labels, short and safe
    scene.py         what a picture shows: boxes, frames, vectors, edges
    look.py          how it looks: colours, the lines of a box, the text on an edge
    dot.py           a scene in DOT, Graphviz's language
    fontconfig.py    the fonts that texts are measured with: the same on every machine
    layout.py        Graphviz in this process
    description.py   a computation in words, for those who cannot see it
    drawing.py       draw, and the Drawing that it returns
    grids.py         arrays as grids: networks of any size
    pages.py         pages of their own: in a notebook, a file, a browser
    live.py          show_steps: the live graph, a page of its own, made of page/*.js
    training.py      show_training: a model learns in a page
    stills.py        what stands for it where scripts are off
    descent.py       show_descent: the way down a function, at every rate

`draw` makes a scene of a graph, or of its arrays, and writes it as DOT. Graphviz lays it out from
left to right, and downwards if that is too wide for a page.
"""
