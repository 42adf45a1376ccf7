// What is drawn over the ground: the route and its ghost, the two sides of a gap, weak spots, and the marks of the question.

import { arrow } from "./roads.js";

const HEADS = 14; // arrow heads along a route
const MANY = 4000; // states of a side up to which they are drawn as discs and rings
const TURN = 2 * Math.PI;

export class Overlay {
  constructor(context, map, view, colours) {
    Object.assign(this, { context, map, view, colours });
  }

  at(state) {
    return [this.view.across(this.map.place[2 * state]), this.view.down(this.map.place[2 * state + 1])];
  }

  placed(state) {
    return !Number.isNaN(this.map.place[2 * state]);
  }

  line(a, b) {
    this.context.moveTo(...this.at(a));
    this.context.lineTo(...this.at(b));
  }

  // The states of both sides: discs for those that can be reached, rings for those from which the goal can be reached.
  sides({ ahead, behind, near }) {
    const { context, colours } = this;
    const size = ahead.length + behind.length > MANY ? 1 : 6;
    context.fillStyle = colours.ahead;
    for (const state of ahead) {
      const [x, y] = this.at(state);
      if (size === 1) context.fillRect(x, y, 2, 2);
      else this.disc(x, y, size, true);
    }
    context.fillStyle = context.strokeStyle = colours.behind;
    context.lineWidth = 2.5;
    for (const state of behind) {
      const [x, y] = this.at(state);
      if (size === 1) context.fillRect(x, y, 2, 2);
      else this.disc(x, y, size, false);
    }
    if (near) this.gap(...near);
  }

  disc(x, y, size, full) {
    this.context.beginPath();
    this.context.arc(x, y, size, 0, TURN);
    if (full) this.context.fill();
    else this.context.stroke();
  }

  gap(a, b) {
    const { context, colours } = this;
    context.setLineDash([3, 5]);
    context.lineWidth = 4;
    context.strokeStyle = colours.problem;
    context.beginPath();
    this.line(a, b);
    context.stroke();
    context.setLineDash([]);
  }

  ghost(states) {
    const { context, colours } = this;
    context.lineWidth = 9;
    context.lineJoin = context.lineCap = "round";
    context.strokeStyle = colours.ghost;
    context.beginPath();
    for (let k = 1; k < states.length; k++) this.line(states[k - 1], states[k]);
    context.stroke();
    context.lineCap = "butt";
  }

  // Another route than the one that is drawn.
  other(states, pointed) {
    const { context, colours } = this;
    for (const [colour, width] of [[colours.card, pointed ? 11 : 7], [colours.other, pointed ? 7 : 3.5]]) {
      Object.assign(context, { strokeStyle: colour, lineWidth: width, lineCap: "round", lineJoin: "round" });
      context.beginPath();
      for (let k = 1; k < states.length; k++) this.line(states[k - 1], states[k]);
      context.stroke();
    }
    context.lineCap = "butt";
  }

  // Places within a cost, in bands, and the roads between them.
  reach(band, { roads, states }) {
    if (!band) return;
    const { context, colours, map } = this;
    const size = states.length > 3000 ? 1.5 : states.length > 600 ? 3 : 6;
    for (let level = 1; level <= 5; level++) {
      context.fillStyle = context.strokeStyle = colours[`near-${level}`];
      context.lineWidth = size < 2 ? 1.5 : size;
      context.beginPath();
      for (const r of roads) {
        const a = map.roads[2 * r], b = map.roads[2 * r + 1];
        if (band[a] && band[b] && Math.max(band[a], band[b]) === level) this.line(a, b);
      }
      context.stroke();
      context.beginPath();
      for (const s of states) {
        if (band[s] !== level) continue;
        const [x, y] = this.at(s);
        context.moveTo(x + size, y);
        context.arc(x, y, size, 0, TURN);
      }
      context.fill();
    }
  }

