/* SPDX-License-Identifier: MIT */
/* The timeline, on a canvas: only what is visible is drawn, of slices within one pixel the longest. */
const ROW = 15;

function sized(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}

function readLane(lane) {
  const count = lane.start.length, starts = new Float64Array(count), ends = new Float64Array(count);
  let at = 0, rows = 1;
  for (let i = 0; i < count; i++) {
    starts[i] = at += lane.start[i];
    ends[i] = at + lane.dur[i];
    rows = Math.max(rows, lane.depth[i] + 1);
  }
  const joined = new Map(), matched = new Map();
  for (let i = 0; i < lane.joined.length; i += 4) joined.set(lane.joined[i], lane.joined.slice(i + 1, i + 4));
  for (let i = 0; i < lane.matched.length; i += 3) matched.set(lane.matched[i], lane.matched.slice(i + 1, i + 3));
  /* By depth, so that ends are in order and the first visible one is found by halving. */
  const byDepth = Array.from({ length: rows }, () => []);
  for (let i = 0; i < count; i++) byDepth[lane.depth[i]].push(i);
  return { lane, starts, ends, rows, joined, matched, byDepth: byDepth.map(list => Uint32Array.from(list)) };
}

/* A text cut to a width, with an ellipsis. */
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && context.measureText(text.slice(0, length) + "…").width > width) length--;
  return text.slice(0, length) + "…";
}

function firstFrom(lane, list, from) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = low + high >> 1;
    if (lane.ends[list[middle]] < from) low = middle + 1; else high = middle;
  }
  return low;
}

