// What the marks on the map mean.

import { element } from "./steps.js";

const ROUTE = [
  ["route", "route"],
  ["stitch", "stitch: other trips from here"],
  ["once", "seen only once"],
  ["old", "not seen for"],
  ["ghost", "the way without conditions"],
  ["ahead", "can be reached from the start"],
  ["behind", "reaches the goal"],
];
const COVERAGE = [
  ["bridges", "bridge that hangs on one trip"],
  ["dead-ends", "dead end"],
  ["one-way", "one-way street"],
];

export function drawLegend({ old }) {
  const keys = [...ROUTE.map((key) => [...key, "route"]), ...COVERAGE.map((key) => [...key, "coverage"])];
  const made = keys.flatMap(([mark, text, view]) => {
    if (mark === "old" && old === null) return [];
    const key = element("span", "", { className: "key" });
    key.dataset.view = view;
    key.append(element("i", "", { className: mark }), mark === "old" ? `${text} ${old}` : text);
    return [key];
  });
  document.querySelector(".legend").replaceChildren(...made);
}
