// Pointer and keyboard on a board, turned into goals, starts and brush strokes.

const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const DRAWS = "#.^v<>123456789";
const MARKERS = ["goal", "start"];
const MAP_KEPT = [...MARKERS, "look"]; // tools that do not change the map

export class BoardInput {
  constructor(board, editor, { send, look, redraw, togglePlay }) {
    Object.assign(this, { board, editor, send, look, redraw, togglePlay });
    this.dragged = this.tapped = null;
    const { canvas } = board;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.parentElement.querySelector(".handle").addEventListener("pointerdown", (event) => this.grabFlag(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", () => this.up());
    canvas.addEventListener("pointercancel", () => {
      this.tapped = null; // it scrolls the page instead
      this.up();
    });
    canvas.addEventListener("pointerleave", ({ pointerType }) => {
      if (this.dragged === null && pointerType === "mouse") this.look(null); // touch leaves after every tap
    });
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
    if (event.pointerType === "touch" && MARKERS.includes(this.editor.tool)) {
      this.tapped = cell;
      return;
    }
    this.board.canvas.setPointerCapture(event.pointerId);
    this.board.cursor = null;
    const { frame } = this.board;
    const draws = !MAP_KEPT.includes(this.editor.tool);
    const marker = frame && !draws ? MARKERS.find((name) => frame[name] === cell) : undefined;
    this.dragged = marker ?? this.editor.tool;
    this.stroke = this.editor.brush(cell, this.dragged);
    this.last = marker ? cell : null; // grabbing a marker does not move it yet
    this.apply(cell);
  }

  // A finger on the flag drags it with any tool; elsewhere a finger scrolls, or taps.
  grabFlag(event) {
    this.board.canvas.setPointerCapture(event.pointerId);
    this.dragged = "goal";
    this.last = this.board.frame.goal;
    event.preventDefault();
  }

  move(event) {
    const cell = this.board.cellAt(event);
    if (cell === null) return;
    if (this.dragged !== null) this.apply(cell);
    else this.look(cell);
  }

  up() {
    if (this.tapped !== null) this.use(this.editor.tool, this.tapped);
    this.tapped = null;
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
    if (tool === "look") this.look(cell);
    else if (!MARKERS.includes(tool)) this.editor.paint(cell, stroke);
    else if (this.editor.character(cell) !== "#") this.send(tool, { cell });
  }

  key(event) {
    const { board, editor } = this;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const cell = board.cursor ?? board.frame?.start ?? 0;
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
