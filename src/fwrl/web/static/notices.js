// Notices at the top of a page: work in progress, errors, and a lost connection.

const SHOWN = 8000; // milliseconds that an error is shown

const find = (id) => document.getElementById(id);

export class Notices {
  constructor({ onReconnect }) {
    find("reconnect").addEventListener("click", () => {
      find("lost").hidden = true;
      onReconnect();
    });
  }

  showWorking({ compiling }) {
    find("working").textContent = compiling
      ? "Compiling: this happens once for each agent and takes ten seconds or more…"
      : "One moment…";
    find("working").hidden = false;
  }

  hideWorking() {
    find("working").hidden = true;
  }

  showError(message) {
    const notice = find("notice");
    notice.textContent = message;
    notice.hidden = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (notice.hidden = true), SHOWN);
  }

  showLost(reason) {
    find("lost").hidden = false;
    find("lost").firstElementChild.textContent = reason
      ? `Closed: ${reason}.`
      : `The connection is gone. Is ${document.title} still running?`;
  }
}
