// The explore page: draws what the server answers, and asks what its user clicks.

import { Notices } from "/static/notices.js";
import { RadioGroup } from "/static/radio_group.js";
import { Wire } from "/static/wire.js";
import { Alternatives } from "./alternatives.js";
import { Backups } from "./backups.js";
import { Copies } from "./copies.js";
import { Coverage } from "./coverage.js";
import { drawLegend } from "./legend.js";
import { MapCanvas } from "./map.js";
import { decode } from "./map_frame.js";
import { MapInput } from "./map_input.js";
import { QuestionBox } from "./question.js";
import { Reach } from "./reach.js";
import { Search } from "./search.js";
import { StateCard } from "./state_card.js";
import { element, Steps } from "./steps.js";

const IDLE = 300; // milliseconds
const find = (id) => document.getElementById(id);
const send = (type, fields) => wire.send(type, fields);
const say = (text) => (find("live").textContent = text);
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

let hello = null;
let answer = null;
let early = null; // an answer that came before the map was drawn
let tool = "from";
let idle = 0; // a timer: what can wait is asked once nobody has asked anything for a moment

const map = new MapCanvas(find("map"), { send, onDraw: showDetail });
const box = new QuestionBox({ send, view: map.view, redraw: () => map.draw() });
const steps = new Steps({ onPoint: point, onShow: (state) => map.show(state) });
const backups = new Backups({ onChoose: (backup) => box.set("backup", backup) });
const others = new Alternatives({ send, map });
const reach = new Reach({ send, map });
const coverage = new Coverage({ send, map, onShow: (states) => (states.length === 1 ? map.show(states[0]) : map.fitStates(states)) });
const card = new StateCard({ send, use, say });
const copies = new Copies({ send, say: (text) => notices.showDone(text), link: () => box.link });
const search = new Search({ send, say, onChoose: findState });
const tools = new RadioGroup(find("tools"), choose);
const views = new RadioGroup(find("views"), (view) => box.set("view", view));
const input = { use, useRoad, tool: () => tool, look: (state) => send("look", { state }), hover, routeStates };
new MapInput(map, input);

function choose(chosen) {
  tool = chosen;
  tools.show(chosen);
}

function use(what, state) {
  if (what === "look") return card.ask(state);
  card.close();
  if (what === "from" || what === "to") choose("to");
  box.use(what, state);
}

function useRoad(ends) {
  card.close();
  box.useRoad(ends);
}

function findState(state) {
  map.show(state);
  card.ask(state);
}

function point(k) {
  map.pointed = k;
  map.draw();
}

// All states that the answer draws but the sides of a gap: route, ghost, narrowest part of the gap, marks.
function routeStates() {
  if (!answer) return [];
  const marks = [answer.from, answer.to, ...answer.via, ...answer.avoid, ...answer.roads.flat()].filter(Boolean).map(([state]) => state);
  return [...(answer.route?.states ?? []), ...(answer.ghost ?? []), ...(answer.gap?.near ?? []), ...marks];
}

function hover(state) {
  const name = state === null ? undefined : map.labels.name(state);
  find("tip").hidden = name === undefined;
  if (name === undefined) return;
  find("tip").textContent = name;
  const { place } = map.map;
  const { style } = find("tip");
  style.left = `${map.view.across(place[2 * state])}px`;
  style.top = `${map.view.down(place[2 * state + 1])}px`;
}

function showHello(message) {
  hello = message;
  map.map = null; // until that of this part of the log has come
  map.labels.forget();
  coverage.forget();
  const trips = message.trips === null ? "" : ` from ${count(message.trips, "trip")}`;
  const hours = message.hours === null ? "" : `, ${message.hours}`;
  find("about").textContent = `${message.file}: ${count(message.states, "place")}, ${count(message.roads, "road")}, ${count(message.transitions, "step")}${trips}${hours}`;
  showPeriod(message);
  document.title = `fwrl explore ${message.file}`;
}

function showPeriod({ period, dated }) {
  const { elements } = find("period").querySelector("form");
  for (const [name, text] of Object.entries(period)) Object.assign(elements[name], { value: text, disabled: !dated && name !== "min_trips" });
  const trips = period.min_trips && `at least ${count(Number(period.min_trips), "trip")}`;
  const chosen = Object.values({ ...period, min_trips: trips }).filter(Boolean).join(", ");
  find("period").querySelector("summary").textContent = chosen ? `Part of the log: ${chosen}` : "Part of the log";
  find("period").querySelector(".hint").textContent = dated ? "" : "To choose hours and dates, open a log with times instead of a planner: fwrl explore trips.csv";
}

function choosePeriod(fields) {
  box.put("filter", fields);
}

function showMap(frame) {
  map.setMap(frame);
  find("map").setAttribute("aria-label", `Map of ${count(hello.states, "place")}`);
  if (early) showAnswer(early);
  early = null;
}

