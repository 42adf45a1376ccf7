// Every option of both agents, and the data behind the picture.

import { saveBlob, saveText } from "/static/transfer.js";

const find = (id) => document.getElementById(id);

export class Options {
  constructor({ send, boards, charts, names }) {
    Object.assign(this, { send, boards, charts, names, curves: [] });
    this.forms = [...document.querySelectorAll("form.options")];
    this.forms.forEach((form, side) => {
      form.addEventListener("submit", (event) => event.preventDefault());
      form.addEventListener("change", () => this.sendOptions(form, side));
    });
    find("save-csv").addEventListener("click", () => saveText(this.csv(), "curves.csv", "text/csv"));
    find("save-png").addEventListener("click", () => this.savePicture());
  }

  setChoices({ agents }) {
    this.options = new Map(agents.map(({ name, options }) => [name, options]));
  }

  show({ agents }) {
    agents.forEach(({ name, title, options }, k) => {
      const form = this.forms[k];
      const shown = JSON.stringify([name, options]);
      if (form.dataset.shown === shown && !form.querySelector(":invalid")) return this.fill(form, options);
      form.dataset.shown = shown;
      form.dataset.name = name;
      const head = document.createElement("h3");
      head.textContent = `Options of ${title}`;
      form.replaceChildren(head, ...this.options.get(name).map((option) => this.field(option)));
      if (form.children.length === 1) form.append("none");
      this.fill(form, options);
    });
  }

  field({ name, value, choices }) {
    const label = document.createElement("label");
    const input = document.createElement(choices ? "select" : "input");
    input.name = name;
    if (choices) input.append(...choices.map((choice) => new Option(choice, choice)));
    else if (typeof value === "boolean") input.type = "checkbox";
    else Object.assign(input, { type: "number", step: "any" });
    input.dataset.usual = JSON.stringify(value);
    label.append(name.replaceAll("_", " "), input);
    return label;
  }

  fill(form, options) {
    for (const input of form.elements) {
      const value = options[input.name] ?? JSON.parse(input.dataset.usual);
      if (input.type === "checkbox") input.checked = value;
      else input.value = value;
    }
  }

  sendOptions(form, side) {
    const options = {};
    for (const input of form.elements) {
      const usual = JSON.parse(input.dataset.usual);
      const value = this.read(input);
      if (value !== usual) options[input.name] = value;
    }
    this.send("agent", { side, name: form.dataset.name, options });
  }

  // An empty number is an option that is not in use.
  read(input) {
    if (input.type === "checkbox") return input.checked;
    if (input.type === "number") return input.value === "" ? null : Number(input.value);
    return input.value;
  }

  // One line for each point: side, agent, goal, last episode of the point, how many it averages, and its numbers.
  csv() {
    const lines = ["side,agent,goal,episode,episodes,reward,inefficiency,oracle"];
    this.curves.forEach((segments, k) => {
      let episode = 0;
      for (const { goal, oracle, episodes, reward, inefficiency } of segments) {
        episodes.forEach((count, p) => {
          episode += count;
          const name = `"${this.names()[k].replaceAll('"', '""')}"`;
          lines.push([k, name, goal, episode, count, reward[p], inefficiency[p] ?? "", oracle ?? ""].join(","));
        });
      }
    });
    return `${lines.join("\n")}\n`;
  }

  // Both boards above both charts, as they are on the screen.
  savePicture() {
    const rows = [this.boards.map(({ canvas }) => canvas), this.charts.map(({ canvas }) => canvas)];
    const gap = 16;
    const widths = rows.map((row) => row.reduce((sum, { width }) => sum + width + gap, gap));
    const heights = rows.map((row) => Math.max(...row.map(({ height }) => height)) + gap);
    const sheet = document.createElement("canvas");
    sheet.width = Math.max(...widths);
    sheet.height = heights[0] + heights[1] + gap;
    const context = sheet.getContext("2d");
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, sheet.width, sheet.height);
    let y = gap;
    rows.forEach((row, r) => {
      let x = gap;
      for (const canvas of row) {
        context.drawImage(canvas, x, y);
        x += canvas.width + gap;
      }
      y += heights[r];
    });
    sheet.toBlob((blob) => saveBlob(blob, "fwrl-play.png"));
  }
}
