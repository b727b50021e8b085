#!/usr/bin/env python3
"""Draws the figures of docs/results/fabric-collectives.md from databases of `holdfast study run`, or from records that
`holdfast collective study --json` wrote, and prints its tables of random errors.
Usage: plot_collectives.py FOLDER FILE.sqlite|RECORD.json...
Writes SVG files into the folder, Markdown to standard output. Standard library only."""

import json
import math
import os
import sqlite3
import sys

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 320, 64, 64, 36
COLOURS = {"temporal": "#1f6fb4", "spatial": "#d9662c", "retransmission": "#7a7a7a", "link-retry": "#3a9a4b",
           "hybrid": "#8456b8", "two ports": "#b08900"}


def escape(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;")


class Svg:
    def __init__(self, title):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
                      f'font-size="11"><rect width="100%" height="100%" fill="white"/>']
        self.text(WIDTH / 2, 18, title, "middle", size=13)

    def text(self, x, y, text, anchor="start", size=11, fill="#222"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
                          f'fill="{fill}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, stroke="#ccc", width=1):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" '
                          f'stroke-width="{width}"/>')

    def bar(self, x, y, width, height, fill):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>')

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.parts) + "\n</svg>\n")


def bars(path, title, labels, series):
    """series: (name, colour, [(mean, low, high) or None]) in ns, one value a label."""
    if not any(value for _, _, values in series for value in values):
        return
    svg = Svg(title)
    top = max(value[2] for _, _, values in series for value in values if value)
    step = 10 ** math.floor(math.log10(top))
    step = next(s for s in (step / 5, step / 2, step, step * 2) if top / s <= 8)
    scale = (HEIGHT - TOP - BOTTOM) / (math.ceil(top / step) * step)
    level = 0
    while level <= math.ceil(top / step) * step + 1e-9:
        y = HEIGHT - BOTTOM - level * scale
        svg.line(LEFT, y, WIDTH - 12, y)
        svg.text(LEFT - 6, y + 4, f"{level / 1000:g}", "end")
        level += step
    svg.text(14, TOP + 4, "us")
    group = (WIDTH - LEFT - 20) / len(labels)
    width = group * 0.8 / len(series)
    for i, label in enumerate(labels):
        x = LEFT + 4 + i * group
        svg.text(x + group * 0.4, HEIGHT - BOTTOM + 16, label, "middle")
        for j, (_, colour, values) in enumerate(series):
            if not values[i]:
                continue
            mean, low, high = (v * scale for v in values[i])
            svg.bar(x + j * width, HEIGHT - BOTTOM - mean, width - 2, mean, colour)
            middle = x + j * width + width / 2 - 1
            svg.line(middle, HEIGHT - BOTTOM - low, middle, HEIGHT - BOTTOM - high, "#111", 1.5)
    x = LEFT
    for name, colour, _ in series:
        svg.bar(x, HEIGHT - 22, 10, 10, colour)
        svg.text(x + 14, HEIGHT - 13, name)
        x += 34 + 6.5 * len(name)
    svg.write(path)


def value(row, where):
    measured = row[where]
    return measured["mean_ns"], measured["low_ns"], measured["high_ns"]


def find(rows, **wanted):
    for row in rows:
        if all(row[key] == content for key, content in wanted.items()):
            return row
    return None


def series_of(rows, where, protection, copies, labels, **fixed):
    """labels: (text, {key: value})."""
    values = []
    for _, selection in labels:
        row = find(rows, protection=protection, copies=copies, **{**fixed, **selection})
        values.append(value(row, where) if row else None)
    name = f"{protection} x{copies}" if copies > 1 else protection
    return name, COLOURS[protection], values


def duration(nanoseconds):
    return f"{nanoseconds / 1e6:g} ms" if nanoseconds >= 1e6 else f"{nanoseconds / 1e3:g} us"


def rows_of(path):
    if not path.endswith(".sqlite"):
        with open(path, encoding="utf-8") as file:
            return json.load(file)["rows"]
    with sqlite3.connect(path) as database:
        found = database.execute("SELECT p.group_name, p.key, r.result FROM point p JOIN run r USING (key)").fetchall()
    return [{**json.loads(key), **json.loads(result), "group": group} for group, key, result in found]


SOURCES = ("link", "switch-ports", "switch-port", "network", "network-share", "network-link")
PROCESSES = [(source, strikes, reach) for source in SOURCES for strikes in ("in-flight", "next")
             for reach in ("one", "every-copy")]


