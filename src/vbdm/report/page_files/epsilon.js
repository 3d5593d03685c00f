// The slider over ε: how eigenvalues and eigenfunctions move.

const MOVING = DATA.sensitivity;
const movedValues = new Map();
let movedCloud = null;
let playing = 0;

// The chosen eigenfunction at one ε, unpacked when first looked at.
function functionAt(step, mode) {
  const key = `${step} ${mode}`;
  if (!movedValues.has(key)) {
    const size = MOVING.size[mode];
    movedValues.set(key, values(MOVING.functions[step][mode], -size, size));
  }
  return movedValues.get(key);
}

const followed = () => Math.min(state.mode, MOVING.values[0].length - 1);

// One eigenvalue against ε; in a group the mean of its members, which is what has an interval.
function pathOf(mode) {
  const { values: table, halves } = MOVING;
  const members = MODES[mode].group.filter((j) => j < table[0].length);
  const last = members[members.length - 1];
  const name = members.length > 1 ? `the mean of λ${small(members[0])} ${members.length > 2 ? "to" : "and"} λ${small(last)}` : `λ${small(mode)}`;
  const mean = (row) => (members.some((j) => row[j] === null) ? null : members.reduce((sum, j) => sum + row[j], 0) / members.length);
  return { members, name, values: table.map(mean), halves: halves.map((row) => row[mode]) };
}

// Text that begins a sentence; a Greek letter there would be another letter as a capital.
const capital = (text) => (text.startsWith("λ") ? `Eigenvalue ${text}` : text[0].toUpperCase() + text.slice(1));

function setUpEpsilon(left) {
  byId("moving").hidden = !MOVING;
  if (!MOVING) return;
  const slider = byId("epsilon");
  slider.max = MOVING.epsilons.length - 1;
  slider.value = state.step;
  slider.addEventListener("input", () => { state.step = +slider.value; changed("step"); });
  movedCloud = new Cloud(byId("moved"), left.axes, new Uint32Array(bytes(MOVING.places).buffer));
  attach(movedCloud, drawMoved);
  byId("play").addEventListener("click", () => play(!playing));
}

function play(on) {
  clearInterval(playing);
  playing = 0;
  let direction = 1;
  if (on) playing = setInterval(() => {
    const last = MOVING.epsilons.length - 1;
    if (state.step + direction > last || state.step + direction < 0) direction = -direction;
    state.step = Math.max(0, Math.min(last, state.step + direction));
    byId("epsilon").value = state.step;
    changed("step");
  }, 700);
  byId("play").setAttribute("aria-pressed", String(on));
  byId("play").textContent = on ? "❚❚ Pause" : "▶ Play";
}

function drawPaths() {
  const { epsilons, values: table, chosen } = MOVING;
  const path = pathOf(followed());
  const all = table.flat();
  const [low, high] = extent(all);
  const chart = new Chart(byId("paths"),
    { low: epsilons[0] / 1.25, high: epsilons[epsilons.length - 1] * 1.25, log: true, label: "ε" },
    { low, high, label: "eigenvalue λ" });
  const column = (j) => table.map((row) => row[j]);
  for (let j = 0; j < table[0].length; j++) if (!path.members.includes(j)) chart.line(epsilons, column(j), theme.grey, 1.4);
  if (path.members.length > 1) for (const j of path.members) chart.line(epsilons, column(j), theme.accent, 1.2, [2, 3]);
  const here = epsilons[state.step];
  const fixed = chart.px(epsilons[chosen]);
  chart.rule(fixed, chart.area.top, fixed, chart.area.bottom, theme.soft, 1, [3, 4]);
  chart.rule(chart.px(here), chart.area.top, chart.px(here), chart.area.bottom, theme.hot, 1.5);
  chart.line(epsilons, path.values, theme.accent, 2.4);
  epsilons.forEach((e, i) => {
    const v = path.values[i], half = path.halves[i];
    if (v === null) return;
    if (half) chart.bar(e, v - half, Math.min(v + half, 0), theme.accent);
    chart.dot(e, v, i === state.step ? 6 : 3.6, i === state.step ? theme.hot : theme.accent);
  });
  chart.note("in use", fixed + 5, chart.area.top + 6);
  byId("paths").setAttribute("aria-label", `Eigenvalues against ε; ${byId("epsilon-words").textContent}`);
}

function drawMoved() {
  movedCloud.override = functionAt(state.step, followed());
  movedCloud.draw();
}

const factorWords = (f) => (Math.abs(f - 1) < 1e-6 ? "the one in use" : f > 1 ? `${show(f)} times the one in use` : `1/${show(1 / f)} of the one in use`);

function epsilonWords() {
  const { epsilons, values: table, chosen } = MOVING;
  const j = followed(), factor = epsilons[state.step] / epsilons[chosen];
  const { name, values: path, halves } = pathOf(j);
  const here = path[state.step], base = path[chosen];
  byId("epsilon-value").textContent = `${show(epsilons[state.step])}, ${factorWords(factor)}`;
  byId("epsilon").setAttribute("aria-valuetext", byId("epsilon-value").textContent);
  const limit = j < state.mode ? ` (Eigenvalue ${state.mode} is not followed over ε: only the first ${table[0].length} are.)` : "";
  if (base === 0) return `${capital(name)} is 0 at every ε: the constant, or the indicator of a piece.${limit}`;
  if (base === null) return `${capital(name)} could not be given at the ε in use: there are too few points for this mode.${limit}`;
  if (table[state.step][j] === null) return `At this ε no mode is like number ${j} any more: it is lost.${limit}`;
  if (here === null) return `At this ε a mode of its group is lost, so there is no mean to compare.${limit}`;
  if (state.step === chosen) return `${doubling(j)}${limit}`;
  return `At ε = ${show(epsilons[state.step])} ${name} is ${show(here)}, ${compared(Math.abs(here - base), base, halves[chosen])} from the ${show(base)} at the ε in use.${limit}`;
}

function compared(gap, base, half) {
  const share = percent(gap / Math.abs(base));
  if (!half) return share;
  return `${share} (${gap <= half ? "within" : "beyond"} its 95 % interval)`;
}

function doubling(j) {
  const { epsilons, chosen } = MOVING;
  const { name, values: path, halves } = pathOf(j);
  const one = ([step, word]) => {
    const v = path[step];
    return v === null ? `is lost when ε ${word}` : `moves by ${compared(Math.abs(v - path[chosen]), path[chosen], halves[chosen])} when ε ${word}`;
  };
  const factor = (step) => epsilons[step] / epsilons[chosen];
  const at = (f) => epsilons.findIndex((e, step) => Math.abs(factor(step) / f - 1) < 1e-6);
  const exact = [[at(2), "doubles"], [at(1 / 2), "halves"]].filter(([step]) => step >= 0);
  const beside = [chosen + 1, chosen - 1].filter((step) => step in epsilons).map((step) => [step, `is ${factorWords(factor(step))}`]);
  const parts = (exact.length ? exact : beside).map(one);
  return `${capital(name)} ${parts.join(", and ") || "was computed at one ε only"}.`;
}

function updateEpsilon() {
  if (!MOVING) return;
  byId("epsilon-words").textContent = epsilonWords();
  drawPaths();
  drawMoved();
  byId("moved").setAttribute("aria-label", `Eigenfunction ${followed()} at ε = ${show(MOVING.epsilons[state.step])}, on ${count(movedCloud.places.length)} points`);
}
