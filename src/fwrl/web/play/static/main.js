// The page: everything it shows comes from the server; here it is only drawn and steered.

import { Board } from "./board.js";
import { Chart } from "./chart.js";
import { Controls } from "./controls.js";
import { Editor } from "./editor.js";
import { Hand } from "./hand.js";
import { Inspector } from "./inspect.js";
import { drawScale } from "./palette.js";
import { Tour } from "./tour.js";
import { Wire } from "./wire.js";

const REFRESH = 300; // milliseconds between questions about the cell that is shown while agents learn

const find = (id) => document.getElementById(id);
const panels = [...document.querySelectorAll(".side")];
const boards = panels.map((panel, k) => new Board(panel.querySelector("canvas"), k));
const rewards = new Chart(find("rewards"), { field: "reward", label: "Reward per episode" });
const inefficiencies = new Chart(find("inefficiencies"), { field: "inefficiency", log: true, label: "Distance-inefficiency" });

let world = null;
let state = null;
let frame = null;
const drawn = [];

const MAKES = ["world", "map", "agent", "reset", "tour"]; // what the server may take a moment for

const send = (type, fields) => {
  if (MAKES.includes(type)) busy(true);
  wire.send(type, fields);
};
const busy = (is) => document.body.classList.toggle("busy", is);
const announce = (text) => (find("live").textContent = text);
const names = () => (state ? state.agents.map((name) => name.toUpperCase()) : ["", ""]);

function redraw() {
  if (frame && world && frame.world === world.version) for (const board of boards) board.draw(frame);
}

const editor = new Editor({
  send,
  onDraft: (rows) => {
    for (const board of boards) board.setRows(rows);
    redraw();
  },
  onUndoable: (can) => (find("undo").disabled = !can),
});
const inspector = new Inspector({ send, boards, redraw, announce });
const controls = new Controls({ send, editor });
const tour = new Tour({ send });
for (const board of boards) {
  new Hand(board, editor, {
    send,
    look: (cell, aloud) => inspector.look(cell, aloud),
    redraw,
    togglePlay: () => controls.togglePlay(),
  });
}

const handlers = {
  hello: (told) => controls.greet(told),
  world: (told) => {
    const shape = world && world.rows.length === told.rows.length && world.rows[0].length === told.rows[0].length;
    world = told;
    frame = null;
    busy(false);
    inspector.wanted = shape ? inspector.wanted : null;
    editor.accept(told);
    controls.world(told);
    for (const board of boards) board.setWorld(told);
  },
  state: (told) => {
    find("working").hidden = true;
    state = told;
    controls.show(told);
    tour.show(told.tour);
    inspector.refresh();
    boards.forEach((board, k) => board.canvas.setAttribute("aria-label", `The world as ${names()[k]} knows it`));
  },
  curve: ({ sides }) => {
    rewards.set(sides, names());
    inefficiencies.set(sides, names());
  },
  inspect: (told) => inspector.show(told, names()),
  working: ({ compiling }) => {
    find("working").textContent = compiling
      ? "Compiling: this computer does that once for each agent, and it takes ten seconds or more…"
      : "One moment…";
    find("working").hidden = false;
  },
  error: ({ message }) => {
    busy(false);
    find("working").hidden = true;
    inspector.answered();
    editor.revert();
    if (state) controls.show(state); // a choice that was refused is taken back
    if (world) controls.world(world);
    controls.complain(message);
  },
};

function showFrame(received) {
  if (!world || received.world !== world.version) return;
  frame = received;
  redraw();
  panels.forEach((panel, k) => showNumbers(panel, frame.sides[k]));
  tour.follow(frame, inspector, boards[0]);
  const now = performance.now();
  drawn.push(now);
  while (drawn[0] < now - 1000) drawn.shift();
  const playing = frame.playing && !frame.finished;
  find("pace").textContent = playing
    ? `episode ${(frame.episode + 1).toLocaleString("en")}, ${drawn.length} frames/s`
    : `episode ${(frame.episode + 1).toLocaleString("en")}, ${frame.finished ? "finished" : "paused"}`;
  Object.assign(find("pace").dataset, {
    frames: drawn.length,
    steps: frame.steps,
    goal: world.cells[frame.goal],
    start: world.cells[frame.start],
  });
}

function showNumbers(panel, side) {
  const number = (value, digits) => {
    const rounded = Number(value.toFixed(digits)) || 0; // no minus zero
    return Number.isNaN(value) ? "–" : rounded.toLocaleString("en", { minimumFractionDigits: digits });
  };
  panel.querySelector(".reward").textContent = number(side.reward, 1);
  panel.querySelector(".inefficiency").textContent = number(side.inefficiency, 2);
  panel.querySelector(".rate").textContent = frame.rate ? Math.round(frame.rate).toLocaleString("en") : "–";
  const route = panel.querySelector(".route");
  const moves = side.route.length - 1;
  const words = moves === 1 ? "1 move" : `${moves} moves`;
  const lost = moves > 0 ? "circle" : "none";
  const best = side.best ? "best" : side.arrives ? (world.windy ? "hoped" : "longer") : lost;
  const said = {
    best: `From the start: ${words}, the best there is`,
    longer: `From the start: ${words}; the shortest has ${state?.shortest ?? "fewer"}`,
    hoped: `From the start: ${words} if the wind is kind`,
    circle: world.windy ? "From the start: goes round unless the wind helps" : "From the start: a route that does not arrive",
    none: "From the start: no route known",
  }[best];
  if (route.textContent !== said) route.textContent = said;
  route.dataset.route = best;
  route.dataset.moves = moves;
}

const wire = new Wire({
  onMessage: (told) => handlers[told.type](told),
  onFrame: showFrame,
  onClose: (reason) => {
    find("working").hidden = true;
    controls.lost(reason);
  },
});

find("reconnect").addEventListener("click", () => {
  find("lost").hidden = true;
  inspector.answered();
  wire.connect();
});

setInterval(() => frame?.playing && inspector.refresh(), REFRESH);

function layOut() {
  for (const board of boards) board.layOut();
  rewards.draw();
  inefficiencies.draw();
  redraw();
}

let laidOut = 0;
window.addEventListener("resize", () => {
  cancelAnimationFrame(laidOut);
  laidOut = requestAnimationFrame(layOut);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", layOut);
drawScale(find("scale"));
