// The charts without controls: eigenvalues, the choice of ε, the density, the colour scale.

function drawSpectrum() {
  const canvas = byId("spectrum");
  const known = MODES.map((m, i) => ({ ...m, i })).filter((m) => m.value !== null);
  const ends = known.flatMap((m) => [m.value, m.lower, m.upper]);
  const [low, high] = extent([...ends, 0]);
  const chart = new Chart(canvas,
    { low: -0.6, high: MODES.length - 0.4, label: "number of the eigenvalue", whole: true },
    { low, high, label: "eigenvalue λ" });
  // A group has the interval of its mean: one band behind its members, and no bars.
  for (const m of known) if (isSeveral(m) && m.i === m.group[0] && m.error) {
    const own = m.group.includes(state.mode) ? theme.hot : theme.accent;
    const [first, last] = [m.i - 0.4, m.group[m.group.length - 1] + 0.4];
    chart.band(first, last, m.lower, m.upper, own);
    chart.band(first, last, m.mean - m.sampling, m.mean + m.sampling, own);
  }
  for (const m of known) {
    const colour = m.i === state.mode ? theme.hot : theme.accent;
    if (m.error && !isSeveral(m)) {
      chart.bar(m.i, m.lower, m.upper, colour);
      chart.inside(() => chart.rule(chart.px(m.i), chart.py(m.value - m.sampling), chart.px(m.i), chart.py(m.value + m.sampling), colour, 4.5));
    }
    chart.dot(m.i, m.value, m.i === state.mode ? 6 : 4.2, m.doubt.length ? theme.card : colour, colour);
  }
  canvas.chart = chart;
  const m = MODES[state.mode];
  canvas.setAttribute("aria-label", `Eigenvalues with 95 % intervals, ${MODES.length} of them; chosen: number ${state.mode}, ${describe(m)}.${groupWords(m)}`);
}

const isSeveral = (m) => m.group.length > 1;
const meanWords = (m) => `${m.meanText}${m.error ? ` ± ${m.errorText} (95 %: ${m.intervalText})` : ""}`;

function describe(m) {
  if (m.value === null) return "too fast to be given";
  return `λ = ${isSeveral(m) ? m.text : meanWords(m)}`;
}

function groupWords(m) {
  if (!isSeveral(m)) return "";
  const [first, last] = [m.group[0], m.group[m.group.length - 1]];
  return ` Numbers ${first} ${last - first > 1 ? "to" : "and"} ${last} are probably one multiple eigenvalue, split by sampling: their mean is ${meanWords(m)}; any rotation within the group is as good.`;
}

function functionWords(m) {
  if (!m.value || m.functionError === null) return "";
  const [whose, size] = isSeveral(m) ? ["The error of their eigenfunctions, as a space,", "their"] : ["The error of the eigenfunction", "its"];
  return ` ${whose} is about ${show(100 * m.functionError, 2)} % of ${size} size.`;
}

function drawTuning() {
  const t = DATA.tuning;
  byId("tuning").hidden = !t;
  if (!t) return;
  const x = { low: t.epsilons[0], high: t.epsilons[t.epsilons.length - 1], log: true, label: "ε" };
  if (t.quantiles) drawDegrees(t, x);
  else drawSums(t, x);
  const top = Math.max(...t.dimension, t.dim) * 1.15;
  const slopes = new Chart(byId("slopes"), x, { low: 0, high: top, label: "dimension seen at ε" });
  slopes.rule(slopes.area.left, slopes.py(t.dim), slopes.area.right, slopes.py(t.dim), theme.soft, 1, [3, 3]);
  slopes.line(t.middle, t.dimension, theme.accent, 2);
  markEpsilon(slopes, t.epsilon, [[t.middle, t.dimension], [t.middle, t.middle.map(() => t.dim)]]);
  const { left, right } = slopes.area, beside = [-10, 11].map((y) => slopes.py(t.dim) + y);
  const places = beside.flatMap((y) => [[right - 4, y, "right"], [left + 4, y, "left"]]);
  noteWhereFree(slopes, `d = ${show(t.dim)} in use`, places, pixels(slopes, [[t.middle, t.dimension]]), theme.soft);
}

function drawDegrees(t, x) {
  const high = Math.max(...t.quantiles.flat()) * 2;
  const chart = new Chart(byId("degrees"), x, { low: 0.05, high, log: true, label: "points inside the kernel" });
  const dashes = [[2, 3], [8, 3, 2, 3], [], [7, 4]];
  t.quantiles.forEach((row, i) => {
    const floor = row.map((v) => Math.max(v, 1e-6));
    chart.line(t.epsilons, floor, theme.ink, t.levels[i] === 0.5 ? 1.8 : 1.3, dashes[i]);
  });
  const names = legendOf(chart, t.levels.map((level, i) => [level === 0.5 ? "median" : `${Math.round(100 * level)} % quantile`, dashes[i]]).reverse());
  markEpsilon(chart, t.epsilon, t.quantiles.map((row) => [t.epsilons, row]), names);
  if (t.target) chart.dot(t.epsilon, t.target, 5, theme.hot);
}

