// The steps of a route with their evidence, as a table.

const SHOWN = 100; // steps at first

const find = (id) => document.getElementById(id);

export function element(name, text = "", properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...properties });
}

export const number = (value) => Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 6 });

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
    const cost = steps.every(({ reward }) => reward <= 0);
    const has = {
      action: steps.some(({ action, to }) => action !== null && action !== to),
      chance: steps.some(({ probability }) => probability < 1),
      last: steps.some(({ last }) => last !== null),
    };
    const names = ["", "to", has.action && "by", cost ? "cost" : "reward", has.chance && "chance", "seen", has.last && "last seen"];
    const head = element("tr");
    names.forEach((name, k) => name !== false && head.append(element("th", name, { scope: "col", className: k === 0 ? "number" : "" })));
    head.firstElementChild.append(element("span", "step", { className: "hidden" }));
    find("steps").querySelector("thead").replaceChildren(head);
    const rows = steps.slice(0, most).map((step, k) => this.row(step, k, has, cost));
    const across = head.children.length - 1;
    const shown = rows.flatMap((row, k) => [...this.stitch(steps[k], across), row, ...this.trips(steps[k], across)]);
    find("steps").querySelector("tbody").replaceChildren(...shown);
    rows.forEach((row, k) => {
      row.addEventListener("pointerenter", () => this.onPoint(k));
      row.addEventListener("pointerleave", () => this.onPoint(-1));
      const button = row.querySelector("button");
      button.addEventListener("focus", () => this.onPoint(k));
      button.addEventListener("blur", () => this.onPoint(-1));
      button.addEventListener("click", () => this.onShow(states[k + 1]));
    });
    find("steps-title").textContent = `Steps from ${steps[0].from}`;
    find("steps-all").hidden = steps.length <= most;
    find("steps-all").textContent = `Show all ${steps.length.toLocaleString("en")} steps`;
  }

  row(step, k, has, cost) {
    const row = element("tr");
    const cell = (text, className = "") => {
      const made = element("td", text, { className });
      row.append(made);
      return made;
    };
    cell(String(k + 1), "number");
    cell("", "to").append(element("button", step.to, { type: "button", className: "plain", title: "Show on the map" }));
    if (has.action) cell(step.action ?? "");
    cell(number(cost ? -step.reward : step.reward), "value");
    if (has.chance) cell(`${Math.round(100 * step.probability)} %`, "value");
    const seen = cell(step.seen === 1 ? "" : step.seen.toLocaleString("en"), "value");
    if (step.seen === 1) seen.append(element("span", "once", { className: "badge once" }));
    if (has.last) {
      const last = cell("", "last");
      const [date, time = ""] = (step.last ?? "").split(" ");
      const clock = element("span", time.slice(0, 5), { className: "clock" });
      const said = element("span", "", { className: step.old ? "badge old" : "" });
      said.append(element("span", date, { className: "whole" }), " ", clock, ...(step.old ? [" long ago"] : []));
      last.append(said);
    }
    return row;
  }

  stitch({ stitch, from }, across) {
    return stitch ? [wide("stitch", `stitched at ${from}: other trips from here`, across)] : [];
  }

  trips({ trips }, across) {
    const [word, more] = [trips.length === 1 ? "trip" : "latest trips", trips.join(", ")];
    return trips.length ? [wide("trips", `${word} ${more}`, across)] : [];
  }
}

// A row of one cell, beside the number.
function wide(className, text, across) {
  const row = element("tr", "", { className });
  row.append(element("td"), element("td", text, { className, colSpan: across }));
  return row;
}
