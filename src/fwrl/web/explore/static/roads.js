// The ground of the map: roads and states, with as much detail as can be drawn and seen. Of too many roads those seen most
// often are drawn; many states are pixels of an image, few are dots.

import { BACK, FORTH } from "./map_frame.js";

const ROADS = 24_000; // drawn at rest, at most
const ROADS_MOVING = 5_000; // drawn while the map moves
const DOTS = 3_000; // states up to which they are drawn as dots
const ARROWS = 700; // one-way roads up to which they have arrow heads

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
    this.drawn = { key, image: canvas, roads, more, states, set: new Set(states) };
    return this.drawn;
  }

  drawRoads(context, { place, roads, directions }, view, drawn, colours) {
    const few = Math.min(1, Math.sqrt(600 / Math.max(1, drawn.length)));
    context.lineWidth = Math.max(0.6, 2 * few);
    context.strokeStyle = colours.road;
    context.beginPath();
    for (const r of drawn) {
      const a = 2 * roads[2 * r], b = 2 * roads[2 * r + 1];
      context.moveTo(view.across(place[a]), view.down(place[a + 1]));
      context.lineTo(view.across(place[b]), view.down(place[b + 1]));
    }
    context.stroke();
    const oneWay = drawn.filter((r) => directions[r] !== (FORTH | BACK));
    if (oneWay.length > ARROWS) return;
    context.fillStyle = colours.road;
    for (const r of oneWay) {
      const [a, b] = directions[r] === FORTH ? [roads[2 * r], roads[2 * r + 1]] : [roads[2 * r + 1], roads[2 * r]];
      arrow(context, view, place, a, b, 5);
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
export function arrow(context, view, place, a, b, size) {
  const ax = view.across(place[2 * a]), ay = view.down(place[2 * a + 1]);
  const bx = view.across(place[2 * b]), by = view.down(place[2 * b + 1]);
  const length = Math.hypot(bx - ax, by - ay);
  if (!(length > 3 * size)) return;
  const ux = ((bx - ax) / length) * size, uy = ((by - ay) / length) * size;
  const x = (ax + bx) / 2, y = (ay + by) / 2;
  context.beginPath();
  context.moveTo(x + ux, y + uy);
  context.lineTo(x - ux - uy, y - uy + ux);
  context.lineTo(x - ux + uy, y - uy - ux);
  context.fill();
}
