"""What PyTorch's optimisers do in 50 steps, which `.venv/bin/python` with this file's name writes anew.

The case of an optimiser is a row of CASES. The network, 2-4-3-1 with tanh, and the data are the same
for all; a frozen layer requires no gradient from the first of two steps until the second.
"""

import json
import math
from pathlib import Path

PLACE = Path(__file__).with_name("optimizers_by_pytorch.json")
SIZES, STEPS = [2, 4, 3, 1], 50
INPUTS = [[math.sin(3 * i), math.cos(5 * i)] for i in range(8)]
TARGETS = [math.sin(i) for i in range(8)]
CASES = {  # an optimiser, its settings, and when the first layer is frozen
    "SGD": ("SGD", {"lr": 0.05}),
    "SGD momentum decay": ("SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01}),
    "Adagrad": ("Adagrad", {}),
    "Adagrad weight decay": ("Adagrad", {"lr": 0.1, "weight_decay": 0.01, "eps": 0.001}),
    "RMSprop": ("RMSprop", {}),
    "RMSprop momentum decay": (
        "RMSprop", {"lr": 0.005, "alpha": 0.9, "momentum": 0.5, "weight_decay": 0.01},
    ),
    "Adam": ("Adam", {}),
    "Adam decay": ("Adam", {"lr": 0.02, "betas": [0.8, 0.99], "eps": 1e-6, "weight_decay": 0.01}),
    "Adam thawed": ("Adam", {"lr": 0.01, "weight_decay": 0.01}, [0, 20]),
    "SGD momentum decay frozen": (
        "SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01}, [10, 30],
    ),
    "Adam frozen": ("Adam", {"lr": 0.01}, [10, 30]),
}  # fmt: skip


def first_numbers():
    """The weights and the biases before the first step, layer by layer, each weight row by row."""
    k = 0
    for n, m in zip(SIZES, SIZES[1:]):
        yield [math.sin(1 + k + j) for j in range(n * m)]
        yield [0.1 * math.cos(k + j) for j in range(n * m, n * m + m)]
        k += n * m + m


def by_pytorch(name, arguments, frozen=None):
    """The loss before the last step, and the parameters after it."""
    import torch

    def tensor(numbers):
        return torch.tensor(numbers, dtype=torch.float64)

    layers = [torch.nn.Linear(n, m, dtype=torch.float64) for n, m in zip(SIZES, SIZES[1:])]
    parameters = [p for layer in layers for p in (layer.weight, layer.bias)]
    for p, numbers in zip(parameters, first_numbers()):
        p.data = tensor(numbers).reshape(p.shape)
    optimizer = getattr(torch.optim, name)(parameters, **arguments)
    start, end = frozen or (0, 0)
    for step in range(STEPS):
        for p in layers[0].parameters():
            p.requires_grad_(not start <= step < end)
        optimizer.zero_grad()
        y = tensor(INPUTS)
        for layer in layers:
            y = layer(y) if layer is layers[-1] else torch.tanh(layer(y))
        loss = torch.nn.functional.mse_loss(y[:, 0], tensor(TARGETS))
        loss.backward()
        optimizer.step()
    case = {"optimizer": name, "arguments": arguments} | ({"frozen": frozen} if frozen else {})
    numbers = [x for p in parameters for x in p.detach().flatten().tolist()]
    return case | {"loss": loss.item(), "parameters": numbers}


def main():
    import torch

    torch.set_num_threads(1)
    cases = {name: by_pytorch(*case) for name, case in CASES.items()}
    made = {"made by": f"PyTorch {torch.__version__}, float64", "steps": STEPS, "cases": cases}
    PLACE.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
