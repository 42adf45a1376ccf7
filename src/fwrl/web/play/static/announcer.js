// Speaks to screen readers through a live region: what a cell holds, and what was done.

const WIND = { "^": "wind up", v: "wind down", "<": "wind left", ">": "wind right" };

export class Announcer {
  constructor(region) {
    this.region = region;
    this.world = this.frame = null;
  }

  say(text) {
    this.region.textContent = text;
  }

  // Position and contents of a cell: "(3, 2), floor, goal, left agent".
  contents(cell, names) {
    const width = this.world.rows[0].length;
    const character = this.world.rows[Math.floor(cell / width)][cell % width];
    const said = [`(${cell % width}, ${Math.floor(cell / width)})`];
    if (character === "#") said.push("wall");
    else said.push(WIND[character] ? `floor with ${WIND[character]}` : character === "." ? "floor" : `floor, costs ${character} to leave`);
    if (this.frame) {
      if (cell === this.frame.goal) said.push("goal");
      if (cell === this.frame.start) said.push("start");
      this.frame.sides.forEach(({ state }, k) => state === cell && said.push(`${names[k]} is here`));
    }
    return said.join(", ");
  }
}
