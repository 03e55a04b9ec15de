// Training by the programs that Python printed: the same steps as `fit`. No picture is made here.

const trainer = ({ sample, move }, data) => {
  const all = [...data.rows.keys()], batch = data.batch ?? all.length;
  const state = { rows: data.rows.map((row) => [...row]) };
  let order = [];

  // The mean loss over some samples, its derivatives by the parameters, and each sample's loss.
  const evaluate = (chosen) => {
    const g = state.p.map(() => 0), inputs = [...state.rows[0], ...state.p];
    const each = chosen.map((i) => {
      state.rows[i].forEach((x, k) => { inputs[k] = x; });
      const [loss, gradients] = sample(inputs);
      for (let j = 0; j < g.length; j++) g[j] += gradients[j];
      return loss;
    });
    const loss = each.reduce((sum, x) => sum + x, 0) / each.length;
    return { loss, g: g.map((x) => x / each.length), each };
  };
  const look = () => Object.assign(state, evaluate(all));

  const start = (parameters = data.parameters) => {
    Object.assign(state, { p: [...parameters], memory: data.memory, steps: 0, diverged: false });
    state.losses = [look().loss];
  };

  const step = (rate) => {
    if (!order.length) order = all.map((i) => [Math.random(), i]).sort().map(([, i]) => i);
    const g = batch < all.length ? evaluate(order.splice(0, batch)).g : state.g;
    state.steps += 1;
    const moved = state.p.map((p, j) => move([p, g[j], rate, ...state.memory[j]]));
    state.p = moved.map(([p]) => p);
    state.memory = moved.map(([, ...memory]) => memory);
    state.losses.push(look().loss);
    // `|| 1`: a first loss of 0 has no thousandfold
    state.diverged = !(Math.abs(state.loss) <= 1000 * Math.abs(state.losses[0] || 1));
  };

  start();
  return Object.assign(state, { start, step, look });
};
