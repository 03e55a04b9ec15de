"""Stage 2 of 5: the graph in a normal form, whoever wrote it: sums and dots instead of chains.

    w1 * x1 + w2 * x2 + w3 * x3 + b  becomes  dot([w1, w2, w3], [x1, x2, x3]) + b

A chain of additions, subtractions, negations and sums, each of them used once, is a sum of terms; a
term is a product of factors. Like terms have the same sign, and factors that come from the same
operations at the same depths. Three like terms become a sum, or a dot if they are products; two
products only if another dot would have the same numbers on one side, as neurons share their inputs.
The other terms are added one by one, after a first dot. What has no dot stays.

A sum in brackets belongs to the chain around it if its terms are alike. Otherwise it is a term
itself: the sum of a - b, c - d and e - f is the sum of these differences, in which a and b may
cancel, and not a + c + e less b + d + f.

The terms are added in another order, those with a minus last. So a sum of k terms may differ by k
roundings of the sum of their sizes, and near the largest float it may overflow where it would not
have as it was written: a - b + c - d + e - f of six inputs of 1e308 starts with a + c + e.
"""

import itertools
import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import itemgetter
from typing import Any, NamedTuple

from ...engine import graph, ops
from ...engine.operation import Operation
from ...engine.value import Value, leaf

LINEAR: set[Operation] = {ops.add, ops.sub, ops.neg, ops.sum}
Side = tuple[Value, ...]
Kind = tuple[Any, ...]  # of like terms: whether they have a minus, and their factors


class Term(NamedTuple):
    """A term of a sum: the node that was written, and its factors on both sides of a dot."""

    written: Value
    left: Side
    right: Side  # empty if there is one factor


