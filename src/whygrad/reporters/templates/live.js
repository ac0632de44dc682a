"use strict";
// Asks the server whether there is something newer, and shows it; the page itself is made anew each time.
(function () {
  const says = document.getElementById("live");
  const shown = says.dataset.version;
  const key = "whygrad-open";
  const open = JSON.parse(sessionStorage.getItem(key) || "[]");
  open.forEach((id) => { const part = document.getElementById(id); if (part) part.open = true; });
  const keep = () => sessionStorage.setItem(key, JSON.stringify([...document.querySelectorAll("details[open][id]")].map((d) => d.id)));
  async function ask() {
    let now;
    try { now = await (await fetch("version", { cache: "no-store" })).json(); }
    catch { says.textContent = "No longer live: the server has ended. The page stays as it is."; return; }
    if (now.version !== shown) { keep(); location.reload(); return; }
    says.textContent = now.says;
    setTimeout(ask, 1000);
  }
  ask();
})();
