#!/usr/bin/env python3
"""Prints what a study of throughput measured as Markdown: a table for each group, fabric and traffic pattern, with a row
for each engine and set of options, and a column for what failed. GB/s: the median of the seeds, with the least and
greatest where there are several; or what became of the runs.

Usage: study_medians.py DATABASE.sqlite [GROUP...]
"""
import json
import sqlite3
import statistics
import sys


def words(outcomes):
    """Measured runs as numbers, the others as what they are."""
    rates = sorted(rate for outcome, rate in outcomes if outcome == "measured")
    lost = [outcome for outcome, _ in outcomes if outcome != "measured"]
    text = ""
    if rates:
        text = f"{statistics.median(rates):.0f}"
        if len(rates) > 1:
            text += f" ({rates[0]:.0f} to {rates[-1]:.0f})"
    for outcome in sorted(set(lost)):
        count = lost.count(outcome)
        text += (", " if text else "") + (outcome if len(outcomes) == 1 else f"{count} {outcome}")
    return text


def options_of(key):
    given = key.get("options", {})
    lanes = [] if key["lanes"] == 8 else [f"{key['lanes']} lanes"]
    return ", ".join(lanes + [f"{name.rsplit('.', 1)[-1]} {value}" for name, value in given.items()]) or "default"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    panels = {}
    for group, key, outcome, result in database.execute(
            "SELECT p.group_name, p.key, r.outcome, r.result FROM point p JOIN run r USING (key) ORDER BY p.number"):
        if sys.argv[2:] and group not in sys.argv[2:]:
            continue
        key = json.loads(key)
        rate = json.loads(result).get("throughput_bytes_per_s", 0) / 1e9
        panel = panels.setdefault((group, key["fabric"], key["traffic"]), {})
        panel.setdefault((key["engine"], options_of(key)), {}).setdefault(key["failures"], []).append((outcome, rate))
    for (group, fabric, traffic), rows in panels.items():
        scenarios = list(dict.fromkeys(failures for row in rows.values() for failures in row))
        print(f"{group}: {fabric}, {traffic}\n")
        print("| engine | options | " + " | ".join(scenarios) + " |")
        print("|---" * (2 + len(scenarios)) + "|")
        for (engine, options), row in rows.items():
            cells = [words(row[failures]) if failures in row else "" for failures in scenarios]
            print(f"| {engine} | {options} | " + " | ".join(cells) + " |")
        print()


if __name__ == "__main__":
    main()
