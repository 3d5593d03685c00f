// A cloud of points on a canvas: flat, or in space and turned by hand.

const EQUAL = new Set(["column", "principal"]);
// The first position of points in space: angles around the upright axis and above the ground.
const TURN = [-0.6, 0.35];

class Cloud {
  // axes: three entries, each the number of a channel, "mode" for the chosen eigenfunction, or
  // null; places: which of the drawn points are shown (all without it).
  constructor(canvas, axes, places = null) {
    this.canvas = canvas;
    this.axes = axes;
    this.places = places || Uint32Array.from({ length: DATA.drawn }, (_, i) => i);
    this.override = null;
    this.reset();
  }

  reset() {
    this.turn = [...TURN];
    this.zoom = 1;
    this.shift = [0, 0];
  }

  get solid() { return this.axes[2] !== null; }

  channel(axis) {
    const index = this.axes[axis] === "mode" ? FUNCTIONS[state.mode] : this.axes[axis];
    return CHANNELS[index] || { values: new Float32Array(DATA.drawn), low: -1, high: 1, label: "", kind: "" };
  }

  // Directions that measure the same kind of length share one scale.
  scales() {
    const used = this.solid ? [0, 1, 2] : [0, 1];
    const parts = used.map((a) => this.channel(a));
    const widest = Math.max(...parts.map((c) => c.high - c.low)) || 1;
    const together = parts.every((c) => EQUAL.has(c.kind));
    return parts.map((c) => ({ middle: (c.low + c.high) / 2, half: (together ? widest : c.high - c.low || 1) / 2 }));
  }

  project(width, height) {
    const scales = this.scales(), n = this.places.length;
    const data = scales.map((_, a) => this.channel(a).spots || this.channel(a).values);
    this.sx = new Float32Array(n);
    this.sy = new Float32Array(n);
    this.depth = new Float32Array(n);
    this.map = this.solid ? this.spaceMap(scales, width, height) : this.flatMap(scales, width, height);
    const out = [0, 0, 0];
    for (let i = 0; i < n; i++) {
      const p = this.places[i];
      this.map(data[0][p], data[1][p], this.solid ? data[2][p] : 0, out);
      [this.sx[i], this.sy[i], this.depth[i]] = out;
    }
  }

  flatMap(scales, width, height) {
    const box = { left: this.leftRoom(height), right: width - 12, top: 12, bottom: height - 40 };
    const w = box.right - box.left, h = box.bottom - box.top;
    const together = EQUAL.has(this.channel(0).kind) && EQUAL.has(this.channel(1).kind);
    let px = (w / 2) * 0.94, py = (h / 2) * 0.94;
    if (together) {
      const unit = Math.min(px / this.half(0), py / this.half(1));
      px = unit * scales[0].half;
      py = unit * scales[1].half;
    }
    const cx = (box.left + box.right) / 2 + this.shift[0], cy = (box.top + box.bottom) / 2 + this.shift[1];
    const ax = (px * this.zoom) / scales[0].half, ay = (py * this.zoom) / scales[1].half;
    this.box = box;
    this.back = (x, y) => [(x - cx) / ax + scales[0].middle, -(y - cy) / ay + scales[1].middle];
    return (x, y, z, out) => {
      out[0] = cx + (x - scales[0].middle) * ax;
      out[1] = cy - (y - scales[1].middle) * ay;
      out[2] = 0;
    };
  }

  // Width of the space for the numbers and the name of the upright axis.
  leftRoom(height) {
    const c = this.channel(1);
    return Math.min(0.4 * this.wide, Math.max(52, widest(this.pen, marksOf(c, c.low, c.high, (height - 52) / 60)) + 26));
  }

  half(axis) {
    const c = this.channel(axis);
    return (c.high - c.low) / 2 || 1e-9;
  }

  spaceMap(scales, width, height) {
    const [a, e] = this.turn;
    const ca = Math.cos(a), sa = Math.sin(a), ce = Math.cos(e), se = Math.sin(e);
    const size = this.fit(scales, width, height) * this.zoom;
    const cx = width / 2 + this.shift[0], cy = height / 2 + this.shift[1];
    this.size = size;
    return (x, y, z, out) => {
      const u = (x - scales[0].middle) / scales[0].half, v = (y - scales[1].middle) / scales[1].half;
      const w = (z - scales[2].middle) / scales[2].half;
      const across = ca * u + sa * v, away = -sa * u + ca * v;
      out[0] = cx + size * across;
      out[1] = cy - size * (ce * w + se * away);
      out[2] = ce * away - se * w;
    };
  }

  // Pixels per unit with which the box around the points, in its first position, fills the picture.
  fit(scales, width, height) {
    const half = scales.map((s, a) => this.half(a) / s.half);
    const [ca, sa, ce, se] = [Math.cos(TURN[0]), -Math.sin(TURN[0]), Math.cos(TURN[1]), Math.sin(TURN[1])];
    const across = ca * half[0] + sa * half[1], up = ce * half[2] + se * (sa * half[0] + ca * half[1]);
    return Math.min((width / 2 - 34) / across, (height / 2 - 24) / up);
  }

  draw() {
    // A picture that is folded away has no size, and nothing to draw on.
    if (!this.canvas.clientWidth || !this.canvas.clientHeight) return;
    const { pen, width, height, ratio } = prepared(this.canvas);
    Object.assign(this, { pen, wide: width, high: height });
    this.project(width, height);
    if (this.solid) this.drawEdges(false);
    else this.drawFrame(width, height);
    this.drawPoints(ratio);
    if (this.solid) this.drawEdges(true);
    this.drawRing();
    if (this.rubber) this.drawRubber();
  }

