// What part of the map is on the screen: a centre and a scale in pixels per unit of the map.

const MOST = 4000; // times that a map can be magnified
const MARGIN = 34; // pixels around what is fitted

export class View {
  constructor() {
    this.width = this.height = 1;
    this.x = this.y = 0.5;
    this.scale = this.least = 1;
    this.inset = [0, 0, 0, 0]; // pixels that panels cover at the left, top, right and bottom
  }

  get middle() {
    const [left, top, right, bottom] = this.inset;
    return [(left + this.width - right) / 2, (top + this.height - bottom) / 2];
  }

  resize(width, height) {
    Object.assign(this, { width, height });
  }

  // Show a box of the map; `whole` says that it is all of it, which is the least scale.
  fit([left, top, right, bottom], whole = false) {
    const [covered, above, right_, below] = this.inset;
    const across = Math.max(1, this.width - covered - right_ - 2 * MARGIN), down = Math.max(1, this.height - above - below - 2 * MARGIN);
    const scale = Math.min(across / Math.max(right - left, 1e-9), down / Math.max(bottom - top, 1e-9));
    if (whole) this.least = scale;
    this.scale = Math.min(scale, this.least * (whole ? 1 : 60));
    this.x = (left + right) / 2;
    this.y = (top + bottom) / 2;
  }

  across(x) {
    return (x - this.x) * this.scale + this.middle[0];
  }

  down(y) {
    return (y - this.y) * this.scale + this.middle[1];
  }

  // The point of the map under a pixel.
  under(px, py) {
    const [mx, my] = this.middle;
    return [(px - mx) / this.scale + this.x, (py - my) / this.scale + this.y];
  }

  move(dx, dy) {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
  }

  zoom(factor, px = this.middle[0], py = this.middle[1]) {
    const [x, y] = this.under(px, py);
    this.scale = Math.min(this.least * MOST, Math.max(this.least / 2, this.scale * factor));
    this.x = x - (px - this.middle[0]) / this.scale;
    this.y = y - (py - this.middle[1]) / this.scale;
  }

  get text() {
    return [this.x, this.y, this.scale / this.least].map((v) => Number(v.toPrecision(6))).join(",");
  }

  set text(said) {
    const [x, y, zoom] = said.split(",").map(Number);
    if (![x, y, zoom].every(Number.isFinite) || zoom <= 0) return;
    Object.assign(this, { x, y, scale: this.least * Math.min(MOST, Math.max(0.5, zoom)) });
  }
}
