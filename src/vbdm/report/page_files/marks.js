// Marks along an axis: numbers, dates or labels, each with its text.

const DAY = 864e5, YEAR = 365.25 * DAY;
const STEADY = [1, 2, 5, 10, 15, 30].flatMap((n) => [n * 1e3, n * 6e4]).concat([1, 2, 6, 12].map((n) => n * 36e5), [1, 2, 7, 14].map((n) => n * DAY)).sort((a, b) => a - b);

const dateText = (t, letters = 10) => (Number.isFinite(t) ? new Date(t).toISOString().slice(0, letters).replace("T", " ") : "—");
// A value of a channel as text: a label's name, a date, or a number.
function valueText(channel, v, digits = 3) {
  if (Number.isNaN(v)) return "—";
  if (channel.names) return channel.names[v];
  return channel.date ? dateText(v, channel.high - channel.low < 14 * DAY ? 16 : 10) : show(v, digits);
}

function marksOf(channel, low, high, wanted) {
  if (channel.names) return channel.names.map((text, at) => ({ at, text: shortened(text) })).filter(({ at }) => at > low && at < high);
  if (channel.date) return dateMarks(low, high, wanted);
  return niceTicks(low, high, wanted).map((at) => ({ at, text: show(at) }));
}

function dateMarks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted), marks = [];
  if (rough < 21 * DAY) {
    const step = STEADY.find((s) => s >= rough) || 14 * DAY;
    for (let t = Math.ceil(low / step) * step; t <= high; t += step) marks.push({ at: t, text: step < DAY ? dateText(t, 16).slice(5) : dateText(t) });
    return marks;
  }
  // Months and years have no fixed length: count months.
  const months = rough > YEAR / 2.5 ? 12 * niceStep(rough / YEAR) : [1, 2, 3, 6].find((m) => (m * YEAR) / 12 >= rough) || 6;
  const first = new Date(low).getUTCFullYear() - (new Date(low).getUTCFullYear() % Math.ceil(months / 12));
  for (let k = 0; ; k += months) {
    const t = Date.UTC(first, k, 1);
    if (t > high) return marks;
    if (t >= low) marks.push({ at: t, text: dateText(t, months % 12 ? 7 : 4) });
  }
}

const niceStep = (rough) => {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  return [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= rough) || 10 * unit;
};