class NormalForm(dict[Value, Value]):
    """The normal form of each node that leads to the outputs."""

    def __init__(
        self, outputs: Sequence[Value], inputs: Iterable[Value], parameters: Iterable[Value]
    ) -> None:
        self.depth = graph.depths(ops.sum(outputs))
        nodes = [x for x in self.depth if x.parents][:-1]  # without the sum of the outputs
        super().__init__((x, x) for x in self.depth if not x.parents)
        self.uses = Counter(itertools.chain.from_iterable([x.parents for x in nodes]))
        self.uses.update(outputs)
        self.leaves = dict.fromkeys(inputs, "input") | dict.fromkeys(parameters, "parameter")
        self.varying = set(inputs)  # from sample to sample
        for x in nodes:
            if not self.varying.isdisjoint(x.parents):
                self.varying.add(x)
        linear = [x for x in nodes if x._operation in LINEAR]
        self.terms: dict[Value, tuple[list[Any], Term]] = {}
        self.kinds: dict[Value, Kind | None] = {}  # of chains: that of all terms, if it is one
        for x in linear:
            self.kinds[x] = self._kind_of_all(x)
        inner = {p for x in linear for p in x.parents if self._is_opened(p, x)}
        sums = {x: self._like_terms(x) for x in linear if x not in inner}
        pairs = [_pair(terms) for by_kind in sums.values() for terms in by_kind.values()]
        self.shared = Counter(itertools.chain.from_iterable(pairs))
        for x in nodes:
            by_kind, parents = sums.get(x, {}), [self[p] for p in x.parents]
            if any(map(self._changes, by_kind.values())):
                self[x] = self._sum(by_kind)
            elif not x._operation or all(map(operator.is_, parents, x.parents)):
                self[x] = x
                continue
            else:
                self[x] = bare_node(x._operation, parents)
            self[x]._scope = getattr(x, "_scope", None)

    def _is_opened(self, x: Value, user: Value) -> bool:
        """Whether the chain of x is part of that of its user: it starts it, or its terms are alike.

        In (a - b) + (c - d) neither difference is.
        """
        if x._operation not in LINEAR or self.uses[x] > 1:
            return False
        first, *others = user.parents
        if self.kinds[x] is not None or x is not first or user._operation is ops.sum:
            return self.kinds[x] is not None
        return self._kind(x) not in map(self._kind, others)

    def _kind_of_all(self, x: Value) -> Kind | None:
        """The kind of all terms of a chain; None if there are several."""
        found = set()
        for p, minus in _signed(x):
            if p._operation in LINEAR and self.uses[p] == 1:
                kind = self.kinds[p]
                found.add(kind and (minus ^ kind[0], *kind[1:]))
            elif self._counts(p):
                found.add(self._term(p, minus)[0])
        return found.pop() if len(found) == 1 else None

    def _like_terms(self, root: Value) -> dict[Kind, list[Term]]:
        """The terms of a sum, by sign and by the kinds of their factors."""
        by_kind: dict[Kind, list[Term]] = defaultdict(list)
        stack = [(root, root, False)]
        while stack:
            x, user, minus = stack.pop()
            if x is root or self._is_opened(x, user):
                stack += [(p, x, minus ^ negated) for p, negated in reversed(_signed(x))]
            elif self._counts(x):
                kind, term = self._term(x, minus)
                by_kind[kind].append(term)
        return by_kind

    def _counts(self, x: Value) -> bool:
        """Whether a term is more than the 0 from which Python's sum starts."""
        return bool(x.parents or x in self.leaves or x._data)

    def _term(self, x: Value, minus: bool) -> tuple[Kind, Term]:
        if x not in self.terms:
            left, right = self._factors(x)
            kinds = [tuple(map(self._kind, side)) for side in (left, right)]
            self.terms[x] = kinds, Term(x, left, right)
        kinds, term = self.terms[x]
        return (minus, *kinds), term

    def _kind(self, x: Value) -> Any:
        """What a factor comes from, and how deep it is."""
        return x._operation or self.leaves.get(x), self.depth[x]

    def _factors(self, term: Value) -> tuple[Side, Side]:
        """The factors of a term, those left that do not vary; if all do, or none, the first."""
        factors, stack = [], [term]
        while stack:
            x = stack.pop()
            if x._operation is ops.mul and self.uses[x] == 1:
                stack += x.parents[::-1]
            else:
                factors.append(x)
        fixed = tuple([x for x in factors if x not in self.varying])
        others = tuple([x for x in factors if x in self.varying])
        return (fixed, others) if fixed and others else (tuple(factors[:1]), tuple(factors[1:]))

    def _changes(self, terms: list[Term]) -> bool:
        """Whether like terms become one, or are dots, which have their place in a sum."""
        return self._joins(terms) or terms[0].written._operation is ops.dot

    def _joins(self, terms: list[Term]) -> bool:
        """Whether like terms become one."""
        return len(terms) > 2 or any(self.shared[side] > 1 for side in _pair(terms))

    def _sum(self, by_kind: dict[Kind, list[Term]]) -> Value:
        """The sum of all terms: a dot, single terms, other dots; those with a minus come last.

        The first dot varies from sample to sample, and is as shallow as can be: u @ x + b + w @ h
        for w @ h + u @ x + b, so that u @ x + b is one array for all steps of a recurrence.
        """
        dots: list[tuple[tuple[bool, bool, int], Value]] = []
        others: list[tuple[bool, Value]] = []
        for (minus, *_), terms in by_kind.items():
            joins = self._joins(terms)
            for x, *_ in terms[:1] if joins else terms:
                if joins or x._operation is ops.dot:
                    key = minus, x not in self.varying, self.depth[x]
                    dots.append((key, self._joined(terms) if joins else self[x]))
                else:
                    others.append((minus, self[x]))
        dots.sort(key=itemgetter(0))
        first, *further = [(minus, x) for (minus, *_), x in dots]
        (minus, total), *rest = sorted([first, *others, *further], key=itemgetter(0))
        if minus:
            total = bare_node(ops.neg, [total])
        for minus, x in rest:
            total = bare_node(ops.sub if minus else ops.add, [total, x])
        return total

    def _joined(self, terms: list[Term]) -> Value:
        """Like terms as one: their sum, or the dot of their sides."""
        _, *columns = zip(*terms)
        sides = [side for side in itertools.chain(*columns) if side]
        operation = ops.dot if len(sides) > len(terms) else ops.sum
        return bare_node(operation, [self._product(side) for side in sides])

    def _product(self, factors: Side) -> Value:
        """The product of the factors on one side."""
        return reduce(lambda x, y: bare_node(ops.mul, [x, y]), [self[x] for x in factors])


def bare_node(operation: Operation, parents: Sequence[Value]) -> Value:
    """The node of an operation, whose number nobody asks for."""
    node = leaf(None, 1)
    node.parents, node._operation = tuple(parents), operation
    return node


def _signed(x: Value) -> list[tuple[Value, bool]]:
    """The parents of a node of a chain, and whether they have a minus there."""
    *first, last = x.parents
    return [*[(p, False) for p in first], (last, x._operation in (ops.sub, ops.neg))]


def _pair(terms: list[Term]) -> list[tuple[Side, ...]]:
    """The two sides of the dot that two products would be."""
    _, *sides = zip(*terms)
    return sides if len(terms) == 2 and terms[0].right else []
