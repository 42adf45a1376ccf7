// The layers of a world, painted once for every size: unknown floor below the values; walls, wind and mud above.

const WIND = { "^": [0, -1], v: [0, 1], "<": [-1, 0], ">": [1, 0] };

export class Terrain {
  constructor() {
    this.floor = document.createElement("canvas");
    this.marks = document.createElement("canvas");
  }

  // `side` is the width of a cell and `mark` that of marks in it, in device pixels; a CSS pixel is `ratio` of them.
  paint({ rows, side, mark, ratio, colours }) {
    Object.assign(this, { rows, side, mark, ratio, colours, width: rows[0].length, height: rows.length });
    for (const layer of [this.floor, this.marks]) {
      layer.width = side * this.width;
      layer.height = side * this.height;
    }
    this.paintFloor();
    this.paintMarks();
  }

  paintFloor() {
    const context = this.floor.getContext("2d");
    context.fillStyle = this.colours.floor;
    context.fillRect(0, 0, this.floor.width, this.floor.height);
  }

  paintMarks() {
    const context = this.marks.getContext("2d");
    const size = this.side;
    context.clearRect(0, 0, this.marks.width, this.marks.height);
    if (size >= 6) {
      context.fillStyle = "rgb(255 255 255 / .28)";
      for (let x = 1; x < this.width; x++) context.fillRect(x * size, 0, this.ratio, this.marks.height);
      for (let y = 1; y < this.height; y++) context.fillRect(0, y * size, this.marks.width, this.ratio);
    }
    context.fillStyle = this.colours.wall;
    this.eachCell((x, y, character) => {
      if (character === "#") context.fillRect(x * size, y * size, size + this.ratio, size + this.ratio);
    });
    this.eachCell((x, y, character) => {
      if (character in WIND) this.paintWind(context, x, y, WIND[character]);
      else if (character >= "1" && character <= "9") this.paintMud(context, x, y, Number(character));
    });
  }

  eachCell(visit) {
    for (let y = 0; y < this.height; y++) for (let x = 0; x < this.width; x++) visit(x, y, this.rows[y][x]);
  }

  // Three gusts: long thin lines that curl at the end, in the direction of the wind, along the edges of the cell.
  paintWind(context, x, y, [dx, dy]) {
    const size = this.side;
    if (size < 8) {
      context.fillStyle = "rgb(255 255 255 / .35)";
      context.fillRect(x * size, y * size, size, size);
      return;
    }
    const [cx, cy] = [(x + 0.5) * size, (y + 0.5) * size];
    const at = (along, across) => [cx + (dx * along - dy * across) * size, cy + (dy * along + dx * across) * size];
    context.beginPath();
    for (const [across, from, to, curl] of [[-0.36, -0.4, 0.2, -1], [0.3, -0.28, 0.3, -1], [0.4, -0.44, 0, 0]]) {
      context.moveTo(...at(from, across));
      context.bezierCurveTo(...at(from + 0.2, across - 0.05), ...at(to - 0.2, across + 0.05), ...at(to, across));
      if (curl) context.bezierCurveTo(...at(to + 0.16, across), ...at(to + 0.14, across + 0.15), ...at(to + 0.03, across + 0.11));
    }
    context.lineCap = "round";
    for (const [colour, width] of [["rgb(12 44 84 / .75)", 11], ["#e8f6ff", 24]]) {
      context.strokeStyle = colour;
      context.lineWidth = Math.max(1, size / width);
      context.stroke();
    }
  }

  // Puddles of brown, more of them where a step costs more; the cost is in the corner, clear of every mark.
  paintMud(context, x, y, cost) {
    const size = this.side;
    context.fillStyle = `rgb(104 66 34 / ${0.35 + 0.05 * cost})`;
    if (size < 10) {
      context.fillRect(x * size, y * size, size, size);
      return;
    }
    const random = mulberry(977 * x + 131 * y + cost);
    for (let k = 0; k < 3 + cost; k++) {
      const [px, py] = [0.14 + 0.72 * random(), 0.14 + 0.72 * random()];
      const [rx, ry] = [0.08 + 0.1 * random(), 0.05 + 0.06 * random()];
      context.beginPath();
      context.ellipse((x + px) * size, (y + py) * size, rx * size, ry * size, 0, 0, 2 * Math.PI);
      context.fill();
    }
    const r = 0.15 * size;
    context.beginPath();
    context.roundRect((x + 1) * size - 2 * r, y * size + this.ratio, 2 * r, 2 * r, 0.4 * r);
    context.fillStyle = "#5a3a1e";
    context.fill();
    context.font = `700 ${Math.round(1.5 * r)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = "#ffffff";
    context.fillText(cost, (x + 1) * size - r, y * size + 1.1 * r + this.ratio);
  }
}

// The same puddles every time.
function mulberry(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
