// Drawing worlds: a draft is painted cell by cell and sent as text at the end of each stroke; with undo.

export const TOOLS = [
  { id: "goal", sign: "⚑", label: "Goal" },
  { id: "start", sign: "□", label: "Start" },
  { id: "look", sign: "?", label: "Look", hint: "Show what both agents know about a cell" },
  { id: "#", sign: "#", label: "Wall" },
  { id: "^", sign: "↑", label: "Wind up" },
  { id: "v", sign: "↓", label: "Wind down" },
  { id: "<", sign: "←", label: "Wind left" },
  { id: ">", sign: "→", label: "Wind right" },
  { id: "cost", sign: "2", label: "Cost", hint: "Cost of leaving a cell: 2, 5, 9 and back, click by click" },
  { id: ".", sign: "⌫", label: "Eraser" },
];

const REMEMBERED = 200; // maps that undo can return to

export class Editor {
  constructor({ send, onDraft, onUndoable }) {
    this.send = send;
    this.onDraft = onDraft;
    this.onUndoable = onUndoable;
    this.past = [];
    this.tool = "goal";
  }

  // Take the world that the server sent; one that was not drawn on this page clears the history.
  accept(world) {
    if (world.name !== "drawn") this.past = [];
    this.accepted = world.rows;
    this.rows = world.rows;
    this.onUndoable(this.past.length > 0);
  }

  // Drop a draft that the server refused.
  revert() {
    if (this.rows === this.accepted) return;
    this.past.pop();
    this.rows = this.accepted;
    this.onDraft(this.rows);
    this.onUndoable(this.past.length > 0);
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
    this.onDraft(this.rows);
  }

  commit() {
    if (this.rows === this.accepted) return;
    this.past.push(this.accepted);
    if (this.past.length > REMEMBERED) this.past.shift();
    this.send("map", { text: this.rows.join("\n") });
  }

  use(text) {
    this.past.push(this.accepted);
    this.rows = text.split("\n");
    this.send("map", { text });
  }

  undo() {
    if (!this.past.length) return;
    const rows = this.past.pop();
    this.rows = rows;
    this.send("map", { text: rows.join("\n") });
    this.onUndoable(this.past.length > 0);
  }
}
