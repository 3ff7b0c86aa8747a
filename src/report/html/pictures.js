/* SPDX-License-Identifier: MIT */
/* Pictures of facts: budget over steps, ranks × steps, roofline, memory, comparison, icicle. */
const rowsOf = table => Object.values(table).find(Array.isArray).length;

function budgetOf(series) {
  const lines = LINES.filter(line => series["line_" + line + "_ns"]);
  if (lines.length) return { names: lines, color: name => name, get: (name, i) => series["line_" + name + "_ns"][i] || 0 };
  const host = HOST_LINES.filter(line => series["host_" + line + "_ns"]);
  if (host.length) return { names: host, color: name => HOST_COLORS[name], get: (name, i) => series["host_" + name + "_ns"][i] || 0 };
  const phases = HOST_LINES.filter(line => series["phase_" + line + "_ns"]);
  if (phases.length) return { names: phases, color: name => HOST_COLORS[name], get: (name, i) => series["phase_" + name + "_ns"][i] || 0 };
  return null;
}

/* The width of drawings, in pixels of the screen: text is not stretched. */
let W = 1000;
function measure(box) {
  W = Math.max(320, Math.min(1400, box.clientWidth || 1000));
}

function frame(label, height) {
  return svg("svg", { class: "plot", viewBox: "0 0 " + W + " " + height, height: height, role: "img", "aria-label": label,
    preserveAspectRatio: "none" });
}

/* Horizontal lines with what they stand for. */
function grid(plot, most, format, left, width, top, height) {
  const { step, values } = ticks(0, most, 5, format === tickBytes);
  for (const value of values) {
    const y = top + height - height * value / most;
    plot.append(svg("line", { class: "grid", x1: left, x2: left + width, y1: y, y2: y }),
      svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, format(value, step)));
  }
}

function drawBudget(box, series, budget, slot) {
  measure(box);
  const count = rowsOf(series), width = Math.min((W - 80) / count, 140);
  const sums = Array.from({ length: count }, (_, i) => budget.names.reduce((sum, name) => sum + budget.get(name, i), 0));
  const most = Math.max(...sums, 1);
  const plot = frame("budget of " + count + " steps, stacked; the numbers follow as a table", 260);
  grid(plot, most, tickTime, 75, W - 80, 10, 215);
  const groups = Math.ceil(count / 900); /* what is narrower than a pixel: the longest of its neighbours */
  const read = el("div", { class: "read", "aria-live": "off" });
  for (let i = 0; i < count; i += groups) {
    let at = i;
    for (let k = i; k < Math.min(i + groups, count); k++) if (sums[k] > sums[at]) at = k;
    const group = svg("g", {});
    let y = 225;
    for (const name of budget.names) {
      const height = 215 * budget.get(name, at) / most;
      if (height <= 0) continue;
      y -= height;
      group.append(svg("rect", { x: 75 + i * width, y, width: Math.max(width * groups - (width > 4 ? 1 : 0), .5), height,
        fill: "var(--" + budget.color(name) + ")" }));
    }
    group.addEventListener("pointerenter", () => {
      read.textContent = "step " + (series.step ? series.step[at] : at) + (series.mark && series.mark[at] ? " (" + series.mark[at] + ")" : "") +
        ": " + time(sums[at]) + " – " + budget.names.filter(name => budget.get(name, at) > 0).map(name => spaced(name) + " " +
        time(budget.get(name, at)) + " (" + percent(budget.get(name, at) / sums[at]) + ")").join(", ");
    });
    plot.append(group);
  }
  if (series.step) {
    const every = ticks(0, count, Math.max(1, width * count / 50)).step;
    plot.append(svg("text", { x: 69, y: 245, "text-anchor": "end" }, "step"));
    for (let i = 0; i < count; i += Math.max(1, Math.ceil(every)))
      plot.append(svg("text", { x: 75 + width * (i + .5), y: 245, "text-anchor": "middle" }, String(series.step[i])));
  }
  slot.replaceChildren(plot, legend(budget.names.filter(name => sums.some((_, i) => budget.get(name, i) > 0)), budget.color), read);
  numbers(slot, ["step", "sum"].concat(budget.names.map(spaced)), sums.map((sum, i) =>
    [series.step ? series.step[i] : i, time(sum)].concat(budget.names.map(name => time(budget.get(name, i))))));
}

