// Notices at the top of a page: work in progress, errors, and a lost connection.

const SHOWN = 8000; // milliseconds that an error is shown
const READY = 1500; // milliseconds that "Ready" is shown

const find = (id) => document.getElementById(id);

export class Notices {
  constructor({ onReconnect }) {
    this.working = true;
    find("reconnect").addEventListener("click", () => {
      find("lost").hidden = true;
      onReconnect();
    });
  }

  showWorking({ what, share }) {
    this.say(what ? `${what}: ${Math.round(100 * share)} %` : "One moment…");
    this.working = true;
  }

  // After something that took a while, say that it is done.
  showReady() {
    if (this.working) this.showDone("Ready");
  }

  // Say in passing what was done.
  showDone(text) {
    this.say(text);
    this.working = false;
    find("working").dataset.ready = "";
    this.hiding = setTimeout(() => (find("working").hidden = true), READY);
  }

  hideWorking() {
    this.working = false;
    find("working").hidden = true;
  }

  say(text) {
    clearTimeout(this.hiding);
    delete find("working").dataset.ready;
    if (find("working").textContent !== text) find("working").textContent = text;
    find("working").hidden = false;
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
