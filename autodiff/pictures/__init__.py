"""The graph as a picture.

    texts.py         numbers and labels, short and safe
    scene.py         what a picture shows: boxes, frames, vectors, edges
    sheet.py         the same as plain data: what each box says, in which colours
    grids.py         arrays as grids: networks of any size
    dot.py           a sheet in DOT, Graphviz's language
    layout.py        Graphviz in another process, with fonts that are the same on every machine
    process.py       the program of that process
    description.py   a computation in words, for those who cannot see it
    drawing.py       draw, and the Drawing that it returns
    pages.py         pages of their own: in a notebook, a file, a browser
    live.py          show_steps: the live graph, a page of its own, made of page/*.js
    training.py      show_training: a model learns in a page
    stills.py        what stands for it where scripts are off
    descent.py       show_descent: the way down a function, at every rate

`draw` goes one way: a graph, or its arrays, becomes a scene, that a sheet, and that DOT, which
Graphviz lays out from left to right, or downwards if that is too wide for a page.
"""
