// The play page: draws what the server sends, and sends what its user does.

import { Notices } from "/static/notices.js";
import { drawScale } from "/static/palette.js";
import { Wire } from "/static/wire.js";
import { Board } from "./board.js";
import { BoardInput } from "./board_input.js";
import { Chart } from "./chart.js";
import { Controls } from "./controls.js";
import { Editor } from "./editor.js";
import { decode } from "./frame.js";
import { Inspector } from "./inspect.js";
import { Tour } from "./tour.js";

const REFRESH = 300; // milliseconds between requests for the cell that is shown while agents learn

const find = (id) => document.getElementById(id);
const panels = [...document.querySelectorAll(".side")];
const boards = panels.map((panel, k) => new Board(panel.querySelector("canvas"), k));
const rewards = new Chart(find("rewards"), { field: "reward", label: "Reward per episode" });
const inefficiencies = new Chart(find("inefficiencies"), { field: "inefficiency", log: true, label: "Distance-inefficiency" });

let world = null;
let state = null;
let frame = null;
const drawn = [];

const BUILDS = ["world", "map", "agent", "reset", "tour"]; // messages for which the server builds something

const send = (type, fields) => {
  if (BUILDS.includes(type)) busy(true);
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
  new BoardInput(board, editor, {
    send,
    look: (cell, aloud) => inspector.look(cell, aloud),
    redraw,
    togglePlay: () => controls.togglePlay(),
  });
}

const handlers = {
  hello: (message) => controls.setChoices(message),
  world: (message) => {
    const shape = world && world.rows.length === message.rows.length && world.rows[0].length === message.rows[0].length;
    world = message;
    frame = null;
    busy(false);
    inspector.wanted = shape ? inspector.wanted : null;
    editor.accept(message);
    controls.showWorld(message);
    for (const board of boards) board.setWorld(message);
  },
  state: (message) => {
    notices.hideWorking();
    state = message;
    controls.show(message);
    tour.show(message.tour);
    inspector.refresh();
    boards.forEach((board, k) => board.canvas.setAttribute("aria-label", `The world as ${names()[k]} knows it`));
  },
  curve: ({ sides }) => {
    rewards.set(sides, names());
    inefficiencies.set(sides, names());
  },
  inspect: (message) => inspector.show(message, names()),
  working: (message) => notices.showWorking(message),
  error: ({ message: problem }) => {
    busy(false);
    notices.hideWorking();
    inspector.answered();
    editor.revert();
    if (state) controls.show(state); // undo a choice that was refused
    if (world) controls.showWorld(world);
    notices.showError(problem);
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
  const best = side.best ? "best" : side.arrives ? (world.windy ? "windy" : "longer") : lost;
  const said = {
    best: `From the start: ${words}, the best there is`,
    longer: `From the start: ${words}; the shortest has ${state?.shortest ?? "fewer"}`,
    windy: `From the start: ${words} if no wind blows`,
    circle: world.windy ? "From the start: a loop, unless the wind ends it" : "From the start: a route that does not arrive",
    none: "From the start: no route known",
  }[best];
  if (route.textContent !== said) route.textContent = said;
  route.dataset.route = best;
  route.dataset.moves = moves;
}

const notices = new Notices({
  onReconnect: () => {
    inspector.answered();
    wire.connect();
  },
});
const wire = new Wire({
  decode,
  onMessage: (message) => handlers[message.type](message),
  onFrame: showFrame,
  onClose: (reason) => {
    notices.hideWorking();
    notices.showLost(reason);
  },
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
