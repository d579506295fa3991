// A trace step by step: buttons, arrow keys, a click on the diagram, and links like #finding-1-step-3.
"use strict";
for (const explorer of document.querySelectorAll(".explorer")) {
  const page = explorer.closest(".page"), picture = explorer.querySelector(".picture");
  const stages = [...explorer.querySelectorAll(".stage")], rows = [...explorer.querySelectorAll(".at")];
  const buttons = [...explorer.querySelectorAll("[data-by]")], link = explorer.querySelector(".walk a");
  let now = stages.length - 1;
  const show = (number) => {
    now = Math.min(Math.max(number, 0), stages.length - 1);
    stages.forEach((one, index) => one.classList.toggle("now", index === now));
    for (const button of buttons) button.disabled = !stages[now + Number(button.dataset.by)];
    link.href = `#${stages[now].id}`;
    for (const row of rows) row.classList.toggle("now", row.dataset.step === stages[now].dataset.step);
    const box = picture.getBoundingClientRect(), at = rows.find((one) => one.classList.contains("now"))?.getBoundingClientRect();
    if (!at) picture.scrollTop = 0;
    else if (at.top < box.top) picture.scrollTop += at.top - box.top - 40;
    else if (at.bottom > box.bottom) picture.scrollTop += at.bottom - box.bottom + 20;
  };
  const go = (number) => {
    show(number);
    history.replaceState(null, "", `#${stages[now].id}`);
  };
  const open = () => {
    const wanted = stages.findIndex((one) => `#${one.id}` === location.hash);
    if (wanted >= 0 || location.hash === `#${page.id}`) show(wanted >= 0 ? wanted : stages.length - 1);
    if (wanted >= 0) explorer.scrollIntoView();
  };
  explorer.classList.add("live");
  explorer.querySelector(".walk").hidden = false;
  for (const button of buttons) button.addEventListener("click", () => go(now + Number(button.dataset.by)));
  picture.addEventListener("click", (event) => {
    const row = rows.find((one) => event.clientY < one.getBoundingClientRect().bottom);
    if (row && !getSelection().toString()) go(stages.findIndex((one) => one.dataset.step === row.dataset.step));
  });
  addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const plain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
    if (!by || !plain || !page.offsetHeight || event.target.closest("input, pre, .scroll")) return;
    event.preventDefault();
    go(now + by);
  });
  addEventListener("hashchange", open);
  addEventListener("load", open); // only then it is known which page is shown
  show(now);
}
