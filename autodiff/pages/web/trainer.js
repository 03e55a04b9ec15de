// Training by the programs that Python printed: the same steps as `fit`. No picture is made here.
// strayed: a start from these numbers, at this rate, would lead elsewhere; first: the loss before
// any step, since the rows are these.

const trainer = ({ sample, move }, data) => {
  const state = { rows: data.rows.map((row) => [...row]) };
  let left = []; // rows that this epoch has not used yet

  // The mean loss over some rows, its derivatives by the parameters, and the loss of each.
  const evaluate = (rows) => {
    const g = state.p.map(() => 0);
    const each = rows.map((row) => {
      const [loss, gradients] = sample(row.concat(state.p));
      for (let j = 0; j < g.length; j++) g[j] += gradients[j];
      return loss;
    });
    const loss = each.reduce((sum, x) => sum + x, 0) / each.length;
    return { loss, g: g.map((x) => x / each.length), each };
  };
  // `validation` is the loss of rows that no step sees: NaN if there are none.
  const look = (first) => {
    Object.assign(state, evaluate(state.rows), { validation: evaluate(data.held).loss });
    state.losses[state.steps] = [state.loss, state.validation];
    state.first = first ?? state.loss;
  };

  const start = (parameters = data.parameters) => {
    Object.assign(state, { p: [...parameters], memory: data.memory, steps: 0, losses: [] });
    state.diverged = state.strayed = false;
    look();
  };

  const step = (rate) => {
    if (!left.length) {
      left = state.rows.map((x) => [Math.random(), x]).sort(([a], [b]) => a - b).map((x) => x[1]);
    }
    const g = data.batch ? evaluate(left.splice(0, data.batch)).g : state.g;
    state.strayed ||= state.steps > 0 && rate !== state.rate;
    state.rate = rate;
    state.steps += 1;
    const moved = state.p.map((p, j) => move([p, g[j], rate, ...state.memory[j]]));
    state.p = moved.map(([p]) => p);
    state.memory = moved.map(([, ...memory]) => memory);
    look(state.first);
    // `|| 1`: a first loss of 0 has no thousandfold
    state.diverged = !(Math.abs(state.loss) <= 1000 * Math.abs(state.first || 1));
  };

  start();
  return Object.assign(state, { start, step, look });
};