function viewTimeline(part) {
  const data = part.data.timeline;
  if (!data || !data.lanes.length) return;
  const lanes = data.lanes.map(readLane).filter(lane => lane.starts.length);
  const end = Math.max(...lanes.map(lane => lane.ends.length ? lane.ends[lane.ends.length - 1] : 0), ...lanes.map(lane => lane.ends.reduce((a, b) => Math.max(a, b), 0)), 1);
  const box = view(part, "timeline", "Timeline", data.total.toLocaleString("en") + " slices" +
    (data.total > data.kept ? "; " + (data.total - data.kept).toLocaleString("en") + " shorter than " + time(data.least_ns) + " are merged into paler blocks with their count." : ".") +
    (part.data.kind === "run" ? " Own time between two collectives is divided by line; the order within is not known." : ""));
  const read = el("div", { class: "read", "aria-live": "polite" });
  const canvas = el("canvas", { tabindex: "0", role: "img", "aria-label": "timeline of " + lanes.length + " lanes over " + time(end) +
    "; arrow keys move, plus and minus zoom, 0 shows all" });
  let from = 0, to = end, scroll = 0, chosen = null, pending = false;
  let height = 0, label = 200; /* pixels to the left of the slices */
  for (const lane of lanes) { lane.y = height; height += lane.rows * ROW + 5; }
  const shown = Math.min(height + 22, 560);
  box.append(el("div", { class: "tools" }, ...[["zoom in", () => zoom(.5, null)], ["zoom out", () => zoom(2, null)], ["all", () => show(0, end)]]
    .map(([text, action]) => el("button", { type: "button", onclick: action }, text)),
  el("span", {}, "wheel scrolls, Ctrl + wheel zooms, drag moves")), canvas, read,
  legend([...new Set(lanes.flatMap(lane => [...new Set(lane.lane.tone)]))].sort((a, b) => a - b).map(tone => TONES[tone])
    .concat(lanes.some(lane => [...lane.matched.values()].some(match => match[1] > 0)) ? "wait" : []), name => name,
  name => name === "wait" ? "waiting for another rank" : spaced(name)));
  const width = () => (canvas.clientWidth || 900) - label;

  function show(a, b) {
    const span = Math.min(Math.max(b - a, 20), end * 1.02);
    from = Math.max(-end * .01, Math.min(a, end * 1.01 - span));
    to = from + span;
    later();
  }
  function zoom(factor, center) {
    const at = center === null ? (from + to) / 2 : center;
    show(at - (at - from) * factor, at + (to - at) * factor);
  }
  function later() {
    if (!pending) requestAnimationFrame(() => { pending = false; draw(); });
    pending = true;
  }

  function drawDepth(context, lane, depth, scale) {
    const list = lane.byDepth[depth], y = lane.y + depth * ROW - scroll + 18, tone = lane.lane.tone, edge = label + width();
    let used = -1, longest = 0, color = -1;
    for (let k = firstFrom(lane, list, from); k < list.length; k++) {
      const i = list[k];
      if (lane.starts[i] > to) break;
      const x = label + (lane.starts[i] - from) * scale, wide = lane.lane.dur[i] * scale;
      if (wide < 1) { /* of those in one pixel the longest has it */
        const pixel = Math.floor(x);
        if (pixel === used && wide <= longest) continue;
        used = pixel;
        longest = wide;
      }
      const left = Math.max(x, label), right = Math.min(x + Math.max(wide, 1), edge);
      if (tone[i] !== color) context.fillStyle = colors[TONES[color = tone[i]]];
      const joined = lane.joined.size && lane.joined.has(i);
      if (joined) context.globalAlpha = .55;
      context.fillRect(left, y, right - left, ROW - 1);
      context.globalAlpha = 1;
      const match = lane.matched.get(i);
      if (match && match[1] > 0) { /* the wait, hatched */
        const w = Math.min(match[1] * scale, right - left);
        context.fillStyle = colors.wait;
        context.fillRect(left, y, w, ROW - 1);
        color = -1;
        if (w > 6) {
          context.strokeStyle = colors.exposed_comm;
          context.beginPath();
          for (let d = 4; d < w; d += 6) { context.moveTo(left + d, y); context.lineTo(left + d - 4, y + ROW - 1); }
          context.stroke();
        }
      }
      if (chosen && match && match[0] === chosen.match) {
        context.strokeStyle = colors.ink;
        context.strokeRect(left + .5, y + .5, Math.max(right - left - 1, 1), ROW - 2);
      }
      if (right - left > 34) {
        context.fillStyle = joined ? colors.ink : inks[match && match[1] > 0 ? "wait" : TONES[tone[i]]];
        const text = (joined ? "× " + joined : "") + data.names[lane.lane.name[i]];
        context.fillText(spaced(text).slice(0, (right - left) / 5.6 - 1 | 0), left + 3, y + ROW - 4);
        color = -1;
      }
    }
  }

  function draw() {
    label = (canvas.clientWidth || 900) < 600 ? 110 : 200;
    const begun = performance.now(), wide = width(), context = sized(canvas, wide + label, shown), scale = wide / (to - from);
    const axis = ticks(Math.max(from, 0), Math.min(to, end), wide < 400 ? 2 : 6), place = ns => label + (ns - from) * scale;
    context.font = "11px system-ui";
    context.fillStyle = colors.line;
    for (const ns of axis.values) context.fillRect(Math.round(place(ns)), 17, 1, shown);
    for (const lane of lanes) {
      if (lane.y - scroll > shown || lane.y + lane.rows * ROW - scroll < -20) continue;
      for (let depth = 0; depth < lane.rows; depth++) drawDepth(context, lane, depth, scale);
    }
    context.fillStyle = colors.panel;
    context.fillRect(0, 0, label - 2, shown);
    context.fillRect(0, 0, wide + label, 17);
    context.fillStyle = colors.soft;
    for (const ns of axis.values) {
      const text = tickTime(ns, axis.step), long = context.measureText(text).width;
      context.fillText(text, Math.max(label, Math.min(place(ns) - long / 2, label + wide - long - 2)), 12);
    }
    let group = null;
    for (const lane of lanes) {
      const y = lane.y - scroll + 29;
      if (y > 17 && y < shown + 11) context.fillText(fitted(context, (lane.lane.group !== group ? lane.lane.group + " " : "   ") + lane.lane.label, label - 10), 4, y);
      group = lane.lane.group;
    }
    part.frame_ms = performance.now() - begun;
  }

  function hit(x, y) {
    const at = from + (x - label) / width() * (to - from), slack = (to - from) / width();
    for (const lane of lanes) {
      const depth = Math.floor((y - 18 + scroll - lane.y) / ROW);
      if (depth < 0 || depth >= lane.rows || x < label) continue;
      const list = lane.byDepth[depth];
      let best = -1;
      for (let k = Math.max(0, firstFrom(lane, list, at - slack)); k < list.length && lane.starts[list[k]] <= at + slack; k++)
        if (best < 0 || lane.lane.dur[list[k]] > lane.lane.dur[best]) best = list[k];
      if (best >= 0) return { lane, i: best };
    }
    return null;
  }
  function describe(found) {
    const { lane, i } = found, joined = lane.joined.get(i), match = lane.matched.get(i);
    return lane.lane.group + " " + lane.lane.label + ": " + (joined ? joined[0] + " slices, busy " + time(joined[1]) + ", the longest " + time(joined[2]) + ": " : "") +
      data.names[lane.lane.name[i]] + " (" + spaced(TONES[lane.lane.tone[i]]) + ") " + time(lane.lane.dur[i]) + " at +" + time(lane.starts[i]) +
      (match && match[1] > 0 ? ", waits " + time(match[1]) : "");
  }
  let drag = null;
  canvas.addEventListener("pointerdown", event => { drag = { x: event.offsetX, y: event.offsetY, from, to, scroll }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", event => {
    if (drag) {
      const by = (drag.x - event.offsetX) / width() * (drag.to - drag.from);
      scroll = Math.max(0, Math.min(height + 22 - shown, drag.scroll + drag.y - event.offsetY));
      show(drag.from + by, drag.to + by);
      return;
    }
    const found = hit(event.offsetX, event.offsetY);
    if (found) read.textContent = describe(found);
  });
  canvas.addEventListener("pointerup", event => {
    if (drag && Math.abs(event.offsetX - drag.x) < 3) {
      const found = hit(event.offsetX, event.offsetY), match = found && found.lane.matched.get(found.i);
      chosen = match ? { match: match[0] } : null;
      later();
    }
    drag = null;
  });
  canvas.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.shiftKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : .8, from + (event.offsetX - label) / width() * (to - from));
  }, { passive: false });
  canvas.addEventListener("keydown", event => {
    const span = to - from, actions = { ArrowLeft: () => show(from - span / 5, to - span / 5), ArrowRight: () => show(from + span / 5, to + span / 5),
      ArrowUp: () => { scroll = Math.max(0, scroll - 45); later(); }, ArrowDown: () => { scroll = Math.max(0, Math.min(height + 22 - shown, scroll + 45)); later(); },
      "+": () => zoom(.5, null), "=": () => zoom(.5, null), "-": () => zoom(2, null), 0: () => show(0, end) };
    if (actions[event.key]) { actions[event.key](); event.preventDefault(); }
  });
  part.timeline = { show, draw, range: () => [from, to], end, count: lanes.reduce((sum, lane) => sum + lane.starts.length, 0),
    place: (start, dur) => {
      const at = Number(BigInt(start) - BigInt(data.origin_ns)), length = Math.max(Number(dur), 100);
      if (at < 0 || at > end) return false;
      show(at - length, at + 2 * length);
      return true;
    } };
  redraws.push(draw);
  addEventListener("resize", later);
  draw();
  numbers(box, ["lane", "slices", "busy"], lanes.map(lane => [lane.lane.group + " " + lane.lane.label, lane.starts.length,
    time(lane.byDepth[0].reduce((sum, i) => sum + (lane.joined.has(i) ? lane.joined.get(i)[1] : lane.lane.dur[i]), 0))]));
}

