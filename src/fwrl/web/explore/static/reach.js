// What is within a cost of the start, or of the goal: the server says what every place costs, a slider how much may be
// spent.

import { RadioGroup } from "/static/radio_group.js";

const BANDS = 5;
const find = (id) => document.getElementById(id);

export class Reach {
  constructor({ send, map }) {
    Object.assign(this, { send, map });
    this.costs = null;
    this.way = "from";
    this.group = new RadioGroup(find("reach-way"), (way) => this.choose(way));
    find("reach-limit").addEventListener("input", () => this.shade());
  }

  choose(way) {
    this.way = way;
    this.group.show(way);
    this.ask();
  }

  show(answer) {
    this.answer = answer;
    find("reach").hidden = answer.view !== "reach";
    this.map.reach = null;
    if (answer.view !== "reach") return;
    if (!answer[this.way]) this.way = this.way === "from" ? "to" : "from";
    this.group.show(this.way);
    this.ask();
  }

  ask() {
    const mark = this.answer[this.way];
    find("reach-text").textContent = mark ? "…" : "Choose a place first: click it on the map.";
    this.costs = null;
    if (mark) this.send("reach", { state: mark[0], toward: this.way === "to" });
  }

  set({ costs, most, said, note, state, toward }) {
    if (this.answer?.[toward ? "to" : "from"]?.[0] !== state) return;
    Object.assign(this, { costs, most, said, toward });
    find("reach-note").textContent = note;
    this.shade();
  }

  shade() {
    if (!this.costs) return;
    const share = Number(find("reach-limit").value) / 100, limit = this.most * share * (1 + 1e-9);
    const band = this.costs.map((cost) => (cost === null || cost > limit ? 0 : 1 + Math.min(BANDS - 1, Math.floor((BANDS * cost) / (limit || 1)))));
    this.map.reach = band;
    const n = band.filter(Boolean).length;
    const name = this.answer[this.toward ? "to" : "from"][1];
    const text = `${n.toLocaleString("en")} of ${band.length.toLocaleString("en")} places ${this.toward ? "reach" : "are reachable from"} ${name} within ${this.said[Math.round(100 * share)]}`;
    find("reach-text").textContent = text;
    this.map.draw();
  }
}
