"use strict";
// What the other scripts of the page share. Text of the user's program is only ever set as text.
const page = {
  data: JSON.parse(document.getElementById("data").textContent),
  css: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
  // A colour for a magnitude, from 1e-7 (dark) to 1e1 (bright); the same in light and dark.
  ramp: [[68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [235, 205, 40]],
  low: -7,
  high: 1,
};

page.shade = function (magnitude, low = page.low, high = page.high) {
  if (!(magnitude > 0)) return page.css("--line");
  const span = Math.max(high - low, 1e-9);
  const at = Math.min(Math.max((Math.log10(magnitude) - low) / span, 0), 1) * (page.ramp.length - 1);
  const i = Math.min(Math.floor(at), page.ramp.length - 2);
  const mixed = page.ramp[i].map((c, n) => Math.round(c + (page.ramp[i + 1][n] - c) * (at - i)));
  return `rgb(${mixed.join(",")})`;
};

page.gradient = () => `linear-gradient(90deg,${page.ramp.map((c) => `rgb(${c.join(",")})`).join(",")})`;

page.number = function (value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "none";
  const size = Math.abs(value);
  if (size < 1e-37) return "0";
  return size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
};

page.short = (text, most) => (text.length <= most ? text : text.slice(0, most - 1) + "…");

page.place = (site) => (site && site.file ? `${site.file.split("/").pop()}:${site.line}` : "");

page.make = function (tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((c) => c !== null && c !== undefined));
  return made;
};

page.svg = function (tag, attributes = {}, text = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== null) made.textContent = text;
  return made;
};
