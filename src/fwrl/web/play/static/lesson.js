// Lessons: a question first, with boards that show only the world; then the answer and what the agents know, then a task,
// then the next lesson.

const DONE = "fwrl-play-lessons"; // names of the lessons that this browser has answered
const find = (id) => document.getElementById(id);

export class Lesson {
  constructor({ send, onShow }) {
    Object.assign(this, { send, onShow, title: undefined, lessons: [], asking: false });
    find("lessons").addEventListener("change", ({ target }) => {
      if (target.value) this.begin(target.value);
      target.value = "";
    });
    find("lesson-next").addEventListener("click", () => this.begin(this.next?.name ?? ""));
    find("lesson-leave").addEventListener("click", () => this.begin(""));
    find("lesson-print").addEventListener("click", () => {
      this.fillSheet();
      window.print();
    });
  }

  begin(name) {
    this.title = undefined; // so that the same lesson asks again
    this.send("lesson", { name });
  }

  get done() {
    return JSON.parse(localStorage.getItem(DONE) ?? "[]");
  }

  get current() {
    return this.lessons.findIndex(({ title }) => title === this.title);
  }

  get next() {
    return this.lessons[this.current + 1];
  }

  setChoices(lessons) {
    this.lessons = lessons;
    const first = find("lessons").options[0];
    const entry = ({ name, title }) => new Option(`${this.done.includes(name) ? "✓ " : ""}${title}`, name);
    find("lessons").replaceChildren(first, ...lessons.map(entry));
  }

  show(card) {
    find("lesson").hidden = card === null;
    const title = card?.title ?? null;
    if (title === this.title) return;
    this.title = title;
    this.ask(Boolean(card?.question));
    if (card !== null) this.fill(card);
    this.onShow();
    if (card !== null) find("lesson-title").focus({ preventScroll: true });
  }

  // Until there is an answer, boards show nothing that was learned, and nobody can change them.
  ask(asking) {
    this.asking = asking;
    document.body.classList.toggle("guessing", asking);
    for (const part of document.querySelectorAll(".bench, footer")) part.inert = asking;
  }

  fill(card) {
    this.showTitle();
    find("lesson-text").textContent = card.text.trim();
    find("lesson-question").textContent = card.question;
    find("lesson-result").textContent = "";
    find("lesson-task").hidden = card.task === "" || Boolean(card.question);
    find("lesson-task").textContent = `Now you: ${card.task.trim()}`;
    find("lesson-next").hidden = Boolean(card.question) || !this.next;
    find("lesson-answers").replaceChildren(...card.answers.map((answer, k) => this.button(card, answer, k)));
  }

  showTitle() {
    const number = this.current + 1;
    const done = this.lessons.filter(({ name }) => this.done.includes(name)).length;
    const progress = number ? ` · lesson ${number} of ${this.lessons.length}, ${done} answered` : "";
    find("lesson-title").textContent = `${this.title}${progress}`;
  }

  button(card, answer, number) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = answer;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => this.answer(card, number));
    return button;
  }

  answer(card, number) {
    [...find("lesson-answers").children].forEach((button, k) => {
      button.setAttribute("aria-pressed", k === number);
      button.disabled = true;
      if (k === card.answer) button.dataset.right = "";
    });
    const right = number === card.answer;
    find("lesson-result").textContent =
      `${right ? "That is right." : `The answer is: ${card.answers[card.answer]}.`} ${card.explanation.trim()}`;
    find("lesson-task").hidden = card.task === "";
    find("lesson-next").hidden = !this.next;
    this.ask(false);
    const { name } = this.lessons[this.current] ?? {};
    if (name) localStorage.setItem(DONE, JSON.stringify([...new Set([...this.done, name])]));
    this.setChoices(this.lessons);
    this.showTitle();
    this.onShow();
  }

  // All questions and tasks on paper, without the answers.
  fillSheet() {
    const part = (tag, text, className = "") => Object.assign(document.createElement(tag), { textContent: text, className });
    const sections = this.lessons.map(({ title, text, question, answers, task }, k) => {
      const section = document.createElement("section");
      const list = document.createElement("ul");
      list.append(...answers.map((answer) => part("li", answer)));
      section.append(part("h2", `${k + 1}. ${title}`), part("p", text), part("p", question), list);
      section.append(part("p", "Why?"), part("p", "", "line"), part("p", task), part("p", "", "line"));
      return section;
    });
    find("sheet").replaceChildren(part("h1", "Two learners, one flag"), part("p", "Name:", "line"), ...sections);
  }
}
