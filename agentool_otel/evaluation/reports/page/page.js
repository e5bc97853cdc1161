
"use strict";
const filter = document.getElementById("filter");
const status = filter.querySelector("[role=status]");
const groups = [...document.querySelectorAll(".group")].map((element) => {
  const count = element.querySelector(".count");
  const results = [...element.querySelectorAll(".result")].map(
    (result) => [result, result.textContent.toLowerCase()]);
  return {element, count, heading: count.textContent, results, open: element.open};
});
const listed = [...document.querySelectorAll("nav li")].map(
  (item) => [item, document.getElementById(item.querySelector("a").hash.slice(1))]);
const total = groups.reduce((sum, group) => sum + group.results.length, 0);
let filtered = false;

function show(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const begins = words.length > 0 && !filtered;
  filtered = words.length > 0;
  let shown = 0;
  for (const group of groups) {
    let here = 0;
    for (const [element, content] of group.results) {
      element.hidden = !words.every((word) => content.includes(word));
      here += element.hidden ? 0 : 1;
    }
    shown += here;
    group.count.textContent = filtered ? `${here} of ${group.results.length} shown` : group.heading;
    if (!("open" in group.element)) continue;
    if (begins) group.open = group.element.open;
    const used = group.element.querySelector("details[open]") !== null;
    group.element.open = filtered ? group.element.open || here > 0 : group.open || used;
  }
  for (const [item, result] of listed) item.hidden = result.hidden;
  status.textContent = !filtered ? "" : shown ? `${shown} of ${total} shown` : "nothing matches";
}

function reveal() {
  const target = document.getElementById(location.hash.slice(1));
  for (let element = target; element; element = element.parentElement) {
    if ("open" in element) element.open = true;
  }
  if (target) target.scrollIntoView();
}

filter.hidden = total < 2;
filter.querySelector("input").addEventListener("input", (event) => show(event.target.value));
addEventListener("hashchange", reveal);
reveal();
