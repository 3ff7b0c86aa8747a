/* SPDX-License-Identifier: MIT */
/* Reads the data, draws every picture, and serves navigation and keys. */
async function readData() {
  const holder = document.getElementById("data");
  if (holder.dataset.form !== "deflate") return JSON.parse(holder.textContent || "[]");
  const packed = Uint8Array.from(atob(holder.textContent), c => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

function startNav() {
  const nav = document.getElementById("nav"), articles = document.querySelectorAll("article");
  for (const article of articles) {
    const title = article.querySelector("h1");
    if (articles.length > 1) nav.append(el("a", { class: "part", href: "#" + article.id }, title ? title.textContent : "all"));
    else nav.append(el("a", { href: "#" + article.id }, "Verdict"));
    for (const heading of article.querySelectorAll("section > h2"))
      nav.append(el("a", { href: "#" + heading.parentElement.id }, heading.textContent));
  }
  nav.append(el("button", { type: "button", onclick: turn }, "dark / light"));
}

const turn = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
const KEYS = [["?", "these keys"], ["j k", "next, previous section"], ["d", "dark or light"], ["/", "filter the next table"],
  ["← → + − 0", "timeline: move, zoom, show all (focus it first)"], ["Esc", "icicle: one level up"]];

function startKeys() {
  const help = el("dialog", { "aria-label": "keys" }, el("h2", {}, "Keys"),
    el("table", {}, ...KEYS.map(([key, text]) => el("tr", {}, el("th", { class: "name", scope: "row" }, el("kbd", {}, key)), el("td", { class: "name" }, text)))),
    el("form", { method: "dialog" }, el("button", {}, "close")));
  document.body.append(help);
  addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT/.test(event.target.tagName)) return;
    const move = by => {
      const sections = [...document.querySelectorAll("section")], at = sections.filter(s => s.getBoundingClientRect().top < 40).length - 1;
      const next = sections[Math.max(0, Math.min(sections.length - 1, at + by))];
      if (next) next.scrollIntoView();
    };
    const actions = { "?": () => help.open ? help.close() : help.showModal(), j: () => move(1), k: () => move(-1), d: turn,
      "/": () => { const input = [...document.querySelectorAll("input[type=search]")].find(i => i.getBoundingClientRect().top > 0); if (input) input.focus(); } };
    if (actions[event.key]) { actions[event.key](); event.preventDefault(); }
  });
}

function startPlaces(parts) {
  for (const link of document.querySelectorAll("a.place")) {
    const part = parts.find(p => p.id === link.closest("article").id);
    if (!part || !part.timeline) { link.replaceWith(...link.childNodes); continue; }
    link.addEventListener("click", () => part.timeline.place(link.dataset.start, link.dataset.dur));
  }
  for (const link of document.querySelectorAll(".verdicts a"))
    link.addEventListener("click", () => { const to = document.querySelector(link.getAttribute("href")); if (to && to.tagName === "DETAILS") to.open = true; });
}

async function start() {
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  startTables();
  const data = await readData(), parts = [];
  for (const views of document.querySelectorAll(".views")) {
    const part = { id: "p" + views.dataset.part, views, data: data[views.dataset.part] };
    parts.push(part);
    if (!part.data) continue;
    for (const draw of [viewWaterfall, viewBudget, viewTimeline, viewHeat, viewTree, viewRoofline, viewMemory]) draw(part);
  }
  startNav();
  startPlaces(parts);
  startKeys();
  addEventListener("beforeprint", () => { for (const finding of document.querySelectorAll(".finding")) finding.open = true; setTheme("light"); });
  window.tscope = { parts };
}
start();
