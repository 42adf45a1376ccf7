// What one step changed: the step, then triangle by triangle how FWRL's values follow from it, next to the single number
// that Q-learning changes. In small worlds the whole matrix is drawn, with row, column and pivot lit.

import { scale, stepOf, theme } from "/static/palette.js";
import { plural, rewardText } from "./units.js";

const find = (id) => document.getElementById(id);

export class UpdatePanel {
  constructor({ send, boards, units, redraw, names, layOut }) {
    Object.assign(this, { send, boards, units, redraw, names, layOut, message: null, triangles: null });
    for (const move of ["next", "improvement", "finish"]) {
      find(`triangle-${move}`).addEventListener("click", () => send("triangle", { move }));
    }
    find("update-close").addEventListener("click", () => this.close());
    find("play").addEventListener("click", () => this.close());
  }

  set(message, world) {
    this.message = message.sides.length ? message : null;
    if (!this.message) return this.close();
    this.world = world;
    this.triangles = null;
    this.matrices = message.sides.map(({ matrix }) => matrix?.map((row) => [...row]) ?? null);
    this.row = new Map(message.cells.map((cell, k) => [cell, k]));
    message.sides.forEach((side, k) => {
      this.boards[k].update = side.arrived ? null : { from: side.from, to: side.to, triangle: null };
      const matrix = this.matrices[k];
      if (matrix && side.from !== side.to) this.improve(matrix, side.from, side.to, side.reward);
    });
    const opened = find("update").hidden;
    find("update").hidden = false;
    if (find("panel").hidden) find("more-open").click();
    this.draw();
    if (opened) this.layOut();
    this.redraw();
  }

  setTriangle(message) {
    if (!this.message) return;
    this.triangles = message.sides;
    message.sides.forEach((side, k) => {
      const { update } = this.boards[k];
      if (update) update.triangle = side.triangle;
      for (const [i, j, value] of side.set) if (this.matrices[k]) this.improve(this.matrices[k], i, j, value);
    });
    this.draw();
    this.redraw();
  }

  improve(matrix, i, j, value) {
    const [row, column] = [this.row.get(i), this.row.get(j)];
    if (matrix[row][column] === null || matrix[row][column] < value) matrix[row][column] = value;
  }

  close() {
    if (!this.message && find("update").hidden) return;
    this.message = this.triangles = null;
    for (const board of this.boards) board.update = null;
    find("update").hidden = true;
    this.layOut();
  }

  draw() {
    if (!this.message) return;
    find("update-sides").replaceChildren(...this.message.sides.map((side, k) => this.sideOf(side, k)));
    const tried = this.message.sides.some((side) => side.tried > 0);
    const shown = this.triangles?.map(({ shown, tried: all }) => shown >= all) ?? [false];
    for (const move of ["next", "improvement", "finish"]) {
      find(`triangle-${move}`).disabled = !tried || shown.every(Boolean);
    }
    find("update-equation").textContent = this.equation(tried);
    find("update-count").textContent = this.progress();
    this.drawMatrix();
  }

  sideOf(side, k) {
    const box = document.createElement("p");
    const name = document.createElement("b");
    name.textContent = `${this.names()[k]}: `;
    box.append(name, side.arrived ? this.arrival() : `${this.step(side)} ${this.changes(side)}`);
    return box;
  }

  arrival() {
    return `the step on the goal pays ${this.world.goalReward} and leads to a new start; no route is learned from it.`;
  }

  step({ from, to, action, reward }) {
    const moved = from === to ? `bumped at ${this.at(from)}` : `${this.at(from)} → ${this.at(to)}`;
    return `${this.world.names[action]}, ${moved}, reward ${rewardText(reward)}.`;
  }

