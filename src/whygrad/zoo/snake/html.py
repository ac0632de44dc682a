"""A game as one HTML file that needs nothing else: play, pause, go back, and see what the network expected."""

from __future__ import annotations

import html
import json

from whygrad.zoo.snake.frames import ACTIONS, Game


def render(game: Game, title: str, fps: float = 12) -> str:
    """The page."""
    frames = [
        {"b": f.body, "f": f.fruits, "e": f.eaten, "v": [round(v, 2) for v in f.values], "a": f.action}
        for f in game.frames
    ]
    data = {"height": game.height, "width": game.width, "fps": fps, "actions": ACTIONS, "frames": frames}
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return (
        _PAGE.replace("{{title}}", html.escape(title))
        .replace("{{summary}}", html.escape(game.summary))
        .replace("{{data}}", text)
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{title}}</title>
<style>
:root { color-scheme: light dark; --ink: #222; --soft: #777; --paper: #fff; --line: #ddd; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; --soft: #999; --paper: #16181d; --line: #333; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 34rem; padding: 0 1rem; }
h1 { font-size: 1.2rem; margin: 0; } p { color: var(--soft); margin: .2rem 0 1rem; }
canvas { width: 100%; border-radius: 8px; display: block; }
.row { display: flex; gap: .8rem; align-items: center; margin: .8rem 0; } input { flex: 1; }
button { font: inherit; padding: .2rem .9rem; border: 1px solid var(--line); border-radius: 6px; background: none; color: inherit; cursor: pointer; }
table { width: 100%; border-collapse: collapse; } td { padding: .15rem .3rem; } td:first-child { width: 6rem; }
.bar { height: .7rem; border-radius: 4px; background: #8a93a6; } .best .bar { background: #2f9e44; } .n { text-align: right; width: 4rem; font-variant-numeric: tabular-nums; }
</style></head><body>
<h1>{{title}}</h1><p>{{summary}}</p>
<canvas id="board" role="img" aria-label="the snake's board"></canvas>
<div class="row"><button id="play">Pause</button><input id="at" type="range" min="0" value="0" aria-label="move"><span id="score"></span></div>
<table id="values" aria-label="what the network expects of each move"></table>
<script>
const game = {{data}};
const $ = (id) => document.getElementById(id), canvas = $('board'), draw = canvas.getContext('2d'), cell = 48;
canvas.width = game.width * cell; canvas.height = game.height * cell; $('at').max = game.frames.length - 1;
let at = 0, playing = true;
function box(y, x, colour, rim) {
  draw.fillStyle = colour; draw.beginPath();
  draw.roundRect(x * cell + rim, y * cell + rim, cell - 2 * rim, cell - 2 * rim, rim ? 8 : 0); draw.fill();
}
function paint() {
  const frame = game.frames[at];
  for (let y = 0; y < game.height; y++) for (let x = 0; x < game.width; x++) box(y, x, (x + y) % 2 ? '#22262f' : '#1c1f26', 0);
  for (const [y, x] of frame.f) { draw.fillStyle = '#ff6b6b'; draw.beginPath(); draw.arc((x + .5) * cell, (y + .5) * cell, cell * .34, 0, 7); draw.fill(); }
  frame.b.forEach(([y, x], i) => box(y, x, i ? '#2f9e44' : '#69db7c', 2));
  $('at').value = at; $('score').textContent = 'fruit ' + frame.e;
  const low = Math.min(0, ...frame.v), high = Math.max(0, ...frame.v), span = high - low || 1;
  $('values').innerHTML = game.actions.map((name, i) => frame.v.length ? `<tr class="${frame.a === i ? 'best' : ''}"><td>${name}</td><td><div class="bar" style="width:${100 * (frame.v[i] - low) / span}%"></div></td><td class="n">${frame.v[i].toFixed(2)}</td></tr>` : '<tr><td>&nbsp;</td></tr>').join('');
}
function tick() { if (playing) { at = at + 1 < game.frames.length ? at + 1 : 0; paint(); } setTimeout(tick, at + 1 === game.frames.length ? 1500 : 1000 / game.fps); }
$('play').onclick = () => { playing = !playing; $('play').textContent = playing ? 'Pause' : 'Play'; };
$('at').oninput = () => { playing = false; $('play').textContent = 'Play'; at = +$('at').value; paint(); };
if (matchMedia('(prefers-reduced-motion: reduce)').matches) $('play').click();
paint(); setTimeout(tick, 500);
</script></body></html>
"""
