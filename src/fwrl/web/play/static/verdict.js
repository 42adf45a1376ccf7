// Under each board: what the agent's policy really takes from the start, in large letters, and what it promises. The
// numbers come from the server, which evaluates the policy exactly.

import { count } from "./units.js";

const MARKS = ["best", "worse", "lost", "none"];

export class Verdicts {
  constructor({ send, panels, units, names }) {
    Object.assign(this, { send, panels, units, names, message: null, frame: null, state: null });
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
    this.follow(this.frame);
  }

  // What was said of another board is taken away; what was said of another flag or start fades until there is an answer.
  follow(frame) {
    this.frame = frame;
    if (!frame || !this.message) return;
    const { world, goal, start } = this.message;
    const stale = goal !== frame.goal || start !== frame.start;
    for (const panel of this.panels) panel.querySelector(".route").classList.toggle("stale", stale);
    if (world >= frame.world) return;
    this.message = null;
    for (const panel of this.panels) {
      const route = panel.querySelector(".route");
      [route.children[0].textContent, route.children[1].textContent] = ["…", ""];
      for (const name of Object.keys(route.dataset)) delete route.dataset[name];
    }
  }

  show(state) {
    this.state = state;
    this.panels.forEach((panel, k) => {
      const box = panel.querySelector(".outdated");
      const steps = state.outdated[k];
      box.hidden = steps === 0;
      box.firstElementChild.textContent =
        `${state.agents[k].title} never forgets: it still believes in ${steps === 1 ? "a step that is" : `${steps} steps that are`} gone.`;
    });
    this.draw();
  }

  draw() {
    if (!this.message) return;
    this.panels.forEach((panel, k) => {
      const side = this.message.sides[k];
      const route = panel.querySelector(".route");
      [this.headline(side), this.detail(side, this.names()[k])].forEach((said, part) => {
        if (route.children[part].textContent !== said) route.children[part].textContent = said;
      });
      route.dataset.route = MARKS.includes(side.grade) ? side.grade : "none";
      for (const part of ["promise", "truth", "optimal"]) {
        const steps = side[part] ? (side[part].steps ?? side[part].reward / this.units.world.step) : null;
        route.dataset[part] = steps === null ? "" : count(steps);
      }
    });
  }

  headline({ grade, truth, optimal }) {
    if (!optimal) return "no route exists";
    if (grade === "none") return "no route yet";
    if (grade === "lost") return truth && percent(truth.arrival) > 0 ? `arrives ${percent(truth.arrival)} % of the time` : "never arrives";
    const { units } = this;
    const [best, possible] = [units.long(truth.reward), units.number(optimal.reward)];
    return grade === "best" ? `${best}, ${this.superlative}` : `${best}; ${possible} is possible`;
  }

  get superlative() {
    return this.units.inSteps ? (this.units.world.even ? "the shortest" : "the cheapest") : "the best";
  }

  detail({ grade, promise, truth, optimal, entered }, name) {
    const { units } = this;
    if (!optimal) return "Nothing leads from the start to the flag.";
    if (!promise) {
      return entered ? `${name} has been at this flag, but knows no route to it from the start.` : `${name} has never been at this flag.`;
    }
    const promised = promise.reward === null ? `${count(promise.steps)} steps` : units.long(promise.reward);
    const risk = truth && truth.arrival < 1 && grade !== "lost" ? ` It arrives ${percent(truth.arrival)} % of the time.` : "";
    const possible = grade === "lost" ? `; ${this.superlative} is ${units.number(optimal.reward)}` : "";
    return `It promises ${promised}${possible}.${risk}`;
  }
}

const percent = (arrival) => Math.round(100 * arrival);
