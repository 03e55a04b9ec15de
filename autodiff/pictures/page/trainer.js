// Training by the programs that Python printed: the same steps as `fit`. No picture is made here.

// Rows of numbers that Python packed: float64 in base 64.
function unpacked({ width, numbers }) {
  const bytes = Uint8Array.from(atob(numbers), (c) => c.charCodeAt(0));
  const flat = [...new Float64Array(bytes.buffer)];
  const row = (_, i) => flat.slice(i * width, (i + 1) * width);
  return Array.from({ length: flat.length / width }, row);
}
for (const name of ["rows", "start"]) data[name] = unpacked(data[name]);
data.parameters = data.start.map(([p]) => p); // and after it its memory, if any

const trainer = ({ sample, move }, data) => {
  const all = [...data.rows.keys()], batch = data.batch || all.length;
  const state = { rows: data.rows.map((row) => [...row]) };
  let order, seed;

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
    state.p = [...parameters];
    state.memory = data.start.map((row) =>
      Array.from({ length: data.memory }, (_, k) => row[k + 1] ?? 0));
    [order, seed, state.steps, state.diverged] = [[], 1, 0, false];
    state.losses = [look().loss];
  };

  const shuffled = () => {
    const found = [...all];
    for (let i = found.length - 1; i > 0; i--) {
      seed = (seed * 48271) % 2147483647; // Park and Miller 1988
      const k = seed % (i + 1);
      [found[i], found[k]] = [found[k], found[i]];
    }
    return found;
  };

  const step = (rate) => {
    if (batch < all.length && !order.length) order = shuffled();
    const g = batch < all.length ? evaluate(order.splice(0, batch)).g : state.g;
    state.steps += 1;
    state.p.forEach((p, j) => {
      const given = [p, g[j], rate, data.steps + state.steps, ...state.memory[j]];
      [state.p[j], ...state.memory[j]] = move(given);
    });
    state.losses.push(look().loss);
    // `|| 1`: a first loss of 0 has no thousandfold
    state.diverged = !(Math.abs(state.loss) <= 1000 * Math.abs(state.losses[0] || 1));
  };

  start();
  return Object.assign(state, { start, step, look });
};
