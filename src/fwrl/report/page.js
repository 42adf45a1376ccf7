// A link to a folded claim opens it, and a printed page shows everything.
const open = () => { const d = document.getElementById(location.hash.slice(1)); if (d && "open" in d) d.open = true; };
addEventListener("hashchange", open);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
open();