/* The mean of ranks step by step, of the steps that any of them has. */
function meanOf(ranks) {
  const steps = [...new Set(ranks.flatMap(rank => rank.step))].sort((a, b) => a - b), mean = { step: steps };
  for (const line of LINES.map(name => "line_" + name + "_ns").filter(key => ranks.some(rank => rank[key]))) {
    const sums = new Map(steps.map(step => [step, [0, 0]]));
    for (const rank of ranks)
      rank.step.forEach((step, i) => { const sum = sums.get(step); sum[0] += rank[line] ? rank[line][i] || 0 : 0; sum[1]++; });
    mean[line] = steps.map(step => sums.get(step)[0] / sums.get(step)[1]);
  }
  return mean;
}

/* One bar below the verdict: what a mean step is made of. */
function viewOverview(part, series, budget) {
  const header = part.views.closest("article").querySelector("header"), count = rowsOf(series);
  const steps = Array.from({ length: count }, (_, i) => i), counted = series.mark ? steps.filter(i => !series.mark[i]) : steps;
  const used = counted.length ? counted : steps;
  const means = budget.names.map(name => used.reduce((sum, i) => sum + budget.get(name, i), 0) / used.length);
  const whole = means.reduce((a, b) => a + b, 0);
  if (!(whole > 0)) return;
  const label = budget.names.map((name, i) => [spaced(name), means[i] / whole]).filter(([, share]) => share >= .001)
    .map(([name, share]) => name + " " + percent(share)).join(", ");
  const strip = el("div", { class: "strip", role: "img", "aria-label": "a mean step of " + time(whole) + ": " + label });
  budget.names.forEach((name, i) => {
    const share = means[i] / whole;
    if (share < .001) return;
    const piece = el("span", { class: /compute|sync|launch/.test(budget.color(name)) ? "deep" : budget.color(name) === "unattributed" ? "gray" : null, title: spaced(name) + " " + time(means[i]) + ", " + percent(share) }, share > .08 ? spaced(name) + " " + (100 * share).toFixed(0) + " %" : "");
    piece.style.flexGrow = share;
    piece.style.background = "var(--" + budget.color(name) + ")";
    strip.append(piece);
  });
  header.append(el("p", { class: "note" }, "a mean step of " + time(whole) + ": " + label), strip);
}

function viewBudget(part) {
  const ranks = (part.data.ranks || []).filter(rank => rank.step && budgetOf(rank));
  const all = ranks.length > 1 && LINES.some(line => ranks[0]["line_" + line + "_ns"]) ? [meanOf(ranks)].concat(ranks) : ranks;
  const series = all.length ? all[0] : part.data["series.steps"];
  const budget = series && budgetOf(series);
  if (!budget) return;
  viewOverview(part, series, budget);
  const box = view(part, "budget", "Budget over steps", "Where the time of each step goes; marked steps (warm-up, cold) included.");
  const slot = el("div", {});
  if (all.length > 1) {
    const choice = el("select", { "aria-label": "rank", onchange: () => {
      const rank = all[choice.value];
      drawBudget(box, rank, budgetOf(rank), slot);
    } }, ...all.map((rank, i) => el("option", { value: i }, rank.rank === undefined ? "mean of " + ranks.length + " ranks" : "rank " + rank.rank)));
    box.append(el("div", { class: "tools" }, choice));
  }
  box.append(slot);
  drawBudget(box, series, budget, slot);
}

const medianOf = values => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length ? (sorted[sorted.length - 1 >> 1] + sorted[sorted.length >> 1]) / 2 : 0;
};

