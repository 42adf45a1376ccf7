// The hand on a board: pointer and keyboard, turned into goals, starts and strokes of the pen.

const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const DRAWS = "#.^v<>123456789";

export class Hand {
  constructor(board, editor, { send, look, redraw, togglePlay }) {
    Object.assign(this, { board, editor, send, look, redraw, togglePlay });
    this.dragged = null;
    const { canvas } = board;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", () => this.up());
    canvas.addEventListener("pointercancel", () => this.up());
    canvas.addEventListener("pointerleave", () => this.dragged === null && this.look(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => this.redraw());
    canvas.addEventListener("blur", () => {
      board.cursor = null;
      this.look(null);
    });
  }

  down(event) {
    const cell = this.board.cellAt(event);
    if (cell === null || event.button !== 0) return;
    this.board.canvas.setPointerCapture(event.pointerId);
    this.board.cursor = null;
    const { frame, cells } = this.board;
    if (frame && cells[frame.goal] === cell) this.dragged = "goal";
    else if (frame && cells[frame.start] === cell) this.dragged = "start";
    else this.dragged = this.editor.tool;
    this.stroke = this.editor.brush(cell, this.dragged);
    this.last = this.dragged === this.editor.tool ? null : cell;
    this.apply(cell);
  }

  move(event) {
    const cell = this.board.cellAt(event);
    if (cell === null) return;
    if (this.dragged !== null) this.apply(cell);
    else this.look(cell);
  }

  up() {
    if (this.dragged === null) return;
    this.dragged = null;
    this.editor.commit();
  }

  apply(cell) {
    if (cell === this.last) return;
    this.last = cell;
    this.use(this.dragged, cell, this.stroke);
  }

  use(tool, cell, stroke) {
    if (tool === "goal" || tool === "start") {
      if (this.editor.character(cell) !== "#") this.send(tool, { cell });
    } else this.editor.paint(cell, stroke);
  }

  key(event) {
    const { board, editor } = this;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const cell = board.cursor ?? board.cells[board.frame?.start ?? 0];
    if (event.key in ARROWS) {
      const [dx, dy] = ARROWS[event.key];
      const x = Math.min(board.width - 1, Math.max(0, (cell % board.width) + (board.cursor === null ? 0 : dx)));
      const row = Math.floor(cell / board.width) + (board.cursor === null ? 0 : dy);
      const y = Math.min(board.height - 1, Math.max(0, row));
      board.cursor = y * board.width + x;
      this.look(board.cursor, true);
      this.redraw();
    } else if (event.key === " ") this.togglePlay();
    else if (event.key === "Enter") this.once(editor.tool, cell);
    else if (event.key === "g") this.once("goal", cell);
    else if (event.key === "s") this.once("start", cell);
    else if (DRAWS.includes(event.key)) this.once(event.key, cell);
    else return;
    event.preventDefault();
  }

  once(tool, cell) {
    this.board.cursor = cell;
    this.use(tool, cell, this.editor.brush(cell, tool));
    this.editor.commit();
  }
}
