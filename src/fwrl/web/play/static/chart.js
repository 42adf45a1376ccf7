// The curves of both agents and of the oracle, against episodes since the goal moved.

import { theme } from "/static/palette.js";

const MARGIN = { left: 44, right: 10, top: 8, bottom: 20 };

export class Chart {
  // `field` names the numbers to draw; `log` means a logarithmic axis from 1.
  constructor(canvas, { field, log = false, label }) {
    Object.assign(this, { canvas, field, log, label, sides: [] });
  }

  set(sides, names) {
    this.sides = sides;
    this.name(names);
    this.draw();
    const last = sides.map((segments) => segments.findLast((s) => s[this.field].length)?.[this.field].at(-1));
    const said = names.map((name, k) => `${name} ${last[k]?.toPrecision(4) ?? "none yet"}`);
    this.canvas.setAttribute("aria-label", `${this.label}: ${said.join(", ")}`);
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
    const longest = this.sides.reduce((a, b) => (count(a) >= count(b) ? a : b), []);
    if (!count(longest)) return this.drawEmpty(context);
    this.top = this.highest();
    this.drawAxis(context);
    this.points = Math.max(2, count(longest));
    this.drawSegments(context, longest);
    this.sides.forEach((segments, k) => this.drawLine(context, segments, k));
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
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
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
        context.fillStyle = this.colours.soft;
        const flag = from > MARGIN.left + this.box.w - 80 ? "right" : "left";
        context.textAlign = flag;
        context.fillText(flag === "left" ? "⚑ goal moved" : "goal moved ⚑", from + (flag === "left" ? -4 : 4), MARGIN.top + this.box.h + 14);
      }
      begin = end;
    });
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
