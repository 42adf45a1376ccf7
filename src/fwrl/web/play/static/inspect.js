// Shows what both agents know about the cell under the pointer. On the goal itself it shows the route from the start.

import { plural, rewardText } from "./units.js";

const MOST_STRETCHES = 6;
const find = (id) => document.getElementById(id);

// What the numbers of an agent's table are.
const KINDS = {
  "path reward": "F, the reward of the best known route",
  return: "Q, with the goal reward",
  steps: "F, in steps",
};

export class Inspector {
  constructor({ send, boards, units, redraw, announcer, names }) {
    Object.assign(this, { send, boards, units, redraw, announcer, names });
    this.table = find("inspect-table");
    this.wanted = null;
    this.asked = false;
    this.pinned = null;
    this.shown = null;
  }

  // Ask about a cell. One request at a time; the answer to an older one is dropped.
  look(cell, aloud = false) {
    this.wanted = cell;
    this.aloud = aloud;
    if (cell === null) return this.pinned === null ? this.clear() : this.look(this.pinned);
    if (!this.asked) this.ask();
  }

  // Show this cell while the pointer is over none; used by the tour.
  pin(cell) {
    this.pinned = cell;
    this.look(cell);
  }

  // Ask again about the cell that is shown, because values change while agents learn.
  refresh() {
    if (this.wanted !== null && !this.asked) this.ask();
  }

  // The cell to ask about: on the goal itself, the start.
  get target() {
    const { frame } = this.boards[0];
    return frame && this.wanted === frame.goal ? frame.start : this.wanted;
  }

  ask() {
    this.asked = true;
    this.send("inspect", { cell: this.target });
  }

  answered() {
    this.asked = false;
  }

  show(message) {
    this.asked = false;
    if (this.wanted === null) return;
    if (message.cell !== this.target) return this.ask();
    if (this.aloud) this.announcer.say(this.spoken(this.wanted, message));
    this.aloud = false;
    if (message.wall) {
      this.clear();
      find("inspect-title").textContent = `Cell ${this.name(message.cell)}: wall`;
      find("inspect-hint").hidden = true;
      return;
    }
    this.shown = message;
    message.sides.forEach((side, k) => (this.boards[k].inspected = side));
    find("key-stitch").hidden = !message.sides.some(({ stretches }) => stretches.length > 1);
    this.draw();
    this.redraw();
  }

  clear() {
    this.shown = null;
    for (const board of this.boards) board.inspected = null;
    find("inspect-title").textContent = "Point at a cell";
    find("inspect-hint").hidden = false;
    this.table.hidden = true;
    find("inspect-units").textContent = "";
    find("inspect-routes").replaceChildren();
    find("key-stitch").hidden = true;
    this.redraw();
  }

  draw() {
    if (!this.shown) return;
    const { cell, goal, sides } = this.shown;
    const begin = this.wanted === goal ? "From the start" : "Cell";
    find("inspect-title").textContent = `${begin} ${this.name(cell)}, for the goal ${this.name(goal)}`;
    find("inspect-hint").hidden = true;
    this.table.hidden = false;
    this.fillTable(this.shown);
    find("inspect-units").textContent = this.unitsText(sides);
    find("inspect-routes").replaceChildren(...sides.map((side, k) => this.routeOf(side, this.names()[k])));
  }

  unitsText(sides) {
    if (this.units.inSteps) return `${this.units.noun} to the goal after the action; – where no route is known`;
    return sides.map(({ kind }, k) => `${this.names()[k]}: ${KINDS[kind] ?? "no values"}`).join("; ");
  }

  fillTable({ actions, optimal, sides }) {
    const heads = this.table.tHead.rows[0].cells;
    this.names().forEach((name, k) => (heads[k + 1].textContent = name));
    const body = this.table.tBodies[0];
    body.replaceChildren();
    actions.forEach((action, a) => {
      const row = body.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = action;
      row.append(head);
      for (const { values, path } of sides) this.cell(row, this.units.inSteps ? path : values, a, !this.units.inSteps);
      this.cell(row, optimal ?? actions.map(() => null), a, false);
    });
  }

  cell(row, values, a, raw) {
    const cell = row.insertCell();
    const best = Math.max(...values.map((v) => v ?? -Infinity));
    cell.textContent = values[a] === null ? (raw ? "−∞" : "–") : raw ? rewardText(values[a]) : this.units.number(values[a]);
    const tied = values[a] !== null && values[a] >= best - 1e-9 * Math.max(1e-3, Math.abs(best));
    cell.className = tied ? "best" : "";
  }

  routeOf({ arrives, route, stitches: stitched, stretches }, name) {
    const box = document.createElement("div");
    const head = document.createElement("h3");
    box.append(head);
    if (!arrives) {
      head.textContent = route.length > 1 ? `${name}: its likeliest steps do not arrive` : `${name}: no route known`;
      return box;
    }
    const likeliest = this.units.world.windy ? " on the likeliest route" : "";
    if (!stitched) {
      head.textContent = route.length > 1 ? `${name}: ${plural(route.length - 1, "move")}${likeliest}` : `${name}: here`;
      return box;
    }
    const trips = new Set(stretches.map((stretch) => stretch.trip)).size;
    const stitches = stretches.length - 1;
    const parts = `${plural(trips, "trip")}, ${stitches ? plural(stitches, "stitch", "es") : "no stitch"}`;
    head.textContent = stretches.length
      ? `${name}: ${plural(route.length - 1, "move")}${likeliest} from ${parts}`
      : `${name}: here`;
    const list = document.createElement("ol");
    for (const stretch of stretches.slice(0, MOST_STRETCHES)) {
      const item = document.createElement("li");
      const moves = plural(stretch.states.length - 1, "move");
      item.textContent = stretch.trip ? `${moves}: trip ${stretch.trip}, ${stretch.from} → ${stretch.to}` : `${moves}: no trip`;
      list.append(item);
    }
    if (stretches.length > MOST_STRETCHES) {
      const item = document.createElement("li");
      item.textContent = `and ${plural(stretches.length - MOST_STRETCHES, "more stretch", "es")}`;
      list.append(item);
    }
    box.append(list);
    return box;
  }

  spoken(cell, { wall, sides }) {
    const contents = this.announcer.contents(cell, this.names());
    if (wall) return contents;
    const each = sides.map(({ arrives, route }, k) => `${this.names()[k]}: ${arrives ? plural(route.length - 1, "move") : "no route known"}`);
    return `${contents}. ${each.join(", ")}`;
  }

  name(cell) {
    const { width } = this.boards[0];
    return `(${cell % width}, ${Math.floor(cell / width)})`;
  }
}
