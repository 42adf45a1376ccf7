// Under each board: what the agent promises from the start, what its policy really takes, and the optimum. The numbers
// come from the server, which evaluates the policy exactly.

import { count } from "./units.js";

const MARKS = ["best", "worse", "lost", "none"];

export class Verdicts {
  constructor({ send, panels, units, names }) {
    Object.assign(this, { send, panels, units, names, message: null, state: null });
    panels.forEach((panel, side) => {
      panel.querySelector(".outdated button").addEventListener("click", () => this.send("forget", { side }));
    });
  }

  // While agents play, verdicts change many times a second; they are spoken once the agents pause.
  set playing(is) {
    for (const panel of this.panels) panel.querySelector(".route").setAttribute("aria-live", is ? "off" : "polite");
  }

  set(message) {
    this.message = message;
    this.draw();
  }

  show(state) {
    this.state = state;
    this.panels.forEach((panel, k) => {
      const box = panel.querySelector(".outdated");
      const steps = state.outdated[k];
      box.hidden = steps === 0;
      box.firstElementChild.textContent =
        `${state.agents[k].title} still believes in ${steps === 1 ? "a step" : `${steps} steps`} that the map no ` +
        `longer has: its backup keeps the best outcome and never forgets.`;
    });
    this.draw();
  }

  draw() {
    if (!this.message) return;
    this.panels.forEach((panel, k) => {
      const side = this.message.sides[k];
      const route = panel.querySelector(".route");
      const said = this.sentence(side);
      if (route.textContent !== said) route.textContent = said;
      route.dataset.route = MARKS.includes(side.grade) ? side.grade : "none";
      for (const part of ["promise", "truth", "optimal"]) {
        const steps = side[part] ? (side[part].steps ?? side[part].reward / this.units.world.step) : null;
        route.dataset[part] = steps === null ? "" : count(steps);
      }
      const why = panel.querySelector(".why");
      const reason = this.reason(side, this.names()[k]);
      why.hidden = reason === "";
      if (why.textContent !== reason) why.textContent = reason;
    });
  }

  // The reason stands over the board where it hides neither goal nor start: at the top, the bottom, or in the middle.
  place({ goal, start }, { rows }) {
    const height = rows.length;
    const taken = [goal, start].map((cell) => Math.floor((3 * Math.floor(cell / rows[0].length)) / height));
    const free = [2, 0, 1].find((third) => !taken.includes(third));
    for (const panel of this.panels) panel.querySelector(".why").dataset.third = free;
  }

  sentence({ promise, truth, optimal }) {
    const { units } = this;
    const verbs = units.inSteps ? (units.world.even ? "really takes" : "really costs") : "really earns";
    const best = optimal ? `optimal ${units.number(optimal.reward)}` : "there is no way";
    const risk = truth && truth.arrival < 1 ? `, arrives ${Math.round(100 * truth.arrival)} % of the time` : "";
    if (!promise) {
      const random = truth ? `at random it takes ${count(truth.steps)} steps` : "its greedy steps never arrive";
      return `From the start: no way known, ${random}${risk}; ${best}`;
    }
    const given = truth ? `${verbs} ${units.number(truth.reward)}` : "really never arrives";
    return `From the start: promises ${this.promised(promise)}, ${given}${risk}, ${best}`;
  }

  promised({ reward, steps }) {
    if (reward === null) return `${count(steps)} steps`; // an agent that counts steps where steps cost differently
    return this.units.inSteps ? `${this.units.number(reward)} ${this.units.noun}` : `reward ${this.units.number(reward)}`;
  }

  reason({ promise, entered }, name) {
    if (promise) return "";
    return entered
      ? `${name} has been at this goal, but knows no way to it from the start yet.`
      : `${name} has never been at this goal, so nothing leads there yet. Play on, and it may find it.`;
  }
}
