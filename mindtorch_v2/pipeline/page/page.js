"use strict";
const all = [...document.querySelectorAll("#flushes details")];
const filter = document.getElementById("filter");

function show() {
  const wanted = filter.value.toLowerCase();
  for (const flush of all) {
    let found = wanted === "" || flush.querySelector(".why").textContent.toLowerCase().includes(wanted);
    for (const row of flush.querySelectorAll("tbody tr")) {
      const fits = wanted === "" || row.textContent.toLowerCase().includes(wanted);
      row.hidden = !fits;
      found ||= fits;
    }
    flush.hidden = !found;
  }
}

function step(by) {
  const shown = all.filter((flush) => !flush.hidden);
  const at = shown.findIndex((flush) => flush.contains(document.activeElement));
  const next = at < 0 ? (by > 0 ? 0 : shown.length - 1) : at + by;
  shown[Math.max(0, Math.min(next, shown.length - 1))]?.querySelector("summary").focus();
}

filter.addEventListener("input", show);
document.getElementById("open").onclick = () => all.forEach((flush) => (flush.open = true));
document.getElementById("close").onclick = () => all.forEach((flush) => (flush.open = false));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === filter) {
    if (event.key === "Escape") { filter.value = ""; show(); filter.blur(); }
    return;
  }
  if (event.key === "/") { filter.focus(); event.preventDefault(); }
  if (event.key === "j") step(1);
  if (event.key === "k") step(-1);
});
