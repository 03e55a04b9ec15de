"""The steps of pages, in Node.js: the same numbers as those of `fit`."""

import pytest
from pictures import classes, network, of_classes
from trainings import OPTIMIZERS

import autodiff as ad
from autodiff import nn, show_training


def run(node, script, page):
    """The value of a script that knows the data and programs of a page, and its trainer."""
    text = page._page
    program = text[text.index("const data =") : text.index("const main =")]
    return node(f"(() => {{ {program}\n{script} }})()")


STEPS = """
const t = trainer(programs, data);
for (let i = 0; i < 100; i++) t.step(data.rate);
return [t.losses, t.p];
"""
TRAININGS = {  # outputs, activation, engine of `fit`, and whether it has begun
    nn.mse_loss: (1, ad.relu, "compiled", True),
    nn.cross_entropy: (3, ad.tanh, "eager", False),
    nn.binary_cross_entropy_with_logits: (1, ad.softplus, "compiled", False),
}


@pytest.mark.parametrize("loss", TRAININGS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_hundred_steps_go_on_where_the_optimiser_stands_as_those_of_fit_do(node, name, loss):
    outputs, activation, engine, begun = TRAININGS[loss]
    model, (inputs, targets) = network(2, 5, 3, outputs, activation=activation), classes(14)
    targets = [i % 3 for i in range(14)] if outputs == 3 else targets
    given = model, inputs[:9], targets[:9], loss, OPTIMIZERS[name](model.parameters())
    held_back = inputs[9:], targets[9:]
    for thawed in (False, True) if begun else ():
        for p in model.layers[0].parameters():  # each takes its own number of steps
            p.requires_grad = thawed
        nn.fit(*given, epochs=5, progress=False)
    losses, parameters = run(node, STEPS, show_training(*given, validation=held_back))
    history = nn.fit(*given, epochs=100, progress=False, engine=engine, validation=held_back)
    apart = 1e-8 if name == "RMSprop" else 1e-9  # its steps do not shrink, and roundings grow
    seen, unseen = zip(*losses)
    assert seen[:-1] == pytest.approx(history.losses, rel=apart)  # before each step
    assert unseen[1:] == pytest.approx(history.validation, rel=apart)  # after it
    trained = [p.data for p in model.parameters()]
    assert parameters == pytest.approx(trained, rel=apart, abs=apart)


def test_batches_cover_every_sample_once_an_epoch(node):
    script = """
    const seen = [], sample = (x) => (seen.push(x[0]), programs.sample(x));
    const t = trainer({ sample, move: programs.move }, data), before = seen.length;
    for (let i = 0; i < 3; i++) t.step(0.1);
    return seen.slice(before);
    """
    found = run(node, script, of_classes(2, 3, 1, n=10, batch_size=4))
    of_batches = found[0:4] + found[14:18] + found[28:30]  # after each, the loss of all ten
    assert sorted(of_batches) == pytest.approx(sorted(x for x, _ in classes(10)[0]))


def test_neurons_and_their_slopes(node):
    script = """
    const v = programs.neurons([0.3, -0.7, ...data.parameters]);
    return [v, v.slice(-5).map((z) => programs.slopes[0]([z])[1][0])];
    """
    values, slopes = run(node, script, of_classes(2, 3, 2, 1, activation=ad.tanh))
    first, second, last = network(2, 3, 2, 1).layers
    hidden = first([0.3, -0.7])
    deeper = second(hidden)
    neurons = [*hidden.data, *deeper.data, *last(deeper).data]
    assert values[:6] == pytest.approx(neurons, rel=1e-12)
    assert slopes == pytest.approx([1 - y * y for y in neurons[:5]], rel=1e-12)
