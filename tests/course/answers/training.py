"""Notebook 8, training: right answers, and wrong ones with what they are told."""

import numpy as np

RIGHT = {  # two spellings of each exercise beside our own
    1: [
        "for x, y in zip(inputs, targets): → if True:\n"
        "(nn.mse_loss(model(x), y) / len(inputs)) → nn.mse_loss([model(x)[0] for x in inputs], targets)",
        "model.zero_grad() →\n/ len(inputs) →\np.data -= lr * p.grad → p.data -= lr / len(inputs) * p.grad; p.grad = 0.0",
    ],
    2: [0.238, np.float64(2 / 8.405)],
    3: [
        "(s**0.5 + 1e-8) → (s + 1e-16) ** 0.5",
        "self.m[i] / → (1 - 0.999**self.t) ** 0.5 * self.m[i] /\ns = self.s[i] / (1 - 0.999**self.t) → s = self.s[i]\n1e-8 → 1e-10",
    ],
    4: ["((prediction[0] - target) ** 2 + 0.01) ** 0.5", "8 - relu(8 - abs(prediction - target).sum())"],
}  # fmt: skip

ATTEMPTS = [  # an exercise, an answer to it that is not right, and what the verdict says
    (2, 0.26, "diverges, and so do smaller ones"),
    (4, "0 * prediction[0] if abs(target) > 5 else nn.mse_loss(prediction, target)", "a loss does not know which points are wrong"),
    (4, "Value(1.0)", "depends on none of the optimizer's parameters"),
]  # fmt: skip
