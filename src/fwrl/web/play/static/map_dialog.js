// The dialog with the world as text. It stays open, with the text and the reason, if the map cannot be used.

import { copyText, saveText } from "/static/transfer.js";

const find = (id) => document.getElementById(id);

export class MapDialog {
  constructor({ editor }) {
    this.editor = editor;
    this.mostCells = Infinity;
    this.pending = null; // number of the edit that was sent from here
    const [dialog, text] = [find("map-dialog"), find("map-text")];
    find("text").addEventListener("click", () => {
      text.value = editor.rows.join("\n");
      this.complain("");
      dialog.showModal();
    });
    text.addEventListener("input", () => this.complain(""));
    find("map-use").addEventListener("click", () => this.use(text.value));
    find("map-copy").addEventListener("click", () => copyText(text.value));
    find("map-save").addEventListener("click", () => saveText(`${text.value}\n`, "world.txt"));
    find("map-open").addEventListener("change", async ({ target }) => {
      if (target.files.length) text.value = await target.files[0].text();
      target.value = "";
      this.complain("");
    });
  }

  use(text) {
    const map = text.replace(/\s+$/, "");
    const cells = map.replaceAll(/\s/g, "").length;
    if (cells > this.mostCells) {
      const said = (n) => n.toLocaleString("en");
      this.complain(`Expected a world of at most ${said(this.mostCells)} cells, this one has ${said(cells)}; use a smaller one.`);
      return;
    }
    this.pending = this.editor.use(map);
  }

  // The map sent from here is in use.
  accept({ edit }) {
    if (this.pending === null || edit < this.pending) return;
    this.pending = null;
    find("map-dialog").close();
  }

  // Whether this refusal was of the map sent from here.
  refuse(edit, problem) {
    if (this.pending === null || edit !== this.pending) return false;
    this.pending = null;
    this.complain(problem);
    return true;
  }

  complain(problem) {
    find("map-problem").textContent = problem;
    find("map-text").setAttribute("aria-invalid", problem !== "");
  }
}
