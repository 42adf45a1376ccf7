// Drawing worlds: a draft is painted cell by cell and sent as text at the end of each stroke. Edits are numbered: the
// draft stays until the server has done the last one, even if it sends other worlds meanwhile.

export const TOOLS = [
  { id: "goal", sign: "⚑", label: "Flag" },
  { id: "start", sign: "□", label: "Start" },
  { id: "look", sign: "?", label: "Look", hint: "Show what both agents know about a cell" },
  { id: "#", sign: "#", label: "Wall" },
  { id: "^", sign: "↑", label: "Wind up" },
  { id: "v", sign: "↓", label: "Wind down" },
  { id: "<", sign: "←", label: "Wind left" },
  { id: ">", sign: "→", label: "Wind right" },
  { id: "cost", sign: "2", label: "Mud", hint: "What it costs to leave a cell: 2, 5, 9 and back, click by click" },
  { id: ".", sign: "⌫", label: "Eraser" },
];

export class Editor {
  constructor({ send, keeps, onDraft }) {
    Object.assign(this, { send, keeps, onDraft });
    this.tool = "goal";
    this.sent = 0; // number of the last edit sent
    this.accepted = this.rows = [""];
  }

  // Take the world that the server sent, unless the page has edits that it has not done yet.
  accept(world) {
    this.accepted = world.rows;
    if (world.edit >= this.sent || world.version === 0) this.rows = world.rows;
  }

  // Drop a draft that the server refused.
  refuse(edit) {
    if (edit === undefined || edit < this.sent || this.rows === this.accepted) return;
    this.rows = this.accepted;
    this.onDraft(this.rows);
  }

  character(cell) {
    const width = this.rows[0].length;
    return this.rows[Math.floor(cell / width)][cell % width];
  }

  // The cost brush paints 2, then 5, 9 and floor when the same cell is painted again.
  brush(cell, tool = this.tool) {
    if (tool !== "cost") return tool;
    return { 2: "5", 5: "9", 9: "." }[this.character(cell)] ?? "2";
  }

  paint(cell, character) {
    if (this.character(cell) === character) return;
    const width = this.rows[0].length;
    const y = Math.floor(cell / width);
    const row = this.rows[y];
    this.rows = this.rows.with(y, row.slice(0, cell % width) + character + row.slice((cell % width) + 1));
    this.painted = true;
    this.onDraft(this.rows);
  }

  commit() {
    if (!this.painted) return;
    this.painted = false;
    this.use(this.rows.join("\n"));
  }

  // Send a map; the number of the edit is returned.
  use(text) {
    this.sent += 1;
    this.send("map", { text, keep: this.keeps(), edit: this.sent });
    return this.sent;
  }
}
