
"use strict";
const filter = document.getElementById("filter");
const results = [...document.querySelectorAll(".result")].map(
  (element) => [element, element.textContent.toLowerCase()]);
const passed = document.getElementById("passed");
const status = filter.querySelector("[role=status]");
filter.hidden = results.length < 2;
filter.querySelector("input").addEventListener("input", (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  let shown = 0;
  for (const [element, text] of results) {
    element.hidden = !text.includes(wanted);
    shown += element.hidden ? 0 : 1;
  }
  if (passed) passed.open = wanted !== "";
  status.textContent = wanted ? `${shown} of ${results.length}` : "";
});
