// The play page: draws what the server sends, and sends what its user does.

import { Notices } from "/static/notices.js";
import { drawScale } from "/static/palette.js";
import { Wire } from "/static/wire.js";
import { Announcer } from "./announcer.js";
import { Board } from "./board.js";
import { BoardInput } from "./board_input.js";
import { Chart } from "./chart.js";
import { Controls } from "./controls.js";
import { Editor } from "./editor.js";
import { decode } from "./frame.js";
import { Inspector } from "./inspect.js";
import { Lesson } from "./lesson.js";
import { MapDialog } from "./map_dialog.js";
import { Options } from "./options.js";
import { Share } from "./share.js";
import { Tour } from "./tour.js";
import { Units } from "./units.js";
import { UpdatePanel } from "./update.js";
import { Verdicts } from "./verdict.js";

const REFRESH = 300; // milliseconds between requests for the cell that is shown while agents learn

const find = (id) => document.getElementById(id);
const panels = [...document.querySelectorAll(".side")];
const boards = panels.map((panel, k) => new Board(panel.querySelector("canvas"), k));
const charts = [
  new Chart(find("rewards"), { field: "reward", label: "Reward per episode" }),
  new Chart(find("inefficiencies"), { field: "inefficiency", log: true, label: "Distance-inefficiency" }),
];

let world = null;
let state = null;
let frame = null;
const drawn = [];

// Messages for which the server builds something.
const BUILDS = ["world", "map", "agent", "reset", "tour", "lesson", "open", "address", "undo", "forget"];
let untouched = true; // whether nobody has moved the flag yet

const send = (type, fields) => {
  if (type === "goal") touched();
  if (BUILDS.includes(type)) busy(true);
  wire.send(type, fields);
};
const busy = (is) => document.body.classList.toggle("busy", is);
const names = () => (state ? state.agents.map(({ title }) => title) : ["", ""]);

function redraw() {
  if (!frame || !world || frame.world !== world.version) return;
  for (const board of boards) {
    board.draw(frame, !lesson.asking);
    board.showPulse(untouched && !document.body.matches(".touring, .learning"));
  }
}

function touched() {
  untouched = false;
  find("hint").style.visibility = "hidden"; // its room stays, so that boards don't move under a finger
}

const announcer = new Announcer(find("live"));
const units = new Units({ onChange: () => { verdicts.draw(); inspector.draw(); update.draw(); } });
const verdicts = new Verdicts({ send, panels, units, names });
const editor = new Editor({
  send,
  keeps: () => find("keep").value === "keep",
  onDraft: (rows) => {
    for (const board of boards) board.setRows(rows);
    redraw();
  },
});
const inspector = new Inspector({ send, boards, units, redraw, announcer, names });
const update = new UpdatePanel({ send, boards, units, redraw, names, layOut });
const controls = new Controls({ send, editor, layOut });
const mapDialog = new MapDialog({ editor });
const tour = new Tour({ send });
const lesson = new Lesson({ send, onShow: () => controls.openDraw(false) }); // which lays out the page
const share = new Share({ send });
const options = new Options({ send, boards, charts, names });
for (const board of boards) {
  new BoardInput(board, editor, {
    send,
    look: (cell, aloud) => inspector.look(cell, aloud),
    redraw,
    togglePlay: () => controls.togglePlay(),
  });
}

const handlers = {
  hello: (message) => {
    share.keepSession(message.session);
    controls.setChoices(message);
    options.setChoices(message);
    lesson.setChoices(message.lessons);
    mapDialog.mostCells = message.cells;
  },
  world: (message) => {
    const shape = world && world.rows.length === message.rows.length && world.rows[0].length === message.rows[0].length;
    world = message;
    frame = null;
    busy(false);
    inspector.wanted = shape ? inspector.wanted : null;
    units.setWorld(message);
    announcer.world = message;
    controls.showWorld(message);
    editor.accept(message);
    mapDialog.accept(message);
    update.close();
    for (const board of boards) board.setWorld(message, editor.rows);
  },
  state: (message) => {
    notices.showReady();
    busy(false);
    state = message;
    controls.show(message);
    options.show(message);
    verdicts.show(message);
    tour.show(message.tour);
    document.body.classList.toggle("learning", message.lesson !== null);
    lesson.show(message.lesson);
    share.show(message);
    inspector.refresh();
    boards.forEach((board, k) => board.canvas.setAttribute("aria-label", `The world as ${names()[k]} knows it`));
  },
  curve: ({ sides }) => {
    for (const chart of charts) chart.set(sides, names());
    options.curves = sides;
  },
  verdict: (message) => verdicts.set(message),
  knowledge: (message) => showKnowledge(message),
  update: (message) => update.set(message, world),
  triangle: (message) => update.setTriangle(message),
  inspect: (message) => inspector.show(message),
  working: (message) => notices.showWorking(message),
  error: ({ message: problem, edit }) => {
    busy(false);
    notices.hideWorking();
    inspector.answered();
    editor.refuse(edit);
    if (state) controls.show(state); // undo a choice that was refused
    if (state) options.show(state);
    if (world) controls.showWorld(world);
    if (!mapDialog.refuse(edit, problem)) notices.showError(problem);
  },
};

