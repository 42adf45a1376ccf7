// The canvas of the map: draws ground, overlay and names, and finds the state at a point.

import { theme } from "/static/palette.js";
import { BACK, DEAD_END, FORTH } from "./map_frame.js";
import { Labels } from "./labels.js";
import { Overlay } from "./overlay.js";
import { Ground } from "./roads.js";
import { View } from "./view.js";

const REST = 120; // milliseconds after which a moved map is drawn in full
const NAMED = 12; // stitches in sight up to which they are named
const NEARER = 1.6; // magnification from which stitches are ringed
const NEAR = 28; // pixels within which a click finds a state

export class MapCanvas {
  constructor(canvas, { send, onDraw }) {
    Object.assign(this, { canvas, onDraw });
    this.view = new View();
    this.ground = new Ground();
    this.labels = new Labels({ send, redraw: () => this.draw() });
    this.map = this.answer = this.weak = this.reach = this.cursor = null;
    this.others = [];
    this.pointedOther = -1; // one of the others that is pointed at
    this.pointed = -1; // a step of the route that is pointed at
    new ResizeObserver(() => this.layOut()).observe(canvas.parentElement);
  }

  setMap(map) {
    const first = this.view.width <= 1 || !this.known;
    this.known = true;
    this.map = map;
    this.ground.drawn = null;
    this.layOut();
    if (first) this.view.fit([0, 0, 1, map.height], true);
    this.draw();
  }

  layOut() {
    const { canvas, view } = this;
    cancelAnimationFrame(this.frame);
    const { clientWidth: width, clientHeight: height } = canvas.parentElement;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    canvas.width = Math.round(width * this.ratio);
    canvas.height = Math.round(height * this.ratio);
    const zoom = view.scale / view.least, { x, y } = view;
    view.resize(width, height);
    const panel = document.querySelector(".panel"), tools = document.getElementById("tools");
    const floats = getComputedStyle(panel).position === "fixed";
    const covered = floats ? panel.getBoundingClientRect().right : 0;
    view.inset = [covered, tools.offsetTop + tools.offsetHeight, floats ? 60 : 0, floats ? 40 : 70];
    if (!this.map || !width || !height) return;
    view.fit([0, 0, 1, this.map.height], true); // the least scale follows the size
    Object.assign(view, { x, y, scale: view.least * zoom });
    this.draw();
  }

