// Shows what both agents know about the cell under the pointer.

const MOST_PIECES = 6;

export class Inspector {
  constructor({ send, boards, redraw, announce }) {
    Object.assign(this, { send, boards, redraw, announce });
    this.title = document.getElementById("inspect-title");
    this.hint = document.getElementById("inspect-hint");
    this.table = document.getElementById("inspect-table");
    this.routes = document.getElementById("inspect-routes");
    this.wanted = null;
    this.asked = false;
    this.pinned = null;
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

  ask() {
    const board = this.boards[0];
    const cell = this.wanted;
    if (board.rows[Math.floor(cell / board.width)]?.[cell % board.width] === "#") return this.clear();
    this.asked = true;
    this.send("inspect", { cell });
  }

  answered() {
    this.asked = false;
  }

  show(message, names) {
    this.asked = false;
    if (this.wanted === null) return;
    if (this.wanted !== message.cell) return this.ask();
    message.sides.forEach((side, k) => (this.boards[k].inspected = side));
    this.title.textContent = `Cell ${this.name(message.cell)}, for the goal ${this.name(message.goal)}`;
    this.hint.hidden = true;
    this.table.hidden = false;
    this.fillTable(message, names);
    this.routes.replaceChildren(...message.sides.map((side, k) => this.routeOf(side, names[k])));
    if (this.aloud) this.announce(this.spoken(message, names));
    this.redraw();
  }

  clear() {
    for (const board of this.boards) board.inspected = null;
    this.title.textContent = "Point at a cell";
    this.hint.hidden = false;
    this.table.hidden = true;
    this.routes.replaceChildren();
    this.redraw();
  }

  fillTable({ actions, sides }, names) {
    const heads = this.table.tHead.rows[0].cells;
    names.forEach((name, k) => (heads[k + 1].textContent = name));
    const body = this.table.tBodies[0];
    body.replaceChildren();
    actions.forEach((action, a) => {
      const row = body.insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = action;
      row.append(head);
      for (const { values } of sides) {
        const cell = row.insertCell();
        const best = Math.max(...values.map((v) => v ?? -Infinity));
        cell.textContent = said(values[a]);
        cell.className = values[a] !== null && values[a] >= best - 1e-9 * Math.max(1e-3, Math.abs(best)) ? "best" : "";
      }
    });
  }

  routeOf({ arrives, route, pieces }, name) {
    const box = document.createElement("div");
    const head = document.createElement("h3");
    box.append(head);
    if (!arrives) {
      head.textContent = `${name}: no route known`;
      return box;
    }
    const trips = new Set(pieces.map((piece) => piece.trip)).size;
    const stitches = pieces.length - 1;
    const parts = `${plural(trips, "trip")}, ${stitches ? plural(stitches, "stitch", "es") : "no stitch"}`;
    head.textContent = pieces.length ? `${name}: ${plural(route.length - 1, "move")} from ${parts}` : `${name}: here`;
    const list = document.createElement("ol");
    for (const piece of pieces.slice(0, MOST_PIECES)) {
      const item = document.createElement("li");
      const moves = plural(piece.states.length - 1, "move");
      item.textContent = piece.trip ? `${moves}: trip ${piece.trip}, ${piece.from} → ${piece.to}` : `${moves}: no trip`;
      list.append(item);
    }
    if (pieces.length > MOST_PIECES) {
      const item = document.createElement("li");
      item.textContent = `and ${plural(pieces.length - MOST_PIECES, "more piece")}`;
      list.append(item);
    }
    box.append(list);
    return box;
  }

  spoken({ cell, sides }, names) {
    const each = sides.map(({ arrives, route }, k) => `${names[k]}: ${arrives ? plural(route.length - 1, "move") : "unknown"}`);
    return `${this.name(cell)}. ${each.join(", ")}`;
  }

  name(cell) {
    const { width } = this.boards[0];
    return `(${cell % width}, ${Math.floor(cell / width)})`;
  }
}

function plural(n, word, ending = "s") {
  return `${n} ${word}${n === 1 ? "" : ending}`;
}

function said(value) {
  return value === null ? "−∞" : value.toFixed(5).replace("-", "−");
}
