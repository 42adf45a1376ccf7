// Two costs of the same question side by side: on average, and at best. Either route can be drawn.

import { RadioGroup } from "/static/radio_group.js";
import { element } from "./steps.js";

const SAID = {
  expected: ["On average", "by all outcomes seen"],
  best: ["At best", "if every step goes as well as it ever did"],
};
const find = (id) => document.getElementById(id);

export class Backups {
  constructor({ onChoose }) {
    const pair = find("backups").querySelector(".pair");
    for (const [backup, [name, how]] of Object.entries(SAID)) {
      const button = element("button", "", { type: "button" });
      button.setAttribute("role", "radio");
      button.dataset.tool = backup;
      button.append(element("strong", name), element("span", "", { className: "worth" }), element("span", "", { className: "detail" }), element("small", how));
      pair.append(button);
    }
    this.group = new RadioGroup(pair, onChoose);
  }

  show({ backups, backup, same }) {
    find("backups").hidden = !backups;
    if (!backups) return;
    this.group.show(backup);
    for (const button of this.group.buttons) {
      const { cost, steps, arrival, problem } = backups[button.dataset.tool];
      button.querySelector(".worth").textContent = problem ? "–" : cost;
      button.querySelector(".detail").replaceChildren(...(problem ? [problem] : detail(steps, arrival)));
    }
    find("backups-note").textContent = note(backups, same);
  }
}

function detail(steps, arrival) {
  const count = `${steps.toLocaleString("en")} step${steps === 1 ? "" : "s"}, `;
  return [count, element("span", `arrives ${percent(arrival)}`, { className: "whole" })];
}

function percent(arrival) {
  return arrival < 1 && arrival > 0.99 ? "over 99 %" : `${Math.round(100 * arrival)} %`;
}

function note({ expected, best }, same) {
  if (expected.problem || best.problem) return "";
  return same ? "" : "The two take different routes.";
}
