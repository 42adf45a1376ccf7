// The ground of the map: roads and states, with as much detail as can be drawn and seen. Of too many roads those seen most
// often are drawn; many states are pixels of an image, few are dots.

import { BACK, FORTH } from "./map_frame.js";

const ROADS = 24_000; // drawn at rest, at most
const ROADS_MOVING = 5_000; // drawn while the map moves
const DOTS = 3_000; // states up to which they are drawn as dots
const APART = 26; // pixels between arrow heads of one-way roads, at every zoom
const WIDTHS = [0.8, 1.4, 2.2, 3.4, 5]; // pixels of roads, by traffic
const BLURRED = [0.55, 1.8]; // magnification of the last image while the map moves

// The roads in sight and on the screen long enough to see, at most `most`: indices, in order of how often seen.
function roadsInSight(map, view, most) {
  const { place, roads, R } = map;
  const [left, top] = view.under(0, 0), [right, bottom] = view.under(view.width, view.height);
  const found = [];
  for (let r = 0; r < R && found.length < most; r++) {
    const a = 2 * roads[2 * r], b = 2 * roads[2 * r + 1];
    const ax = place[a], ay = place[a + 1], bx = place[b], by = place[b + 1];
    // Comparisons with NaN are false, so roads of states without a place are left out.
    if (Math.min(ax, bx) <= right && Math.max(ax, bx) >= left && Math.min(ay, by) <= bottom && Math.max(ay, by) >= top) found.push(r);
  }
  return found;
}

function statesInSight(map, view) {
  const { place, S } = map;
  const [left, top] = view.under(0, 0), [right, bottom] = view.under(view.width, view.height);
  const found = [];
  for (let s = 0; s < S; s++) {
    const x = place[2 * s], y = place[2 * s + 1];
    if (x >= left && x <= right && y >= top && y <= bottom) found.push(s);
  }
  return found;
}

