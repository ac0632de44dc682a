"use strict";
// The flow picture: networks, terms, losses and optimizers as boxes; dagre places them.
page.flow = (function () {
  const drawing = page.data.drawing;
  const faults = page.data.findings.filter((f) => f.severity !== "note");
  const open = new Set();
  const ROW = 19, HEAD = 62, MOST_ROWS = 80;
  const same = (a, b) => a && b && a.file === b.file && a.line === b.line;
  const culprit = (wire) => wire.cut && faults.find((f) => same(f.site, wire.cut.site));
  const layers = new Map(drawing.layers.map((l) => [l.name, l]));
  const networks = new Map();
  for (const layer of drawing.layers) {
    if (!networks.has(layer.network)) networks.set(layer.network, []);
    networks.get(layer.network).push(layer);
  }

  const size = (layer) => layer.weights.reduce((n, w) => n + w.shape.reduce((a, b) => a * b, 1), 0);
  const strongest = (list) => {
    const known = list.flatMap((l) => l.weights).map((w) => w.gradient).filter((g) => g !== null);
    return known.length ? Math.max(...known) : null;
  };
  const holders = (list) => [...new Set(list.flatMap((l) => l.weights).flatMap((w) => w.optimizers))];
  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

  const wide = (name, least) => Math.max(least, Math.min(name.length, 34) * 7.4 + 20);

  // Boxes

  function boxes() {
    const found = [];
    for (const [name, list] of networks) {
      const rows = open.has(name) ? Math.min(list.length, MOST_ROWS) + (list.length > MOST_ROWS ? 1 : 0) : 0;
      const words = Math.min(name.length, 34) * 8 + Math.min(holders(list).join(", ").length, 20) * 6.2 + 52;
      found.push({ id: "n:" + name, kind: "network", name, list, width: Math.max(words, rows ? 270 : 224), height: HEAD + rows * ROW + (rows ? 6 : 0) });
    }
    drawing.losses.forEach((loss, i) => {
      if (loss.terms.length > 1)
        loss.terms.forEach((t, j) => found.push({ id: `t:${i}:${j}`, kind: "term", name: t.name, site: t.site, width: wide(t.name, 190), height: 42 }));
      found.push({ id: `l:${i}`, kind: "loss", name: loss.name, site: loss.site, error: loss.error, width: wide(loss.name, 170), height: 46 });
    });
    const stepping = new Set(drawing.losses.flatMap((l) => l.optimizers));
    for (const name of stepping) found.push({ id: "o:" + name, kind: "optimizer", name, width: wide(name, 110), height: 42 });
    return found;
  }

  // Edges: all wires between two boxes are one line, or two where some carry and others are cut by mistake.

  function edges() {
    const groups = new Map();
    for (const wire of drawing.wires) {
      const from = "n:" + layers.get(wire.source).network;
      const end = drawing.losses[wire.loss];
      const to = wire.target ? "n:" + layers.get(wire.target).network : end.terms.length > 1 ? `t:${wire.loss}:${wire.term}` : `l:${wire.loss}`;
      if (from === to && !culprit(wire)) continue;
      const key = from + "\n" + to;
      if (!groups.has(key)) groups.set(key, { from, to, wires: [] });
      groups.get(key).wires.push(wire);
    }
    const found = [];
    for (const { from, to, wires } of groups.values()) {
      if (from === to) continue; // a cut inside of one network is shown in its box
      const bad = wires.filter(culprit);
      const good = wires.filter((w) => w.carries);
      if (bad.length) found.push({ from, to, kind: "culprit", wires: bad, all: wires });
      if (good.length) found.push({ from, to, kind: "flows", wires: good, all: wires });
      if (!bad.length && !good.length) found.push({ from, to, kind: "stopped", wires, all: wires });
    }
    drawing.losses.forEach((loss, i) => {
      if (loss.terms.length > 1) loss.terms.forEach((_, j) => found.push({ from: `t:${i}:${j}`, to: `l:${i}`, kind: "plain", wires: [], all: [] }));
      loss.optimizers.forEach((o) => found.push({ from: `l:${i}`, to: "o:" + o, kind: "plain", wires: [], all: [] }));
    });
    return found;
  }

  const inside = (name) => drawing.wires.filter((w) => w.target && layers.get(w.source).network === name && layers.get(w.target).network === name && culprit(w));

  function place(shown, lines, upright) {
    const graph = new dagre.graphlib.Graph({ multigraph: true });
    graph.setGraph({ rankdir: upright ? "TB" : "LR", nodesep: 22, ranksep: upright ? 44 : 62, edgesep: 14, marginx: 12, marginy: 30 });
    graph.setDefaultEdgeLabel(() => ({}));
    shown.forEach((b) => graph.setNode(b.id, { width: b.width, height: b.height }));
    lines.forEach((e, n) => {
      const label = e.kind === "culprit";
      graph.setEdge(e.from, e.to, { width: label ? labelled(e) : 0, height: label ? 34 : 0, labelpos: "c" }, String(n));
    });
    dagre.layout(graph);
    return graph;
  }

  const labelled = (e) => Math.max(Math.min(e.wires[0].cut.what.length + 2, 26) * 7, page.place(e.wires[0].cut.site).length * 7.2) + 24;

  // Drawing

  function draw() {
    const host = document.getElementById("flow-picture");
    const upright = host.clientWidth < 640;
    const shown = boxes(), lines = edges(), graph = place(shown, lines, upright);
    const { width, height } = graph.graph();
    const svg = page.svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "networks, losses and optimizers, and where gradient flows" });
    svg.append(arrowheads());
    lines.forEach((e, n) => svg.append(edge(e, graph.edge(e.from, e.to, String(n)))));
    shown.forEach((b) => svg.append(box(b, graph.node(b.id))));
    host.replaceChildren(svg);
    const room = host.clientWidth - 14;
    if (width > room) svg.setAttribute("width", Math.max(room, width * 0.62)), svg.setAttribute("height", (height * Math.max(room, width * 0.62)) / width);
  }

  function arrowheads() {
    const all = page.svg("defs");
    for (let i = 0; i <= 10; i++) {
      const head = page.svg("marker", { id: `head${i}`, viewBox: "0 0 10 10", refX: 1.5, refY: 5, markerWidth: 13, markerHeight: 13, markerUnits: "userSpaceOnUse", orient: "auto" });
      head.append(page.svg("path", { d: "M10 0 L0 5 L10 10 z", fill: i === 10 ? page.css("--soft") : page.shade(tenth(i)) }));
      all.append(head);
    }
    return all;
  }

  const tenth = (i) => 10 ** (page.low + ((page.high - page.low) * i) / 9);
  const step = (magnitude) => Math.min(Math.max(Math.round(((Math.log10(magnitude || 1e-30) - page.low) / (page.high - page.low)) * 9), 0), 9);

  function edge(e, { points, x, y }) {
    const g = page.svg("g", { class: `edge ${e.kind}`, ...(e.all.length ? { tabindex: 0, role: "button", "aria-label": sentence(e) } : {}) });
    const line = curve(points);
    const main = page.svg("path", { class: "line", d: line });
    if (e.kind === "flows") {
      const felt = strongest([...new Set(e.wires.map((w) => layers.get(w.source)))]);
      const i = felt === null ? 10 : step(felt);
      main.setAttribute("stroke", i === 10 ? page.css("--soft") : page.shade(tenth(i)));
      main.setAttribute("stroke-width", i === 10 ? 2 : 1.6 + i / 3);
      main.setAttribute("marker-start", `url(#head${i})`);
    }
    g.append(main, page.svg("path", { class: "reach", d: line }), page.svg("title", {}, sentence(e)));
    if (e.kind === "culprit") {
      const cut = e.wires[0].cut, word = page.short(cut.what, 24), wide = labelled(e) - 10;
      g.append(page.svg("rect", { class: "label-box", x: x - wide / 2, y: y - 17, width: wide, height: 34, rx: 4 }));
      g.append(page.svg("text", { class: "label mono", x, y: y - 3, "text-anchor": "middle" }, "✂ " + word));
      g.append(page.svg("text", { class: "label", x, y: y + 12, "text-anchor": "middle" }, page.place(cut.site)));
    }
    if (e.all.length) listen(g, () => say(e), () => jump(e));
    return g;
  }

  function curve(points) {
    let path = `M${points[0].x} ${points[0].y}`;
    for (let i = 1; i < points.length - 1; i++) {
      const next = i === points.length - 2 ? points[i + 1] : { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 };
      path += ` Q${points[i].x} ${points[i].y} ${next.x} ${next.y}`;
    }
    return points.length === 2 ? path + ` L${points[1].x} ${points[1].y}` : path;
  }

  function box(b, { x, y }) {
    const left = x - b.width / 2, top = y - b.height / 2;
    const g = page.svg("g", { class: b.kind, transform: `translate(${left},${top})` });
    g.append(page.svg("rect", { class: "box", width: b.width, height: b.height, rx: b.kind === "network" ? 7 : 16 }));
    if (b.kind === "network") return network(g, b);
    const middle = { x: b.width / 2, "text-anchor": "middle" };
    const kind = { term: "a term of the loss", loss: b.error ? "failed" : "loss", optimizer: "optimizer" }[b.kind];
    g.append(page.svg("text", { ...middle, y: 19, class: b.kind === "loss" ? "bold" : "" }, page.short(b.name, 34)));
    g.append(page.svg("text", { ...middle, y: 34, class: b.error ? "red" : "dim" }, [kind, page.place(b.site)].filter(Boolean).join(" · ")));
    g.append(page.svg("title", {}, b.site ? `${b.name}\n${b.site.file}:${b.site.line}\n${b.site.code}` : b.name));
    return g;
  }

  function network(g, b) {
    const felt = strongest(b.list), held = holders(b.list), seen = b.list.some((l) => l.weights.some((w) => w.seen));
    const wanted = seen && b.list.some((l) => l.weights.some((w) => w.trainable && w.optimizers.length));
    const hurt = faults.filter((f) => f.network === b.name || f.subjects.some((s) => b.list.some((l) => l.weights.some((w) => w.name === s))));
    if (hurt.length) g.classList.add(hurt.some((f) => f.severity === "error") ? "starved" : "doubtful");
    const expanded = open.has(b.name);
    Object.entries({ tabindex: 0, role: "button", "aria-expanded": expanded, "aria-label": `network ${b.name}, ${plural(b.list.length, "layer")}` }).forEach(([k, v]) => g.setAttribute(k, v));
    g.dataset.network = b.name;
    const weights = b.list.reduce((n, l) => n + size(l), 0);
    g.append(page.svg("text", { x: 12, y: 20, class: "bold" }, `${expanded ? "▾" : "▸"} ${page.short(b.name, 34)}`));
    g.append(page.svg("text", { x: 12, y: 36, class: "dim" }, `${plural(b.list.length, "layer")} · ${plural(weights, "weight")}`));
    g.append(page.svg("rect", { x: 12, y: 43, width: 10, height: 10, rx: 2, fill: page.shade(felt) }));
    const whole = !drawing.losses.some((l) => l.error); // a backward that failed has brought nothing
    const reached = whole && drawing.wires.some((w) => w.carries && layers.get(w.source).network === b.name);
    const words = felt === null ? (!held.length ? "not trained" : seen ? "no gradient" : reached ? "gradient arrives, not measured" : "not stepped yet") : `largest gradient ${page.number(felt)}`;
    g.append(page.svg("text", { x: 28, y: 52, class: felt === null && wanted ? "red" : "dim" }, words));
    if (held.length) g.append(page.svg("text", { x: b.width - 10, y: 20, "text-anchor": "end", class: "dim" }, page.short(held.join(", "), 20)));
    g.append(page.svg("title", {}, `${b.name}${held.length ? "\nstepped by " + held.join(", ") : "\nno optimizer holds it"}\n${expanded ? "click to close" : "click to see its layers"}`));
    if (expanded) rows(g, b);
    listen(g, () => sayNetwork(b), () => toggle(b.name));
    return g;
  }

  function rows(g, b) {
    const cuts = inside(b.name);
    b.list.slice(0, MOST_ROWS).forEach((layer, i) => {
      const y = HEAD + i * ROW + 12, felt = strongest([layer]);
      const cut = cuts.find((w) => w.source === layer.name);
      const name = layer.name === b.name ? layer.name : layer.name.startsWith(b.name + ".") ? layer.name.slice(b.name.length + 1) : layer.name;
      g.append(page.svg("rect", { x: 12, y: y - 9, width: 10, height: 10, rx: 2, fill: page.shade(felt) }));
      g.append(page.svg("text", { x: 28, y, class: "mono layer" }, page.short(name, 18)));
      const shape = layer.weights.reduce((a, w) => (w.shape.length > a.length ? w.shape : a), []).join("×");
      g.append(page.svg("text", { x: 150, y, class: "dim" }, page.short(shape, 12)));
      const frozen = layer.weights.every((w) => !w.trainable);
      g.append(page.svg("text", { x: b.width - 10, y, "text-anchor": "end", class: cut || (felt === null && !frozen && layer.weights.some((w) => w.seen && w.optimizers.length)) ? "red" : "dim" }, cut ? `✂ ${page.place(cut.cut.site)}` : frozen ? "frozen" : page.number(felt)));
    });
    if (b.list.length > MOST_ROWS) g.append(page.svg("text", { x: 28, y: HEAD + MOST_ROWS * ROW + 12, class: "dim" }, `… ${b.list.length - MOST_ROWS} more`));
  }

  function listen(g, tell, act) {
    g.addEventListener("mouseenter", tell);
    g.addEventListener("focus", tell);
    g.addEventListener("click", act);
    g.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") event.preventDefault(), act();
    });
  }

  function toggle(name) {
    open.has(name) ? open.delete(name) : open.add(name);
    draw();
    document.querySelector(`#flow-picture g[data-network="${CSS.escape(name)}"]`)?.focus();
  }

  function jump(e) {
    const found = e.wires.map(culprit).find(Boolean);
    if (found) document.getElementById(`finding-${page.data.findings.indexOf(found) + 1}`)?.scrollIntoView();
  }

  // Words

  const named = (id) => {
    const [kind, i, j] = id.split(":");
    if (kind === "n" || kind === "o") return id.slice(2);
    return kind === "t" ? drawing.losses[i].terms[j].name : drawing.losses[i].name;
  };

  function sentence(e) {
    const ends = `${named(e.from)} and ${named(e.to)}`;
    if (e.kind === "flows") return `gradient flows from ${named(e.to)} to ${named(e.from)}`;
    if (e.kind === "plain") return `${named(e.from)}, ${named(e.to)}`;
    const cut = e.wires[0].cut;
    const by = cut ? ` by ${e.wires[0].block || cut.what} at ${page.place(cut.site)}` : "";
    if (e.kind === "culprit") return `the gradient between ${ends} is cut${by}`;
    return cut ? `no gradient between ${ends}: stopped${by}` : `no gradient between ${ends}: nothing before it asks for one`;
  }

  function say(e) {
    const list = page.make("ul");
    for (const wire of e.all.slice(0, 6)) {
      const way = wire.via.map((s) => `${s.what} (${page.place(s.site)})`).join(" → ");
      const state = wire.carries ? "carries gradient" : wire.cut ? `cut by ${wire.block || wire.cut.what} at ${page.place(wire.cut.site)}` : "asks for no gradient";
      list.append(page.make("li", {}, page.make("code", {}, wire.source), ` ${state}`, way ? page.make("div", { class: "soft mono" }, way) : null));
      if (wire.cut && wire.cut.site) list.lastChild.append(page.make("div", { class: "mono" }, wire.cut.site.code));
    }
    tell(page.make("div", {}, sentence(e)), list);
  }

  function sayNetwork(b) {
    const felt = strongest(b.list), held = holders(b.list);
    const role = page.data.roles.find((r) => r.network === b.name);
    tell(page.make("div", {}, page.make("code", {}, b.name), role ? ` is the ${role.role}: ${role.why}. ` : ". ", held.length ? `Stepped by ${held.join(", ")}. ` : "No optimizer holds it. ", felt === null ? "No gradient in the last recorded update." : `Largest element of its gradient: ${page.number(felt)}.`));
  }

  const tell = (...parts) => document.getElementById("flow-says").replaceChildren(...parts);

  function start() {
    if (!drawing.layers.length) return;
    document.getElementById("ramp").style.background = page.gradient();
    draw();
    let wide = document.getElementById("flow-picture").clientWidth;
    new ResizeObserver(([entry]) => {
      if (Math.abs(entry.contentRect.width - wide) > 8) (wide = entry.contentRect.width), draw();
    }).observe(document.getElementById("flow-picture"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    document.getElementById("flow-all")?.addEventListener("click", () => {
      const all = open.size < networks.size;
      all ? [...networks.keys()].forEach((n) => open.add(n)) : open.clear();
      draw();
    });
  }
  return { start, toggle, draw };
})();
