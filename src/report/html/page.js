/* SPDX-License-Identifier: MIT */
/* What all pictures use: elements, numbers, colours. Names come from traces: they are text, never markup. */
"use strict";
const SVG = "http://www.w3.org/2000/svg";
const LINES = ["compute", "exposed_comm", "exposed_copy", "data_stall", "sync_stall", "launch_stall",
  "device_gap", "unattributed"];
const TONES = LINES.concat(["operator", "annotation", "call", "python", "other", "step", "wait"]);
const HOST_LINES = ["data", "forward", "backward", "optimizer", "comm", "other"];
const HOST_COLORS = { data: "data_stall", forward: "compute", backward: "operator", optimizer: "python",
  comm: "exposed_comm", other: "unattributed" };
const spaced = name => String(name).replace(/_/g, " ");

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const key in attributes) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), attributes[key]);
    else if (attributes[key] !== null) node.setAttribute(key, attributes[key]);
  }
  node.append(...children);
  return node;
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  node.append(...children);
  return node;
}

function scaled(value, steps, units) {
  let i = 0;
  while (i + 1 < units.length && Math.abs(value) >= steps[i]) value /= steps[i++];
  return (Math.abs(value) >= 100 || value === 0 ? value.toFixed(0) : value.toPrecision(3)) + " " + units[i];
}
const time = ns => scaled(ns, [1000, 1000, 1000], ["ns", "µs", "ms", "s"]);
const bytes = n => scaled(n, [1024, 1024, 1024, 1024], ["B", "KiB", "MiB", "GiB", "TiB"]);
const flops = n => scaled(n, [1000, 1000, 1000, 1000, 1000], ["", "k", "M", "G", "T", "P"]);
const percent = share => (100 * share).toFixed(1) + " %";

let colors = {};
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of TONES.concat(["ink", "soft", "line", "panel", "bg", "down", "up", "rest", "link"]))
    colors[name] = style.getPropertyValue("--" + name).trim();
}

/* Everything that is drawn by colours is drawn again when these change. */
const redraws = [];
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  readColors();
  for (const redraw of redraws) redraw();
}

function legend(names, color, text = spaced) {
  return el("ul", { class: "legend" }, ...names.map(name => {
    const mark = el("i", {});
    mark.style.background = "var(--" + color(name) + ")";
    return el("li", {}, mark, text(name));
  }));
}

/* A figure with title, tools, drawing, a line to read from, and the numbers as a table. */
function view(part, id, title, note) {
  const box = el("section", { class: "view", id: part.id + "-" + id });
  box.append(el("h2", {}, title), el("p", { class: "note" }, note));
  part.views.append(box);
  return box;
}

function numbers(box, head, rows) {
  const table = el("table", { class: "data" }, el("thead", {}, el("tr", {},
    ...head.map((text, i) => el("th", { scope: "col", class: i ? "" : "name" }, text)))));
  const body = el("tbody", {});
  for (const row of rows.slice(0, 500))
    body.append(el("tr", {}, ...row.map((text, i) => el("td", { class: i ? "" : "name" }, String(text)))));
  table.append(body);
  box.append(el("details", {}, el("summary", {}, "the numbers"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "numbers of the picture" }, table)));
}
