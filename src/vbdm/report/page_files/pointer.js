// Hands on a cloud: turning, moving, zooming, pointing, selecting; by mouse, finger or keys.

// The edges of the box around a cloud in space: those behind the points, then those before them.
Cloud.prototype.drawEdges = function drawEdges(front) {
  const { pen } = this;
  const corner = (signs) => {
    const out = [0, 0, 0];
    this.map(...[0, 1, 2].map((a) => (signs[a] < 0 ? this.channel(a).low : this.channel(a).high)), out);
    return out;
  };
  const all = [0, 1, 2, 3, 4, 5, 6, 7].map((b) => [b & 1, b & 2, b & 4].map((x) => (x ? 1 : -1)));
  const nearest = all.reduce((best, s) => (corner(s)[2] < corner(best)[2] ? s : best));
  pen.lineWidth = 1;
  pen.strokeStyle = theme.line;
  for (const start of all) for (const a of [0, 1, 2]) {
    if (start[a] > 0) continue;
    const end = start.map((x, i) => (i === a ? 1 : x));
    const touches = [start, end].some((s) => s.every((x, i) => x === nearest[i]));
    if (touches || front) continue;
    const p = corner(start), q = corner(end);
    pen.beginPath();
    pen.moveTo(p[0], p[1]);
    pen.lineTo(q[0], q[1]);
    pen.stroke();
  }
  if (front) this.drawNames(corner);
};

// Each axis is named at the middle of its lowest or outermost edge; numbers stand where there is room.
Cloud.prototype.drawNames = function drawNames(corner) {
  const { pen } = this, taken = [];
  const edges = [0, 1, 2].map((a) => this.outerEdge(a, corner));
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = theme.ink;
  edges.forEach(({ middle, away }, a) => {
    const label = shortened(this.channel(a).label), box = this.boxOf(label, middle[0] + away[0], middle[1] + away[1], a === 2);
    taken.push(box);
    pen.save();
    pen.translate(box.x, box.y);
    if (a === 2) pen.rotate(-Math.PI / 2);
    pen.fillText(label, 0, 0);
    pen.restore();
  });
  pen.fillStyle = theme.soft;
  const limits = (c) => (c.names ? [0, c.names.length - 1] : [c.low, c.high]);
  edges.forEach(({ ends, middle, away }, a) => limits(this.channel(a)).forEach((v, i) => {
    // The number moves inward from the corner if the next axis has put its own there.
    for (const t of [0.14, 0.26, 0.38, 0.5]) {
      const [x, y] = [0, 1].map((k) => (1 - t) * ends[i][k] + t * middle[k] + away[k]);
      const text = shortened(valueText(this.channel(a), v, 2)), box = this.boxOf(text, x, y);
      if (taken.some((b) => Math.abs(b.x - box.x) < b.w + box.w && Math.abs(b.y - box.y) < b.h + box.h)) continue;
      taken.push(box);
      pen.fillText(text, box.x, box.y);
      break;
    }
  }));
};

Cloud.prototype.outerEdge = function outerEdge(a, corner) {
  let best = null;
  for (const s of [-1, 1]) for (const t of [-1, 1]) {
    const signs = [s, t];
    signs.splice(a, 0, 0);
    const ends = [-1, 1].map((x) => corner(signs.map((v, i) => (i === a ? x : v))));
    const middle = [(ends[0][0] + ends[1][0]) / 2, (ends[0][1] + ends[1][1]) / 2];
    const score = a === 2 ? -middle[0] : middle[1];
    if (!best || score > best.score) best = { score, middle, ends, away: a === 2 ? [-14, 0] : [0, 16] };
  }
  return best;
};

// The place of a text near (x, y), moved so far that all of it is inside the picture.
Cloud.prototype.boxOf = function boxOf(text, x, y, upright = false) {
  const long = this.pen.measureText(text).width / 2 + 6, low = 8;
  const [w, h] = upright ? [low, long] : [long, low];
  return { x: Math.max(w, Math.min(this.wide - w, x)), y: Math.max(h, Math.min(this.high - h, y)), w, h };
};

Cloud.prototype.nearest = function nearest(x, y, reach = 14) {
  let best = -1, least = reach * reach, front = Infinity;
  if (!this.sx) return best;
  for (let i = 0; i < this.places.length; i++) {
    const d = (this.sx[i] - x) ** 2 + (this.sy[i] - y) ** 2;
    // In space, the frontmost of the points that are near enough is taken.
    const depth = this.solid ? this.depth[i] : 0;
    if (d < least && (!this.solid || d < 30 || best < 0) && (!this.solid || depth <= front)) {
      best = this.places[i];
      if (!this.solid) least = d;
      front = depth;
    }
  }
  return best;
};