  changes({ tried, improved, pairs, changed, old, new: fresh, ahead, reward }) {
    if (tried || (pairs && pairs[1] > pairs[0])) {
      return `${plural(tried, "pair")} tried, ${improved} improved; knows ${plural(pairs[1], "pair")}, ${pairs[1] - pairs[0]} of them new.`;
    }
    if (!changed) return "Nothing new: no number changed.";
    if (changed > 1 || old === null || fresh === null) return `${plural(changed, "number")} changed for this goal.`;
    const rule = ahead === null ? "" : ` = ${rewardText(reward)} + ${rewardText(ahead)}, r + max Q(s′, ·)`;
    return `One number changed: Q(s, a) from ${rewardText(old)} to ${rewardText(fresh)}${rule}.`;
  }

  equation(tried) {
    const current = this.triangles?.map(({ triangle }) => triangle).find(Boolean);
    if (!current) return tried ? "F(i, j) ← max{ F(i, j), F(i, k) + F(k, j) }" : "";
    const { i, k, j, first, second, old, new: through, improves } = current;
    const number = (value) => (value === null ? "−∞" : this.units.inSteps ? `−${this.units.number(value)}` : rewardText(value));
    const result = improves ? number(through) : number(old);
    return `F(${this.at(i)}, ${this.at(j)}) ← max{ ${number(old)}, ${number(first)} + ${number(second)} } = ${result}${improves ? ", better" : ""}  (k = ${this.at(k)})`;
  }

  progress() {
    const side = this.triangles?.find(({ tried }) => tried > 0);
    if (!side) return "";
    return `Triangle ${side.shown} of ${side.tried}, ${plural(side.improved, "improvement")} so far`;
  }

  // V as a picture: one row for each cell i, one column for each cell j, in the order of the map.
  drawMatrix() {
    const canvas = find("matrix");
    const k = this.matrices?.findIndex(Boolean) ?? -1;
    find("matrix-figure").hidden = k < 0 || !this.message;
    if (find("matrix-figure").hidden) return;
    const matrix = this.matrices[k];
    const n = matrix.length;
    const ratio = window.devicePixelRatio || 1;
    const cell = Math.max(1, Math.floor((Math.min(280, canvas.parentElement.clientWidth) * ratio) / n));
    canvas.width = canvas.height = cell * n;
    canvas.style.width = canvas.style.height = `${(cell * n) / ratio}px`;
    const context = canvas.getContext("2d");
    const colours = theme();
    context.fillStyle = colours.floor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    let lowest = -1e-9;
    let known = 0;
    for (const row of matrix) for (const value of row) if (value !== null) { known += 1; if (value < lowest) lowest = value; }
    matrix.forEach((row, i) =>
      row.forEach((value, j) => {
        if (value === null) return;
        const at = 3 * stepOf(value, lowest);
        context.fillStyle = `rgb(${scale[at]} ${scale[at + 1]} ${scale[at + 2]})`;
        context.fillRect(j * cell, i * cell, cell, cell);
      }),
    );
    canvas.setAttribute("aria-label", `Matrix of F over ${n} cells: ${known - n} of ${n * (n - 1)} pairs known`);
    this.lightUp(context, this.triangles?.[k]?.triangle, cell, n, colours);
  }

  lightUp(context, triangle, cell, n, colours) {
    if (!triangle) return;
    const [i, pivot, j] = [triangle.i, triangle.k, triangle.j].map((at) => this.row.get(at));
    context.lineWidth = Math.max(1, cell / 3);
    context.strokeStyle = colours.accent;
    context.strokeRect(0, pivot * cell, n * cell, cell); // the row of the pivot: F(k, ·)
    context.strokeRect(pivot * cell, 0, cell, n * cell); // the column of the pivot: F(·, k)
    context.strokeStyle = colours.ink;
    context.lineWidth = Math.max(2, cell / 2);
    for (const [row, column] of [[i, j], [i, pivot], [pivot, j]]) context.strokeRect(column * cell, row * cell, cell, cell);
  }

  at(cell) {
    const width = this.world.rows[0].length;
    return `(${cell % width}, ${Math.floor(cell / width)})`;
  }
}
