// Sharing and restoring. The address of the page carries what it shows; the tab also remembers the key of its session,
// so that a reload goes on where it was, with everything learned.

import { decoded } from "/static/address.js";
import { copyText, saveText } from "/static/transfer.js";

const KEY = "fwrl-play-session";
const LOCAL = ["localhost", "127.0.0.1", "[::1]"];
const find = (id) => document.getElementById(id);

export class Share {
  constructor({ send }) {
    this.send = send;
    // Not from `location`: an answer that came meanwhile may have written its own address there.
    window.addEventListener("hashchange", ({ newURL }) => send("address", { address: new URL(newURL).hash.slice(1) }));
    find("share-open").addEventListener("click", () => this.open());
    find("share-copy").addEventListener("click", () => this.copy("share-link"));
    find("share-copy-page").addEventListener("click", () => this.copy("share-page"));
    find("share-save").addEventListener("click", () => saveText(this.file, "scenario.toml"));
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

  show({ address, frontDoor, file }) {
    if (address === null) return; // the tour
    if (location.hash.slice(1) !== address) history.replaceState(null, "", `#${address}`);
    Object.assign(this, { address, frontDoor, file });
    this.keep();
  }

  keep() {
    if (this.address !== undefined) {
      sessionStorage.setItem(KEY, JSON.stringify({ session: this.session, address: this.address }));
    }
  }

  open() {
    find("share-static").hidden = this.frontDoor === null;
    find("share-page").value = this.frontDoor === null ? "" : `front-door.html#${this.frontDoor}`;
    find("share-link").value = location.href;
    find("share-note").textContent = LOCAL.includes(location.hostname)
      ? "This address means this computer. On another one, start fwrl play there and append the part from # to its address."
      : "It works for everybody who can reach this computer, as long as fwrl play runs here.";
    find("share-said").textContent = "";
    find("share-dialog").showModal();
  }

  async copy(from) {
    const copied = await copyText(find(from).value);
    find("share-said").textContent = copied ? "Copied." : "Select the link and copy it.";
  }
}
