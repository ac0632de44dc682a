"use strict";
// Charts over the updates: a heatmap of all variables, lines of one, histograms of one. uPlot draws.
page.time = (function () {
  const time = page.data.time;
  const chosen = { variable: "", quantity: "gradients/norm", of: "gradients" };
  let numbers = null, plots = [];
  const by = new Map(); // variable -> quantity -> series
  const WORDS = {
    "gradients/norm": "gradient norm", "gradients/norm_before_clip": "gradient norm, before and after clipping", "gradients/clip_share": "share that clipping took",
    "update/ratio": "update next to the weight", "variable/norm": "norm of the variable", "gradients/absent": "no gradient (1: absent)",
    "gradients/zeros": "share of exact zeros in the gradient", "gradients/nonfinite": "NaN and Inf in the gradient", learning_rate: "learning rate", loss: "loss",
    gradient_norm: "norm of all gradients", gradient_norm_before_clip: "norm of all gradients, before and after clipping", clip_share: "share that clipping took", absent_gradients: "variables without a gradient", nonfinite: "NaN and Inf",
  };
  const BEFORE = { "gradients/norm_before_clip": "gradients/norm", gradient_norm_before_clip: "gradient_norm" };
  const words = (q) => WORDS[q] || q.replace("/", ", ");

  async function unpack() {
    const text = document.getElementById("numbers").textContent.trim();
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Float32Array(await new Response(stream).arrayBuffer());
  }

  function column(series, which) {
    const many = time.steps[series.s].length;
    if (series.c !== undefined) return new Float32Array(many).fill(series.c === null ? NaN : series.c);
    const n = series.one ? 0 : which;
    return numbers.subarray(series.at + n * many, series.at + (n + 1) * many);
  }
  const [LOW, HIGH, MEAN] = [0, 1, 2];
  const find = (variable, quantity) => by.get(variable)?.get(quantity);
  const quantities = () => [...(by.get(chosen.variable)?.keys() || [])];

  // The heatmap

  function heatmap() {
    const host = document.getElementById("heatmap");
    const quantity = document.getElementById("heat-quantity").value;
    const rows = time.variables.filter((v) => find(v, quantity));
    if (!rows.length) return host.replaceChildren(page.make("p", { class: "soft" }, "nothing of this was summarized"));
    const cells = rows.map((v) => {
      const series = find(v, quantity), absent = find(v, "gradients/absent");
      return { steps: time.steps[series.s], values: column(series, HIGH), absent: absent && quantity.startsWith("gradients") ? column(absent, HIGH) : null };
    });
    const sizes = cells.flatMap((c) => Array.from(c.values, Math.abs).filter((x) => x > 0 && Number.isFinite(x)));
    const least = quantile(sizes, 0.01), most = sizes.reduce((a, b) => Math.max(a, b), 1e-12);
    const low = Math.floor(Math.log10(least || 1e-12)), high = Math.max(Math.ceil(Math.log10(most)), low + 1);
    const tall = Math.min(Math.max(Math.floor(520 / rows.length), 5), 20);
    const end = cells.reduce((m, c) => Math.max(m, c.steps[c.steps.length - 1]), 1);
    const options = {
      width: host.clientWidth, height: rows.length * tall + 50, legend: { show: false }, cursor: { y: false, drag: { x: true, y: false } },
      scales: { x: { time: false, range: (u, a, b) => [Math.max(a, 0), b] }, y: { range: [0, rows.length] } },
      axes: [axis({ label: "update", labelSize: 16, size: 34 }), axis({ size: Math.min(40 + 6.6 * Math.max(...rows.map((r) => r.length)), host.clientWidth * 0.38), splits: () => rows.map((_, i) => rows.length - i - 0.5), values: (u, at) => at.map((y) => y === null ? "" : page.short(rows[Math.round(rows.length - y - 0.5)], Math.floor((host.clientWidth * 0.38 - 30) / 6.4))), grid: { show: false }, filter: (u, at) => at.map((y, i) => (tall >= 12 || i % Math.ceil(12 / tall) === 0 ? y : null)) })],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [(u) => paint(u, cells, rows, low, high), (u) => selection(u, rows)], setCursor: [(u) => hover(u, host, rows, cells, quantity)] },
    };
    host.replaceChildren();
    const plot = new uPlot(options, [[0, end], [0, 0]], host);
    plot.over.addEventListener("click", () => choose(rows[rowAt(plot, rows)]));
    plots.push(plot);
    document.getElementById("heat-low").textContent = `1e${low}`;
    document.getElementById("heat-high").textContent = `1e${high}`;
    document.getElementById("heat-ramp").style.background = page.gradient();
  }

  const quantile = (list, q) => (list.length ? [...list].sort((a, b) => a - b)[Math.floor(q * (list.length - 1))] : 0);
  const rowAt = (u, rows) => Math.min(Math.max(Math.floor(rows.length - u.posToVal(u.cursor.top, "y")), 0), rows.length - 1);

  function paint(u, cells, rows, low, high) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath(), ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height), ctx.clip();
    const missing = page.css("--error");
    cells.forEach((cell, i) => {
      const top = u.valToPos(rows.length - i, "y", true), bottom = u.valToPos(rows.length - i - 1, "y", true);
      let left = u.valToPos(0, "x", true);
      for (let k = 0; k < cell.steps.length; k++) {
        const right = u.valToPos(cell.steps[k], "x", true);
        const odd = !Number.isFinite(cell.values[k]);
        ctx.fillStyle = cell.absent && cell.absent[k] > 0 ? missing : odd ? page.css("--paper") : page.shade(Math.abs(cell.values[k]), low, high);
        if (right >= bbox.left && left <= bbox.left + bbox.width) ctx.fillRect(left, top, Math.max(right - left, 1) + 0.5, Math.max(bottom - top - 1, 1));
        left = right;
      }
    });
    ctx.restore();
    moments(u);
  }

  function selection(u, rows) {
    const i = rows.indexOf(chosen.variable);
    if (i < 0) return;
    const top = u.valToPos(rows.length - i, "y", true), bottom = u.valToPos(rows.length - i - 1, "y", true);
    u.ctx.save();
    u.ctx.strokeStyle = page.css("--ink"), u.ctx.lineWidth = 2;
    u.ctx.strokeRect(u.bbox.left, top, u.bbox.width, bottom - top - 1);
    u.ctx.restore();
  }

  function hover(u, host, rows, cells, quantity) {
    let tip = host.querySelector(".tip");
    if (!tip) host.append((tip = page.make("div", { class: "tip", hidden: "" })));
    if (u.cursor.left < 0) return void (tip.hidden = true);
    const i = rowAt(u, rows), cell = cells[i], at = u.posToVal(u.cursor.left, "x");
    const k = Math.max(cell.steps.findIndex((s) => s >= at), 0);
    const value = cell.absent && cell.absent[k] > 0 ? "no gradient" : page.number(cell.values[k]);
    tip.textContent = `${rows[i]}\nupdate ${cell.steps[k]?.toLocaleString("en")}: ${words(quantity)} ${value}`;
    tip.hidden = false;
    tip.style.left = `${Math.min(u.cursor.left + u.bbox.left / devicePixelRatio + 14, host.clientWidth - tip.offsetWidth - 4)}px`;
    tip.style.top = `${u.cursor.top + 14}px`;
  }

  // When findings began: a line through every chart

  function moments(u) {
    for (const finding of page.data.findings) {
      if (finding.severity === "note" || finding.first_update < 1) continue;
      const x = u.valToPos(finding.first_update, "x", true);
      if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
      u.ctx.save();
      u.ctx.strokeStyle = u.ctx.fillStyle = page.css(finding.severity === "error" ? "--error" : "--warning");
      u.ctx.setLineDash([5, 4]), u.ctx.lineWidth = 1.5;
      u.ctx.beginPath(), u.ctx.moveTo(x, u.bbox.top), u.ctx.lineTo(x, u.bbox.top + u.bbox.height), u.ctx.stroke();
      u.ctx.font = `${11 * devicePixelRatio}px ${page.css("--sans")}`, u.ctx.textBaseline = "bottom";
      u.ctx.fillText(finding.rule, x + 4, u.bbox.top - 1);
      u.ctx.restore();
    }
  }

  // Lines

  function lines() {
    const host = document.getElementById("lines");
    const main = find(chosen.variable, chosen.quantity);
    if (!main) return host.replaceChildren();
    const steps = time.steps[main.s], log = document.getElementById("log-scale").checked;
    const fit = (values) => Array.from(values, (v) => (Number.isFinite(v) && !(log && v <= 0) ? v : null));
    if (!Array.from(column(main, MEAN)).some(Number.isFinite)) return host.replaceChildren(page.make("p", { class: "soft" }, `${chosen.variable} had no gradient in any of the ${steps.length.toLocaleString("en")} summarized updates: there is no line to draw.`));
    const after = BEFORE[chosen.quantity] && find(chosen.variable, BEFORE[chosen.quantity]);
    const data = [steps, fit(column(main, LOW)), fit(column(main, HIGH)), fit(column(main, MEAN))];
    const ink = page.css("--note"), name = after ? "before clipping" : words(chosen.quantity);
    const series = [{ label: "update" }, { show: true, stroke: "transparent", label: "least", points: { show: false } }, { stroke: "transparent", label: "most", points: { show: false } }, { stroke: ink, width: 1.8, label: name, points: { show: steps.length < 40 } }];
    if (after && after.s === main.s) data.push(fit(column(after, MEAN))), series.push({ stroke: page.css("--good"), width: 1.8, label: "after clipping", points: { show: steps.length < 40 } });
    series.slice(1).forEach((s) => (s.value = (u, v) => page.number(v)));
    const options = {
      width: host.clientWidth, height: 260, series, bands: [{ series: [2, 1], fill: page.css("--note-paper") }],
      scales: { x: { time: false }, y: log ? { distr: 3 } : {} }, hooks: { draw: [moments] },
      axes: [axis({ label: "update", labelSize: 16, size: 34 }), axis({ size: 70, values: (u, at) => at.map((v) => (v === null ? "" : page.number(v))) })],
    };
    host.replaceChildren();
    plots.push(new uPlot(options, data, host));
  }

  function axis(more) {
    const grid = { stroke: page.css("--line"), width: 1 };
    return { stroke: page.css("--soft"), grid, ticks: grid, font: `11px ${page.css("--sans")}`, labelFont: `12px ${page.css("--sans")}`, ...more };
  }

  // Histograms: updates across, values up, darker where more of the elements are

  function histograms() {
    const host = document.getElementById("histograms");
    const shown = (page.data.histograms || []).find((h) => h.variable === chosen.variable && h.of === chosen.of);
    if (!shown) return host.replaceChildren(page.make("p", { class: "soft" }, "nothing to draw: there are no numbers of this"));
    const many = shown.limits.length;
    const options = {
      width: host.clientWidth, height: 280, legend: { show: false }, cursor: { show: false },
      scales: { x: { time: false }, y: { range: [0, many] } }, series: [{}, { paths: () => null, points: { show: false } }],
      axes: [axis({ label: "update", labelSize: 16, size: 34 }), axis({ size: 80, splits: () => shown.limits.map((_, i) => i + 1), filter: (u, at) => at.map((y, i) => (i % Math.ceil(many / 14) === 0 ? y : null)), values: (u, at) => at.map((y) => (y === null ? "" : page.number(shown.limits[Math.round(y) - 1]))) })],
      hooks: { draw: [(u) => bins(u, shown), moments] },
    };
    host.replaceChildren();
    plots.push(new uPlot(options, [[0, shown.steps[shown.steps.length - 1]], [0, 0]], host));
  }

  function bins(u, shown) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath(), ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height), ctx.clip();
    ctx.fillStyle = page.css("--note");
    shown.counts.forEach((row, k) => {
      const left = u.valToPos(shown.steps[k - 1] ?? 0, "x", true), all = row.reduce((a, b) => a + b, 0) || 1;
      const wide = Math.max(u.valToPos(shown.steps[k], "x", true) - left, 2);
      row.forEach((n, b) => {
        if (!n) return;
        const top = u.valToPos(b + 1, "y", true);
        ctx.globalAlpha = Math.min(0.08 + 1.6 * Math.sqrt(n / all), 1);
        ctx.fillRect(left, top, wide, u.valToPos(b, "y", true) - top);
      });
    });
    ctx.restore();
  }

  // Choosing

  function choose(variable) {
    if (!variable) return;
    chosen.variable = variable;
    document.getElementById("variable").value = variable;
    fill("quantity", quantities().filter((q) => !(q in BEFORE) || time.clipped), words);
    if (!find(variable, chosen.quantity)) chosen.quantity = quantities()[0];
    document.getElementById("quantity").value = chosen.quantity;
    redraw();
  }

  function fill(id, values, label = (v) => v) {
    document.getElementById(id).replaceChildren(...values.map((v) => page.make("option", { value: v }, label(v))));
  }

  function redraw() {
    plots.forEach((p) => p.destroy());
    plots = [];
    heatmap(), lines(), histograms();
  }

  async function start() {
    if (!time) return;
    numbers = await unpack();
    for (const series of time.series) {
      const variable = series.v || series.o;
      if (!by.has(variable)) by.set(variable, new Map());
      by.get(variable).set(series.q, series);
    }
    const all = [...time.variables, ...time.optimizers];
    fill("variable", all);
    const shared = [...new Set(time.variables.flatMap((v) => [...by.get(v).keys()]))];
    fill("heat-quantity", ["gradients/norm", ...shared.filter((q) => q !== "gradients/norm" && (!(q in BEFORE) || time.clipped))], (q) => (q in BEFORE ? "gradient norm before clipping" : words(q)));
    const suspect = page.data.findings.flatMap((f) => f.subjects).find((s) => time.variables.includes(s));
    chosen.quantity = "gradients/norm";
    choose(suspect || all[0]);
    const on = (id, what) => document.getElementById(id).addEventListener("change", what);
    on("variable", (e) => choose(e.target.value));
    on("quantity", (e) => ((chosen.quantity = e.target.value), redraw()));
    on("heat-quantity", redraw), on("log-scale", redraw);
    on("histogram-of", (e) => ((chosen.of = e.target.value), redraw()));
    document.getElementById("heatmap").addEventListener("keydown", (e) => {
      const move = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (move) e.preventDefault(), choose(time.variables[Math.min(Math.max(time.variables.indexOf(chosen.variable) + move, 0), time.variables.length - 1)]);
    });
    let wide = innerWidth;
    addEventListener("resize", () => innerWidth !== wide && ((wide = innerWidth), redraw()));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }
  return { start, choose, values: (variable, quantity, which) => column(find(variable, quantity), which) };
})();
