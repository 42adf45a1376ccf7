// The coverage view: bridges that hang on one trip, dead ends and one-way streets, listed; the map draws them.

import { element } from "./steps.js";

const find = (id) => document.getElementById(id);

export class Coverage {
  constructor({ send, map, onShow }) {
    Object.assign(this, { send, map, onShow });
    this.sentence = "Looking for weak spots…";
    this.asked = false;
  }

  // What was asked will not be answered: ask again when next shown.
  retry() {
    this.asked = this.map.weak !== null;
  }

  show(shown) {
    find("coverage").hidden = !shown;
    if (shown && !this.asked) {
      this.asked = true;
      this.send("coverage");
    }
  }

  set({ sentence, trips, counts, lists, bridges: [begins, ends] }) {
    this.sentence = sentence;
    this.map.weak = { bridges: begins.map((a, k) => [a, ends[k]]) };
    this.map.draw();
    const kinds = [
      ["bridges", trips ? "Bridges that hang on one trip" : "Bridges that were seen only once", "no other way is known from one state to the next"],
      ["dead ends", "Dead ends", "entered, and never left"],
      ["one-way", "One-way streets", `of ${counts.links.toLocaleString("en")} links, no move was seen the other way`],
    ];
    find("coverage-lists").replaceChildren(...kinds.map(([kind, title, hint]) => this.list(kind, title, hint, counts[kind], lists[kind])));
  }

  list(kind, title, hint, total, rows) {
    const details = element("details", "", { open: kind === "bridges" && total > 0 });
    details.dataset.kind = kind;
    const summary = element("summary");
    summary.append(element("i", "", { className: kind.replace(" ", "-") }), element("b", `${title}: ${total.toLocaleString("en")}`), element("small", hint));
    const list = element("ul");
    for (const row of rows) {
      const item = element("li");
      const button = element("button", row.name, { type: "button", className: "plain", title: "Show on the map" });
      button.addEventListener("click", () => this.onShow(row.to === undefined ? [row.from] : [row.from, row.to]));
      const trip = row.trip ? `, trip ${row.trip}` : "";
      item.append(button, element("small", `seen ${row.seen === 1 ? "once" : `${row.seen.toLocaleString("en")} times`}${trip}`));
      list.append(item);
    }
    if (total > rows.length) list.append(element("li", `and ${(total - rows.length).toLocaleString("en")} more, on the map`, { className: "hint" }));
    if (!total) list.append(element("li", "none", { className: "hint" }));
    details.append(summary, list);
    return details;
  }
}
