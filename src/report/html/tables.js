/* SPDX-License-Identifier: MIT */
/* Tables that sort by a click on a heading, and filter by a text. */
function keyOf(row, column) {
  const cell = row.cells[column];
  if (!cell) return "";
  return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;
}

function sortBy(table, column) {
  const head = table.tHead.rows[0].cells[column];
  const down = head.getAttribute("aria-sort") !== "descending";
  const rows = [...table.tBodies[0].rows];
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  rows.sort((a, b) => {
    const x = keyOf(a, column), y = keyOf(b, column);
    const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
    return down ? -order : order;
  });
  table.tBodies[0].append(...rows);
}

function filterBy(table, text, count) {
  const wanted = text.toLowerCase();
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
    shown += !row.hidden;
  }
  count.textContent = wanted ? shown + " rows" : "";
}

function startTables() {
  for (const table of document.querySelectorAll("table.data")) {
    if (!table.tHead || table.classList.contains("gates") || table.querySelector("tr.caption")) continue;
    [...table.tHead.rows[0].cells].forEach((cell, i) => {
      const button = el("button", { type: "button", onclick: () => sortBy(table, i) }, ...cell.childNodes);
      cell.append(button);
    });
    if (!table.classList.contains("filter")) continue;
    const count = el("span", { "aria-live": "polite" });
    const input = el("input", { type: "search", placeholder: "filter", "aria-label": "filter the table",
      oninput: () => filterBy(table, input.value, count) });
    table.parentElement.before(el("div", { class: "tools" }, input, count));
  }
}