def lead(rows, where, **fixed):
    """By how many per cent temporal is faster than spatial, and half the width of that figure's interval: the two means'
    intervals, independent."""
    pair = [find(rows, protection=protection, **fixed) for protection in ("temporal", "spatial")]
    if None in pair:
        return None
    (temporal, *_), (spatial, *_) = (value(row, where) for row in pair)
    relative = [(row[where]["high_ns"] - row[where]["low_ns"]) / 2 / row[where]["mean_ns"] for row in pair]
    return 100 * (1 - temporal / spatial), 100 * temporal / spatial * math.hypot(*relative)


def percent(measured):
    return "?" if measured is None else f"{measured[0]:.0f}"


def print_figure_5(rows, group, copies=2):
    means = sorted({row["mean_ns"] for row in rows if row["group"] == group})
    print(f"{group}: by how many per cent temporal is faster, root / last host; the widest interval of the row\n")
    print("| process | strikes | reach | " + " | ".join(duration(mean) for mean in means) + " | +- |")
    print("|---" * (4 + len(means)) + "|")
    for source, strikes, reach in PROCESSES:
        fixed = {"group": group, "copies": copies, "source": source, "strikes": strikes, "reach": reach}
        leads = [(lead(rows, "root", mean_ns=mean, **fixed), lead(rows, "last_host", mean_ns=mean, **fixed))
                 for mean in means]
        known = [each for pair in leads for each in pair if each]
        if known:
            cells = [f"{percent(root)} / {percent(last)}" for root, last in leads]
            print(f"| {source} | {strikes} | {reach} | " + " | ".join(cells) +
                  f" | {max(width for _, width in known):.1f} |")
    print()


def print_figure_6(rows):
    print("figure-6: 4 and 6 copies against 2, and temporal against spatial, last host\n")
    print("| process | strikes | reach | temporal 4, 6 against 2 | temporal against spatial at 4, 6 |")
    print("|---" * 5 + "|")
    for source, strikes, reach in PROCESSES:
        fixed = {"source": source, "strikes": strikes, "reach": reach, "mean_ns": 1e4}
        two = find(rows, group="figure-5", protection="temporal", copies=2, **fixed)
        more = [find(rows, group="figure-6", protection="temporal", copies=copies, **fixed) for copies in (4, 6)]
        leads = [lead(rows, "last_host", group="figure-6", copies=copies, **fixed) for copies in (4, 6)]
        if two is None or None in more:
            continue
        cuts = [100 * (1 - row["last_host"]["mean_ns"] / two["last_host"]["mean_ns"]) for row in more]
        print(f"| {source} | {strikes} | {reach} | {cuts[0]:.0f} %, {cuts[1]:.0f} % | "
              f"{percent(leads[0])} %, {percent(leads[1])} % |")
    print()


def print_counts(rows):
    print(f"{len(rows)} points, {sum(row['collectives'] for row in rows)} collectives, {sum(row['wrong'] for row in rows)} "
          f"wrong, {sum(row['incomplete'] for row in rows)} given up:")
    for row in rows:
        if row["incomplete"]:
            print(f"  {row['incomplete']} of {row['collectives']}: " +
                  ", ".join(str(row[key]) for key in ("group", "protection", "copies", "source", "strikes", "reach")) +
                  f", {duration(row['mean_ns'])}")


def print_consecutive(rows):
    """By how many per cent temporal is faster at the last host, one after another and each from a quiet start."""
    means = sorted({row["mean_ns"] for row in rows if row["group"] == "consecutive"})
    if not means:
        return
    print("consecutive: mean time of temporal x2 and spatial x2 in ns, and temporal's lead; in brackets each begun anew\n")
    print("| process | strikes | " + " | ".join(duration(mean) for mean in means) + " |")
    print("|---" * (2 + len(means)) + "|")
    for source in SOURCES:
        for strikes, group in (("next", "consecutive"), ("in-flight", "consecutive-in-flight")):
            fixed = {"copies": 2, "source": source, "strikes": strikes, "reach": "one"}
            cells = []
            for mean in means:
                pair = [find(rows, protection=p, group=group, mean_ns=mean, **fixed) for p in ("temporal", "spatial")]
                if None in pair:
                    cells.append("")
                    continue
                times = ", ".join(f"{row['last_host']['mean_ns']:,.0f}" for row in pair)
                row_lead = lead(rows, "last_host", group=group, mean_ns=mean, **fixed)
                anew = lead(rows, "last_host", group="figure-5", mean_ns=mean, **fixed)
                cells.append(f"{times}: {percent(row_lead)} % ({percent(anew)})")
            if any(cells):
                print(f"| {source} | {strikes} | " + " | ".join(cells) + " |")
    print()