function viewHeat(part) {
  const ranks = (part.data.ranks || []).filter(rank => rank.step && rank.time_ns);
  if (ranks.length < 2) return;
  const box = view(part, "heat", "Ranks × steps", "Each cell is a rank's figure against the median of all ranks in that step; darker is more, a dot marks over 10 %.");
  for (const rank of ranks) /* collectives make all steps end together: what differs is the time without them */
    if (rank.line_exposed_comm_ns) rank.own_ns = rank.time_ns.map((ns, i) => ns === null ? null : ns - rank.line_exposed_comm_ns[i]);
  const figures = ["own_ns", "time_ns"].concat(LINES.map(line => "line_" + line + "_ns")).filter(key => ranks.some(rank => rank[key]));
  const canvas = el("canvas", { tabindex: "0", role: "img", "aria-label": ranks.length + " ranks by steps; the numbers follow as a table" });
  const read = el("div", { class: "read" });
  const choice = el("select", { "aria-label": "figure", onchange: () => draw() },
    ...figures.map(key => el("option", { value: key }, key === "own_ns" ? "step without exposed communication" : key === "time_ns" ? "step time" : spaced(key.replace(/^line_|_ns$/g, "")))));
  const steps = [...new Set(ranks.flatMap(rank => rank.step))].sort((a, b) => a - b);
  const tables = ranks.map(rank => new Map(rank.step.map((step, i) => [step, i])));
  const cell = (r, step, key) => {
    const at = tables[r].get(step);
    return at === undefined || !ranks[r][key] ? null : ranks[r][key][at];
  };
  box.append(el("div", { class: "tools" }, choice), canvas, read);
  function draw() {
    const key = choice.value, width = canvas.clientWidth || 900, high = Math.max(6, Math.min(22, 500 / ranks.length));
    const context = sized(canvas, width, high * ranks.length + 18), wide = (width - 60) / steps.length;
    context.clearRect(0, 0, width, high * ranks.length + 18);
    context.font = "11px system-ui";
    const walls = steps.map(step => medianOf(ranks.map((_, r) => cell(r, step, "time_ns")).filter(v => v !== null)) || 1);
    steps.forEach((step, s) => {
      const values = ranks.map((_, r) => cell(r, step, key)), median = medianOf(values.filter(v => v !== null));
      values.forEach((value, r) => {
        const over = value === null ? 0 : (value - median) / walls[s];
        context.globalAlpha = value === null ? 0 : Math.min(1, .08 + Math.abs(over) * 2.5);
        context.fillStyle = over >= 0 ? colors.up : colors.down;
        context.fillRect(60 + s * wide, r * high, Math.max(wide - (wide > 4 ? 1 : 0), .5), high - 1);
        context.globalAlpha = 1;
        if (over > .1 && wide > 5 && high > 5) {
          context.fillStyle = colors.ink;
          context.beginPath();
          context.arc(60 + (s + .5) * wide, (r + .5) * high, 1.6, 0, 7);
          context.fill();
        }
      });
    });
    context.fillStyle = colors.soft;
    const every = Math.ceil(12 / high);
    ranks.forEach((rank, r) => { if (r % every === 0) context.fillText("rank " + rank.rank, 2, r * high + Math.min(high, 12)); });
    context.fillText("step " + steps[0], 60, high * ranks.length + 13);
    context.fillText(String(steps[steps.length - 1]), width - 30, high * ranks.length + 13);
    canvas.onpointermove = event => {
      const s = Math.floor((event.offsetX - 60) / wide), r = Math.floor(event.offsetY / high);
      if (s < 0 || s >= steps.length || r < 0 || r >= ranks.length) return;
      const value = cell(r, steps[s], key);
      read.textContent = "rank " + ranks[r].rank + ", step " + steps[s] + ": " + (value === null ? "not recorded" : time(value));
    };
  }
  redraws.push(draw);
  draw();
  numbers(box, ["rank", "median step"], ranks.map(rank => [rank.rank, time(medianOf(rank.time_ns.filter(v => v !== null)))]));
}

/* The device's roofs, as operators that are bound by memory and by compute tell them. */
function drawRoofs(plot, table, points, roofs, px, py, [x0, x1, y0]) {
  const bound = kind => points.map((p, k) => k).filter(k => table.bound && table.bound[points[k].i] === kind);
  const slopes = bound("memory").map(k => roofs[k] / points[k].x), rate = slopes.length ? medianOf(slopes) : 0;
  const peaks = [...new Set(bound("compute").map(k => Number(roofs[k].toPrecision(3))))].sort((a, b) => b - a).slice(0, 4);
  const line = (ax, ay, bx, by) => plot.append(svg("line", { x1: px(ax), y1: py(ay), x2: px(bx), y2: py(by), stroke: "var(--soft)", "stroke-width": 1.5, "stroke-dasharray": "5 4" }));
  for (const peak of peaks) {
    const ridge = rate ? Math.min(Math.max(peak / rate, x0), x1) : x0;
    line(ridge, peak, x1, peak);
    plot.append(svg("text", { x: px(x1) - 4, y: py(peak) - 5, "text-anchor": "end" }, flops(peak) + "FLOP/s at best"));
  }
  if (!rate) return;
  const from = Math.max(x0, y0 / rate), to = Math.min(x1, (peaks[0] || 10 ** 18) / rate, 10 ** Math.ceil(Math.log10(Math.max(...roofs))) / rate);
  if (to > from) line(from, from * rate, to, to * rate);
}

