// The chosen eigenfunction as a time series: its values against the time or the row.

const SERIES = DATA.series ? indexOfKind(DATA.series) : -1;
let inOrder = null;

// Points in the order of their time; a line is broken where there is a gap of several steps.
function seriesOrder() {
  if (inOrder) return inOrder;
  const { values: at } = CHANNELS[SERIES];
  const order = Uint32Array.from(at, (_, i) => i).filter((i) => !Number.isNaN(at[i])).sort((a, b) => at[a] - at[b]);
  const steps = Array.from(order, (p, k) => (k ? at[p] - at[order[k - 1]] : 0)).slice(1).sort((a, b) => a - b);
  const usual = steps[Math.floor(steps.length / 2)] || 1;
  inOrder = { order, usual };
  return inOrder;
}

function drawSeries() {
  byId("as-series").hidden = SERIES < 0;
  const f = CHANNELS[FUNCTIONS[state.mode]];
  if (SERIES < 0 || !f) return;
  const time = CHANNELS[SERIES], { order, usual } = seriesOrder();
  const [low, high] = extent(Array.from(f.values));
  const chart = new Chart(byId("series"),
    { low: time.low, high: time.high, label: time.label, marks: (wanted) => marksOf(time, time.low, time.high, wanted) },
    { low, high, label: f.label });
  const xs = [], ys = [];
  order.forEach((p, k) => {
    if (k && time.values[p] - time.values[order[k - 1]] > 4 * usual) { xs.push(time.values[p]); ys.push(null); }
    xs.push(time.values[p]);
    ys.push(f.values[p]);
  });
  chart.rule(chart.area.left, chart.py(0), chart.area.right, chart.py(0), theme.line);
  chart.line(xs, ys, theme.accent, order.length > 2000 ? 0.8 : 1.4);
  byId("series").setAttribute("aria-label", `Eigenfunction ${state.mode} against ${time.label}, ${valueText(time, time.low)} to ${valueText(time, time.high)}`);
}