export class Ground {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.pixels = document.createElement("canvas");
    this.drawn = null;
  }

  // Draws into an image, unless the same was drawn last; returns the image, its roads and states, and whether there are
  // more roads in sight.
  draw(map, view, colours, moving, ratio) {
    const key = [view.x, view.y, view.scale, view.width, view.height, ratio, colours.card, colours.road, moving].join();
    if (this.drawn?.key === key) return this.drawn;
    const from = this.drawn?.view, grown = from ? view.scale / from.scale : 0;
    if (moving && grown > BLURRED[0] && grown < BLURRED[1] && from.width === view.width) return this.moved(from, view, grown, colours, ratio);
    const { canvas } = this;
    Object.assign(canvas, { width: Math.round(view.width * ratio), height: Math.round(view.height * ratio) });
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colours.card;
    context.fillRect(0, 0, view.width, view.height);
    const most = moving ? ROADS_MOVING : ROADS;
    const roads = roadsInSight(map, view, most + 1);
    const more = roads.length > most;
    if (more) roads.pop();
    this.drawRoads(context, map, view, roads, colours);
    const states = statesInSight(map, view);
    if (states.length > DOTS) this.drawPixels(context, map, view, states, colours, ratio);
    else this.drawDots(context, map, view, states, colours);
    const at = { scale: view.scale, width: view.width, left: view.across(0), top: view.down(0) };
    this.drawn = { key, view: at, image: canvas, roads, more, states, set: new Set(states) };
    return this.drawn;
  }

  // The last image, moved and magnified: enough while the map moves, and as fast as the screen.
  moved(from, view, grown, colours, ratio) {
    const image = this.moving ??= document.createElement("canvas");
    if (image.width !== this.canvas.width || image.height !== this.canvas.height) Object.assign(image, { width: this.canvas.width, height: this.canvas.height });
    const context = image.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colours.card;
    context.fillRect(0, 0, image.width, image.height);
    context.setTransform(grown, 0, 0, grown, ratio * (view.across(0) - grown * from.left), ratio * (view.down(0) - grown * from.top));
    context.drawImage(this.canvas, 0, 0);
    return { ...this.drawn, image };
  }

  drawRoads(context, { place, roads, directions, seen }, view, drawn, colours) {
    const thin = Math.min(1, Math.sqrt(900 / Math.max(1, drawn.length)));
    const most = Math.log1p(seen[0] ?? 1);
    const classes = WIDTHS.map(() => []);
    for (const r of drawn) classes[Math.min(WIDTHS.length - 1, Math.floor((WIDTHS.length * Math.log1p(seen[r])) / (most + 1e-9)))].push(r);
    context.strokeStyle = colours.road;
    context.lineCap = "round";
    classes.forEach((some, k) => {
      context.lineWidth = Math.max(0.5, WIDTHS[k] * thin);
      context.beginPath();
      for (const r of some) {
        const a = 2 * roads[2 * r], b = 2 * roads[2 * r + 1];
        context.moveTo(view.across(place[a]), view.down(place[a + 1]));
        context.lineTo(view.across(place[b]), view.down(place[b + 1]));
      }
      context.stroke();
    });
    context.lineCap = "butt";
    context.fillStyle = colours.state;
    const taken = new Set();
    for (const r of drawn) {
      if (directions[r] === (FORTH | BACK)) continue;
      const [a, b] = directions[r] === FORTH ? [roads[2 * r], roads[2 * r + 1]] : [roads[2 * r + 1], roads[2 * r]];
      const x = view.across((place[2 * a] + place[2 * b]) / 2), y = view.down((place[2 * a + 1] + place[2 * b + 1]) / 2);
      const cell = `${Math.floor(x / APART)},${Math.floor(y / APART)}`; // of roads close together, the one with most traffic
      if (taken.has(cell)) continue;
      taken.add(cell);
      arrow(context, view, place, a, b, 5.5, 0);
    }
  }

  drawDots(context, { place }, view, states, colours) {
    const size = states.length > 800 ? 1.6 : states.length > 200 ? 2.6 : 3.6;
    context.fillStyle = colours.state;
    context.beginPath();
    for (const s of states) {
      const x = view.across(place[2 * s]), y = view.down(place[2 * s + 1]);
      context.moveTo(x + size, y);
      context.arc(x, y, size, 0, 2 * Math.PI);
    }
    context.fill();
  }

  drawPixels(context, { place }, view, states, colours, ratio) {
    const image = this.pixels;
    const width = Math.round(view.width * ratio), height = Math.round(view.height * ratio);
    if (image.width !== width || image.height !== height) Object.assign(image, { width, height });
    const painted = image.getContext("2d");
    const data = painted.createImageData(width, height);
    const pixels = new Uint32Array(data.data.buffer);
    const [red, green, blue] = [1, 3, 5].map((k) => parseInt(colours.road.slice(k, k + 2), 16));
    const colour = (255 << 24) | (blue << 16) | (green << 8) | red;
    for (const s of states) {
      const x = Math.floor(view.across(place[2 * s]) * ratio), y = Math.floor(view.down(place[2 * s + 1]) * ratio);
      if (x >= 0 && y >= 0 && x < width && y < height) pixels[y * width + x] = colour;
    }
    painted.putImageData(data, 0, 0);
    context.drawImage(image, 0, 0, view.width, view.height);
  }
}

// An arrow head half-way from state a to state b.
export function arrow(context, view, place, a, b, size, shortest = 3 * size) {
  const ax = view.across(place[2 * a]), ay = view.down(place[2 * a + 1]);
  const bx = view.across(place[2 * b]), by = view.down(place[2 * b + 1]);
  const length = Math.hypot(bx - ax, by - ay);
  if (!(length > shortest)) return;
  const ux = ((bx - ax) / length) * size, uy = ((by - ay) / length) * size;
  const x = (ax + bx) / 2, y = (ay + by) / 2;
  context.beginPath();
  context.moveTo(x + ux, y + uy);
  context.lineTo(x - ux - uy, y - uy + ux);
  context.lineTo(x - ux + uy, y - uy - ux);
  context.fill();
}
