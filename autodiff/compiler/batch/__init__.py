"""A recorded graph as a program for a batch of samples, in five stages.

`Expression.stages` prints them.

    stages.py       the five, one after the other; the first is the recorded graph
    normal.py       2: chains of additions and products as sums and dots
    groups.py       3: nodes of the same kind, each group of which becomes an array
    places.py       where the numbers that a group reads lie in an array
    operations.py   4: each group's operation, run once over symbols of arrays, and back
    arrays.py       operations on symbols of arrays
    text.py         5: symbols of arrays as source text
    in_place.py     the same for NumPy, in arrays that are kept
"""
