// The numbers of the page: unpacked once, read by every picture.

const byId = (id) => document.getElementById(id);
const DATA = JSON.parse(byId("data").textContent);
const MISSING = 65535;
const STEPS = 65534;

function bytes(text) {
  const raw = atob(text);
  const result = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) result[i] = raw.charCodeAt(i);
  return result;
}

// Values between low and high from 16-bit numbers; MISSING means that there is no value.
function values(text, low, high) {
  const whole = new Uint16Array(bytes(text).buffer);
  const result = new Float32Array(whole.length);
  const step = (high - low) / STEPS;
  for (let i = 0; i < whole.length; i++) {
    result[i] = whole[i] === MISSING ? NaN : low + step * whole[i];
  }
  return result;
}

// Labels stand at whole numbers, each point a little beside its own, so that points stay apart.
function unpacked(c) {
  const found = { ...c, values: values(c.data, c.low, c.high) };
  if (!c.names) return found;
  const spots = found.values.map((v, i) => v + 0.6 * ((i * 0.618034) % 1) - 0.3);
  return { ...found, spots, low: -0.5, high: c.names.length - 0.5 };
}

const CHANNELS = DATA.channels.map(unpacked);
const ROWS = new Uint32Array(bytes(DATA.rows).buffer);
const UNRESOLVED = bytes(DATA.unresolved);
const WEAK = bytes(DATA.weak);
const PIECES = bytes(DATA.pieces);
const MODES = DATA.modes;
const indexOfKind = (kind) => CHANNELS.findIndex((c) => c.kind === kind);
const FUNCTIONS = CHANNELS.map((c, i) => i).filter((i) => CHANNELS[i].kind === "function");

// The current choices; `changed` tells every picture which of them are new.
const state = {
  mode: MODES.findIndex((m, i) => i > 0 && m.value !== 0 && m.value !== null),
  colour: "function",
  hover: -1,
  selected: null,
  dragging: "turn",
  printing: false,
  step: DATA.sensitivity ? DATA.sensitivity.chosen : 0,
};
if (state.mode < 0) state.mode = Math.min(1, MODES.length - 1);
const listeners = [];
function changed(...what) {
  for (const listener of listeners) listener(new Set(what));
}

function choose(mode) {
  const last = MODES.length - 1;
  state.mode = Math.max(0, Math.min(last, mode));
  changed("mode");
}

// Numbers as text: a true minus sign, few digits, powers where they are shorter.
function show(x, digits = 3) {
  if (x === null || x === undefined || Number.isNaN(x)) return "—";
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? power(x, digits) : String(+x.toPrecision(digits));
  return text.replaceAll("-", "−");
}

function power(x, digits) {
  const [head, tail] = x.toExponential(digits - 1).split("e");
  const exponent = String(+tail).split("").map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] || "⁻").join("");
  return Math.abs(+head) === 1 ? `${head.startsWith("-") ? "−" : ""}10${exponent}` : `${+head}·10${exponent}`;
}

const small = (n) => String(n).split("").map((c) => "₀₁₂₃₄₅₆₇₈₉"[+c]).join("");
const count = (n) => n.toLocaleString("en-US");
const percent = (x) => (x < 0.001 ? "less than 0.1 %" : `${+(100 * x).toPrecision(2)} %`);
