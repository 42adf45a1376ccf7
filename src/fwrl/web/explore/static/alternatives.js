// Other routes than the best one: asked for by a button, listed with their cost, drawn on the map.

import { element } from "./steps.js";

const find = (id) => document.getElementById(id);

export class Alternatives {
  constructor({ send, map }) {
    Object.assign(this, { send, map });
    this.wanted = false;
    find("others-ask").addEventListener("click", () => {
      this.wanted = !this.wanted;
      find("others-ask").setAttribute("aria-pressed", this.wanted);
      this.clear();
      if (this.wanted) this.send("alternatives");
    });
  }

  // A new answer: what was drawn is out of date.
  show(answer) {
    this.address = answer.address;
    find("others").hidden = !answer.route?.steps.length || answer.via.length > 0;
    this.clear();
    if (this.wanted && !find("others").hidden) this.send("alternatives");
  }

  clear() {
    this.map.others = [];
    find("others-list").replaceChildren();
    this.map.draw();
  }

  set({ address, routes }) {
    if (!this.wanted || address !== this.address) return;
    this.map.others = routes;
    const rows = routes.map(({ cost, more, steps, states }, k) => {
      const row = element("li");
      const button = element("button", `${cost} (${more}), ${steps} steps`, { type: "button" });
      const point = (on) => () => {
        this.map.pointedOther = on ? k : -1;
        this.map.draw();
      };
      button.addEventListener("pointerenter", point(true));
      button.addEventListener("pointerleave", point(false));
      button.addEventListener("focus", point(true));
      button.addEventListener("blur", point(false));
      button.addEventListener("click", () => this.map.fitStates(states));
      row.append(button);
      return row;
    });
    find("others-list").replaceChildren(...(rows.length ? rows : [element("li", "No other route differs much.", { className: "hint" })]));
    this.map.draw();
  }
}
