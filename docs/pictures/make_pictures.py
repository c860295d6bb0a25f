#!/usr/bin/env python3
"""Draws the pictures of README.md and docs/concepts.md, each for light and for dark pages.

  docs/pictures/make_pictures.py             writes docs/pictures/{mesh,report}-{light,dark}.svg
  docs/pictures/make_pictures.py --check     ends with 1 if a picture differs from the one that
                                             would be written

The report's numbers are those of tests/files/golden/gpt2_demo_1x2.json.
"""

import json
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
golden = here.parents[1] / "tests/files/golden/gpt2_demo_1x2.json"

themes = {
    "light": {"text": "#1f2328", "muted": "#59636e", "line": "#8c959f", "box": "#f6f8fa", "held": "#0969da", "free": "#d1d9e0",
              "sum": "#bc4c00", "series": ("#0969da", "#1a7f37", "#8250df", "#bc4c00", "#bf3989", "#59636e")},
    "dark": {"text": "#f0f6fc", "muted": "#9198a1", "line": "#656c76", "box": "#151b23", "held": "#4493f8", "free": "#2f3742",
             "sum": "#f0883e", "series": ("#4493f8", "#3fb950", "#ab7df8", "#f0883e", "#f778ba", "#9198a1")},
}
font = "font-family='system-ui, -apple-system, Segoe UI, sans-serif'"


class drawing:
    def __init__(self, width, height, title, theme):
        self.theme = theme
        self.parts = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' role='img'>",
                      f"<title>{title}</title>"]

    def rect(self, x, y, w, h, fill, line=None, round=0):
        stroke = f" stroke='{line}'" if line else ""
        self.parts.append(f"<rect x='{x:g}' y='{y:g}' width='{w:g}' height='{h:g}' rx='{round}' fill='{fill}'{stroke}/>")

    def text(self, x, y, words, size=13, color=None, anchor="start", weight="normal"):
        self.parts.append(f"<text x='{x:g}' y='{y:g}' {font} font-size='{size}' font-weight='{weight}' text-anchor='{anchor}' "
                          f"fill='{color or self.theme['text']}'>{words}</text>")

    def arrow(self, x1, y1, x2, y2, color):
        self.parts.append(f"<line x1='{x1}' y1='{y1}' x2='{x2}' y2='{y2}' stroke='{color}' stroke-width='2'/>")
        across, down = (1, 0) if y1 == y2 else (0, 1)
        for x, y, way in ((x1, y1, 1), (x2, y2, -1)):
            a, b = (x + 7 * way * across, y + 7 * way * down), (4 * down, 4 * across)
            self.parts.append(f"<polygon points='{x},{y} {a[0] + b[0]},{a[1] + b[1]} {a[0] - b[0]},{a[1] - b[1]}' fill='{color}'/>")

    def write(self, name):
        text = "\n".join([*self.parts, "</svg>", ""])
        if "--check" not in sys.argv:
            (here / name).write_text(text)
        elif (here / name).read_text() != text:
            sys.exit(f"{name} differs from its data: run docs/pictures/make_pictures.py")


def mesh(name, theme):
    d = drawing(720, 320, "Mesh dp=2,tp=2", theme)
    size = 72
    for replica in range(2):
        top = 52 + 140 * replica
        d.rect(8, top - 16, 704, 116, "none", theme["line"], 8)
        d.text(20, top + 4, f"replica {replica}", 13, theme["muted"])
        for shard in range(2):
            left = 120 + 320 * shard
            d.rect(left, top - 8, 250, 100, theme["box"], theme["line"], 6)
            d.text(left + 10, top + 10, f"rank {2 * replica + shard}", 13, weight="600")
            for column, (label, rows) in enumerate((("up", True), ("down", False))):
                x, y = left + 72 + 88 * column, top
                d.rect(x, y, size, size, theme["free"])
                if rows:
                    d.rect(x, y + size / 2 * shard, size, size / 2, theme["held"])
                else:
                    d.rect(x + size / 2 * shard, y, size / 2, size, theme["held"])
                d.text(x + size / 2, y + size + 14, f"mlp.{label}.weight", 10, theme["muted"], "middle")
        d.arrow(372, top + 36, 438, top + 36, theme["held"])
    for shard in range(2):
        x = 140 + 320 * shard
        d.arrow(x, 146, x, 182, theme["sum"])
    d.text(360, 24, "Within a replica each rank holds its shard of a matrix; partial results are summed once per pair of matrices.", 12.5,
           theme["held"], "middle")
    d.text(360, 312, "Between replicas the gradients of equal shards are summed.", 12.5, theme["sum"], "middle")
    d.write(name)


def mib(count):
    return f"{count / 2**20:.3g} MiB"


def report(name, theme):
    facts = json.loads(golden.read_text())
    kinds = [("parameters", "parameters"), ("gradients", "gradients"), ("optimizer state", "optimizer state"), ("activations", "activations"),
             ("loss and workspace", ("loss", "loss workspace", "batches")), ("gradients in flight", "gradients in flight")]
    size = [sum(facts["bytes"][k] for k in ([key] if isinstance(key, str) else key)) for _, key in kinds]
    d = drawing(720, 300, "Shard report of the demo, mesh dp=1,tp=2", theme)
    d.text(16, 24, "Bytes of one rank (GPT-2, 6 layers, mesh 1x2, f32, AdamW)", 14, weight="600")
    total, x = sum(size), 16.0
    for (label, _), bytes_, color in zip(kinds, size, theme["series"]):
        width = 688 * bytes_ / total
        d.rect(x, 36, width, 26, color)
        x += width
    for number, ((label, _), bytes_, color) in enumerate(zip(kinds, size, theme["series"])):
        left, top = 16 + 235 * (number % 3), 84 + 20 * (number // 3)
        d.rect(left, top - 10, 11, 11, color)
        d.text(left + 18, top, f"{label}: {mib(bytes_)}", 12.5)
    d.text(16, 142, "Memory over one step", 14, weight="600")
    moments = facts["moments"]
    peak = max(m["bytes"] for m in moments)
    left, top, width, height = 86, 158, 610, 96
    d.parts.append(f"<line x1='{left}' y1='{top + height}' x2='{left + width}' y2='{top + height}' stroke='{theme['line']}'/>")
    points = [(left + width * i / (len(moments) - 1), top + height - height * m["bytes"] / peak) for i, m in enumerate(moments)]
    d.parts.append(f"<polyline fill='none' stroke='{theme['series'][0]}' stroke-width='2.5' points='"
                   + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + "'/>")
    d.text(left - 8, top + 5, mib(peak), 12, theme["muted"], "end")
    d.text(left - 8, top + height + 4, "0", 12, theme["muted"], "end")
    seen = set()
    for (x, y), moment in zip(points, moments):
        d.parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' fill='{theme['series'][0]}'/>")
        if moment["phase"] not in seen:
            seen.add(moment["phase"])
            d.text(x, top + height + 18, moment["phase"], 12, theme["muted"], "middle")
    d.write(name)


for name, theme in themes.items():
    mesh(f"mesh-{name}.svg", theme)
    report(f"report-{name}.svg", theme)
