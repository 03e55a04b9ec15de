"""The graph as a picture.

`draw` goes one way; no stage asks an earlier one, and texts begin with the sheet:

    root                                a Value, and all that it was computed from
      │ scene.py, or grids.py           boxes, frames, edges: which nodes stand where, no text
      ▼
    Scene
      │ sheet.py, with texts.py         lines of text, inks, fills, borders: plain data, no Value
      ▼
    Sheet ──► description.py: the picture in words; legend: the shades of a Sheet
      │ dot.py                          the same in Graphviz's language, left to right or downwards
      ▼
    Drawing ──► layout.py ──► process.py: Graphviz, which gives SVG, PNG, PDF

    texts.py         numbers and labels, short and safe
    scene.py         what a picture shows: boxes, frames, vectors, edges
    sheet.py         the same as plain data: what each box says, in which colours
    grids.py         arrays as grids: networks of any size
    dot.py           a sheet in DOT, Graphviz's language
    layout.py        Graphviz in another process, with fonts that are the same on every machine
    process.py       the program of that process
    description.py   a computation in words, for those who cannot see it
    drawing.py       draw, and the Drawing that it returns
"""
