// The question of the page: changed by clicks, shown as chips, carried by the address.

import { decoded } from "/static/address.js";
import { cut, element } from "./steps.js";

const PAUSE = 250; // milliseconds after which a moved map is written into the address
const SIGNS = { from: "●", to: "■", via: "◆", avoid: "✕" };
const find = (id) => document.getElementById(id);
const AT = /(^|&)at=([^&]*)/; // the part of an address that says what is in sight

// What the server reads of an address.
const questionOf = (hash) => hash.slice(1).replace(AT, "").replace(/^&/, "");

export class QuestionBox {
  constructor({ send, view, redraw }) {
    Object.assign(this, { send, view });
    this.question = { start: -1, goal: -1, via: [], avoid: [], roads: [], backup: "expected", view: "route" };
    this.answered = "";
    this.asked = this.answeredAsked = 0;
    this.pending = 0; // questions without an answer yet; the server answers all, in order
    this.later = null; // what is chosen while another part of the log, whose states have other codes, is on its way
    window.addEventListener("hashchange", ({ newURL }) => {
      const { hash } = new URL(newURL); // not that of `location`, where a moved map may have been written meanwhile
      if (this.readView(hash)) redraw();
      const address = questionOf(hash);
      if (address !== this.answered) this.put("address", { address });
    });
  }

  // The first question of a connection; those of an earlier one will not be answered.
  begin() {
    this.pending = 1;
    this.later = null;
    return { address: this.address };
  }

  put(type, question) {
    this.pending += 1;
    if (type !== "ask") this.later ??= {};
    this.send(type, question);
  }

  // An answer came, or an error in place of one.
  settle() {
    this.pending = Math.max(0, this.pending - 1); // errors may be about something else
  }

  get address() {
    return questionOf(location.hash);
  }

  readView(hash = location.hash) {
    const found = AT.exec(hash.slice(1));
    if (found) this.view.text = decoded(found[2]);
    return found !== null;
  }

  // Put a state to use; returns what was done.
  use(what, state) {
    const { question } = this;
    if (what === "from") question.start = state;
    else if (what === "to") question.goal = state;
    else {
      const list = question[what];
      question[what] = list.includes(state) ? list.filter((other) => other !== state) : [...list, state];
      const other = what === "via" ? "avoid" : "via";
      question[other] = question[other].filter((one) => one !== state);
    }
    if (what !== "avoid") question.avoid = question.avoid.filter((one) => one !== state);
    this.ask();
  }

  // Close a road, or open it again.
  useRoad([a, b]) {
    const { question } = this;
    const pairs = question.roads.filter((_, k) => k % 2 === 0).map((end, k) => [end, question.roads[2 * k + 1]]);
    const others = pairs.filter(([x, y]) => Math.min(x, y) !== Math.min(a, b) || Math.max(x, y) !== Math.max(a, b));
    question.roads = (others.length < pairs.length ? others : [...pairs, [a, b]]).flat();
    this.ask();
  }

  drop(what, state) {
    if (what === "from") this.question.start = -1;
    else if (what === "to") this.question.goal = -1;
    else this.question[what] = this.question[what].filter((other) => other !== state);
    this.ask();
  }

  set(part, value) {
    if (this.later) this.later[part] = value;
    this.question[part] = value;
    this.ask();
  }

  ask() {
    if (this.later) return;
    this.asked = performance.now();
    this.put("ask", this.question);
  }

  accept(answer) {
    if (!this.pending) this.adopt(answer); // else a newer question is on its way, to which the next click adds
    this.answered = answer.address;
    if (this.address !== answer.address) history.pushState(null, "", this.link);
    this.drawChips(answer);
    if (!this.pending) this.resume();
  }

  // States have the codes of the answer again: ask what was chosen meanwhile.
  resume() {
    const chosen = this.later ?? {};
    this.later = null;
    if (!Object.keys(chosen).length) return;
    Object.assign(this.question, chosen);
    this.ask();
  }

  adopt({ from, to, via, avoid, roads, backup, view }) {
    const codes = (marks) => marks.map(([state]) => state);
    this.question = { start: from?.[0] ?? -1, goal: to?.[0] ?? -1, via: codes(via), avoid: codes(avoid), roads: roads.flatMap(codes), backup, view };
    [this.answeredAsked, this.asked] = [this.asked, 0]; // when what is drawn next was asked
  }

  get link() {
    const at = `at=${this.view.text}`;
    return `#${this.answered ? `${this.answered}&${at}` : at}`;
  }

  // Keep what is in sight in the address, without a new entry in the history.
  viewMoved() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => history.replaceState(null, "", this.link), PAUSE);
  }

  chip(what, name, remove) {
    const chip = element("span", "", { className: `chip ${what}`, title: name });
    const close = element("button", "×", { type: "button" });
    close.setAttribute("aria-label", `Remove ${what} ${name}`);
    close.addEventListener("click", remove);
    const sign = element("i", SIGNS[what]);
    sign.setAttribute("aria-hidden", "true");
    chip.append(sign, element("span", what, { className: "what" }), element("b", cut(name)), close);
    return chip;
  }

  drawChips({ from, to, via, avoid, roads }) {
    const chips = [];
    for (const [what, marks] of Object.entries({ from: from ? [from] : [], to: to ? [to] : [], via, avoid })) {
      for (const [state, name] of marks) {
        chips.push(this.chip(what, name, () => this.drop(what, state)));
      }
    }
    for (const [[a, one], [b, other]] of roads) chips.push(this.chip("avoid", `${cut(one, 14)} ↔ ${cut(other, 14)}`, () => this.useRoad([a, b])));
    if (from && to) {
      const turn = element("button", "⇄", { type: "button", title: "Turn round: the route back" });
      turn.setAttribute("aria-label", "Turn round");
      turn.addEventListener("click", () => {
        const { start, goal, via: stops } = this.question;
        Object.assign(this.question, { start: goal, goal: start, via: [...stops].reverse() });
        this.ask();
      });
      chips.push(turn);
    }
    if (from || to || via.length || avoid.length || roads.length) {
      const clear = element("button", "Clear", { type: "button" });
      clear.addEventListener("click", () => {
        Object.assign(this.question, { start: -1, goal: -1, via: [], avoid: [], roads: [] });
        this.ask();
      });
      chips.push(clear);
    }
    find("chips").replaceChildren(...chips);
  }
}
