// Training by the programs that Python printed: the same steps as `fit`. No picture is made here.
const trainer = ({ sample, move }, data) => {
  const n = data.rows.length, width = data.rows[0].length, batch = data.batch || n;
  const all = data.rows.map((_, i) => i);
  const state = { rows: data.rows.map((row) => [...row]) };
  let order = [];

  // The mean loss over some samples, its derivatives by the parameters, and each sample's loss.
  const evaluate = (chosen, each) => {
    const inputs = [...state.rows[0], ...state.p], g = state.p.map(() => 0);
    let total = 0;
    for (const i of chosen) {
      for (let k = 0; k < width; k++) inputs[k] = state.rows[i][k];
      const [loss, gradients] = sample(inputs);
      total += loss;
      if (each) each[i] = loss;
      for (let j = 0; j < g.length; j++) g[j] += gradients[j];
    }
    return [total / chosen.length, g.map((x) => x / chosen.length)];
  };

  // Loss and derivatives of now: those that the page shows.
  const look = () => {
    [state.loss, state.g] = evaluate(all, state.each);
  };

  const start = (parameters = data.parameters) => {
    state.p = [...parameters];
    state.memory = state.p.map((_, j) => data.memory[j]?.slice() ?? Array(data.memory).fill(0)); // a number: all are 0
    Object.assign(state, { steps: 0, each: new Array(n).fill(0), diverged: false });
    look();
    state.losses = [state.loss];
    state.seed = 1;
    order = [];
  };

  const shuffled = () => {
    const found = [...all];
    for (let i = n - 1; i > 0; i--) {
      state.seed = (state.seed * 48271) % 2147483647; // Park and Miller 1988
      const k = state.seed % (i + 1);
      [found[i], found[k]] = [found[k], found[i]];
    }
    return found;
  };

  const step = (rate) => {
    let g = state.g;
    if (batch < n) {
      if (!order.length) order = shuffled();
      g = evaluate(order.splice(0, batch))[1];
    }
    state.steps += 1;
    state.p.forEach((p, j) => {
      [state.p[j], ...state.memory[j]] =
        move([p, g[j], rate, data.steps + state.steps, ...state.memory[j]]);
    });
    look();
    state.losses.push(state.loss);
    // `state.losses[0] || 1`: a first loss of 0 has no thousandfold
    state.diverged = !(Math.abs(state.loss) <= 1000 * Math.abs(state.losses[0] || 1));
  };

  start();
  return Object.assign(state, { start, step, look });
};