function viewRoofline(part) {
  const table = part.data["flops.by_operator"];
  if (!table || !table.intensity || !table.flops_per_second) return;
  const points = [];
  table.intensity.forEach((x, i) => {
    const y = table.flops_per_second[i];
    if (x > 0 && y > 0) points.push({ x, y, i, ns: table.device_ns ? table.device_ns[i] || 0 : 0 });
  });
  if (!points.length) return;
  const box = view(part, "roofline", "Roofline chart", "Operators by arithmetic intensity and rate, both axes logarithmic; the area of a point is its device time, the short line above it its own roofline; dashed: the device's.");
  measure(box);
  const low = list => Math.floor(Math.log10(Math.min(...list))), high = list => Math.ceil(Math.log10(Math.max(...list)));
  const roofs = points.map(p => table.roofline_ratio && table.roofline_ratio[p.i] > 0 ? p.y / table.roofline_ratio[p.i] : p.y);
  const x0 = low(points.map(p => p.x)), x1 = Math.max(high(points.map(p => p.x)), x0 + 1);
  const y0 = low(points.map(p => p.y)), y1 = Math.max(high(roofs), y0 + 1);
  const px = x => 80 + (W - 100) * (Math.log10(x) - x0) / (x1 - x0), py = y => 290 - 270 * (Math.log10(y) - y0) / (y1 - y0);
  const plot = frame(points.length + " operators; the numbers follow as a table", 330), read = el("div", { class: "read" });
  for (let e = x0; e <= x1; e++) plot.append(svg("line", { class: "grid", x1: px(10 ** e), x2: px(10 ** e), y1: 20, y2: 290 }),
    svg("text", { x: px(10 ** e), y: 306, "text-anchor": "middle" }, String(+(10 ** e).toPrecision(1))));
  for (let e = y0; e <= y1; e++) plot.append(svg("line", { class: "grid", x1: 80, x2: W - 20, y1: py(10 ** e), y2: py(10 ** e) }),
    svg("text", { x: 74, y: py(10 ** e) + 4, "text-anchor": "end" }, flops(10 ** e) + "FLOP/s"));
  plot.append(svg("text", { x: W / 2 + 30, y: 324, "text-anchor": "middle" }, "FLOP per byte"));
  drawRoofs(plot, table, points, roofs, px, py, [10 ** x0, 10 ** x1, 10 ** y0]);
  const most = Math.max(...points.map(p => p.ns), 1);
  points.forEach((p, k) => {
    const label = table.name[p.i] + " " + (table.shape ? table.shape[p.i] || "" : "") + ": " + flops(p.y) + "FLOP/s, " +
      time(p.ns) + (table.roofline_ratio && table.roofline_ratio[p.i] ? ", " + percent(table.roofline_ratio[p.i]) + " of its roofline" : "");
    const dot = svg("circle", { cx: px(p.x), cy: py(p.y), r: 4 + 12 * Math.sqrt(p.ns / most), fill: "var(--compute)", "fill-opacity": .55, stroke: "var(--ink)" });
    plot.append(svg("line", { x1: px(p.x) - 9, x2: px(p.x) + 9, y1: py(roofs[k]), y2: py(roofs[k]), stroke: "var(--launch_stall)", "stroke-width": 2 }));
    dot.append(svg("title", {}, label));
    dot.addEventListener("pointerenter", () => { read.textContent = label; });
    plot.append(dot);
  });
  box.append(plot, read);
  numbers(box, ["operator", "tensors", "device", "FLOP/s", "FLOP/B"], points.map(p =>
    [table.name[p.i], table.shape ? table.shape[p.i] || "" : "", time(p.ns), flops(p.y), p.x.toPrecision(3)]));
}

