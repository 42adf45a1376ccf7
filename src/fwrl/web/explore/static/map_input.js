// Pointers, wheel and keyboard on the map.

const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const USES = { f: "from", t: "to", v: "via", a: "avoid", l: "look" };
const ON = 12; // pixels from a place within which a click means it and no road
const STILL = 6; // pixels that a click may move
const TURN = 1.0015; // magnification per pixel of the wheel
const PRESS = 1.5; // and per press of a key or button
const EDGE = 40; // pixels from the edge at which the cursor moves the map

export class MapInput {
  constructor(canvas, { use, useRoad, tool, look, hover, routeStates }) {
    Object.assign(this, { map: canvas, use, useRoad, tool, look, hover, routeStates });
    this.pointers = new Map();
    const element = canvas.canvas;
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", (event) => this.up(event));
    element.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    element.addEventListener("pointerleave", () => this.hover(null));
    element.addEventListener("contextmenu", (event) => event.preventDefault());
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("blur", () => {
      canvas.cursor = null;
      canvas.draw();
    });
    const press = { "zoom-in": () => this.zoom(PRESS), "zoom-out": () => this.zoom(1 / PRESS), fit: () => canvas.fitAll(), "fit-route": () => canvas.fitStates(this.routeStates()) };
    for (const [id, act] of Object.entries(press)) document.getElementById(id).addEventListener("click", act);
  }

  place({ clientX, clientY }) {
    const box = this.map.canvas.getBoundingClientRect();
    return [clientX - box.left, clientY - box.top];
  }

  down(event) {
    const [x, y] = this.place(event);
    this.map.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x, y });
    if (this.pointers.size === 1) this.began = { x, y, button: event.button, shift: event.shiftKey, moved: false };
    else this.began.moved = true; // two fingers zoom
    this.map.cursor = null;
  }

  move(event) {
    const [x, y] = this.place(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.hover(event.pointerType === "mouse" ? this.map.stateAt(x, y) : null);
    if (this.pointers.size === 1) {
      if (Math.hypot(x - this.began.x, y - this.began.y) > STILL) this.began.moved = true;
      if (!this.began.moved) return;
      this.map.view.move(x - before.x, y - before.y);
    } else this.pinch(event.pointerId, before, { x, y });
    this.pointers.set(event.pointerId, { x, y });
    this.hover(null);
    this.map.moved();
  }

  pinch(id, before, now) {
    const [, other] = [...this.pointers].find(([key]) => key !== id);
    const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
    this.map.view.move((now.x - before.x) / 2, (now.y - before.y) / 2);
    this.map.view.zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
  }

  up(event) {
    const tapped = this.pointers.delete(event.pointerId) && this.pointers.size === 0 && !this.began.moved;
    if (!tapped) return;
    const point = this.place(event);
    const what = this.began.button === 2 || event.ctrlKey ? "avoid" : this.began.shift ? "via" : this.tool();
    if (this.began.button !== 0 && this.began.button !== 2) return;
    const road = what === "avoid" && this.map.stateAt(...point, ON) === null ? this.map.roadAt(...point) : null;
    if (road) return this.useRoad(road);
    const state = this.map.stateAt(...point);
    if (state !== null) this.use(what, state);
  }

  wheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.map.view.zoom(TURN ** (-event.deltaY * lines), ...this.place(event));
    this.map.moved();
  }

  zoom(factor) {
    this.map.view.zoom(factor);
    this.map.moved();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.map.map) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const { cursor } = this.map;
    if (key in ARROWS) this.step(...ARROWS[key]);
    else if (key === "+" || key === "=") this.zoom(PRESS);
    else if (key === "-") this.zoom(1 / PRESS);
    else if (key === "0") this.map.fitAll();
    else if (key === "r") this.map.fitStates(this.routeStates());
    else if (key === "Enter" && cursor !== null) this.use(this.tool(), cursor);
    else if (key in USES && cursor !== null) this.use(USES[key], cursor);
    else return;
    event.preventDefault();
  }

  step(dx, dy) {
    const { map } = this;
    map.cursor = map.cursor === null ? map.middle : map.neighbour(map.cursor, dx, dy);
    const { view } = map, { place } = map.map;
    const x = view.across(place[2 * map.cursor]), y = view.down(place[2 * map.cursor + 1]);
    const [left, top, right, bottom] = view.inset, [mx, my] = view.middle;
    if (x < left + EDGE || y < top + EDGE || x > view.width - right - EDGE || y > view.height - bottom - EDGE) view.move(mx - x, my - y);
    map.draw();
    this.look(map.cursor);
  }
}
