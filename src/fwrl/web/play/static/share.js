// Sharing and restoring. The address of the page carries what it shows; the tab also remembers the key of its session,
// so that a reload goes on where it was, even with training that no address could repeat quickly.

import { decoded } from "/static/address.js";
import { copyText, saveText } from "/static/transfer.js";

const KEY = "fwrl-play-session";
const find = (id) => document.getElementById(id);

export class Share {
  constructor({ send, announce }) {
    this.send = send;
    this.wanted = null; // what to do with the next answer
    // Not from `location`: an answer that came meanwhile may have written its own address there.
    window.addEventListener("hashchange", ({ newURL }) => send("address", { address: new URL(newURL).hash.slice(1) }));
    find("share-open").addEventListener("click", () => this.ask(() => find("share-dialog").showModal()));
    find("share-copy").addEventListener("click", async () => {
      const copied = await copyText(find("share-link").value);
      find("share-note").textContent = copied ? "Copied." : "Select the link and copy it.";
    });
    find("share-save").addEventListener("click", () => saveText(this.shared.file, "scenario.toml"));
    find("copy-python").addEventListener("click", () =>
      this.ask(async ({ python }) => announce((await copyText(python)) ? "Copied as Python" : "Could not copy")),
    );
    find("share-file").addEventListener("change", async ({ target }) => {
      if (target.files.length) send("open", { text: await target.files[0].text() });
      target.value = "";
      find("share-dialog").close();
    });
  }

  // The first message: the session of before, unless the tab was sent to another address.
  begin() {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    const here = location.hash.slice(1), before = kept?.address ?? "";
    const address = decoded(here, decodeURI) === decoded(before, decodeURI) ? before : here;
    const same = kept !== null && kept.address === address;
    return { session: same ? kept.session : "", address };
  }

  keepSession(session) {
    this.session = session;
    this.keep();
  }

  show(address) {
    if (address === null) return; // the tour
    if (location.hash.slice(1) !== address) history.replaceState(null, "", `#${address}`);
    this.address = address;
    this.keep();
  }

  keep() {
    if (this.address !== undefined) {
      sessionStorage.setItem(KEY, JSON.stringify({ session: this.session, address: this.address }));
    }
  }

  ask(then) {
    this.wanted = then;
    this.send("share");
  }

  set(message) {
    this.shared = message;
    this.show(message.address);
    find("share-link").value = location.href;
    find("share-note").textContent = message.exact
      ? "Whoever opens it gets the same agents, to the last bit."
      : "The training is long: the link repeats only its number of steps to the last goal, up to two million.";
    this.wanted?.(message);
    this.wanted = null;
  }
}