/* Curves over time from `begin` on; filled ones are stacked. What is of a stretch stays up to its end: steps. */
function area(box, begin, x, curves, stacked, label) {
  measure(box);
  const count = x.length, span = x[count - 1] - begin || 1;
  const base = new Array(count).fill(0);
  const most = Math.max(...x.map((_, i) => stacked ? curves.reduce((s, c) => s + (c.values[i] || 0), 0) : Math.max(...curves.map(c => c.values[i] || 0))), 1);
  const plot = frame(label, 260);
  grid(plot, most, tickBytes, 75, W - 80, 10, 215);
  const place = (t, v) => (75 + (W - 80) * (t - begin) / span).toFixed(1) + "," + (225 - 215 * v / most).toFixed(1);
  const before = i => i > 0 ? x[i - 1] : begin;
  const at = (i, v) => place(before(i), v) + " " + place(x[i], v), back = (i, v) => place(x[i], v) + " " + place(before(i), v);
  curves.forEach((curve, k) => {
    const points = x.map((_, i) => at(i, base[i] + (curve.values[i] || 0)));
    if (stacked) {
      const floor = x.map((_, i) => back(i, base[i])).reverse();
      plot.append(svg("polygon", { points: points.concat(floor).join(" "), fill: "var(--" + curve.color + ")" }));
      curve.values.forEach((v, i) => { base[i] += v || 0; });
    } else {
      plot.append(svg("polyline", { points: points.join(" "), fill: "none", stroke: "var(--" + curve.color + ")", "stroke-width": 2,
        "stroke-dasharray": ["", "6 3", "2 3"][k % 3] }));
    }
  });
  const { step, values } = ticks(0, span, W < 600 ? 3 : 8);
  for (const value of values) {
    const share = value / span;
    plot.append(svg("text", { x: 75 + (W - 80) * share, y: 245, "text-anchor": share > .96 ? "end" : "middle" }, tickTime(value, step)));
  }
  box.append(plot, legend(curves.map(c => c.name), name => curves.find(c => c.name === name).color, String));
}

function bars(box, title, names, values, format, isWide) {
  const total = values.reduce((a, b) => a + b, 0) || 1;
  box.append(el("h3", {}, title));
  const body = el("tbody", {});
  names.forEach((name, i) => values[i] > 0 && body.append(el("tr", {}, el("th", { scope: "row" }, name || "no stack"), el("td", {}, format(values[i])),
    el("td", {}, percent(values[i] / total)), el("td", {}, barOf(values[i] / total)))));
  box.append(el("table", { class: isWide ? "meters wide" : "meters" }, body));
}

function barOf(share) {
  return svg("svg", { class: "bar", "aria-hidden": "true" }, svg("rect", { class: "rest", width: "100%", height: "100%" }),
    svg("rect", { class: "part", width: (100 * share).toFixed(2) + "%", height: "100%" }));
}

/* What the largest sites held, stacked: at the peak it is all that was live. */
function viewSites(box, table, timeline) {
  if (!table) return;
  for (const device of new Set(table.device)) {
    const entries = timeline.index.map((index, i) => ({ index, ns: timeline.time_ns ? timeline.time_ns[i] : index, device: timeline.device[i] })).filter(t => t.device === device);
    const rows = table.device.map((d, i) => d === device ? i : -1).filter(i => i >= 0), names = [...new Set(rows.map(i => table.site[i]))];
    const own = name => rows.filter(i => table.site[i] === name), when = index => (entries.find(t => t.index >= index) || entries[entries.length - 1]).ns;
    const x = own(names[0]).map(i => when(table.index[i]));
    if (!(x[x.length - 1] > entries[0].ns)) continue;
    box.append(el("h3", {}, "By site, device " + device));
    area(box, entries[0].ns, x, names.map((name, k) => ({ name: name || "no stack", values: own(name).map(i => table.bytes[i]), color: LINES[k] })), true,
      "memory of device " + device + " over time by allocation site, stacked; the sites at the peak follow as a table");
  }
}