def print_together(rows):
    counts = sorted({row.get("together", 1) for row in rows if row["group"] == "together"})
    if not counts:
        return
    print("together: until the last host has the last result, ns; without errors, and with an error every 1 ms a link\n")
    print("| scheme | " + " | ".join(f"{count} at once" for count in counts) + " |")
    print("|---" * (1 + len(counts)) + "|")
    for protection in ("retransmission", "link-retry", "temporal", "spatial"):
        cells = []
        for count in counts:
            pair = [row for source in ("none", "link") for row in rows
                    if row["group"] == "together" and row.get("together", 1) == count and row["source"] == source and
                    row["protection"] == protection]
            cells.append(", ".join(f"{row['last_host']['mean_ns']:,.0f}" for row in pair))
        print(f"| {protection} | " + " | ".join(cells) + " |")
    print()


def print_failures(rows):
    found = [row for row in rows if row["group"].startswith("hard-failures")]
    if not found:
        return
    print("hard failures in mid-collective\n")
    print("| scheme | what fails | parts that it may be | new tree | host lost | last host, mean, us | greatest |")
    print("|---" * 7 + "|")
    for row in found:
        name = row["protection"] + (" x2" if row["copies"] == 2 else "") + (", two ports" if row["dual_port"] else "")
        share = lambda key: f"{100 * row[key] / row['collectives']:.0f} %"
        print(f"| {name} | {row['fails']} | {row['exposed']} | {share('rebuilt')} | {share('cut_off')} | "
              f"{row['last_host']['mean_ns'] / 1e3:,.1f} | {row['last_host']['greatest_ns'] / 1e3:,.1f} |")
    print()


def main(folder, paths):
    rows = []
    for path in paths:
        rows += rows_of(path)
    out = lambda name: os.path.join(folder, f"fabric-collectives-{name}.svg")
    both = ("temporal", "spatial")
    for where, word in (("root", "to the root"), ("last_host", "to the last host")):
        labels = [("no errors", {"source": "none"}), ("every link once", {"source": "every-link"})]
        bars(out(f"figure-3-{where.replace('_', '-')}"), f"Figure 3, {word}", [text for text, _ in labels],
             [series_of(rows, where, p, 2, labels, group="figure-3", assumptions="m2") for p in both])
    labels = [(case, {"case": case}) for case in ("none", "one", "two-same-level", "two-same-switch", "two-adjacent")]
    bars(out("figure-4"), "Figure 4, to the root", [text for text, _ in labels],
         [series_of(rows, "root", p, 2, labels, group="figure-4", assumptions="m1") for p in both])
    for source in ("link", "network"):
        labels = [(duration(mean), {"mean_ns": mean, "group": "figure-5"})
                  for mean in (1e3, 1e4, 1e5, 1e6)]
        bars(out(f"figure-5-{source}"), f"Figure 5, to the last host, errors of the process '{source}', in flight",
             [text for text, _ in labels],
             [series_of(rows, "last_host", p, 2, labels, source=source, strikes="in-flight", reach="one") for p in both])
        labels = [(f"{copies} copies", {"copies": copies, "group": "figure-5" if copies == 2 else "figure-6"})
                  for copies in (2, 4, 6)]
        series = []
        for protection in both:
            values = []
            for _, selection in labels:
                row = find(rows, protection=protection, source=source, strikes="in-flight", reach="one", mean_ns=1e4,
                           **selection)
                values.append(value(row, "last_host") if row else None)
            series.append((protection, COLOURS[protection], values))
        bars(out(f"figure-6-{source}"), f"Figure 6, to the last host, errors of the process '{source}' every 10 us",
             [text for text, _ in labels], series)
    print_figure_5(rows, "figure-5")
    print_figure_5(rows, "figure-5-m1")
    print_figure_6(rows)
    print_counts(rows)
    labels = [(duration(mean), {"mean_ns": mean}) for mean in (1e4, 1e5, 1e6, 1e7, 1e8)]
    schemes = [("retransmission", 1), ("link-retry", 1), ("temporal", 2), ("hybrid", 2), ("spatial", 2)]
    series = [series_of(rows, "last_host", p, c, labels, group="beyond") for p, c in schemes]
    _, _, values = series_of(rows, "last_host", "spatial", 2, labels, group="beyond-dual-port")
    series.append(("spatial x2, two ports", COLOURS["two ports"], values))
    bars(out("beyond"), "To the last host, errors of every link, by the mean between a link's errors",
         [text for text, _ in labels], series)
    print_consecutive(rows)
    print_together(rows)
    print_failures(rows)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
