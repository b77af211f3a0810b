"use strict";
document.documentElement.className = "js";

const AT_ONCE = 50;      // cases that one press of a button adds
const FOUND_FIRST = 3;   // cases of a rule that a search shows before one asks for more
const number = (count) => count.toLocaleString("en");
const cases = (count) => `${number(count)} ${count === 1 ? "case" : "cases"}`;

function element(tag, properties, text = "") {
  const made = Object.assign(document.createElement(tag), properties);
  made.textContent = text;
  return made;
}

// Unfold what was left out, on both sides of the case at once.
function unfold(button) {
  const open = button.getAttribute("aria-expanded") === "false";
  const twins = button.closest("article, li").querySelectorAll(".fold");
  for (const twin of twins) {
    if (twin.dataset.label === button.dataset.label) twin.setAttribute("aria-expanded", String(open));
  }
}

async function copy(button) {
  const text = button.parentElement.querySelector("code").textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(element("textarea", {}));
    area.value = text;
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  if (button.textContent === "Copied") return;
  const name = button.getAttribute("aria-label");
  button.textContent = "Copied";
  button.setAttribute("aria-label", "Copied");
  setTimeout(() => { button.textContent = "Copy"; button.setAttribute("aria-label", name); }, 1500);
}

// A case gets its buttons when it is shown, not before.
function dressed(article) {
  for (const well of article.querySelectorAll("[data-copy]:not(:has(.copy))")) {
    const button = element("button", { type: "button", className: "copy" }, "Copy");
    button.setAttribute("aria-label", `Copy ${well.dataset.copy}`);
    well.append(button);
  }
  return article;
}

// The cases of one rule: few are in the document, the others in a template that is never laid out.
class Rule {
  constructor(details) {
    this.details = details;
    this.wasOpen = details.open;
    this.list = details.querySelector(".cases");
    this.more = details.querySelector(".more");
    this.count = details.querySelector(".count");
    this.waiting = details.querySelector("template");
    for (const article of this.list.children) dressed(article);
    this.shown = this.list.children.length;
    this.hits = null;
    this.label(this.shown, this.shown + (this.waiting?.content.childElementCount ?? 0));
    details.addEventListener("toggle", () => { if (details.open && !this.shown) this.show(1); });
    this.more?.addEventListener("click", (event) => {
      if (event.target.closest("button")) this.show(this.shown + AT_ONCE, true);
    });
  }

  // Every case of the rule: from the first call on they are out of the template.
  get all() {
    if (!this.loaded) {
      this.loaded = [...this.list.children, ...(this.waiting?.content.children ?? [])];
      this.waiting?.remove();
    }
    return this.loaded;
  }

  get texts() {
    this.searched ??= this.all.map((article) => [...article.querySelectorAll(".id, code, .reason")]
      .map((part) => part.textContent).join("\n").toLowerCase());
    return this.searched;
  }

  show(count, focus = false) {
    const hits = this.hits ?? this.all;
    const before = this.shown;
    this.shown = Math.min(count, hits.length);
    const shown = hits.slice(0, this.shown).map(dressed);
    if (focus) this.list.append(...shown.slice(before));
    else this.list.replaceChildren(...shown);
    this.label(this.shown, hits.length);
    if (focus && this.shown > before) {
      shown[before].tabIndex = -1;
      shown[before].focus();
    }
  }

  label(shown, all) {
    if (!this.more) return;
    const next = Math.min(AT_ONCE, all - shown);
    const button = element("button", { type: "button" },
      next < all - shown ? `Show ${next} more of ${number(all - shown)}` : `Show ${number(next)} more`);
    this.more.replaceChildren(button);
    this.more.hidden = next <= 0;
  }

  // Show only the cases that `fits` accepts, or as it was before when there is nothing to seek.
  seek(fits) {
    const total = Number(this.count.dataset.count);
    if (!fits) {
      this.details.hidden = false;
      this.details.open = this.wasOpen;
      this.count.textContent = cases(total);
      if (this.hits) { this.hits = null; this.show(this.wasOpen ? 1 : 0); }
      return 0;
    }
    this.hits = this.all.filter((article, index) => fits(article, this.texts[index]));
    this.details.hidden = this.hits.length === 0;
    this.count.textContent = this.hits.length < total ? `${number(this.hits.length)} of ${cases(total)}` : cases(total);
    this.show(FOUND_FIRST);
    if (this.hits.length) this.details.open = true;
    return this.hits.length;
  }

