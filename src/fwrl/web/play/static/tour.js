// The guided tour: shows the texts that the server sends with each step.

const find = (id) => document.getElementById(id);

export class Tour {
  constructor({ send }) {
    this.current = null;
    find("tour-open").addEventListener("click", () => send("tour", { step: 0 }));
    find("tour-back").addEventListener("click", () => send("tour", { step: this.current.step - 1 }));
    find("tour-next").addEventListener("click", () => {
      const last = this.current.step === this.current.of - 1;
      send("tour", { step: last ? -1 : this.current.step + 1 });
    });
    find("tour-leave").addEventListener("click", () => send("tour", { step: -1 }));
  }

  show(shown) {
    const began = shown !== null && this.current === null;
    const moved = shown?.step !== this.current?.step;
    this.current = shown;
    this.fresh = this.fresh || moved;
    find("tour").hidden = shown === null;
    find("tour-open").hidden = shown !== null;
    if (shown === null) return;
    const last = shown.step === shown.of - 1;
    find("tour-title").textContent = `${shown.step + 1} of ${shown.of}: ${shown.title}`;
    find("tour-text").textContent = shown.text;
    find("tour").dataset.step = shown.step;
    find("tour-back").disabled = shown.step === 0;
    find("tour-next").textContent = last ? "Go on with this board" : "Next";
    find("tour-leave").hidden = last;
    if (began) find("tour-next").focus({ preventScroll: false });
  }

  // From the fourth step on, show the route from the start with its stitches.
  follow(frame, inspector) {
    if (!this.fresh) return;
    this.fresh = false;
    if (this.current !== null && this.current.step >= 3) inspector.pin(frame.start);
    else if (inspector.pinned !== null) {
      inspector.pinned = null;
      inspector.look(null);
    }
  }
}
