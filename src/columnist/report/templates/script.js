"use strict";
(() => {
  const tip = document.querySelector(".tip");
  const said = document.querySelector(".said");
  let active = null;

  function show(mark, speak) {
    hide();
    active = mark;
    mark.classList.add("on");
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    const box = mark.getBoundingClientRect();
    const left = box.left + box.width / 2 - tip.offsetWidth / 2;
    const above = box.top - tip.offsetHeight - 8;
    tip.style.left = Math.max(4, Math.min(left, document.documentElement.clientWidth - tip.offsetWidth - 4)) + "px";
    tip.style.top = (above < 4 ? box.bottom + 8 : above) + "px";
    if (speak) said.textContent = mark.dataset.tip;
  }

  function hide() {
    if (active) active.classList.remove("on");
    active = null;
    tip.hidden = true;
  }

  document.addEventListener("pointerover", (event) => {
    const mark = event.target.closest("[data-tip]");
    if (mark) show(mark, false);
    else if (active && !active.closest("svg").matches(":focus-visible")) hide();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  window.addEventListener("scroll", () => { if (active && !active.closest("svg").matches(":focus-visible")) hide(); }, true);

  // A chart is one stop of the tab key; the arrow keys walk through its marks.
  for (const chart of document.querySelectorAll("svg.chart")) {
    const title = chart.querySelector(":scope > title");
    chart.setAttribute("aria-label", title.textContent);
    title.remove(); // browsers would show it over the tips
    chart.setAttribute("aria-labelledby", "");
    chart.removeAttribute("aria-labelledby");
    chart.setAttribute("aria-describedby", chart.querySelector(":scope > desc").id);
    const marks = [...chart.querySelectorAll("[data-tip]")];
    if (!marks.length) continue;
    const stride = Number(chart.dataset.stride || 1);
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: stride, ArrowUp: -stride };
    let at = 0;
    const go = (place) => {
      at = Math.max(0, Math.min(marks.length - 1, place));
      marks[at].scrollIntoView({ block: "nearest", inline: "nearest" });
      show(marks[at], true);
    };
    chart.addEventListener("focus", () => { if (chart.matches(":focus-visible")) go(at); });
    chart.addEventListener("blur", hide);
    chart.addEventListener("keydown", (event) => {
      if (event.key in steps) go(at + steps[event.key]);
      else if (event.key === "Home") go(0);
      else if (event.key === "End") go(marks.length - 1);
      else return;
      event.preventDefault();
    });
  }

  function value(row, place) {
    const cell = row.cells[place];
    return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent.trim();
  }

  function compare(a, b) {
    const missing = (v) => v === "–" || v === "" || Number.isNaN(v);
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
  }

  function sort(table, place, header) {
    const rows = [...table.tBodies[0].rows];
    const down = header.getAttribute("aria-sort") === "ascending"
      || (!header.hasAttribute("aria-sort") && header.classList.contains("number"));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = rows.map((row) => [value(row, place), row]);
    const last = (v) => v === "–" || v === "" || Number.isNaN(v);
    keyed.sort(([a], [b]) => (last(a) || last(b) ? compare(a, b) : (down ? -1 : 1) * compare(a, b)));
    table.tBodies[0].append(...keyed.map(([, row]) => row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((header, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = header.textContent;
      header.replaceChildren(button);
      button.addEventListener("click", () => sort(table, place, header));
    });
  }

  for (const box of document.querySelectorAll(".find")) {
    const rows = [...box.nextElementSibling.querySelectorAll("tbody tr")];
    const found = box.querySelector(".found");
    box.hidden = false;
    box.querySelector("input").addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        shown += !row.hidden;
      }
      found.textContent = wanted ? `${shown} of ${rows.length} rows` : "";
    });
  }

  const root = document.documentElement;
  const button = document.querySelector(".theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  system.addEventListener("change", label);
  button.hidden = false;
  label();
})();
