"""For the kernel of a notebook: first weights are wrong by 1e-15, as by another processor.

Processors add in another order, so the last digit of what they compute differs. A training that
enlarges that prints other numbers on each of them; so it does if its first weights are nudged.
"""

from random import Random

from autodiff.course import neural_networks
from autodiff.nn import Linear
from autodiff.optim import Optimizer


def nudge(seed):
    """From now on, all parameters that a layer makes, or an optimiser gets, are nudged."""
    chance = Random(seed)

    def nudging(made):
        def make(self, *args, **settings):
            made(self, *args, **settings)
            for p in self.params if isinstance(self, Optimizer) else self.parameters():
                p.data *= 1 + chance.choice((-1e-15, 1e-15))

        return make

    for layer in (Linear, neural_networks.Linear):  # the package's, and notebook 7's
        layer.__init__ = nudging(layer.__init__)
    Optimizer.__post_init__ = nudging(Optimizer.__post_init__)
    gauss = Random.gauss  # by which notebook 11 begins
    Random.gauss = lambda *given: gauss(*given) * (1 + chance.choice((-1e-15, 1e-15)))
