// Both backups side by side: what the best one promises, what the expected one is worth. Either can be drawn.

import { RadioGroup } from "/static/radio_group.js";
import { element, number } from "./steps.js";

const SAID = {
  expected: ["expected", "value", "the mean of all outcomes seen"],
  best: ["best", "promise", "the best outcome of every step, as if it could be chosen"],
};
const find = (id) => document.getElementById(id);

export class Backups {
  constructor({ onChoose }) {
    const pair = find("backups").querySelector(".pair");
    for (const [backup, [name, what, how]] of Object.entries(SAID)) {
      const button = element("button", "", { type: "button" });
      button.setAttribute("role", "radio");
      button.dataset.tool = backup;
      button.append(element("strong", name), element("span", "", { className: "worth" }), element("span", "", { className: "detail" }), element("small", `${what}: ${how}`));
      pair.append(button);
    }
    this.group = new RadioGroup(pair, onChoose);
  }

  show({ backups, backup, same }) {
    find("backups").hidden = !backups;
    if (!backups) return;
    this.group.show(backup);
    for (const button of this.group.buttons) {
      const { value, steps, arrival, problem } = backups[button.dataset.tool];
      const [, what] = SAID[button.dataset.tool];
      button.querySelector(".worth").textContent = problem ? "–" : `${what} ${number(value)}`;
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
  const gap = best.value - expected.value;
  const way = same ? "Both take the same route" : "They take different routes";
  if (Math.abs(gap) <= 1e-9 * Math.max(1e-3, Math.abs(best.value))) return `${way}, worth the same.`;
  return `${way}; the promise is ${number(Math.abs(gap))} ${gap > 0 ? "more" : "less"} than can be expected.`;
}
