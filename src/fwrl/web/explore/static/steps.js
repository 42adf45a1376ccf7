// The steps of a route, one line each, under the trips that cover them.

const SHOWN = 100; // steps at first
const LONGEST = 24; // characters of a name in a line

const find = (id) => document.getElementById(id);

export function element(name, text = "", properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...properties });
}

// A name that fits, cut in the middle: both ends tell names apart.
export function cut(name, most = LONGEST) {
  if (name.length <= most) return name;
  const front = Math.ceil((most - 1) / 2);
  return `${name.slice(0, front)}…${name.slice(name.length - (most - 1 - front))}`;
}

// A probability in short, never rounded to certainty or impossibility.
function chance(probability) {
  if (probability > 0.99 && probability < 1) return ">99 %";
  return probability > 0 && probability < 0.01 ? "<1 %" : `${Math.round(100 * probability)} %`;
}

export const tripColour = (stretch) => `--trip-${stretch % 4}`;

export class Steps {
  constructor({ onPoint, onShow }) {
    Object.assign(this, { onPoint, onShow });
    find("steps-all").addEventListener("click", () => this.draw(Infinity));
  }

  show(route) {
    this.route = route;
    find("steps").hidden = !route || !route.steps.length;
    if (!find("steps").hidden) this.draw(SHOWN);
  }

  draw(most) {
    const { steps, states } = this.route;
    const has = {
      action: steps.some(({ action, to }) => action !== null && action !== to),
      chance: steps.some(({ probability }) => probability < 1),
    };
    const names = ["", "to", has.action && "by", "cost", has.chance && "chance", "seen"];
    const head = element("tr");
    names.forEach((name, k) => name !== false && head.append(element("th", name, { scope: "col", className: k === 0 ? "number" : "" })));
    head.firstElementChild.append(element("span", "step", { className: "hidden" }));
    find("steps").querySelector("thead").replaceChildren(head);
    const across = head.children.length;
    const rows = steps.slice(0, most).map((step, k) => this.row(step, k, has));
    const shown = rows.flatMap((row, k) => [...this.stretch(k, across), row]);
    find("steps").querySelector("tbody").replaceChildren(...shown);
    rows.forEach((row, k) => {
      row.addEventListener("pointerenter", () => this.onPoint(k));
      row.addEventListener("pointerleave", () => this.onPoint(-1));
      const button = row.querySelector("button");
      button.addEventListener("focus", () => this.onPoint(k));
      button.addEventListener("blur", () => this.onPoint(-1));
      button.addEventListener("click", () => this.onShow(states[k + 1]));
    });
    find("steps-title").textContent = `Steps from ${cut(steps[0].from)}`;
    find("steps-all").hidden = steps.length <= most;
    find("steps-all").textContent = `Show all ${steps.length.toLocaleString("en")} steps`;
  }

  row(step, k, has) {
    const row = element("tr");
    row.style.setProperty("--trip", `var(${tripColour(step.stretch)})`);
    const cell = (text, className = "") => {
      const made = element("td", text, { className });
      row.append(made);
      return made;
    };
    cell(String(k + 1), "number");
    const trips = step.trips.length ? `; latest trips ${step.trips.join(", ")}` : "";
    const when = step.last ? `; last seen ${step.last}` : "";
    cell("", "to").append(element("button", cut(step.to), { type: "button", className: "plain", title: `${step.to}${when}${trips}` }));
    if (has.action) cell(cut(step.action ?? "", 10));
    cell(step.cost, "value");
    if (has.chance) cell(chance(step.probability), "value");
    const seen = cell(step.seen === 1 ? "" : step.seen.toLocaleString("en"), "value");
    if (step.seen === 1) seen.append(element("span", "once", { className: "badge once" }));
    if (step.old) seen.append(" ", element("span", "long ago", { className: "badge old", title: `last seen ${step.last}` }));
    return row;
  }

  // Which trips cover what follows, where that changes.
  stretch(k, across) {
    const { steps, stretches } = this.route;
    const { trip, trips } = stretches[steps[k].stretch] ?? {};
    if (!trip || (k > 0 && !steps[k].stitch)) return [];
    const more = trips > 1 ? ` and ${(trips - 1).toLocaleString("en")} more` : "";
    const at = k > 0 ? `stitched at ${cut(steps[k].from)}: ` : "";
    const row = element("tr", "", { className: "stretch" });
    row.style.setProperty("--trip", `var(${tripColour(steps[k].stretch)})`);
    row.append(element("td", `${at}trip ${trip}${more}`, { colSpan: across }));
    return [row];
  }
}
