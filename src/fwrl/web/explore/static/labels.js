// Names on the map: always those of the question, and those of states in sight where there is room. Names are asked for
// when they are first needed.

import { cut } from "./steps.js";

const HEIGHT = 15; // pixels of a line
const MOST = 70; // names in addition to those of the question
const STATES = 260; // states in sight up to which names are drawn

export class Labels {
  constructor({ send, redraw }) {
    Object.assign(this, { send, redraw });
    this.known = new Map();
    this.asked = new Set();
  }

  learn(names) {
    for (const [state, name] of names) this.known.set(state, name);
  }

  // The page shows another part of the log, with other codes.
  forget() {
    this.known.clear();
    this.asked.clear();
  }

  set(names) {
    this.learn(names);
    this.redraw();
  }

  name(state) {
    if (!this.known.has(state)) this.ask([state]);
    return this.known.get(state);
  }

  // What was asked will not be answered: ask again when next needed.
  retry() {
    this.asked.clear();
  }

  ask(states) {
    const unknown = states.filter((state) => !this.known.has(state) && !this.asked.has(state)).slice(0, 500);
    for (const state of unknown) this.asked.add(state);
    if (unknown.length) this.send("names", { states: unknown });
  }

  draw(overlay, first, inSight) {
    const { context, colours, view } = overlay;
    const others = inSight.length <= STATES ? inSight.filter((state) => !first.includes(state)) : [];
    this.ask(others);
    context.font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    const taken = [];
    let drawn = 0;
    for (const [k, state] of [...first, ...others].entries()) {
      const known = this.known.get(state);
      const name = known === undefined ? known : cut(known);
      const important = k < first.length;
      if (name === undefined || !overlay.placed(state) || (!important && drawn >= MOST)) continue;
      const box = this.free(overlay.at(state), context.measureText(name).width, taken, view, important);
      if (!box) continue;
      taken.push(box);
      drawn += !important;
      context.lineWidth = 4;
      context.strokeStyle = colours.card;
      context.fillStyle = important ? colours.ink : colours.soft;
      context.strokeText(name, box[0], box[1] + HEIGHT / 2);
      context.fillText(name, box[0], box[1] + HEIGHT / 2);
    }
  }

  // A place for a name next to a point that overlaps no other: above right, above left and so on, off level lines and
  // upright ones; null if there is none.
  free([x, y], width, taken, view, important) {
    const gap = important ? 10 : 6;
    const above = y - HEIGHT - (important ? 4 : 1), below = y + (important ? 4 : 2);
    const places = [[x + gap, above], [x - gap - width, above], [x + gap, below], [x - gap - width, below]];
    for (const [left, top] of places) {
      const box = [left, top, left + width, top + HEIGHT];
      const inside = left >= view.inset[0] + 2 && top >= 2 && box[2] <= view.width - 2 && box[3] <= view.height - 2;
      if (inside && !taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) return box;
    }
    return null;
  }
}