// Names of lines at the upper left; returns where they stand, in pixels.
function legendOf(chart, entries) {
  const taken = [];
  entries.forEach(([name, dash], i) => {
    const x = chart.area.left + 12, y = chart.area.top + 10 + 18 * i;
    chart.rule(x, y, x + 28, y, theme.ink, 1.4, dash);
    chart.note(name, x + 35, y);
    for (let u = x; u < x + 45 + chart.pen.measureText(name).width; u += 10) taken.push([u, y]);
  });
  return taken;
}

function drawSums(t, x) {
  const known = t.sums.filter((v) => v > 0);
  const chart = new Chart(byId("degrees"), x,
    { low: Math.min(...known) / 2, high: Math.max(...known) * 2, log: true, label: "S(ε)" });
  chart.line(t.epsilons, t.sums, theme.ink, 1.8);
  markEpsilon(chart, t.epsilon, [[t.epsilons, t.sums]]);
}

// A line at the ε in use, with its text beside it.
function markEpsilon(chart, epsilon, curves, taken = []) {
  const { area } = chart, x = chart.px(epsilon);
  chart.rule(x, area.top, x, area.bottom, theme.hot, 1.5);
  const heights = [area.bottom - 12, area.top + 10, (area.top + area.bottom) / 2];
  const places = [1, -1].flatMap((side) => heights.map((y) => [x + 6 * side, y, side > 0 ? "left" : "right"]));
  noteWhereFree(chart, `ε = ${show(epsilon)}`, places, [...taken, ...pixels(chart, curves)], theme.hot);
}

const pixels = (chart, curves) => curves.flatMap(([xs, ys]) => xs.map((x, i) => [chart.px(x), chart.py(Math.max(ys[i], 1e-9))]));

// Write a text at the place, of those inside the chart, that is furthest from the dots above and below it.
function noteWhereFree(chart, text, places, dots, colour) {
  const wide = chart.pen.measureText(text).width + 6;
  const span = ([x, , align]) => (align === "left" ? [x, x + wide] : [x - wide, x]);
  const fits = (place) => span(place)[0] > chart.area.left && span(place)[1] < chart.area.right + 8;
  const room = (place) => {
    const [x0, x1] = span(place);
    return Math.min(1e4, ...dots.filter(([u]) => u > x0 - 20 && u < x1 + 20).map(([, v]) => Math.abs(v - place[1])));
  };
  const inside = places.some(fits) ? places.filter(fits) : places;
  const [x, y, align] = inside.reduce((best, place) => (room(place) > room(best) ? place : best));
  chart.note(text, x, y, colour, align);
}

function drawDensity() {
  const { counts, edges } = DATA.density;
  const chart = new Chart(byId("density"),
    { low: 10 ** edges[0], high: 10 ** edges[edges.length - 1], log: true, label: "density" },
    { low: 0, high: Math.max(...counts) * 1.08, label: "points" });
  const palette = ramp(SEQUENTIAL[theme.dark ? "dark" : "light"], LEVELS);
  counts.forEach((n, i) => {
    const x0 = chart.px(10 ** edges[i]), x1 = chart.px(10 ** edges[i + 1]);
    chart.pen.fillStyle = css(palette[Math.round(((i + 0.5) / counts.length) * (LEVELS - 1))]);
    chart.pen.fillRect(x0, chart.py(n), Math.max(1, x1 - x0 - 1), chart.area.bottom - chart.py(n));
  });
}

function drawLegend() {
  byId("legend").hidden = false;
  const { pen, width } = prepared(byId("legend"));
  const colours = colouring(state.colour);
  pen.textBaseline = "middle";
  const list = byId("legend-names");
  list.replaceChildren(...(colours.names || []).map((name, i) => namedColour(name, css(colours.palette[i]))));
  list.hidden = !colours.names;
  byId("legend").hidden = !!colours.names;
  if (colours.names) return;
  const wide = width - 20;
  for (let i = 0; i < LEVELS; i++) {
    pen.fillStyle = css(colours.palette[i]);
    pen.fillRect(10 + (i * wide) / LEVELS, 2, wide / LEVELS + 1, 13);
  }
  pen.fillStyle = theme.soft;
  pen.textBaseline = "top";
  const [low, high] = colours.limits;
  const value = (t) => (state.colour === "density" ? 10 ** (low + t * (high - low)) : low + t * (high - low));
  [[0, "left"], [0.5, "center"], [1, "right"]].forEach(([t, align]) => {
    pen.textAlign = align;
    const [word, ends] = [valueText(channelOf(state.colour) || {}, value(t), 2), t === 0.5 ? "" : t ? "≥ " : "≤ "];
    const text = `${ends}${word}`;
    pen.fillText(text, 10 + t * wide, 20);
  });
}

function namedColour(name, colour) {
  const entry = document.createElement("li"), spot = document.createElement("span");
  spot.style.background = colour;
  entry.append(spot, name);
  return entry;
}
