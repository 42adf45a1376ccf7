// The search box: states by a part of their names, chosen with the mouse or the keyboard.

const PAUSE = 120; // milliseconds without typing before the server is asked

const find = (id) => document.getElementById(id);

export class Search {
  constructor({ send, say, onChoose }) {
    Object.assign(this, { send, say, onChoose });
    this.states = [];
    this.at = -1;
    const box = find("search");
    box.addEventListener("input", () => this.typed());
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("blur", () => (this.leaving = setTimeout(() => this.close(), 150))); // after a click on the list
  }

  typed() {
    clearTimeout(this.leaving); // somebody came right back
    clearTimeout(this.waiting);
    const text = find("search").value.trim().slice(0, 200);
    if (!text) return this.close();
    this.waiting = setTimeout(() => this.send("search", { text }), PAUSE);
  }

  set({ text, total, states }) {
    if (text !== find("search").value.trim().slice(0, 200)) return; // an answer to what was typed before
    this.states = states;
    this.at = -1;
    const rows = states.map(({ name }, k) => {
      const row = document.createElement("li");
      Object.assign(row, { id: `found-${k}`, role: "option", textContent: name });
      row.setAttribute("aria-selected", "false");
      row.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        this.choose(k);
      });
      return row;
    });
    const list = find("found");
    list.replaceChildren(...rows);
    list.dataset.more = total > states.length ? `and ${(total - states.length).toLocaleString("en")} more` : total ? "" : "no place has this in its name";
    list.hidden = false;
    find("search").setAttribute("aria-expanded", "true");
    this.say(total ? `${total.toLocaleString("en")} found` : "nothing found");
  }

  key(event) {
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && this.states.length) this.choose(Math.max(0, this.at));
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") this.mark(this.at + (event.key === "ArrowDown" ? 1 : -1));
    else return;
    event.preventDefault();
  }

  mark(k) {
    const rows = [...find("found").children];
    if (!rows.length) return;
    this.at = (k + rows.length) % rows.length;
    rows.forEach((row, i) => row.setAttribute("aria-selected", i === this.at));
    find("search").setAttribute("aria-activedescendant", `found-${this.at}`);
  }

  choose(k) {
    const { state, name } = this.states[k];
    find("search").value = name;
    this.close();
    this.onChoose(state);
  }

  close() {
    clearTimeout(this.waiting);
    this.states = [];
    find("found").hidden = true;
    find("search").setAttribute("aria-expanded", "false");
    find("search").removeAttribute("aria-activedescendant");
  }
}
