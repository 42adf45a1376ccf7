// Weak spots: parts that never meet, bridges that hang on one trip, dead ends, one-way and least-seen roads, listed.

import { element } from "./steps.js";

const MARKED = ["bridges", "dead ends", "one-way"]; // kinds that the map marks
const find = (id) => document.getElementById(id);

export class Coverage {
  constructor({ send, map, onShow }) {
    Object.assign(this, { send, map, onShow });
    this.sentence = "Looking for weak spots…";
    this.asked = false;
  }

  // The page shows another part of the log.
  forget() {
    this.asked = false;
    this.map.weak = null;
    this.sentence = "Looking for weak spots…";
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
      ...(counts.parts > 1 ? [["parts", "Parts that never meet", "no road leads from one to another"]] : []),
      ["bridges", trips ? "Bridges that hang on one trip" : "Bridges that were seen only once", "no other route is known from one end to the other"],
      ["dead ends", "Dead ends", "entered, and never left"],
      ["one-way", "One-way roads", `of ${counts.roads.toLocaleString("en")} roads, never seen the other way`],
      ["least seen", "Least-seen roads", "in either direction, the rarest first"],
    ];
    find("coverage-lists").replaceChildren(...kinds.map(([kind, title, hint]) => this.list(kind, title, hint, counts[kind] ?? counts.roads, lists[kind])));
  }

  list(kind, title, hint, total, rows) {
    const details = element("details", "", { open: kind === "bridges" && total > 0 });
    details.dataset.kind = kind;
    const summary = element("summary");
    summary.append(...(MARKED.includes(kind) ? [element("i", "", { className: kind.replace(" ", "-") })] : []), element("b", `${title}: ${total.toLocaleString("en")}`), element("small", hint));
    const list = element("ul");
    for (const row of rows) {
      const item = element("li");
      const button = element("button", row.name, { type: "button", className: "plain", title: "Show on the map" });
      button.addEventListener("click", () => this.onShow(row.to === undefined ? [row.from] : [row.from, row.to]));
      const trip = row.trip ? `, trip ${row.trip}` : "";
      item.append(button);
      if (row.seen !== null) item.append(element("small", `seen ${row.seen === 1 ? "once" : `${row.seen.toLocaleString("en")} times`}${trip}`));
      list.append(item);
    }
    if (total > rows.length) list.append(element("li", `and ${(total - rows.length).toLocaleString("en")} more, on the map`, { className: "hint" }));
    if (!total) list.append(element("li", "none", { className: "hint" }));
    details.append(summary, list);
    return details;
  }
}
