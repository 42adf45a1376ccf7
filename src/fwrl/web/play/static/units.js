// Values in words: in steps, or as rewards. If steps cost differently, "steps" means plain steps: what a reward is
// worth in steps from a cell without cost.

export class Units {
  constructor({ onChange }) {
    this.select = document.getElementById("unit");
    this.world = { step: -1, even: true };
    this.select.addEventListener("change", onChange);
  }

  get inSteps() {
    return this.select.value === "steps";
  }

  setWorld(world) {
    this.world = world;
    this.select.options[0].textContent = world.even ? "steps" : "plain steps";
  }

  // A path reward as a number in the unit.
  number(reward) {
    if (reward === null) return "–";
    return this.inSteps ? count(reward / this.world.step) : rewardText(reward);
  }

  // A path reward with its unit.
  long(reward) {
    if (!this.inSteps) return `reward ${rewardText(reward)}`;
    const steps = this.number(reward);
    return this.world.even ? `${steps} ${steps === "1" ? "step" : "steps"}` : `cost ${steps}`;
  }

  get noun() {
    return this.inSteps ? (this.world.even ? "steps" : "cost in plain steps") : "reward";
  }
}

export function count(steps) {
  const whole = Math.round(steps);
  const close = Math.abs(steps - whole) < 1e-6 * Math.max(1, Math.abs(steps));
  return close ? (whole || 0).toLocaleString("en") : steps.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

export function rewardText(reward) {
  return (reward.toFixed(5) === "-0.00000" ? "0.00000" : reward.toFixed(5)).replace("-", "−");
}

export function plural(n, word, ending = "s") {
  return `${n.toLocaleString("en")} ${word}${n === 1 ? "" : ending}`;
}
