// Thousands of discs, written pixel by pixel, which is quick without a graphics card.

// The pixels of one disc: their offsets from its middle, and how far each is covered (0 to 255).
function discOf(radius) {
  const reach = Math.ceil(radius + 0.5), pixels = [];
  for (let y = -reach; y <= reach; y++) for (let x = -reach; x <= reach; x++) {
    const cover = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(x, y)));
    if (cover > 0.02) pixels.push([x, y, Math.round(255 * cover)]);
  }
  return { reach, pixels };
}

// Every colour of the palette in every step towards the background, as one number 0xBBGGRR.
function fades(palette) {
  const back = channelsOf(theme.card.length === 7 ? theme.card : "#ffffff");
  const table = new Uint32Array(palette.length * FADES);
  palette.forEach((colour, i) => {
    for (let fade = 0; fade < FADES; fade++) {
      const [r, g, b] = mix(colour, back, (0.86 * fade) / (FADES - 1)).map(Math.round);
      table[i * FADES + fade] = (b << 16) | (g << 8) | r;
    }
  });
  return table;
}

class Raster {
  constructor(width, height) {
    this.sheet = document.createElement("canvas");
    this.sheet.width = this.width = width;
    this.sheet.height = this.height = height;
    this.image = new ImageData(width, height);
    this.words = new Uint32Array(this.image.data.buffer);
  }

  stamp(disc, x, y, colour) {
    const { words, width, height } = this;
    const cx = Math.round(x), cy = Math.round(y), r = disc.reach;
    if (!(cx >= r && cy >= r && cx < width - r && cy < height - r)) return;
    for (const [dx, dy, cover] of disc.pixels) {
      const at = (cy + dy) * width + cx + dx, old = words[at], there = old >>> 24;
      if (cover === 255 || there === 0) words[at] = ((cover << 24) | colour) >>> 0;
      else words[at] = blend(old, colour, cover, Math.max(there, cover));
    }
  }

  onto(pen, ratio) {
    this.sheet.getContext("2d").putImageData(this.image, 0, 0);
    pen.drawImage(this.sheet, 0, 0, this.width / ratio, this.height / ratio);
  }
}

function blend(old, colour, cover, alpha) {
  const part = (shift) => {
    const before = (old >> shift) & 255;
    return (before + (((((colour >> shift) & 255) - before) * cover) / 255)) << shift;
  };
  return ((alpha << 24) | part(16) | part(8) | part(0)) >>> 0;
}
