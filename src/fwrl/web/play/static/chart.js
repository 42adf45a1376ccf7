// The curves of both agents and of the oracle, against episodes since the goal moved.

import { theme } from "/static/palette.js";

const MARGIN = { left: 44, right: 12, top: 8, bottom: 32 };

export class Chart {
  // `field` names the numbers to draw; `log` means a logarithmic axis from 1.
  constructor(canvas, { field, log = false, label }) {
    Object.assign(this, { canvas, field, log, label, sides: [], names: [], longest: [], hovered: null });
    this.readout = canvas.parentElement.querySelector(".readout");
    canvas.addEventListener("pointermove", ({ offsetX }) => this.hover(this.pointAt(offsetX)));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("blur", () => this.hover(null));
    canvas.addEventListener("keydown", (event) => {
      const turn = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!turn) return;
      event.preventDefault();
      this.hover((this.hovered ?? (turn > 0 ? -1 : this.points)) + turn);
    });
  }

  set(sides, names) {
    this.sides = sides;
    this.longest = sides.reduce((a, b) => (count(a) >= count(b) ? a : b), []);
    this.names = names;
    this.name(names);
    this.draw();
    const last = sides.map((segments) => segments.findLast((s) => s[this.field].length)?.[this.field].at(-1));
    const said = names.map((name, k) => `${name} ${last[k]?.toPrecision(4) ?? "none yet"}`);
    const episodes = this.pointsOf(this.longest).at(-1)?.episode;
    this.canvas.setAttribute("aria-label", `${this.label}${episodes ? `, episodes 1 to ${episodes}` : ""}: ${said.join(", ")}`);
  }

  name(names) {
    const said = [...names, "oracle"];
    const series = this.canvas.parentElement.querySelector(".series");
    if (series.textContent === said.join("")) return;
    series.replaceChildren(
      ...said.map((name) => {
        const entry = document.createElement("span");
        entry.append(document.createElement("i"), name);
        return entry;
      }),
    );
  }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (!width) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const context = this.canvas.getContext("2d");
    context.scale(ratio, ratio);
    this.colours = theme();
    this.box = { w: width - MARGIN.left - MARGIN.right, h: height - MARGIN.top - MARGIN.bottom };
    const { longest } = this;
    if (!count(longest)) return this.drawEmpty(context);
    this.top = this.highest();
    this.points = Math.max(2, count(longest));
    this.labels = [];
    this.drawAxis(context);
    this.drawEpisodes(context);
    this.drawSegments(context, longest);
    this.sides.forEach((segments, k) => this.drawLine(context, segments, k));
    if (this.hovered !== null) this.drawHover(context);
  }

  // For each point of a side: its segment, its number there, and the last of its episodes.
  pointsOf(segments) {
    let episode = 0;
    return segments.flatMap((segment) =>
      segment.episodes.map((episodes, k) => ({ segment, k, episodes, episode: (episode += episodes) })),
    );
  }

  pointAt(x) {
    return Math.round(((x - MARGIN.left) / this.box.w) * (this.points - 1));
  }

  hover(point) {
    if (!this.box) return;
    const last = count(this.longest) - 1;
    this.hovered = point === null || last < 0 ? null : Math.min(last, Math.max(0, point));
    this.readout.hidden = this.hovered === null;
    if (this.hovered !== null) this.readout.textContent = this.readoutText();
    this.draw();
  }

  readoutText() {
    const parts = this.sides.map((segments, side) => {
      const point = this.pointsOf(segments)[this.hovered];
      const value = point?.segment[this.field][point.k];
      return `${this.names[side]} ${value === undefined || value === null ? "–" : value.toLocaleString("en", { maximumFractionDigits: 2 })}`;
    });
    const { segment, episodes, episode } = this.pointsOf(this.longest)[this.hovered];
    const when = episodes > 1 ? `episodes ${episode - episodes + 1}–${episode}` : `episode ${episode}`;
    const oracle = this.log ? 1 : segment.oracle;
    const best = oracle === null ? "" : `, oracle ${oracle.toLocaleString("en", { maximumFractionDigits: 1 })}`;
    return `${when}: ${parts.join(", ")}${best}`;
  }

  drawHover(context) {
    const x = Math.round(this.x(this.hovered)) + 0.5;
    context.strokeStyle = this.colours.accent;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, MARGIN.top);
    context.lineTo(x, MARGIN.top + this.box.h);
    context.stroke();
  }

  // Write a text under the axis, unless it would touch one that is there already.
  write(context, text, x, row, align) {
    const width = context.measureText(text).width;
    const left = Math.min(Math.max(0, x - { left: 0, center: width / 2, right: width }[align]), this.canvas.clientWidth - width);
    if (this.labels.some((other) => other.row === row && left < other.right + 6 && left + width > other.left - 6)) return;
    this.labels.push({ text, row, left, right: left + width });
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = this.colours.soft;
    context.fillText(text, left, MARGIN.top + this.box.h + 14 * (row + 1));
  }

  // Numbers of episodes along the bottom, the last one first; one point may summarise several episodes.
  drawEpisodes(context) {
    const points = this.pointsOf(this.longest);
    const every = Math.max(1, Math.ceil(points.length / Math.max(2, Math.floor(this.box.w / 56))));
    const shown = points.map((_, k) => k).filter((k) => k % every === 0);
    for (const k of new Set([points.length - 1, ...shown])) {
      this.write(context, points[k].episode.toLocaleString("en"), this.x(k), 0, "center");
    }
  }

  drawEmpty(context) {
    context.font = "13px system-ui, sans-serif";
    context.textAlign = "center";
    context.fillStyle = this.colours.soft;
    context.fillText("begins with the first finished episode", this.canvas.clientWidth / 2, MARGIN.top + this.box.h / 2, this.box.w);
  }

  highest() {
    let top = this.log ? 3 : 1;
    for (const segments of this.sides)
      for (const segment of segments) {
        for (const value of segment[this.field]) if (value !== null && value > top) top = value;
        if (!this.log && segment.oracle > top) top = segment.oracle;
      }
    return this.log ? top * 1.1 : top * 1.06;
  }

  x(k) {
    return MARGIN.left + (k / (this.points - 1)) * this.box.w;
  }

  y(value) {
    const share = this.log ? Math.log(Math.max(1, value)) / Math.log(this.top) : Math.max(0, value) / this.top;
    return MARGIN.top + (1 - share) * this.box.h;
  }

  drawAxis(context) {
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of this.ticks()) {
      const y = Math.round(this.y(value)) + 0.5;
      context.strokeStyle = this.colours.line;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(MARGIN.left, y);
      context.lineTo(MARGIN.left + this.box.w, y);
      context.stroke();
      context.fillStyle = this.colours.soft;
      context.fillText(String(value), MARGIN.left - 6, y);
    }
  }

  ticks() {
    if (this.log) return [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter((v, k) => v <= this.top && (this.top < 30 || k % 3 === 0));
    const raw = this.top / 4;
    const unit = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((m) => m * unit >= raw) * unit;
    return Array.from({ length: Math.floor(this.top / step) + 1 }, (_, k) => Number((k * step).toPrecision(6)));
  }

  // Where the goal moved, and the oracle's level in between.
  drawSegments(context, segments) {
    let begin = 0;
    const moved = [];
    segments.forEach((segment, k) => {
      const end = begin + segment[this.field].length;
      const [from, to] = [this.x(Math.max(0, begin - 0.5)), this.x(Math.max(begin, Math.min(end - 0.5, this.points - 1)))];
      context.setLineDash([2, 3]);
      context.lineWidth = 2;
      context.strokeStyle = this.colours.oracle;
      const level = this.log ? 1 : segment.oracle;
      if (level !== null && end > begin) {
        context.beginPath();
        context.moveTo(from, this.y(level));
        context.lineTo(k === segments.length - 1 ? MARGIN.left + this.box.w : to, this.y(level));
        context.stroke();
      }
      context.setLineDash([]);
      if (k > 0) {
        context.strokeStyle = this.colours.soft;
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(Math.round(from) + 0.5, MARGIN.top);
        context.lineTo(Math.round(from) + 0.5, MARGIN.top + this.box.h);
        context.stroke();
      }
      if (k > 0) moved.push(from);
      begin = end;
    });
    // The latest first: of marks close to each other only that one has room for its words.
    for (const from of moved.reverse()) this.write(context, "⚑ moved", from, 1, "left");
    this.canvas.dataset.labels = JSON.stringify(this.labels);
  }

  drawLine(context, segments, number) {
    context.strokeStyle = this.colours.sides[number];
    context.fillStyle = this.colours.sides[number];
    context.lineWidth = number ? 2 : 3;
    context.setLineDash(number ? [7, 3] : []);
    context.lineJoin = "round";
    let at = 0;
    for (const segment of segments) {
      context.beginPath();
      segment[this.field].forEach((value, k) => {
        if (value !== null) context.lineTo(this.x(at + k), this.y(value));
      });
      context.stroke();
      if (segment[this.field].length === 1 && segment[this.field][0] !== null) {
        context.beginPath();
        context.arc(this.x(at), this.y(segment[this.field][0]), 3.5, 0, 2 * Math.PI);
        context.fill();
      }
      at += segment[this.field].length;
    }
    context.setLineDash([]);
  }
}

function count(segments) {
  return segments.reduce((sum, segment) => sum + segment.reward.length, 0);
}
