// The guided tour: the server brings the maze and the words, here they are shown.

const find = (id) => document.getElementById(id);

export class Tour {
  constructor({ send }) {
    this.stop = null;
    find("tour-open").addEventListener("click", () => send("tour", { step: 0 }));
    find("tour-back").addEventListener("click", () => send("tour", { step: this.stop.step - 1 }));
    find("tour-next").addEventListener("click", () => {
      const last = this.stop.step === this.stop.of - 1;
      send("tour", { step: last ? -1 : this.stop.step + 1 });
    });
    find("tour-leave").addEventListener("click", () => send("tour", { step: -1 }));
  }

  show(stop) {
    const began = stop !== null && this.stop === null;
    const moved = stop?.step !== this.stop?.step;
    this.stop = stop;
    this.fresh = this.fresh || moved;
    find("tour").hidden = stop === null;
    find("tour-open").hidden = stop !== null;
    if (stop === null) return;
    const last = stop.step === stop.of - 1;
    find("tour-title").textContent = `${stop.step + 1} of ${stop.of}: ${stop.title}`;
    find("tour-text").textContent = stop.text;
    find("tour").dataset.step = stop.step;
    find("tour-back").disabled = stop.step === 0;
    find("tour-next").textContent = last ? "Try it yourself" : "Next";
    find("tour-leave").hidden = last;
    if (began) find("tour-next").focus({ preventScroll: false });
  }

  // From the fourth step on the route from the start is shown with its stitches.
  follow(frame, inspector, board) {
    if (!this.fresh) return;
    this.fresh = false;
    if (this.stop !== null && this.stop.step >= 3) inspector.pin(board.cells[frame.start]);
    else if (inspector.pinned !== null) {
      inspector.pinned = null;
      inspector.look(null);
    }
  }
}
