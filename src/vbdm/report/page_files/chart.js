// Small charts on a canvas: axes, lines, dots, bars.

const MARGIN = { left: 58, right: 14, top: 14, bottom: 42 };

function prepared(canvas) {
  // Paper has more dots to the inch than a screen.
  const ratio = state.printing ? 3 : Math.max(1, window.devicePixelRatio || 1);
  const width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return { pen, width, height, ratio };
}

function niceTicks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  const unit = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= rough) || 10 * unit;
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  // A single tick gives no scale: ask for more.
  if (ticks.length < 2 && wanted < 12) return niceTicks(low, high, 2 * wanted);
  return ticks.map((t) => +t.toPrecision(12));
}

function logTicks(low, high, wanted) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first < 2) return [-1, 0, 1, 2].flatMap((e) => [1, 2, 5].map((m) => +(m * 10 ** (first + e)).toPrecision(3)))
    .filter((t) => t >= low && t <= high);
  const every = Math.max(1, Math.ceil((last - first + 1) / wanted));
  const ticks = [];
  for (let e = first; e <= last; e += every) ticks.push(10 ** e);
  return ticks;
}

const ticksOf = (axis, wanted) => (axis.marks ? axis.marks(wanted) : (axis.log ? logTicks : niceTicks)(axis.low, axis.high, wanted)
  .filter((t) => !axis.whole || Number.isInteger(t)).map((at) => ({ at, text: show(at) })));
const widest = (pen, marks) => Math.max(0, ...marks.map(({ text }) => pen.measureText(text).width));

class Chart {
  // x, y: { low, high, log, label, whole }
  constructor(canvas, x, y) {
    Object.assign(this, prepared(canvas), { x, y });
    const top = MARGIN.top, bottom = this.height - MARGIN.bottom;
    this.ticks = ticksOf(y, Math.max(3, (bottom - top) / 55));
    // Long numbers must not run into the name of their axis.
    const left = Math.max(MARGIN.left, widest(this.pen, this.ticks) + 30);
    this.area = { left, right: this.width - MARGIN.right, top, bottom };
    this.frame();
  }

  static share(axis, v) {
    if (axis.log) return Math.log(v / axis.low) / Math.log(axis.high / axis.low);
    return (v - axis.low) / (axis.high - axis.low || 1);
  }

  px(v) { return this.area.left + Chart.share(this.x, v) * (this.area.right - this.area.left); }
  py(v) { return this.area.bottom - Chart.share(this.y, v) * (this.area.bottom - this.area.top); }

  frame() {
    const { pen, area } = this;
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const { at, text } of this.ticks) {
      const y = Math.round(this.py(at)) + 0.5;
      this.rule(area.left, y, area.right, y, theme.grid);
      pen.fillStyle = theme.soft;
      pen.fillText(text, area.left - 8, y);
    }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const { at, text } of ticksOf(this.x, Math.max(3, (area.right - area.left) / 75))) {
      const x = Math.round(this.px(at)) + 0.5;
      this.rule(x, area.bottom, x, area.bottom + 4, theme.line);
      pen.fillStyle = theme.soft;
      pen.fillText(text, x, area.bottom + 7);
    }
    this.rule(area.left, area.bottom + 0.5, area.right, area.bottom + 0.5, theme.line);
    pen.fillStyle = theme.ink;
    pen.fillText(this.x.label, (area.left + area.right) / 2, area.bottom + 24);
    pen.save();
    pen.translate(5, (area.top + area.bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(this.y.label, 0, 0);
    pen.restore();
  }

  rule(x0, y0, x1, y1, colour, width = 1, dash = []) {
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.setLineDash(dash);
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    pen.setLineDash([]);
  }

  inside(draw) {
    const { pen, area } = this;
    pen.save();
    pen.beginPath();
    pen.rect(area.left - 1, area.top - 6, area.right - area.left + 8, area.bottom - area.top + 7);
    pen.clip();
    draw();
    pen.restore();
  }

  // A line with gaps where a value is missing.
  line(xs, ys, colour, width = 1.5, dash = []) {
    this.inside(() => {
      const { pen } = this;
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.lineJoin = "round";
      pen.setLineDash(dash);
      pen.beginPath();
      let open = false;
      xs.forEach((x, i) => {
        if (ys[i] === null || Number.isNaN(ys[i])) { open = false; return; }
        pen[open ? "lineTo" : "moveTo"](this.px(x), this.py(ys[i]));
        open = true;
      });
      pen.stroke();
      pen.setLineDash([]);
    });
  }

  dot(x, y, radius, fill, edge) {
    const { pen } = this;
    pen.beginPath();
    pen.arc(this.px(x), this.py(y), radius, 0, 2 * Math.PI);
    pen.fillStyle = fill;
    pen.fill();
    if (edge) { pen.strokeStyle = edge; pen.lineWidth = 1.8; pen.stroke(); }
  }

  bar(x, low, high, colour, width = 1.6) {
    const at = this.px(x), y0 = this.py(low), y1 = this.py(high);
    this.inside(() => {
      this.rule(at, y0, at, y1, colour, width);
      for (const y of [y0, y1]) this.rule(at - 3.5, y, at + 3.5, y, colour, width);
    });
  }

  band(x0, x1, low, high, colour) {
    const { pen } = this;
    const height = Math.max(2, this.py(low) - this.py(high));
    this.inside(() => {
      pen.globalAlpha = 0.22;
      pen.fillStyle = colour;
      pen.fillRect(this.px(x0), this.py((low + high) / 2) - height / 2, this.px(x1) - this.px(x0), height);
      pen.globalAlpha = 1;
    });
  }

  note(text, x, y, colour = theme.soft, align = "left") {
    const { pen } = this;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.lineWidth = 4;
    pen.strokeStyle = theme.card;
    pen.lineJoin = "round";
    pen.strokeText(text, x, y);
    pen.fillStyle = colour;
    pen.fillText(text, x, y);
  }
}

function extent(values, room = 0.06) {
  const known = values.filter((v) => v !== null && Number.isFinite(v));
  const low = Math.min(...known), high = Math.max(...known);
  const extra = (high - low || Math.abs(high) || 1) * room;
  return [low - extra, high + extra];
}
