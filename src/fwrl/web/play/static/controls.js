// Buttons and menus around the boards.

import { RadioGroup } from "/static/radio_group.js";
import { TOOLS } from "./editor.js";

const DECADE = 20; // positions of the speed slider per factor of ten
const EMPTY = { "empty, 11 × 11": 11, "empty, 21 × 21": 21 };

const find = (id) => document.getElementById(id);

export class Controls {
  constructor({ send, editor, layOut }) {
    Object.assign(this, { send, editor, layOut });
    this.playing = false;
    this.agents = [...document.querySelectorAll(".side .agent")];
    this.abouts = [...document.querySelectorAll(".side .about")];
    this.makeTools();
    this.listen();
  }

  makeTools() {
    const group = find("tools");
    TOOLS.forEach((tool) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("role", "radio");
      button.dataset.tool = tool.id;
      const sign = document.createElement("b");
      sign.textContent = tool.sign;
      sign.setAttribute("aria-hidden", "true");
      const wind = tool.label.startsWith("Wind");
      if (wind) button.setAttribute("aria-label", tool.label);
      button.title = tool.hint ?? tool.label;
      button.append(sign, wind ? "" : tool.label);
      if (tool.label === "Wind up") group.append(caption("Wind"));
      group.append(button);
    });
    this.tools = new RadioGroup(group, (id) => this.choose(id));
    this.choose("goal");
  }

  choose(id) {
    this.editor.tool = id;
    this.tools.show(id);
    // Drawing by touch must not scroll the page; tapping may.
    const touch = ["goal", "start"].includes(id) ? "pan-y" : "none";
    for (const canvas of document.querySelectorAll(".stage canvas")) canvas.style.touchAction = touch;
  }

  listen() {
    find("play").addEventListener("click", () => this.togglePlay());
    find("step").addEventListener("click", () => this.send("step"));
    find("reset").addEventListener("click", () => this.reset());
    find("seed").addEventListener("change", () => this.reset());
    find("speed").addEventListener("input", () => this.sendSpeed());
    find("world").addEventListener("change", ({ target }) => this.chooseWorld(target.value));
    find("starts").addEventListener("change", ({ target }) => this.send("starts", { anywhere: target.value === "anywhere" }));
    find("draw-open").addEventListener("click", () => this.openDraw(find("draw").hidden));
    find("more-open").addEventListener("click", () => this.openMore(find("panel").hidden));
    find("undo").addEventListener("click", () => this.send("undo"));
    this.agents.forEach((select, side) =>
      select.addEventListener("change", () => this.send("agent", { side, name: select.value, options: {} })),
    );
    document.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && event.target.tagName !== "TEXTAREA") {
        event.preventDefault();
        if (!find("undo").disabled) this.send("undo");
      } else if (event.key === " " && event.target === document.body) {
        event.preventDefault();
        this.togglePlay();
      }
    });
  }

  // Drawing ends with its drawer: what a click does is always in sight.
  openDraw(open) {
    find("draw").hidden = !open;
    find("draw-open").setAttribute("aria-expanded", open);
    this.choose(open ? "#" : "goal");
    this.layOut();
  }

  openMore(open) {
    find("panel").hidden = !open;
    find("more-open").setAttribute("aria-expanded", open);
    this.layOut();
  }

  // Show the change before the server answers, so that a second click undoes the first.
  togglePlay() {
    this.send(this.playing ? "pause" : "play");
    this.showPlaying(!this.playing);
  }

  showPlaying(playing) {
    this.playing = playing;
    find("play").textContent = playing ? "Pause" : "Play";
  }

  reset() {
    const seed = Math.min(2 ** 32 - 1, Math.max(0, Math.floor(Number(find("seed").value) || 0)));
    this.send("reset", { seed });
  }

  chooseWorld(name) {
    if (!(name in EMPTY)) return this.send("world", { name });
    const n = EMPTY[name];
    this.editor.use(Array(n).fill(".".repeat(n)).join("\n"));
  }

  sendSpeed() {
    const value = 10 ** (Number(find("speed").value) / DECADE);
    this.showSpeed(value);
    this.send("speed", { value });
  }

  showSpeed(speed) {
    const rounded = speed < 10 ? Math.round(speed) : Number(speed.toPrecision(2));
    const said = speed >= this.fastest ? "as fast as it goes" : rounded === 1 ? "1 step/s" : `${rounded.toLocaleString("en")} steps/s`;
    find("speed-said").textContent = said;
    find("speed").setAttribute("aria-valuetext", said);
  }

  setChoices({ agents, sides, worlds, fastest }) {
    this.fastest = fastest;
    this.worlds = worlds;
    this.menu = Object.fromEntries(agents.map((agent) => [agent.name, agent]));
    const groups = [...new Set(agents.map(({ group }) => group))];
    for (const select of this.agents) {
      select.replaceChildren(
        ...groups.map((label) => {
          const group = document.createElement("optgroup");
          group.label = label;
          for (const { name, title, sentence } of agents.filter((agent) => agent.group === label)) {
            const option = new Option(title, name);
            option.title = sentence;
            group.append(option);
          }
          return group;
        }),
      );
    }
    this.showAgents(sides.map((name) => ({ name, title: this.menu[name].title })));
    find("world").replaceChildren(
      ...worlds.map((name) => new Option(name.replace(/-(\d+)$/, " $1").replaceAll("-", " "), name)),
      ...Object.keys(EMPTY).map((name) => new Option(name, name)),
    );
  }

  showWorld({ name, rows, windy }) {
    find("key-wind").hidden = !windy;
    find("key-cost").hidden = !rows.some((row) => /[1-9]/.test(row));
    const select = find("world");
    if (![...select.options].some((option) => option.value === name)) select.append(new Option(name, name, false, true));
    select.value = name;
    for (const option of [...select.options]) if (option.value === "drawn" && name !== "drawn") option.remove();
  }

  show({ playing, speed, agents, anywhere, seed, undo, tour }) {
    this.showPlaying(playing);
    find("undo").disabled = undo === null || tour !== null;
    find("undo").title = undo === null ? "Nothing to undo" : `Undo ${undo}`;
    if (document.activeElement !== find("speed")) find("speed").value = Math.round(DECADE * Math.log10(speed));
    this.showSpeed(speed);
    find("starts").value = anywhere ? "anywhere" : "start";
    find("seed").value = seed;
    this.showAgents(agents);
    document.body.classList.toggle("touring", tour !== null);
    for (const select of this.agents) select.disabled = tour !== null;
  }

  showAgents(agents) {
    this.agents.forEach((select, k) => {
      const { name, title } = agents[k];
      for (const option of select.options) option.textContent = option.value === name ? title : (this.menu[option.value]?.title ?? option.value);
      select.value = name;
      this.abouts[k].textContent = this.abouts[k].title = this.menu[name]?.sentence ?? "";
    });
  }
}

function caption(text) {
  const span = document.createElement("span");
  span.className = "group";
  span.textContent = text;
  span.setAttribute("aria-hidden", "true");
  return span;
}
