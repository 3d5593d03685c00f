// The page itself: choosers, table, keys, theme; and which picture is redrawn when.

const COLOURS = [["function", "eigenfunction"], ["density", "density"], ["width", "kernel width"], ["unresolved", "unresolved points"], ["pieces", "connected pieces"]];
// Headings of the menus, and the kinds of channels below each.
const MENUS = [["Rows", ["time", "row"]], ["Labels", ["label"]], ["Columns", ["column", "principal", "number"]], ["Eigenfunctions", ["function"]], ["Density and kernel", ["density", "width"]]];

function firstAxes() {
  const principal = CHANNELS.map((c, i) => i).filter((i) => CHANNELS[i].kind === "principal");
  const columns = CHANNELS.map((c, i) => i).filter((i) => CHANNELS[i].kind === "column");
  const own = (principal.length ? principal : columns).slice(0, DATA.axes);
  const f = FUNCTIONS.slice(Math.max(1, state.mode));
  const embedding = [f[0] ?? FUNCTIONS[0], f[1] ?? f[0] ?? FUNCTIONS[0], null];
  if (own.length > 1) return [[own[0], own[1], own[2] ?? null], embedding];
  if (own.length === 1) return [[own[0], "mode", null], [own[0], indexOfKind("density"), null]];
  return [embedding, [f[1] ?? FUNCTIONS[0], f[2] ?? f[0] ?? FUNCTIONS[0], null]];
}

const [leftAxes, rightAxes] = firstAxes();
const left = new Cloud(byId("left"), leftAxes);
const right = new Cloud(byId("right"), rightAxes);

function option(select, value, label) {
  const entry = document.createElement("option");
  entry.value = value;
  entry.textContent = shortened(label);
  select.append(entry);
}

// All channels of some kinds, below a heading.
function menu(select, heading, kinds, value) {
  const group = document.createElement("optgroup");
  group.label = heading;
  CHANNELS.forEach((c, i) => { if (kinds.includes(c.kind)) option(group, value(i), c.label); });
  if (group.children.length) select.append(group);
}

function axisChoosers(place, cloud, after) {
  ["x", "y", "z"].forEach((name, a) => {
    const label = document.createElement("label"), select = document.createElement("select");
    label.textContent = `${name} `;
    select.setAttribute("aria-label", `${place === "axes-left" ? "left" : "right"} picture, axis ${name}`);
    if (a === 2) option(select, "none", "none (flat)");
    option(select, "mode", "the chosen eigenfunction");
    for (const [heading, kinds] of MENUS) menu(select, heading, kinds, (i) => i);
    select.value = cloud.axes[a] === null ? "none" : String(cloud.axes[a]);
    select.addEventListener("change", () => {
      cloud.axes[a] = select.value === "none" ? null : select.value === "mode" ? "mode" : +select.value;
      cloud.reset();
      after();
    });
    label.append(select);
    byId(place).append(label);
  });
}

function drawClouds() {
  left.draw();
  right.draw();
}

function cloudWords() {
  const m = MODES[state.mode];
  const how = { function: `eigenfunction ${state.mode}`, density: "the density", width: "the kernel's width", unresolved: "whether they are resolved", pieces: "their connected piece" }[state.colour] || channelOf(state.colour).label;
  const zero = m.value === 0 ? (state.mode ? " It is the indicator of a connected piece." : " It is constant on each connected piece.") : "";
  const doubt = m.doubt.length ? ` In doubt: ${m.doubt.join(", ")}.` : "";
  const missing = FUNCTIONS[state.mode] === undefined ? " Only the first eigenfunctions are kept on this page." : "";
  byId("chosen-words").textContent = `Number ${state.mode}: ${describe(m)}.${zero}${groupWords(m)}${functionWords(m)}${doubt}${missing}`;
  for (const [cloud, name] of [[left, "left"], [right, "right"]]) {
    const axes = cloud.axes.filter((x) => x !== null).map((_, a) => cloud.channel(a).label).join(", ");
    byId(name).setAttribute("aria-label", `${count(DATA.drawn)} points along ${axes}, coloured by ${how}`);
  }
}

function hoverWords() {
  if (state.hover >= 0) byId("point-words").textContent = wordsOf(state.hover).join(", ");
}

function selectionWords() {
  const box = byId("selection");
  box.replaceChildren();
  if (!state.selected) return;
  const chosen = [...state.selected];
  const f = CHANNELS[FUNCTIONS[state.mode]];
  const mean = f ? chosen.reduce((sum, p) => sum + f.values[p], 0) / chosen.length : NaN;
  const rows = document.createElement("button"), clear = document.createElement("button");
  rows.textContent = "Copy row numbers";
  rows.addEventListener("click", () => copy(chosen.map((p) => ROWS[p]).sort((a, b) => a - b).join(","), rows));
  clear.textContent = "Clear";
  clear.addEventListener("click", () => { state.selected = null; changed("selected"); });
  box.append(`${count(chosen.length)} ${chosen.length === 1 ? "point" : "points"} selected; mean of eigenfunction ${state.mode}: ${show(mean, 3)}. `, rows, " ", clear);
}