function viewMemory(part) {
  const snapshot = part.data["snapshot.timeline"], kinds = part.data["memory_timeline.timeline"];
  if (!snapshot && !kinds) return;
  const box = view(part, "memory", "Memory timeline", "The most that was allocated in each stretch of time, and what the peak is made of.");
  if (snapshot) {
    for (const device of new Set(snapshot.device)) {
      const own = snapshot.device.map((d, i) => d === device ? i : -1).filter(i => i >= 0);
      const take = key => own.map(i => snapshot[key][i]);
      area(box, take("time_ns")[0], take("time_ns"), [
        { name: "reserved", values: take("reserved_bytes"), color: "device_gap" },
        { name: "active", values: take("active_bytes"), color: "compute" },
        { name: "allocated", values: take("allocated_bytes"), color: "exposed_comm" }], false,
      "memory of device " + device + " over time: reserved, active, allocated");
    }
    viewSites(box, part.data["snapshot.site_timeline"], snapshot);
    const sites = part.data["snapshot.sites"], roles = part.data["snapshot.by_role"];
    if (roles) bars(box, "Live at the peak, by role", roles.role, roles.bytes, bytes);
    if (sites) bars(box, "Live at the peak, by site (" + sites.site.length + " largest)", sites.site, sites.bytes, bytes, true);
  }
  if (kinds) {
    const names = ["parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail", "unknown"].filter(n => kinds[n + "_bytes"]);
    area(box, kinds.time_ns[0], kinds.time_ns, names.map((name, i) => ({ name: spaced(name), values: kinds[name + "_bytes"], color: LINES[i] })), true, "memory by category over time, stacked");
    const peak = part.data["memory_timeline.by_category"];
    if (peak && peak.peak_bytes) bars(box, "At the peak, by category", peak.category.map(spaced), peak.peak_bytes, bytes);
  }
}

function viewWaterfall(part) {
  const table = part.data["explanation.lines"];
  if (!table || !table.line) return;
  const lines = table.line.map((name, i) => ({ name, change: table.change_ns[i] || 0, a: table.a_ns[i] || 0, b: table.b_ns[i] || 0,
    certainty: table.certainty ? table.certainty[i] : null }));
  const a = lines.reduce((s, l) => s + l.a, 0), b = lines.reduce((s, l) => s + l.b, 0);
  const shown = lines.filter(l => Math.abs(l.change) > Math.max(a, b) / 2000).sort((x, y) => Math.abs(y.change) - Math.abs(x.change)).slice(0, 14);
  const box = view(part, "waterfall", "A → B", "The mean step of A, what changed line by line, the mean step of B. ▲ slower, ▼ faster.");
  measure(box);
  const rest = Math.abs(b - a - shown.reduce((sum, l) => sum + l.change, 0)) > 0 ? 1 : 0;
  const height = 24 * (shown.length + 2 + rest) + 22, plot = frame("from " + time(a) + " to " + time(b) + " in " + shown.length + " changes; the numbers follow as a table", height);
  let at = a;
  const ends = [a, b];
  shown.forEach(l => ends.push(at += l.change));
  const low = Math.max(0, Math.min(...ends) - (Math.max(...ends) - Math.min(...ends)) * 1.5), most = Math.max(...ends);
  const left = W < 600 ? 110 : 230, px = v => left + (W - left - (W < 600 ? 90 : 170)) * (v - low) / (most - low || 1);
  const row = (i, from, to, color, name, text) => plot.append(
    svg("text", { class: "strong", x: left - 8, y: 24 * i + 26, "text-anchor": "end" }, name),
    svg("rect", { x: Math.min(px(from), px(to)), y: 24 * i + 13, width: Math.max(Math.abs(px(to) - px(from)), 1), height: 17, fill: color }),
    svg("text", { class: "strong", x: Math.max(px(from), px(to)) + 6, y: 24 * i + 26 }, text));
  row(0, low, a, "var(--device_gap)", "A", time(a));
  at = a;
  shown.forEach((l, i) => {
    row(i + 1, at, at + l.change, "var(--" + (l.change > 0 ? "up" : "down") + ")", spaced(l.name),
      (l.change > 0 ? "▲ +" : "▼ −") + time(Math.abs(l.change)) + (l.certainty && W >= 600 ? ", " + spaced(l.certainty) : ""));
    at += l.change;
  });
  if (rest) row(shown.length + 1, at, b, "var(--other)", "rest", (b > at ? "+" : "−") + time(Math.abs(b - at)));
  row(shown.length + 1 + rest, low, b, "var(--device_gap)", "B", time(b));
  box.append(plot, el("p", { class: "note" }, low > 0 ? "The axis begins at " + time(low) + "." : "The axis begins at 0."));
  numbers(box, ["line", "A", "B", "change"], lines.map(l => [spaced(l.name), time(l.a), time(l.b), time(l.change)]));
}