  // Each stretch in the colour of its trips; old steps are edged in amber, those seen once are dotted.
  route({ states, steps }, pointed, ringed) {
    const { context, colours } = this;
    const colour = ({ stretch }) => colours[`trip-${stretch % 4}`];
    context.lineCap = "round";
    steps.forEach((step, k) => {
      context.lineWidth = step.old ? 11 : 10;
      context.strokeStyle = step.old ? colours.amber : colours.card;
      context.beginPath();
      this.line(states[k], states[k + 1]);
      context.stroke();
    });
    steps.forEach((step, k) => {
      context.strokeStyle = colour(step);
      context.lineWidth = k === pointed ? 9 : 5.5;
      context.setLineDash(step.seen === 1 ? [0.1, 9] : []);
      context.beginPath();
      this.line(states[k], states[k + 1]);
      context.stroke();
    });
    context.setLineDash([]);
    context.lineCap = "butt";
    const every = Math.max(1, Math.ceil(steps.length / HEADS));
    steps.forEach((step, k) => {
      context.fillStyle = colour(step);
      if (k % every === Math.floor(every / 2)) arrow(context, this.view, this.map.place, states[k], states[k + 1], 10, 0);
    });
    if (ringed) this.rings(states.filter((_, k) => steps[k]?.stitch));
  }

  // Rings at stitches, smaller where they are close together.
  rings(states) {
    const { context, colours } = this;
    const places = states.map((state) => this.at(state));
    const apart = places.slice(1).map(([x, y], k) => Math.hypot(x - places[k][0], y - places[k][1]));
    const middle = apart.sort((a, b) => a - b)[apart.length >> 1] ?? Infinity;
    const size = Math.min(7, Math.max(2.5, middle / 3));
    context.fillStyle = colours.card;
    context.strokeStyle = colours.ink;
    context.lineWidth = size / 2.4;
    for (const [x, y] of places) {
      this.disc(x, y, size, true);
      this.disc(x, y, size, false);
    }
  }

  weak({ bridges, deadEnds, oneWay }) {
    const { context, colours, map } = this;
    context.fillStyle = colours.accent;
    for (const [a, b] of oneWay) arrow(context, this.view, map.place, a, b, 6);
    context.strokeStyle = colours.problem;
    context.lineWidth = 4;
    context.setLineDash([7, 4]);
    context.beginPath();
    for (const [a, b] of bridges) this.line(a, b);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = colours.behind;
    const size = deadEnds.length > 2000 ? 2 : 5;
    for (const state of deadEnds) {
      const [x, y] = this.at(state);
      context.fillRect(x - size, y - size, 2 * size, 2 * size);
    }
  }

  // The marks of a question: a disc, a square, diamonds and crosses, each with a light edge.
  marks({ from, to, via, avoid, roads }) {
    for (const [state] of avoid) this.cross(...this.at(state));
    for (const [[a], [b]] of roads) this.closed(a, b);
    for (const [state] of via) this.shape(state, [[0, -10], [10, 0], [0, 10], [-10, 0]], this.colours.via);
    if (to) this.shape(to[0], [[-8, -8], [8, -8], [8, 8], [-8, 8]], this.colours.to);
    if (from) {
      this.edge(this.colours.from);
      this.disc(...this.at(from[0]), 9, true);
      this.disc(...this.at(from[0]), 9, false);
    }
  }

  edge(fill) {
    Object.assign(this.context, { fillStyle: fill, strokeStyle: this.colours.card, lineWidth: 2.5 });
  }

  shape(state, corners, fill) {
    const { context } = this;
    const [x, y] = this.at(state);
    this.edge(fill);
    context.beginPath();
    corners.forEach(([dx, dy], k) => context[k ? "lineTo" : "moveTo"](x + dx, y + dy));
    context.closePath();
    context.fill();
    context.stroke();
  }

  // A closed road: struck through half-way.
  closed(a, b) {
    const [ax, ay] = this.at(a), [bx, by] = this.at(b), { context, colours } = this;
    Object.assign(context, { strokeStyle: colours.problem, lineWidth: 3 });
    context.setLineDash([2, 5]);
    context.beginPath();
    this.line(a, b);
    context.stroke();
    context.setLineDash([]);
    this.cross((ax + bx) / 2, (ay + by) / 2);
  }

  cross(x, y) {
    const { context } = this;
    for (const [colour, width] of [[this.colours.card, 8], [this.colours.problem, 4.5]]) {
      Object.assign(context, { strokeStyle: colour, lineWidth: width, lineCap: "round" });
      context.beginPath();
      for (const d of [1, -1]) {
        context.moveTo(x - 8, y - 8 * d);
        context.lineTo(x + 8, y + 8 * d);
      }
      context.stroke();
    }
    context.lineCap = "butt";
  }

  cursor(state) {
    const { context, colours } = this;
    const [x, y] = this.at(state);
    for (const [colour, width] of [[colours.card, 6], [colours.ink, 2.5]]) {
      Object.assign(context, { strokeStyle: colour, lineWidth: width });
      this.disc(x, y, 14, false);
    }
  }
}