function markTable() {
  for (const row of document.querySelectorAll("tr[data-mode]")) {
    const own = +row.dataset.mode === state.mode;
    row.classList.toggle("chosen", own);
    const several = row.querySelector(".several");
    if (several) several.classList.toggle("own", MODES[+row.dataset.mode].group.includes(state.mode));
    row.querySelector("button").setAttribute("aria-pressed", String(own));
  }
}

function setUpTable() {
  const table = document.querySelector("table.modes tbody");
  table.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-mode]");
    if (row) choose(+row.dataset.mode);
  });
  table.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    choose(state.mode + step);
    table.querySelector(`tr[data-mode="${state.mode}"] button`).focus();
  });
  const canvas = byId("spectrum");
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); choose(state.mode + step); }
  });
  canvas.addEventListener("click", (event) => {
    const x = event.clientX - canvas.getBoundingClientRect().left;
    const places = MODES.map((_, i) => Math.abs(canvas.chart.px(i) - x));
    choose(places.indexOf(Math.min(...places)));
  });
}

function setUpChoosers() {
  const colour = byId("colour"), mode = byId("mode");
  const result = document.createElement("optgroup");
  result.label = "Result";
  COLOURS.forEach(([value, label]) => option(result, value, label));
  colour.append(result);
  for (const [heading, kinds] of MENUS.slice(0, 3)) menu(colour, heading, kinds, (i) => `channel:${i}`);
  MODES.forEach((m, i) => option(mode, i, `${i}: λ = ${m.text}`));
  colour.addEventListener("change", () => { state.colour = colour.value; changed("colour"); });
  mode.addEventListener("change", () => choose(+mode.value));
  for (const way of ["turn", "select"]) byId(`drag-${way}`).addEventListener("click", () => {
    state.dragging = way;
    for (const w of ["turn", "select"]) byId(`drag-${w}`).setAttribute("aria-pressed", String(w === way));
    for (const c of document.querySelectorAll("canvas.cloud")) c.classList.toggle("selecting", way === "select");
  });
  byId("reset").addEventListener("click", () => {
    for (const cloud of [left, right, movedCloud]) if (cloud) cloud.reset();
    drawAll();
  });
  byId("show-density").addEventListener("click", () => {
    state.colour = colour.value = "density";
    changed("colour");
    byId("points").scrollIntoView();
  });
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    drawAll();
  });
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => copy(byId(button.dataset.copy).textContent, button));
  }
}

async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page opened from a disk may have no access to the clipboard; the older command works there.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1500);
}

function drawAll() {
  readTheme();
  drawSpectrum();
  drawLegend();
  drawClouds();
  drawSeries();
  drawTuning();
  drawDensity();
  updateEpsilon();
}

listeners.push((what) => {
  if (what.has("mode")) { markTable(); drawSpectrum(); drawSeries(); byId("mode").value = state.mode; }
  if (what.has("mode") || what.has("colour")) { cloudWords(); drawLegend(); }
  if (what.has("mode") || what.has("step") || what.has("selected")) updateEpsilon();
  if (what.has("mode") || what.has("selected")) selectionWords();
  if (what.has("hover")) hoverWords();
  if (!what.has("step")) drawClouds();
});

setUpTable();
setUpChoosers();
axisChoosers("axes-left", left, () => { cloudWords(); left.draw(); if (MOVING) drawMoved(); });
axisChoosers("axes-right", right, () => { cloudWords(); right.draw(); });
attach(left, () => left.draw());
attach(right, () => right.draw());
setUpEpsilon(left);
readTheme();
changed("mode", "colour");
drawAll();
let waiting = 0;
addEventListener("resize", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(drawAll); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);

// A term of the glossary tells its meaning beside the pointer or the focus; followed, it opens the list.
for (const term of document.querySelectorAll("a.term")) {
  const entry = document.querySelector(term.getAttribute("href"));
  const tell = () => {
    const box = term.getBoundingClientRect();
    Object.assign(byId("tip"), { hidden: false, textContent: entry.nextElementSibling.textContent });
    placeTip(box.left - 8, box.bottom - 8);
  };
  for (const way of ["pointerenter", "focus"]) term.addEventListener(way, tell);
  for (const way of ["pointerleave", "blur"]) term.addEventListener(way, () => { byId("tip").hidden = true; });
  term.addEventListener("click", () => { byId("glossary").open = true; });
}

// Print the light theme on white paper, whatever the screen shows, with everything unfolded that a reader
// cannot unfold there; the glossary stays away.
let shown, folded;
addEventListener("beforeprint", () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  folded = [...document.querySelectorAll("details:not([open]):not(#glossary, #bibtex-part)")];
  for (const part of folded) part.open = true;
  state.printing = true;
  drawAll();
});
addEventListener("afterprint", () => {
  if (shown) document.documentElement.dataset.theme = shown;
  else delete document.documentElement.dataset.theme;
  for (const part of folded) part.open = false;
  state.printing = false;
  drawAll();
});
document.documentElement.dataset.ready = "yes";
