// What was logged of one state, with buttons that put it to use; also what is said of the state under the cursor.

const find = (id) => document.getElementById(id);
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

export class StateCard {
  constructor({ send, use, say }) {
    Object.assign(this, { send, say });
    this.wanted = null;
    find("card-close").addEventListener("click", () => this.close());
    find("card").addEventListener("keydown", ({ key }) => key === "Escape" && this.close());
    for (const button of document.querySelectorAll("[data-use]")) {
      button.addEventListener("click", () => use(button.dataset.use, this.wanted));
    }
  }

  ask(state) {
    this.wanted = state;
    this.send("look", { state });
  }

  set(message) {
    const { code, state, next_states: after, previous_states: before, left, entered } = message;
    const said = `entered ${count(entered, "time")} from ${count(before, "place")}, left ${count(left, "time")} to ${count(after, "place")}`;
    this.say(`${state}: ${said}`);
    if (code !== this.wanted) return;
    find("card-name").textContent = state;
    find("card-text").textContent = `${said[0].toUpperCase()}${said.slice(1)}.`;
    find("card").hidden = false;
    find("card-name").focus({ preventScroll: true });
  }

  close() {
    find("card").hidden = true;
    this.wanted = null;
  }
}
