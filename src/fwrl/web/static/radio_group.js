// Buttons of which one is chosen, by a click or with the arrow keys. Each has role="radio" and its value in data-tool.

const TURNS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export class RadioGroup {
  constructor(group, onChoose) {
    this.group = group;
    this.buttons = [...group.querySelectorAll("[role=radio]")];
    for (const button of this.buttons) button.addEventListener("click", () => onChoose(button.dataset.tool));
    group.addEventListener("keydown", (event) => {
      const turn = TURNS[event.key];
      if (!turn) return;
      event.preventDefault();
      const at = this.buttons.findIndex((button) => button.getAttribute("aria-checked") === "true");
      onChoose(this.buttons[(at + turn + this.buttons.length) % this.buttons.length].dataset.tool);
      group.querySelector("[aria-checked=true]").focus();
    });
  }

  show(value) {
    for (const button of this.buttons) {
      const chosen = button.dataset.tool === value;
      button.setAttribute("aria-checked", chosen);
      button.tabIndex = chosen ? 0 : -1;
    }
  }
}
