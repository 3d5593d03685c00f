// Colours that people with any colour vision tell apart, in light and in dark.

// Viridis, without the end that would vanish on the background.
const SEQUENTIAL = {
  light: ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#9fd93b", "#d8e219"],
  dark: ["#7a5fb5", "#5f6dbb", "#4183b8", "#2c9aa5", "#2fb389", "#5ec962", "#95d840", "#c8e02b", "#fde725"],
};
const DIVERGING = {
  light: ["#053061", "#1f66a5", "#6aa9d2", "#d5d8da", "#f0a25f", "#c85a10", "#7a2b02"],
  dark: ["#a9dcff", "#4ea8e6", "#2a628f", "#454b53", "#96582b", "#ee8d3f", "#ffd0a1"],
};
const CYCLE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
// Labels need more: as many as `MOST_COLOURED` of the payload.
const KINDS = [...CYCLE, "#8A6FDF", "#A6761D", "#7FBC41", "#E7298A"];
const LEVELS = 96;
// Number of steps in which points in space fade towards the back.
const FADES = 6;
// The last step that depth takes: points behind stay visible. Points that are not selected take all.
const DEEPEST = 4;

const channelsOf = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const mix = (a, b, t) => a.map((x, i) => x + (b[i] - x) * t);
const css = (rgb) => `rgb(${rgb.map(Math.round).join(",")})`;

function ramp(anchors, levels) {
  const stops = anchors.map(channelsOf);
  return Array.from({ length: levels }, (_, i) => {
    const at = (i / (levels - 1)) * (stops.length - 1);
    const k = Math.min(stops.length - 2, Math.floor(at));
    return mix(stops[k], stops[k + 1], at - k);
  });
}

let theme = {};
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  theme = Object.fromEntries(["card", "ink", "soft", "line", "grid", "accent", "hot"].map((n) => [n, get(n)]));
  theme.dark = isDark();
  theme.grey = theme.dark ? "#59616b" : "#b9bec4";
}

function isDark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// The current colouring: a palette, and for each drawn point its place in the palette.
function colouring(kind, override) {
  if (kind === "unresolved") return marks();
  if (kind === "pieces") return pieces();
  const channel = channelOf(kind) || { values: new Float32Array(DATA.drawn), low: 0, high: 0 };
  if (channel.names) return kinds(channel);
  const data = override || channel.values;
  const diverging = kind === "function";
  const limits = diverging ? symmetric(data) : inner(data);
  const palette = ramp((diverging ? DIVERGING : SEQUENTIAL)[theme.dark ? "dark" : "light"], LEVELS);
  const level = new Uint8Array(data.length);
  const scale = (LEVELS - 1) / (limits[1] - limits[0] || 1);
  for (let i = 0; i < data.length; i++) {
    const at = Math.round((data[i] - limits[0]) * scale);
    level[i] = Number.isNaN(data[i]) ? LEVELS : Math.max(0, Math.min(LEVELS - 1, at));
  }
  return { palette: [...palette, channelsOf(theme.grey)], level, limits, diverging };
}

// What a colour stands for: the chosen eigenfunction, a kind there is one of, or "channel:7".
function channelOf(kind) {
  if (kind.startsWith("channel:")) return CHANNELS[+kind.slice(8)];
  return CHANNELS[kind === "function" ? FUNCTIONS[state.mode] : indexOfKind(kind)];
}

// Limits of the colour scale, symmetric about 0; the largest 1 % share the colours at the ends.
function symmetric(data) {
  const sizes = Array.from(data, Math.abs).filter((x) => !Number.isNaN(x)).sort((a, b) => a - b);
  const limit = sizes.length ? sizes[Math.floor(0.99 * (sizes.length - 1))] || sizes[sizes.length - 1] : 1;
  return [-limit || -1, limit || 1];
}

function inner(data) {
  const known = Array.from(data).filter((x) => !Number.isNaN(x)).sort((a, b) => a - b);
  const at = (t) => known[Math.round(t * (known.length - 1))] ?? 0;
  return [at(0.01), at(0.99)];
}

function marks() {
  const level = Uint8Array.from(UNRESOLVED, (u, i) => (u ? 1 : WEAK[i] ? 2 : 0));
  const names = ["resolved", "unresolved", "on a weak link"];
  return { palette: [theme.grey, "#D55E00", theme.dark ? "#56B4E9" : "#0072B2"].map(channelsOf), level, names };
}

function pieces() {
  const shown = Math.min(DATA.nPieces, CYCLE.length);
  const level = Uint8Array.from(PIECES, (p) => Math.min(p, shown));
  const names = CYCLE.slice(0, shown).map((_, i) => (i ? `piece ${i + 1}` : "largest piece"));
  if (DATA.nPieces > shown) names.push(`${count(DATA.nPieces - shown)} smaller`);
  return { palette: [...CYCLE.slice(0, shown), theme.grey].map(channelsOf), level, names };
}

// Labels: one colour each; the rare ones, which share a name, and points without a label are grey.
function kinds(channel) {
  const n = channel.names.length, missing = channel.values.some(Number.isNaN);
  const palette = channel.names.map((_, i) => KINDS[i] || theme.grey);
  const names = missing ? [...channel.names, "no label"] : channel.names;
  return { palette: [...palette, theme.grey].map(channelsOf), level: Uint8Array.from(channel.values, (v) => (Number.isNaN(v) ? n : v)), names };
}