function showAnswer(message) {
  const first = answer === null;
  answer = message;
  notices.showReady();
  map.labels.learn([message.from, message.to, ...message.via, ...message.avoid, ...message.roads.flat()].filter(Boolean));
  map.answer = message;
  map.pointed = -1;
  box.accept(message);
  views.show(message.view);
  if (first) showFirst();
  clearTimeout(idle);
  if (message.route && message.view === "route") idle = setTimeout(() => send("quantiles"), IDLE);
  showWords(message);
  const covering = message.view !== "route";
  coverage.show(message.view === "coverage");
  reach.show(message);
  others.show(covering ? { ...message, route: null } : message);
  backups.show(covering ? {} : message);
  steps.show(covering ? null : (message.route ?? null));
  find("start-hint").hidden = covering || Boolean(message.route) || Boolean(message.problem);
  copies.show(Boolean(message.route), hello.map !== "layers");
  find("fit-route").disabled = routeStates().length === 0;
  drawLegend(hello, message, others.wanted && !covering);
  map.draw();
}

// A link that does not say what is in sight shows all of its route.
function showFirst() {
  if (!box.readView() && answer.view === "route" && answer.from && answer.to) map.fitStates(routeStates());
  if (answer.from) choose("to");
}

function showWords({ view, headline, aside = "", sentence, problem, difference, gap, from, to }) {
  if (view !== "route") aside = "";
  if (view === "coverage") [headline, sentence, problem, difference, gap] = ["What the log hardly covers", coverage.sentence];
  if (view === "reach") [headline, sentence, problem, difference, gap] = ["What is near enough", "Every place by what it costs, cheapest first"];
  headline ??= "fwrl explore";
  find("headline").replaceChildren(headline.slice(0, headline.length - aside.length), element("span", aside));
  find("quantiles").hidden = true;
  const asked = from ? "Click where to go." : to ? "Click where to start." : "Click where to start, then where to go.";
  find("sentence").textContent = sentence ?? problem ?? asked;
  find("sentence").dataset.found = sentence ? "route" : problem ? "none" : "";
  find("difference").hidden = !difference;
  find("difference").textContent = difference ?? "";
  find("gap").hidden = !gap;
  find("gap").replaceChildren(...(gap?.words ?? []).map((words) => element("p", words)));
}

function showDetail({ roads, more, states }, moving) {
  find("map").dataset.drawn ??= Math.round(performance.now());
  if (box.answeredAsked) find("map").dataset.answered = Math.round(performance.now() - box.answeredAsked);
  box.answeredAsked = 0;
  if (moving) return box.viewMoved();
  if (answer) box.viewMoved();
  const unplaced = hello.unplaced ? `; ${count(hello.unplaced, "place")} without a position` : "";
  const some = more ? `the ${count(roads.length, "road")} seen most often; zoom in for all` : count(roads.length, "road");
  find("detail").textContent = `In sight: ${count(states.length, "place")}, ${some}${unplaced}`;
}

// The first message of a connection. Only now, when it is open, is what is asked no longer lost.
function begin() {
  map.labels.retry();
  coverage.retry();
  return box.begin();
}

const handlers = {
  hello: showHello,
  answer: (message) => {
    box.settle();
    if (map.map) showAnswer(message);
    else early = message;
  },
  quantiles: ({ address, text }) => {
    if (answer?.view !== "route" || answer.address !== address) return;
    find("quantiles").hidden = !text;
    find("quantiles").textContent = text;
  },
  names: ({ names }) => map.labels.set(names),
  found: (message) => search.set(message),
  state: (message) => card.set(message),
  coverage: (message) => {
    notices.showReady();
    coverage.set(message);
    if (answer) showWords(answer);
  },
  reach: (message) => {
    notices.showReady();
    reach.set(message);
  },
  alternatives: (message) => {
    notices.showReady();
    others.set(message);
    if (answer) drawLegend(hello, answer, others.wanted);
  },
  copied: (message) => copies.set(message),
  working: (message) => notices.showWorking(message),
  error: ({ message }) => {
    box.settle();
    box.later = null;
    coverage.retry(); // what failed may have been that
    notices.hideWorking();
    notices.showError(message);
  },
};

const notices = new Notices({ onReconnect: () => wire.connect() });
const wire = new Wire({
  decode,
  begin,
  onMessage: (message) => handlers[message.type](message),
  onFrame: showMap,
  onClose: (reason) => {
    notices.hideWorking();
    notices.showLost(reason);
  },
});

for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
  matchMedia(query).addEventListener("change", () => map.draw());
}
find("period").querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const { elements } = event.target; // also those that are disabled, which are empty
  choosePeriod(Object.fromEntries([...elements].filter(({ name }) => name).map(({ name, value }) => [name, value])));
});
find("period-all").addEventListener("click", () => choosePeriod({ hours: "", weekdays: "", since: "", until: "", min_trips: "" }));
choose("from");