function attach(cloud, redraw) {
  const { canvas } = cloud;
  const fingers = new Map();
  let start = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
    start = at(event);
    if (event.shiftKey || state.dragging === "select") cloud.rubber = [...start, ...start];
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = at(event), before = fingers.get(event.pointerId);
    if (!before) { point(cloud, now, event); return; }
    if (cloud.rubber) cloud.rubber = [cloud.rubber[0], cloud.rubber[1], ...now];
    else if (fingers.size > 1) pinch(cloud, fingers, event.pointerId, now);
    else move(cloud, now[0] - before[0], now[1] - before[1]);
    fingers.set(event.pointerId, now);
    redraw();
  });
  const end = (event) => {
    fingers.delete(event.pointerId);
    if (cloud.rubber) { select(cloud); cloud.rubber = null; redraw(); }
    const now = at(event);
    if (start && Math.hypot(now[0] - start[0], now[1] - start[1]) < 4) point(cloud, now, event);
    start = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", () => { fingers.clear(); cloud.rubber = null; });
  canvas.addEventListener("pointerleave", () => point(cloud, null));
  canvas.addEventListener("wheel", (event) => {
    // Scrolling the page past a picture must not zoom it.
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    zoomBy(cloud, Math.exp(-event.deltaY * 0.0015));
    redraw();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (press(cloud, event.key)) { event.preventDefault(); redraw(); }
  });
}

function move(cloud, dx, dy) {
  if (!cloud.solid) { cloud.shift = [cloud.shift[0] + dx, cloud.shift[1] + dy]; return; }
  cloud.turn[0] += dx * 0.008;
  cloud.turn[1] = Math.max(-1.57, Math.min(1.57, cloud.turn[1] + dy * 0.008));
}

function zoomBy(cloud, factor) {
  const zoom = Math.max(0.4, Math.min(60, cloud.zoom * factor));
  cloud.shift = cloud.shift.map((s) => (s * zoom) / cloud.zoom);
  cloud.zoom = zoom;
}

function pinch(cloud, fingers, moving, now) {
  const other = [...fingers].find(([id]) => id !== moving)[1];
  const before = fingers.get(moving);
  const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
  zoomBy(cloud, apart(now) / apart(before));
}

function press(cloud, key) {
  const moves = { ArrowLeft: [-16, 0], ArrowRight: [16, 0], ArrowUp: [0, -16], ArrowDown: [0, 16] };
  if (moves[key]) move(cloud, ...moves[key]);
  else if (key === "+" || key === "=") zoomBy(cloud, 1.25);
  else if (key === "-" || key === "_") zoomBy(cloud, 0.8);
  else if (key === "0") cloud.reset();
  else if (key === "Escape") { state.selected = null; changed("selected"); }
  else return false;
  return true;
}

function select(cloud) {
  const [x0, y0, x1, y1] = cloud.rubber;
  const [left, right] = [Math.min(x0, x1), Math.max(x0, x1)], [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
  const found = new Set();
  for (let i = 0; i < cloud.places.length; i++) {
    const x = cloud.sx[i], y = cloud.sy[i];
    if (x >= left && x <= right && y >= top && y <= bottom) found.add(cloud.places[i]);
  }
  state.selected = found.size ? found : null;
  changed("selected");
}

function point(cloud, place, event) {
  const found = place ? cloud.nearest(...place) : -1;
  const tip = byId("tip");
  tip.hidden = found < 0;
  if (found >= 0) {
    tip.textContent = wordsOf(found).join("\n");
    placeTip(event.clientX, event.clientY);
  }
  if (found !== state.hover) { state.hover = found; changed("hover"); }
}

// Put the tip beside a place, inside the window.
function placeTip(x, y) {
  const tip = byId("tip"), wide = tip.offsetWidth, high = tip.offsetHeight;
  tip.style.left = `${Math.max(6, Math.min(x + 14, innerWidth - wide - 8))}px`;
  tip.style.top = `${y + 16 + high > innerHeight ? y - high - 12 : y + 16}px`;
}

function wordsOf(p) {
  const own = CHANNELS.filter((c) => c.kind === "column").slice(0, 6).map((c) => `${shortened(c.label)}: ${show(c.values[p], 4)}`);
  const f = CHANNELS[FUNCTIONS[state.mode]];
  const known = CHANNELS.filter((c) => c.kind === "label" || c.kind === "time").slice(0, 6).map((c) => `${shortened(c.label)}: ${valueText(c, c.values[p], 4)}`);
  const marks = [UNRESOLVED[p] ? "unresolved" : "", WEAK[p] ? "on a weak link" : "", DATA.nPieces > 1 ? `piece ${PIECES[p] + 1}` : ""].filter(Boolean);
  return [`row ${ROWS[p]}`, ...known, ...own, f ? `eigenfunction ${state.mode}: ${show(f.values[p], 3)}` : "",
    `density: ${show(10 ** CHANNELS[indexOfKind("density")].values[p], 3)}`, ...marks].filter(Boolean);
}
