"use strict";
const page = document.documentElement;
const form = document.getElementById("filters");
const names = document.getElementById("api-filters");
const choices = form ? [...form.querySelectorAll("select")] : [];
const rows = [...document.querySelectorAll("tr.finding")];
const texts = rows.map((row) => row.textContent.toLowerCase());

function text(english, chinese) {
  return page.dataset.language === "zh" ? chinese : english;
}

function setLanguage(language) {
  page.dataset.language = language;
  page.lang = language === "zh" ? "zh-CN" : "en";
  document.getElementById("language").textContent = language === "zh" ? "English" : "中文";
  for (const one of document.querySelectorAll("option[data-en]")) {
    one.textContent = one.dataset[language];
  }
  for (const one of document.querySelectorAll("input[data-en]")) {
    one.placeholder = one.dataset[language];
  }
  tellShown();
}

function filterFindings() {
  if (!form) return;
  const outcomes = new Set([...form.querySelectorAll("[name=outcome]:checked")].map((one) => one.value));
  const wanted = document.getElementById("search").value.trim().toLowerCase();
  const files = new Set();
  let previous = "";
  rows.forEach((row, index) => {
    const fits = outcomes.has(row.dataset.outcome)
      && choices.every((choice) => !choice.value || row.dataset[choice.name].split("\n").includes(choice.value))
      && texts[index].includes(wanted);
    row.hidden = !fits;
    if (!fits) return;
    // The rule's text is not said twice in a row.
    row.classList.toggle("again", row.dataset.rule === previous);
    previous = row.dataset.rule;
    files.add(row.dataset.file);
  });
  for (const group of document.querySelectorAll("#finding-table tbody")) {
    group.hidden = !group.querySelector("tr.finding:not([hidden])");
  }
  const all = rows.every((row) => !row.hidden);
  for (const file of document.querySelectorAll("details.file")) {
    file.hidden = !all && !files.has(file.dataset.file);
  }
  tellShown();
}

function tellShown() {
  const told = document.getElementById("shown");
  if (!told) return;
  const shown = rows.filter((row) => !row.hidden).length;
  told.textContent = text(`${shown} of ${rows.length} shown`, `显示 ${shown} / ${rows.length}`);
}

function filterNames() {
  const wanted = document.getElementById("api-search").value.trim().toLowerCase();
  for (const row of document.querySelectorAll("#api-table tbody tr")) {
    const verdict = names.verdict.value;
    row.hidden = (verdict !== "" && verdict !== row.dataset.verdict)
      || !row.firstElementChild.textContent.toLowerCase().includes(wanted);
  }
}

function showRule(rule) {
  form.reset();
  form.rule.value = rule;
  for (const box of form.querySelectorAll("[name=outcome]")) box.checked = box.value === "by_hand";
  filterFindings();
}

function move(step) {
  const visible = rows.filter((row) => !row.hidden);
  const now = visible.indexOf(document.activeElement.closest("tr.finding"));
  const next = visible[Math.max(0, Math.min(visible.length - 1, now + step))];
  if (next) next.focus();
}

/* Show what a link leads to: open what it is in, and take away a filter that hides it. */
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  const around = target.closest("details");
  if (around) around.open = true;
  if (target.closest("[hidden]")) {
    form.reset();
    filterFindings();
  }
  target.scrollIntoView();
}

document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  if (event.key === "Escape" && typing) event.target.blur();
  if ((typing && event.target.type !== "checkbox") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("search")?.focus();
  }
  if (event.key === "j") move(1);
  if (event.key === "k") move(-1);
  if (event.key === "o") {
    const row = document.activeElement.closest("tr.finding");
    (row?.querySelector("a.where") ?? row?.querySelector("a.rule"))?.click();
  }
  if (event.key === "l") setLanguage(text("zh", "en"));
});
document.getElementById("language").addEventListener("click", () => setLanguage(text("zh", "en")));
for (const [one, filter] of [[form, filterFindings], [names, filterNames]]) {
  one?.addEventListener("input", filter);
  one?.addEventListener("submit", (event) => event.preventDefault());
  one?.addEventListener("reset", () => setTimeout(filter));
}
for (const link of document.querySelectorAll("[data-show-rule]")) {
  link.addEventListener("click", () => showRule(link.dataset.showRule));
}
window.addEventListener("hashchange", openTarget);
window.addEventListener("beforeprint", () => {
  for (const file of document.querySelectorAll("details.file")) file.open = true;
});
setLanguage(navigator.language.startsWith("zh") ? "zh" : "en");
filterFindings();
openTarget();