  // The case with this id, brought into the document if it waits.
  reveal(id) {
    const index = this.all.findIndex((article) => article.id === id);
    this.details.open = true;
    if (index >= this.shown) this.show(index + 1);
  }

  holds(id) {
    if (this.loaded) return this.loaded.some((article) => article.id === id);
    const here = [this.list, this.waiting?.content];
    return here.some((parent) => parent?.querySelector(`[id="${CSS.escape(id)}"]`));
  }
}

const words = (input) => input.value.toLowerCase().split(/\s+/).filter(Boolean);

// Every word must occur in a case for it to stay: in its id, text, outcomes, reason or command.
function searchCases(form, rules) {
  const { query, target, verdict } = form.elements;
  return () => {
    const sought = words(query);
    const about = target?.value ?? "", is = verdict?.value ?? "";
    const fits = sought.length || about || is
      ? (article, text) => (!about || article.dataset.target === about)
        && (!is || article.dataset.verdict === is) && sought.every((word) => text.includes(word))
      : null;
    const found = rules.reduce((sum, rule) => sum + rule.seek(fits), 0);
    for (const section of new Set(rules.map((rule) => rule.details.closest("section")))) {
      section.hidden = Boolean(fits) && !section.querySelector(".rule:not([hidden])");
    }
    return fits ? `${cases(found)} found` : "";
  };
}

function searchRows(form, rows, what) {
  const { query, differing } = form.elements;
  return () => {
    const sought = words(query);
    let found = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !sought.every((word) => text.includes(word))
        || (differing?.checked && !row.querySelector(".differs, .known, .short"));
      found += !row.hidden;
    }
    return sought.length || differing?.checked ? `${number(found)} of ${number(rows.length)} ${what}` : "";
  };
}

// Has the form, if the page has one, search as it is typed into; gives what searches at once.
function listen(form, rules) {
  const { query } = form.elements;
  const output = form.querySelector("output");
  const rows = [...document.querySelectorAll(".matrix tbody tr, .rules > li")];
  const what = document.querySelector(".matrix") ? "areas" : "rules";
  const search = rows.length ? searchRows(form, rows, what) : searchCases(form, rules);
  const run = () => { output.textContent = search(); };
  let timer = 0;
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(run, 120); });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, button");
    if (event.key === "/" && !typing) { event.preventDefault(); query.focus(); }
    // Chromium does this by itself, Firefox does not.
    if (event.key === "Escape" && event.target === query) { query.value = ""; run(); }
  });
  // A browser that comes back to the page may have kept what was typed.
  if ([...form.elements].some((field) => field.type === "checkbox" ? field.checked : field.value)) run();
  return run;
}

function start() {
  const rules = [...document.querySelectorAll("details.rule")].map((details) => new Rule(details));
  const form = document.querySelector("form.search");
  const search = form && listen(form, rules);

  // A link to a case brings it out of its template, and opens what is folded around it.
  const reveal = () => {
    const id = location.hash.slice(1);
    if (!id) return;
    const rule = rules.find((each) => each.holds(id));
    if (rule?.hits) { form.reset(); search(); }
    rule?.reveal(id);
    const target = document.getElementById(id);
    for (let node = target; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
    }
    if (target) bring(target, 20);
  };
  addEventListener("hashchange", reveal);
  addEventListener("load", reveal);  // by then the browser has looked for it by itself
  reveal();
}

// What comes into sight gets its height only then, and what is below moves: so it is brought there
// for some frames.
function bring(target, frames) {
  target.scrollIntoView();
  if (frames) requestAnimationFrame(() => bring(target, frames - 1));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.classList.contains("copy")) copy(button);
  if (button?.classList.contains("fold")) unfold(button);
});
document.addEventListener("DOMContentLoaded", start);