/* Any tree of columns name, parent (-1: the root) and one or more sizes ending in _ns. */
function viewTree(part) {
  const tree = part.data.tree;
  if (!tree) return;
  const box = view(part, "tree", tree.title, "Each bar is a name below what calls it; click to enlarge, Escape goes back. The smallest are left out.");
  const sizes = Object.keys(tree).filter(key => key.endsWith("_ns") && tree[key][0] > 0), children = tree.name.map(() => []);
  if (!sizes.length) return box.remove();
  tree.parent.forEach((parent, i) => { if (parent >= 0) children[parent].push(i); });
  const canvas = el("canvas", { tabindex: "0", role: "img", "aria-label": tree.title + ", " + tree.name.length + " nodes; the largest follow as a table" });
  const read = el("div", { class: "read" });
  const choice = el("select", { "aria-label": "size", onchange: () => draw() }, ...sizes.map(key => el("option", { value: key }, spaced(key.replace("_ns", "")) + " time")));
  let root = 0, boxes = [];
  box.append(el("div", { class: "tools" }, choice), canvas, read);
  function draw() {
    const key = choice.value, width = canvas.clientWidth || 900, scale = width / (tree[key][root] || 1);
    const levels = i => 1 + children[i].reduce((most, child) => tree[key][child] * scale < 1 ? most : Math.max(most, levels(child)), 0);
    const context = sized(canvas, width, 16 * Math.min(levels(root), 19) + 4);
    boxes = [];
    context.font = "11px system-ui";
    const put = (i, x, depth) => {
      const wide = tree[key][i] * scale;
      if (wide < 1 || depth > 18) return;
      boxes.push([i, x, wide, depth]);
      const tone = depth % 2 ? "annotation" : "operator";
      context.fillStyle = colors[tone];
      context.fillRect(x, depth * 16, Math.max(wide - 1, .5), 15);
      if (wide > 34) {
        context.fillStyle = inks[tone];
        context.fillText(fitted(context, tree.name[i].slice(0, 300), wide - 6), x + 3, depth * 16 + 11);
      }
      let at = x;
      for (const child of [...children[i]].sort((a, b) => tree[key][b] - tree[key][a])) { put(child, at, depth + 1); at += tree[key][child] * scale; }
    };
    put(root, 0, 0);
  }
  const at = event => boxes.find(([, x, wide, depth]) => event.offsetX >= x && event.offsetX < x + wide && Math.floor(event.offsetY / 16) === depth);
  canvas.addEventListener("pointermove", event => {
    const found = at(event);
    if (found) read.textContent = tree.name[found[0]] + " – " + (tree.count ? tree.count[found[0]] + " times, " : "") +
      sizes.map(key => spaced(key.replace("_ns", "")) + " " + time(tree[key][found[0]])).join(", ");
  });
  canvas.addEventListener("click", event => { const found = at(event); root = found ? found[0] : 0; draw(); });
  canvas.addEventListener("keydown", event => { if (event.key === "Escape") { root = Math.max(tree.parent[root], 0); draw(); } });
  redraws.push(draw);
  draw();
  const order = tree.name.map((_, i) => i).slice(1).sort((a, b) => tree[sizes[0]][b] - tree[sizes[0]][a]).slice(0, 100);
  numbers(box, ["name", "called by"].concat(sizes.map(key => spaced(key.replace("_ns", "")))), order.map(i => [tree.name[i], tree.name[tree.parent[i]]].concat(sizes.map(key => time(tree[key][i])))));
}
