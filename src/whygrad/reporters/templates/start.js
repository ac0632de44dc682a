"use strict";
(async function () {
  const trouble = (error) => {
    document.getElementById("trouble").hidden = false;
    document.getElementById("trouble").textContent = `part of this page could not be drawn: ${error.message}`;
    console.error(error);
  };
  try { page.flow.start(); } catch (error) { trouble(error); }
  try { await page.time.start(); } catch (error) { trouble(error); }
  document.querySelectorAll("button.copy").forEach((button) => button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("pre").textContent;
    try { await navigator.clipboard.writeText(text); button.textContent = "copied"; }
    catch { getSelection().selectAllChildren(button.parentElement.querySelector("pre")); button.textContent = "selected"; }
  }));
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => (d.open = true)));
  const follow = () => {
    const there = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (there && there.tagName === "DETAILS") there.open = true;
  };
  addEventListener("hashchange", follow), follow();
  document.documentElement.dataset.ready = "yes";
})();