  drawPoints(ratio) {
    const { places, sx, sy, box, solid } = this;
    const size = Math.max(1.4, Math.min(4, (0.38 * Math.min(this.wide, this.high)) / Math.sqrt(places.length)));
    const { colours, table, disc } = this.dressed(size * Math.min(1.8, Math.sqrt(this.zoom)) * ratio);
    const order = this.order(colours), chosen = state.selected;
    const raster = new Raster(this.canvas.width, this.canvas.height);
    for (const i of order) {
      const x = sx[i], y = sy[i], p = places[i];
      if (!solid && !(x >= box.left && x <= box.right && y >= box.top && y <= box.bottom)) continue;
      const level = colours.level[this.override ? i : p];
      const fade = chosen && !chosen.has(p) ? FADES - 1 : solid ? this.fade[i] : 0;
      raster.stamp(disc, x * ratio, y * ratio, table[level * FADES + fade]);
    }
    raster.onto(this.pen, ratio);
  }

  // Colours and disc, computed once and kept while only the view moves.
  dressed(radius) {
    const kind = this.override ? "function" : state.colour;
    const key = [kind, state.mode, theme.dark, radius].join(" ");
    if (!this.kept || this.kept.key !== key || this.kept.override !== this.override) {
      const colours = colouring(kind, this.override);
      this.kept = { key, override: this.override, colours, table: fades(colours.palette), disc: discOf(radius) };
    }
    return this.kept;
  }

  // The order in which points are drawn: in space, far ones first; in the plane, grey ones first
  // and chosen ones last.
  order(colours) {
    const n = this.places.length;
    const order = Uint32Array.from({ length: n }, (_, i) => i);
    this.fade = null;
    if (this.solid) {
      const depth = this.depth;
      order.sort((a, b) => depth[b] - depth[a]);
      let near = Infinity, far = -Infinity;
      for (const d of depth) { if (d < near) near = d; if (d > far) far = d; }
      this.fade = Uint8Array.from(depth, (d) => Math.max(0, Math.min(DEEPEST, Math.round(((d - near) / (far - near || 1)) * 1.9 * (FADES - 1) - 0.9 * FADES + 1))));
      return order;
    }
    if (colours.names) {
      const rank = (i) => colours.level[this.places[i]];
      if (state.colour === "unresolved") order.sort((a, b) => rank(a) - rank(b));
    }
    if (state.selected) order.sort((a, b) => state.selected.has(this.places[a]) - state.selected.has(this.places[b]));
    return order;
  }

  drawFrame() {
    const { pen, box } = this;
    const [x0, y0] = this.back(box.left, box.bottom), [x1, y1] = this.back(box.right, box.top);
    pen.fillStyle = theme.soft;
    pen.strokeStyle = theme.grid;
    pen.lineWidth = 1;
    const out = [0, 0, 0];
    pen.textAlign = "center";
    pen.textBaseline = "top";
    const across = marksOf(this.channel(0), x0, x1, Math.max(3, (box.right - box.left) / 80));
    // Names may be longer than the space between them: each has its share of the width.
    const room = this.channel(0).names ? (box.right - box.left) / across.length : Infinity;
    for (const { at, text } of across) {
      this.map(at, 0, 0, out);
      this.gridLine(out[0], box.top, out[0], box.bottom);
      pen.fillText(fitted(pen, text, room), out[0], box.bottom + 6);
    }
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const { at, text } of marksOf(this.channel(1), y0, y1, (box.bottom - box.top) / 60)) {
      this.map(0, at, 0, out);
      this.gridLine(box.left, out[1], box.right, out[1]);
      // Zoomed in, numbers are longer: they may reach into the picture, but not off the page.
      const word = fitted(pen, text, 0.4 * this.wide - 26);
      pen.fillText(word, Math.max(box.left - 6, pen.measureText(word).width + 18), out[1]);
    }
    pen.fillStyle = theme.ink;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    pen.fillText(shortened(this.channel(0).label), (box.left + box.right) / 2, box.bottom + 23);
    pen.save();
    pen.translate(3, (box.top + box.bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(shortened(this.channel(1).label), 0, 0);
    pen.restore();
  }

  gridLine(x0, y0, x1, y1) {
    const { pen } = this;
    pen.beginPath();
    pen.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
    pen.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
    pen.stroke();
  }

  drawRing() {
    if (state.hover < 0) return;
    const i = this.places.indexOf(state.hover);
    if (i < 0) return;
    const { pen } = this;
    pen.lineWidth = 2.2;
    for (const [radius, colour] of [[8.5, theme.card], [6.5, theme.ink]]) {
      pen.strokeStyle = colour;
      pen.beginPath();
      pen.arc(this.sx[i], this.sy[i], radius, 0, 2 * Math.PI);
      pen.stroke();
    }
  }

  drawRubber() {
    const [x0, y0, x1, y1] = this.rubber;
    this.pen.setLineDash([5, 4]);
    this.pen.strokeStyle = theme.ink;
    this.pen.lineWidth = 1.2;
    this.pen.strokeRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
    this.pen.setLineDash([]);
  }
}

// A text cut to a width in pixels.
function fitted(pen, text, room) {
  let n = text.length;
  while (n > 1 && pen.measureText(n < text.length ? `${text.slice(0, n)}…` : text).width > room - 4) n--;
  return n < text.length ? `${text.slice(0, n)}…` : text;
}

const shortened = (label) => (label.length > 32 ? `${label.slice(0, 30)}…` : label);
