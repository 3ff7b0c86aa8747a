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
  return (Math.abs(value) >= 100 || value === 0 || i === 0 ? value.toFixed(0) : value.toPrecision(3)) + " " + units[i];
}
const time = ns => scaled(ns, [1000, 1000, 1000], ["ns", "µs", "ms", "s"]);
const bytes = n => scaled(n, [1024, 1024, 1024, 1024], ["B", "KiB", "MiB", "GiB", "TiB"]);
const flops = n => scaled(n, [1000, 1000, 1000, 1000, 1000], ["", "k", "M", "G", "T", "P"]);
const percent = share => share > 0 && share < .001 ? "<0.1 %" : (100 * share).toFixed(1) + " %";

/* Round values of an axis, at most `count` steps apart: 1, 2 or 5 times a power of ten; of bytes powers of two. */
function ticks(from, to, count, isBinary) {
  const least = (to - from) / count || 1, power = isBinary ? 2 ** Math.floor(Math.log2(least)) : 10 ** Math.floor(Math.log10(least));
  const step = power * [1, 2, 5, 10].find(times => times * power >= least), values = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) values.push(i * step);
  return { step, values };
}

/* A tick as "0", "50 ms" or, where ticks are close together, "652.3452 ms". */
function tickTime(ns, step) {
  if (ns === 0) return "0";
  const i = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.abs(ns)) / 3))), unit = 1000 ** i;
  return (ns / unit).toFixed(Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9))) + " " + ["ns", "µs", "ms", "s"][i];
}
const tickBytes = n => n === 0 ? "0" : bytes(n).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");

/* Black or white, whichever stands out more from a colour "#rrggbb": at least 4.5 to 1. */
function inkOn(color) {
  const [r, g, b] = [1, 3, 5].map(i => parseInt(color.slice(i, i + 2), 16) / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b > .179 ? "#000" : "#fff";
}

let colors = {}, inks = {};
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of TONES.concat(["ink", "soft", "line", "panel", "bg", "down", "up", "rest", "link"]))
    colors[name] = style.getPropertyValue("--" + name).trim();
  inks = Object.fromEntries(TONES.map(name => [name, inkOn(colors[name])]));
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
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "numbers of " + box.closest("section").id + ", by " + head[0] }, table)));
}