  // Draw with less detail now, and in full once the map rests.
  moved() {
    this.draw(true);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.draw(), REST);
  }

  draw(moving = false) {
    if (!this.map || !this.canvas.width || !this.canvas.height) return;
    this.moving = moving;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const { map, view, answer, moving } = this;
    if (!map) return; // another part of the log was asked for since this frame was due
    const context = this.canvas.getContext("2d");
    const colours = mapColours();
    const drawn = this.ground.draw(map, view, colours, moving, this.ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(drawn.image, 0, 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const overlay = new Overlay(context, map, view, colours);
    const first = [];
    if (answer?.view === "coverage" && this.weak) overlay.weak(this.weakInSight(drawn));
    else if (answer?.view === "reach") overlay.reach(this.reach, drawn);
    else if (answer) {
      if (answer.gap) overlay.sides(answer.gap);
      if (answer.ghost) overlay.ghost(answer.ghost);
      this.others.forEach(({ states }, k) => overlay.other(states, k === this.pointedOther));
      if (answer.route) overlay.route(answer.route, this.pointed, view.scale > NEARER * view.least);
      const stitches = (answer.route?.states ?? []).filter((state, k) => answer.route.steps[k]?.stitch && drawn.set.has(state));
      first.push(...(answer.gap?.near ?? []), ...(stitches.length <= NAMED ? stitches : []));
    }
    if (answer) {
      overlay.marks(answer);
      for (const mark of [answer.from, answer.to, ...answer.via, ...answer.avoid]) if (mark) first.unshift(mark[0]);
    }
    const { canvas } = this;
    canvas.dataset.sight = [view.across(0), view.down(0), view.scale].join(); // where the map's corner is, and its scale
    canvas.dataset.at = view.text; // what the address will say
    if (this.cursor !== null) {
      overlay.cursor(this.cursor);
      first.unshift(this.cursor);
    }
    if (!moving) this.labels.ask(first);
    if (!moving) this.labels.draw(overlay, [...new Set(first)], drawn.states);
    this.onDraw(drawn, moving);
  }

  weakInSight({ roads, states }) {
    const { map } = this;
    const oneWay = roads.filter((r) => map.directions[r] !== (FORTH | BACK)).slice(0, 3000);
    const ends = (r) => [map.roads[2 * r], map.roads[2 * r + 1]];
    return {
      bridges: this.weak.bridges,
      deadEnds: states.filter((s) => map.marks[s] & DEAD_END),
      oneWay: oneWay.map((r) => (map.directions[r] === FORTH ? ends(r) : ends(r).reverse())),
    };
  }

  // The nearest state within reach of a pixel, null if there is none.
  stateAt(px, py, reach = NEAR) {
    const { map, view } = this;
    if (!map) return null;
    const [x, y] = view.under(px, py);
    let best = null, least = (reach / view.scale) ** 2;
    for (let s = 0; s < map.S; s++) {
      const far = (map.place[2 * s] - x) ** 2 + (map.place[2 * s + 1] - y) ** 2;
      if (far < least) [best, least] = [s, far];
    }
    return best;
  }

  // The ends of the nearest road within reach of a pixel, null if there is none.
  roadAt(px, py, reach = 12) {
    const { map, view } = this;
    if (!map) return null;
    const [x, y] = view.under(px, py), { place, roads } = map;
    let best = null, least = (reach / view.scale) ** 2;
    for (let r = 0; r < map.R; r++) {
      const a = 2 * roads[2 * r], b = 2 * roads[2 * r + 1];
      const dx = place[b] - place[a], dy = place[b + 1] - place[a + 1];
      const along = Math.min(1, Math.max(0, ((x - place[a]) * dx + (y - place[a + 1]) * dy) / (dx * dx + dy * dy || 1)));
      const far = (place[a] + along * dx - x) ** 2 + (place[a + 1] + along * dy - y) ** 2;
      if (far < least) [best, least] = [[a / 2, b / 2], far];
    }
    return best;
  }

  // The nearest state in a direction of the screen from another one, within a quarter turn.
  neighbour(state, dx, dy) {
    const { place, S } = this.map;
    const x = place[2 * state], y = place[2 * state + 1];
    let best = state, least = Infinity;
    for (let s = 0; s < S; s++) {
      const ax = place[2 * s] - x, ay = place[2 * s + 1] - y;
      const along = ax * dx + ay * dy, off = Math.abs(ax * dy) + Math.abs(ay * dx);
      if (along <= 1e-7 || off > along) continue;
      const far = along + 2 * off;
      if (far < least) [best, least] = [s, far];
    }
    return best;
  }

  // The state that is nearest to the middle of the map.
  get middle() {
    return this.stateAt(...this.view.middle, Infinity) ?? 0;
  }

  fitStates(states) {
    const { place } = this.map;
    const placed = states.filter((s) => !Number.isNaN(place[2 * s]));
    if (!placed.length) return;
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const s of placed) {
      const x = place[2 * s], y = place[2 * s + 1];
      box[0] = Math.min(box[0], x);
      box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x);
      box[3] = Math.max(box[3], y);
    }
    this.view.fit(box);
    this.draw();
  }

  fitAll() {
    this.view.fit([0, 0, 1, this.map.height], true);
    this.draw();
  }

  // Bring a state into sight; of a large map, near enough to see its neighbours.
  show(state) {
    const { place } = this.map;
    if (Number.isNaN(place[2 * state])) return;
    Object.assign(this.view, { x: place[2 * state], y: place[2 * state + 1] });
    const near = Math.sqrt(this.map.S / 150); // about so many states are in sight then
    this.view.scale = Math.max(this.view.scale, this.view.least * Math.max(1, near));
    this.cursor = state;
    this.draw();
  }
}

function mapColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const own = ["other", "trip-0", "trip-1", "trip-2", "trip-3", "near-1", "near-2", "near-3", "near-4", "near-5", "road", "state", "amber", "ghost", "ahead", "behind", "from", "to", "via", "problem"];
  return { ...theme(), ...Object.fromEntries(own.map((name) => [name, read(name)])) };
}
