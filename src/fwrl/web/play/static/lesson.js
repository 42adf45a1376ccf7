// A lesson's card: some sentences, a question to answer before playing, and what to make of it.

const find = (id) => document.getElementById(id);

export class Lesson {
  constructor({ send }) {
    this.title = null;
    find("lessons").addEventListener("change", ({ target }) => {
      if (target.value) send("lesson", { name: target.value });
      target.value = "";
    });
    find("lesson-leave").addEventListener("click", () => send("lesson", { name: "" }));
  }

  setChoices(lessons) {
    const first = find("lessons").options[0];
    find("lessons").replaceChildren(first, ...lessons.map(({ name, title }) => new Option(title, name)));
  }

  show(card) {
    find("lesson").hidden = card === null;
    const title = card?.title ?? null;
    if (title === this.title) return;
    this.title = title;
    if (card === null) return;
    find("lesson-title").textContent = card.title;
    find("lesson-text").textContent = card.text.trim();
    find("lesson-question").textContent = card.question;
    find("lesson-result").textContent = "";
    find("lesson-answers").replaceChildren(...card.answers.map((answer, k) => this.button(card, answer, k)));
    find("lesson-title").focus({ preventScroll: true });
  }

  button(card, answer, number) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = answer;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      for (const other of find("lesson-answers").children) other.setAttribute("aria-pressed", other === button);
      const right = number === card.answer;
      find("lesson-result").textContent =
        `${right ? "That is right." : `The answer is: ${card.answers[card.answer]}.`} ${card.explanation.trim()}`;
    });
    return button;
  }
}