function showKnowledge({ world: version, most, sides }) {
  if (version !== world?.version) return;
  panels.forEach((panel, k) => {
    const shown = find("knowledge").checked;
    boards[k].knowledge = shown && sides.length ? sides[k].counts : null;
    const said = panel.querySelector(".knows");
    said.hidden = !shown;
    said.textContent = sides.length
      ? `knows ${sides[k].known.toLocaleString("en")} of ${sides[k].pairs.toLocaleString("en")} pairs`
      : `counted only in maps of at most ${most.toLocaleString("en")} cells`;
  });
  redraw();
}

find("knowledge").addEventListener("change", ({ target }) => {
  const ends = document.querySelectorAll(".scale-values span");
  ["far", "at the flag"].forEach((usual, k) => (ends[k].textContent = target.checked ? ["reaches few", "reaches all"][k] : usual));
  send("knowledge", { shown: target.checked });
  if (target.checked) return;
  for (const board of boards) board.knowledge = null;
  for (const panel of panels) panel.querySelector(".knows").hidden = true;
  redraw();
});

function showFrame(received) {
  if (!world || received.world !== world.version) return;
  const moved = frame?.goal !== received.goal || frame?.start !== received.start;
  frame = received;
  announcer.frame = frame;
  verdicts.follow(frame);
  redraw();
  panels.forEach((panel, k) => showNumbers(panel, frame.sides[k], frame.sides[1 - k], names()[1 - k]));
  if (frame.steps === 0 && untouched) find("hint").textContent = "Press Play, and both begin to look for the flag.";
  tour.follow(frame, inspector);
  if (moved) inspector.refresh();
  const now = performance.now();
  drawn.push(now);
  while (drawn[0] < now - 1000) drawn.shift();
  const playing = frame.playing && !frame.finished;
  const episode = `episode ${(frame.episode + 1).toLocaleString("en")}`;
  const rate = frame.rate ? `, ${Math.round(frame.rate).toLocaleString("en")} steps/s` : "";
  find("pace").textContent = playing
    ? `${episode}${rate}, ${drawn.length} frames/s`
    : `${episode}, ${frame.finished ? "finished" : "paused"}`;
  verdicts.playing = playing;
  Object.assign(find("pace").dataset, { frames: drawn.length, steps: frame.steps, goal: frame.goal, start: frame.start });
}

// The steps that an agent has taken, and a word if the other one has taken more or fewer.
function showNumbers(panel, side, other, name) {
  const said = (n) => n.toLocaleString("en");
  panel.querySelector(".taken").textContent = said(side.steps);
  panel.querySelector(".badge").hidden = !frame.goalMoved;
  const joined = panel.querySelector(".joined");
  joined.hidden = side.steps >= other.steps || Boolean(state?.tour);
  if (joined.hidden) return;
  const text = `It joined later: ${said(side.steps)} steps so far, while ${name} has taken ${said(other.steps)}.`;
  if (joined.textContent !== text) joined.textContent = text;
}

const notices = new Notices({
  onReconnect: () => {
    inspector.answered();
    wire.connect();
  },
});
const wire = new Wire({
  decode,
  begin: () => share.begin(),
  onMessage: (message) => handlers[message.type](message),
  onFrame: showFrame,
  onClose: (reason) => {
    notices.hideWorking();
    busy(false);
    notices.showLost(reason);
  },
});

setInterval(() => frame?.playing && inspector.refresh(), REFRESH);

function layOut() {
  for (const board of boards) board.layOut();
  for (const chart of charts) chart.draw();
  update.drawMatrix();
  redraw();
}

let laidOut = 0;
const layOutSoon = () => {
  cancelAnimationFrame(laidOut);
  laidOut = requestAnimationFrame(layOut);
};
window.addEventListener("resize", layOutSoon);
for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
  matchMedia(query).addEventListener("change", layOutSoon);
}
// What is above, between and below the boards takes height from them.
for (const part of document.querySelectorAll("#tour, #lesson, header, footer, .joined, .outdated, .knows")) {
  new ResizeObserver(layOutSoon).observe(part);
}
drawScale(find("scale"));
