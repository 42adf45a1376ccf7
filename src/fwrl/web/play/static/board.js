// One world with the values of one agent, drawn on whole device pixels so that edges are crisp on any screen.

import { JUMPED } from "./frame.js";
import { LIGHT_FROM, scale, stepOf, theme } from "/static/palette.js";
import { Terrain } from "./terrain.js";

const SMALLEST_WITH_ARROWS = 7; // device pixels per cell
const AROUND = 150, AROUND_NARROW = 92; // CSS pixels for name and verdict of one board
const LEGEND = 30;
const NARROW = "(max-width: 44rem)";
const LEAST = 190; // CSS pixels: a board is never lower than that, if it is wide enough
const LARGEST_MARK = 80; // CSS pixels: the largest size of agents, arrows and flags

export class Board {
  constructor(canvas, number) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.number = number;
    this.terrain = new Terrain();
    this.heat = document.createElement("canvas");
    this.cursor = null;
    this.inspected = null; // a route to show, with the stretches that earlier trips made
    this.knowledge = null; // for each cell, how many others are known to be reached from it
    this.update = null; // the last step, and one of its triangles
  }

  setWorld(world, rows) {
    this.actions = world.actions;
    this.inspected = this.knowledge = this.update = null;
    this.setRows(rows);
    this.drawMap();
  }

  setRows(rows) {
    this.rows = rows;
    this.width = rows[0].length;
    this.height = rows.length;
    this.layOut();
  }

  layOut() {
    if (!this.rows) return;
    const ratio = window.devicePixelRatio || 1;
    const stage = this.canvas.parentElement;
    const boards = stage.parentElement.parentElement;
    const [beside, stacked] = [this.sideIn(boards, false), this.sideIn(boards, true)];
    this.stacked = matchMedia(NARROW).matches || stacked > 1.2 * beside; // notes change their height with their width
    boards.classList.toggle("stacked", this.stacked);
    this.side = Math.max(2, Math.floor(ratio * (this.stacked ? stacked : beside)));
    this.ratio = ratio;
    this.mark = Math.min(this.side, LARGEST_MARK * ratio);
    this.canvas.width = this.side * this.width;
    this.canvas.height = this.side * this.height;
    this.heat.width = this.width;
    this.heat.height = this.height;
    this.pixels = this.heat.getContext("2d").createImageData(this.width, this.height);
    this.canvas.style.width = `${this.canvas.width / ratio}px`;
    this.canvas.style.height = `${this.canvas.height / ratio}px`;
    stage.parentElement.style.setProperty("--board", `${Math.max(this.canvas.width / ratio, 270)}px`);
    this.colours = theme();
    this.terrain.paint(this);
  }

  // CSS pixels of a cell, as large as fits: beside each other, or one above the other; between what is above and the bar
  // below, together with verdicts and notes, so that nothing needs scrolling.
  sideIn(boards, stacked) {
    const top = boards.getBoundingClientRect().top + window.scrollY;
    const high = window.innerHeight - top - document.querySelector("footer").offsetHeight - LEGEND;
    const around = [...boards.querySelectorAll(".side")].map((panel) => {
      const notes = [...panel.querySelectorAll(".joined, .outdated, .knows")].map((note) => note.offsetHeight);
      return notes.reduce((sum, height) => sum + height, matchMedia(NARROW).matches ? AROUND_NARROW : AROUND);
    });
    const room = stacked ? boards.clientWidth : boards.clientWidth / 2 - 13;
    const tall = stacked ? (high - around[0] - around[1]) / 2 : high - Math.max(...around);
    return Math.min(room / this.width, Math.max(LEAST, tall) / this.height);
  }

  // A ring around the flag, until somebody has moved it; and, for fingers, a handle to drag it by.
  showPulse(shown) {
    const [ring, handle] = this.canvas.parentElement.querySelectorAll("i");
    ring.hidden = !shown || !this.frame;
    const [x, y] = this.centre(this.frame.goal).map((at) => at / this.ratio);
    const size = (this.mark / this.ratio) * 1.1;
    for (const [part, width] of [[ring, size], [handle, Math.max(44, size)]]) {
      const [left, top] = [this.canvas.offsetLeft + x - width / 2, this.canvas.offsetTop + y - width / 2];
      Object.assign(part.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${width}px` });
    }
  }

  // The world alone, before the first frame.
  drawMap() {
    this.context.drawImage(this.terrain.floor, 0, 0);
    this.context.drawImage(this.terrain.marks, 0, 0);
  }

  // `known` says whether to draw what the agent knows, or only its world with start and goal.
  draw(frame, known = true) {
    const view = frame.sides[this.number];
    const { context } = this;
    this.frame = frame;
    if (!known) {
      this.drawMap();
      this.drawStart(frame.start);
      return this.drawGoal(frame.goal);
    }
    this.fillHeat(view, frame.lowest);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.terrain.floor, 0, 0);
    context.drawImage(this.heat, 0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.terrain.marks, 0, 0);
    this.drawTrail(view);
    const inspected = this.update ? null : this.inspected;
    const routes = [];
    if (view.route.length > 1 && !this.update) routes.push(this.drawRoute(view.route, view.arrives));
    if (inspected) routes.push(this.drawInspected(inspected));
    if (this.side >= SMALLEST_WITH_ARROWS) this.drawArrows(view, new Set(routes.flat()));
    for (const { states } of (inspected?.stitches ? inspected.stretches : []).slice(1)) this.drawStitch(states[0]);
    this.drawStart(frame.start);
    this.drawAgent(view.state);
    this.drawGoal(frame.goal);
    if (this.update) this.drawUpdate(this.update);
    if (this.cursor !== null && document.activeElement === this.canvas) this.drawCursor(this.cursor);
  }

  // Tint every cell by its value, or by how many others are known to be reached from it.
  fillHeat(view, lowest) {
    const { data } = this.pixels;
    const { knowledge } = this;
    const most = knowledge ? Math.max(1, this.rows.join("").replaceAll("#", "").length - 1) : 1;
    data.fill(0);
    this.steps = new Uint8Array(view.pathReward.length);
    for (let s = 0; s < view.pathReward.length; s++) {
      if (knowledge ? !knowledge[s] : view.pathReward[s] === -Infinity) continue;
      const step = knowledge ? stepOf(knowledge[s] - most, -most) : stepOf(view.pathReward[s], lowest);
      this.steps[s] = step;
      const at = 4 * s;
      data[at] = scale[3 * step];
      data[at + 1] = scale[3 * step + 1];
      data[at + 2] = scale[3 * step + 2];
      data[at + 3] = 255;
    }
    this.heat.getContext("2d").putImageData(this.pixels, 0, 0);
  }

  // One best action is an arrow through the middle; several are thin arrows from the middle outwards. Over a route, an
  // arrow has an outline.
  drawArrows(view, onRoute) {
    const { context, mark: size, actions } = this;
    context.lineCap = context.lineJoin = "round";
    const [ink, paper] = ["rgb(20 24 30 / .78)", "rgb(255 255 255 / .92)"];
    for (const dark of [true, false]) {
      for (const single of [true, false]) {
        const [tail, tip, barb] = single ? [-0.22, 0.26, 0.15] : [0.06, 0.34, 0.09];
        const arrows = new Path2D();
        const outlined = new Path2D();
        for (let s = 0; s < view.arrows.length; s++) {
          const best = view.arrows[s];
          if (!best || this.steps[s] >= LIGHT_FROM !== dark || ((best & (best - 1)) === 0) !== single) continue;
          const [cx, cy] = this.centre(s);
          for (let a = 0; a < actions.length; a++) {
            if (!(best & (1 << a))) continue;
            const [dx, dy] = actions[a].map((d) => d * size);
            const [ex, ey] = [cx + dx * tip, cy + dy * tip];
            for (const path of onRoute.has(s) ? [arrows, outlined] : [arrows]) {
              path.moveTo(cx + dx * tail, cy + dy * tail);
              path.lineTo(ex, ey);
              path.moveTo(ex - (dx + dy) * barb, ey - (dy - dx) * barb);
              path.lineTo(ex, ey);
              path.lineTo(ex - (dx - dy) * barb, ey - (dy + dx) * barb);
            }
          }
        }
        const width = Math.max(1, size / (single ? 13 : 22));
        for (const [path, colour, wider] of [[outlined, dark ? paper : ink, size / 14], [arrows, dark ? ink : paper, 0]]) {
          context.strokeStyle = colour;
          context.lineWidth = width + wider;
          context.stroke(path);
        }
      }
    }
  }

  drawTrail(view) {
    const { context } = this;
    context.lineJoin = "round";
    context.lineCap = "round";
    context.strokeStyle = this.colours.sides[this.number];
    for (let k = 1; k < view.trail.length; k++) {
      if (view.trail[k] & JUMPED) continue;
      const share = k / view.trail.length;
      context.globalAlpha = 0.1 + 0.75 * share * share;
      context.lineWidth = Math.max(1.5, this.mark * (0.06 + 0.12 * share));
      context.beginPath();
      context.moveTo(...this.centre(view.trail[k - 1] & ~JUMPED));
      context.lineTo(...this.centre(view.trail[k]));
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  // Solid if it arrives; dashed if its likeliest steps end in a loop. Returns the cells that it covers.
  drawRoute(route, arrives) {
    const dash = Math.max(3, this.mark / 6);
    this.line(Array.from(route), "#1b1f26", arrives ? [] : [dash, dash], 0.06);
    return Array.from(route);
  }

  drawInspected({ stitches, stretches, route, arrives }) {
    if (!stitches) return route.length > 1 ? this.drawRoute(route, arrives) : [];
    const dash = Math.max(3, this.mark / 6);
    stretches.forEach((stretch, k) => {
      this.line(stretch.states, k % 2 ? "#cc79a7" : "#56b4e9", k % 2 ? [dash, dash] : []);
    });
    return stretches.flatMap(({ states }) => states);
  }

  line(states, colour, dash, thick = 0.1) {
    const { context } = this;
    context.lineJoin = "round";
    context.lineCap = "butt";
    const casing = [`rgb(255 255 255 / ${thick < 0.1 ? 0.6 : 0.9})`, thick + 0.07, []];
    for (const [style, width, pattern] of [casing, [colour, thick, dash]]) {
      context.strokeStyle = style;
      context.lineWidth = Math.max(width > 0.1 ? 3 : 1.5, this.mark * width);
      context.setLineDash(pattern);
      context.beginPath();
      for (const s of states) context.lineTo(...this.centre(s));
      context.stroke();
    }
    context.setLineDash([]);
  }

  // The step that was made, and over it one triangle: the two known legs solid, the one they improve dashed.
  drawUpdate({ from, to, triangle }) {
    const colour = this.colours.sides[this.number];
    for (const state of new Set([from, to])) this.drawFrame(state, colour);
    if (from !== to) this.line([from, to], colour, []);
    if (!triangle) return;
    const { i, k, j, improves } = triangle;
    this.line([i, k, j], "#56b4e9", []);
    this.curveBetween(i, j, improves ? "#cc79a7" : "#8b95a5");
    for (const [state, letter] of [[i, "i"], [k, "k"], [j, "j"]]) this.drawLetter(state, letter);
  }

  drawFrame(state, colour) {
    const { context, side: size } = this;
    context.strokeStyle = colour;
    context.lineWidth = Math.max(2, size / 10);
    context.strokeRect((state % this.width) * size + 2, Math.floor(state / this.width) * size + 2, size - 4, size - 4);
  }

  // A dashed curve next to the straight line, so that it does not hide the legs.
  curveBetween(from, to, colour) {
    const { context } = this;
    const [x1, y1] = this.centre(from);
    const [x2, y2] = this.centre(to);
    const dash = Math.max(4, this.mark / 5);
    for (const [style, width, pattern] of [["rgb(255 255 255 / .9)", 0.17, []], [colour, 0.1, [dash, dash]]]) {
      context.strokeStyle = style;
      context.lineWidth = Math.max(width > 0.1 ? 3 : 2, this.mark * width);
      context.setLineDash(pattern);
      context.beginPath();
      context.moveTo(x1, y1);
      context.quadraticCurveTo((x1 + x2) / 2 + (y1 - y2) / 4, (y1 + y2) / 2 + (x2 - x1) / 4, x2, y2);
      context.stroke();
    }
    context.setLineDash([]);
  }

  drawLetter(state, letter) {
    const { context } = this;
    const [x, y] = this.centre(state);
    const r = Math.max(7, this.mark * 0.3);
    context.beginPath();
    context.arc(x, y, r, 0, 2 * Math.PI);
    context.fillStyle = "#ffffff";
    context.fill();
    context.strokeStyle = "#1d2127";
    context.lineWidth = Math.max(1, r / 7);
    context.stroke();
    context.fillStyle = "#1d2127";
    context.font = `italic 600 ${Math.round(1.3 * r)}px Georgia, "DejaVu Serif", serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(letter, x, y);
  }

  drawStitch(state) {
    const { context } = this;
    const [x, y] = this.centre(state);
    const r = Math.max(4, this.mark * 0.2);
    context.beginPath();
    context.moveTo(x, y - r);
    context.lineTo(x + r, y);
    context.lineTo(x, y + r);
    context.lineTo(x - r, y);
    context.closePath();
    context.fillStyle = "#ffffff";
    context.fill();
    context.lineWidth = Math.max(1.5, r / 3);
    context.strokeStyle = "#1d2127";
    context.stroke();
  }

  // A square frame in the lower left: the corner above it belongs to the cost of a cell.
  drawStart(state) {
    const { context, mark: size } = this;
    const [x, y] = this.centre(state);
    const r = Math.max(2.5, size * 0.17);
    for (const [colour, width] of [["#ffffff", 0.13], ["#1b1f26", 0.065]]) {
      context.strokeStyle = colour;
      context.lineWidth = Math.max(width > 0.1 ? 3 : 1.5, size * width);
      context.strokeRect(x - 0.22 * size - r, y + 0.22 * size - r, 2 * r, 2 * r);
    }
  }

  drawGoal(state) {
    const { context } = this;
    const [x, y] = this.centre(state);
    const r = Math.max(4, this.mark * 0.38);
    context.lineJoin = context.lineCap = "round";
    for (const [colour, width] of [["#ffffff", 0.16], ["#1b1f26", 0.07]]) {
      context.strokeStyle = colour;
      context.lineWidth = Math.max(1.5, this.mark * width);
      context.beginPath();
      context.moveTo(x - 0.45 * r, y + r);
      context.lineTo(x - 0.45 * r, y - r);
      context.lineTo(x + 0.9 * r, y - 0.5 * r);
      context.lineTo(x - 0.45 * r, y);
      context.stroke();
    }
    context.fillStyle = this.colours.flag;
    context.beginPath();
    context.moveTo(x - 0.45 * r, y - r);
    context.lineTo(x + 0.9 * r, y - 0.5 * r);
    context.lineTo(x - 0.45 * r, y);
    context.fill();
  }

  drawAgent(state) {
    const { context } = this;
    const [x, y] = this.centre(state);
    context.beginPath();
    context.arc(x, y, Math.max(3, this.mark * 0.24), 0, 2 * Math.PI);
    context.fillStyle = this.colours.sides[this.number];
    context.fill();
    context.lineWidth = Math.max(1.5, this.mark * 0.07);
    context.strokeStyle = "#ffffff";
    context.stroke();
  }

  drawCursor(cell) {
    const { context, side: size } = this;
    const [x, y] = [(cell % this.width) * size, Math.floor(cell / this.width) * size];
    for (const [colour, width] of [["#ffffff", 4], ["#0b5cad", 2]]) {
      context.strokeStyle = colour;
      context.lineWidth = width * this.ratio;
      context.strokeRect(x + 2, y + 2, size - 4, size - 4);
    }
  }

  centre(cell) {
    return [((cell % this.width) + 0.5) * this.side, (Math.floor(cell / this.width) + 0.5) * this.side];
  }

  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * this.width);
    const y = Math.floor(((event.clientY - box.top) / box.height) * this.height);
    return x >= 0 && y >= 0 && x < this.width && y < this.height ? y * this.width + x : null;
  }
}
