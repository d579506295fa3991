// Text to copy. Without this script it can be selected.
"use strict";
for (const box of document.querySelectorAll(".copied")) {
  const button = box.querySelector("button"), text = box.querySelector("pre");
  button.hidden = false;
  button.addEventListener("click", () => {
    getSelection().selectAllChildren(text);
    button.textContent = document.execCommand("copy") ? "copied" : "selected"; // the newer way is not for files
  });
}

// The filters of tables: words, one letter, and only rows that are marked. Without this script all rows are there.
for (const filters of document.querySelectorAll("[data-filters]")) {
  const rows = [...document.querySelectorAll(`#${filters.dataset.filters} tbody tr`)];
  const search = filters.querySelector("[type=search]"), only = filters.querySelector("[type=checkbox]");
  const letters = [...filters.querySelectorAll("[data-letter]")], said = filters.querySelector("output");
  const show = () => {
    const words = search.value.trim().toLowerCase();
    const letter = letters.find((one) => one.ariaPressed === "true")?.dataset.letter;
    let count = 0;
    for (const row of rows) {
      row.hidden = !(
        (!letter || row.dataset.letter === letter) &&
        (!only?.checked || "only" in row.dataset) &&
        row.textContent.toLowerCase().includes(words)
      );
      count += !row.hidden;
    }
    const filtered = words || letter || only?.checked;
    said.textContent = filtered ? `${count} of ${rows.length}` : "";
    if (filtered) for (const row of rows) if (!row.hidden) row.closest("details:not(.more)")?.setAttribute("open", "");
  };
  const choose = (chosen) => {
    for (const one of letters) one.ariaPressed = String(one === chosen);
    show();
  };
  search.addEventListener("input", show);
  only?.addEventListener("change", show);
  for (const one of letters) one.addEventListener("click", () => choose(one));
  addEventListener("hashchange", () => {
    const row = rows.find((one) => one.id && `#${one.id}` === location.hash);
    if (!row?.hidden) return;
    search.value = "";
    only.checked = false;
    choose(letters[0]);
    row.scrollIntoView();
  });
  filters.hidden = false;
}
