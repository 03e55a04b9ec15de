"""Pages of their own: a graph, a training, a descent, live, without Python.

Python sends data and programs, which the compiler prints; web/*.js does the rest.

    page.py       a page: in a notebook, a file, a browser
    live.py       show_steps: the live graph
    training.py   show_training: a model learns in a page
    network.py    network.html: a network that is built on the page
    descent.py    show_descent: the way down a function, at every rate
    stills.py     what stands for a page where scripts are off
    web/          the scripts and styles
"""
