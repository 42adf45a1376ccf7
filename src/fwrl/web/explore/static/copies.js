// Copying: a link to what the page shows, and the route as a command, JSON, SVG or GeoJSON; its steps are saved as CSV.

import { copyText, saveText } from "/static/transfer.js";

const NAMES = { csv: "CSV", command: "command", json: "JSON", svg: "SVG", geojson: "GeoJSON" };
const TYPES = { csv: "text/csv", json: "application/json", svg: "image/svg+xml", geojson: "application/geo+json", command: "text/plain" };

export class Copies {
  constructor({ send, say, link }) {
    Object.assign(this, { say });
    this.buttons = [...document.querySelectorAll("[data-copy]")];
    for (const button of this.buttons) {
      button.addEventListener("click", async () => {
        const what = button.dataset.copy;
        if (what !== "link") return send("copy", { what });
        say((await copyText(new URL(link(), location.href).href)) ? "Copied the link" : "Could not copy the link");
      });
    }
  }

  show(hasRoute, hasPositions) {
    for (const button of this.buttons) {
      const { copy } = button.dataset;
      button.disabled = copy !== "link" && (!hasRoute || (copy === "geojson" && !hasPositions));
      if (copy === "geojson" && !hasPositions) button.title = "GeoJSON needs positions: fwrl explore FILE --positions PLACES";
    }
  }

  // Copy what the server made; where the browser does not allow it any more, save it.
  async set({ what, text }) {
    if (what !== "csv" && (await copyText(text))) return this.say(`Copied as ${NAMES[what]}`);
    saveText(text, `route.${what === "command" ? "txt" : what}`, TYPES[what]);
    this.say(`Saved as ${NAMES[what]}`);
  }
}
