// The layers of a world, painted once for every size: unknown floor below the values; walls, wind and costs above.

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
    const gap = Math.max(5, Math.round(this.mark / 5));
    context.fillStyle = this.colours.floor;
    context.fillRect(0, 0, this.floor.width, this.floor.height);
    context.strokeStyle = this.colours.hatch;
    context.lineWidth = Math.max(1, this.ratio);
    context.beginPath();
    for (let x = -this.floor.height; x < this.floor.width; x += gap) {
      context.moveTo(x, this.floor.height);
      context.lineTo(x + this.floor.height, 0);
    }
    context.stroke();
  }

  paintMarks() {
    const context = this.marks.getContext("2d");
    const size = this.side;
    context.clearRect(0, 0, this.marks.width, this.marks.height);
    if (size >= 6) {
      context.fillStyle = "rgb(0 0 0 / .16)";
      for (let x = 1; x < this.width; x++) context.fillRect(x * size, 0, 1, this.marks.height);
      for (let y = 1; y < this.height; y++) context.fillRect(0, y * size, this.marks.width, 1);
    }
    this.eachCell((x, y, character) => {
      if (character === "#") this.paintWall(context, x, y);
    });
    this.eachCell((x, y, character) => {
      if (character in WIND) this.paintWind(context, x, y, WIND[character]);
      else if (character >= "1" && character <= "9") this.paintCost(context, x, y, character);
    });
  }

  eachCell(visit) {
    for (let y = 0; y < this.height; y++) for (let x = 0; x < this.width; x++) visit(x, y, this.rows[y][x]);
  }

  // Bricks: walls differ from dark floor by their pattern, not only by their colour.
  paintWall(context, x, y) {
    const size = this.side;
    context.fillStyle = this.colours.wall;
    context.fillRect(x * size, y * size, size, size);
    if (size < 8) return;
    const row = size / 3;
    const thin = Math.max(1, Math.round(size / 24));
    context.fillStyle = this.colours.brick;
    for (let k = 0; k < 3; k++) {
      const top = Math.round(y * size + k * row);
      context.fillRect(x * size, top, size, thin);
      const joint = Math.round(x * size + (k % 2 ? 0.25 : 0.75) * size);
      context.fillRect(joint, top, thin, Math.round(row));
    }
  }

  paintWind(context, x, y, [dx, dy]) {
    const size = this.side;
    const [cx, cy] = [(x + 0.5) * size, (y + 0.5) * size];
    context.lineCap = context.lineJoin = "round";
    const at = (along, across) => [cx + dx * along + dy * across, cy + dy * along + dx * across];
    const [tip, barb] = [0.36 * size, 0.1 * size];
    context.beginPath();
    for (const side of [-1, 1]) {
      const shift = side * 0.33 * size;
      for (let k = 0; k <= 8; k++) {
        const point = at((k / 8 - 0.5) * 2 * tip, shift + Math.sin((k / 8) * Math.PI * 2) * size * 0.05);
        if (k) context.lineTo(...point);
        else context.moveTo(...point);
      }
      context.moveTo(...at(tip - barb, shift - barb));
      context.lineTo(...at(tip, shift));
      context.lineTo(...at(tip - barb, shift + barb));
    }
    for (const [colour, width] of [["rgb(10 30 60 / .55)", 9], ["#7fd0ff", 18]]) {
      context.strokeStyle = colour;
      context.lineWidth = Math.max(1, size / width);
      context.stroke();
    }
  }

  paintCost(context, x, y, digit) {
    const size = this.side;
    if (size < 10) {
      context.fillStyle = "rgb(120 66 18 / .55)";
      context.fillRect(x * size, y * size, size, Math.max(1, (size * digit) / 18));
      return;
    }
    context.font = `600 ${Math.round(size * 0.3)}px system-ui, sans-serif`;
    context.textAlign = "right";
    context.textBaseline = "top";
    const at = [(x + 0.94) * size, (y + 0.07) * size];
    context.lineWidth = Math.max(2, size / 14);
    context.strokeStyle = "rgb(255 255 255 / .85)";
    context.strokeText(digit, ...at);
    context.fillStyle = "#6b3a10";
    context.fillText(digit, ...at);
  }
}
