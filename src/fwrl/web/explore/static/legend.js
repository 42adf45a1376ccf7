// What the marks on the map mean; only marks that are on it now.

import { element } from "./steps.js";

const COVERAGE = [
  ["bridges", "bridge that hangs on one trip"],
  ["dead-ends", "dead end"],
  ["one-way", "one-way road"],
];

export function drawLegend({ old }, { view, route, ghost, gap, conditions }, others) {
  const has = (mark) => (route?.steps ?? []).some(mark);
  const marks = [
    ["route", has(({ stitch }) => stitch) ? "route, a colour for each trip" : "route", route?.steps.length],
    ["other", "other routes", others],
    ["once", "seen only once", has(({ seen }) => seen === 1)],
    ["old", `not seen for ${old}`, has((step) => step.old)],
    ["ghost", `without ${conditions}`, ghost],
    ["ahead", "can be reached from the start", gap],
    ["behind", "reaches the goal", gap],
    ["near", "nearest gap", gap?.near],
  ];
  const shown = view === "reach" ? [["reach", "near to far"]] : view === "coverage" ? COVERAGE : marks.filter(([, , on]) => on);
  const keys = shown.map(([mark, text]) => {
    const key = element("span", "", { className: "key" });
    key.append(element("i", "", { className: mark }), text);
    return key;
  });
  document.querySelector(".legend").replaceChildren(...keys);
}
