"""Measurements that survive an interruption: each is written to the file at once, and a later run goes on where it ended."""
import json
import os
import pathlib
import statistics


class Ledger:
    """Values by key, in a JSON file. None stands for a measurement that did not end in its time, or in an error."""

    def __init__(self, path):
        self.path = pathlib.Path(path) if path else None
        self.values = json.loads(self.path.read_text()) if self.path and self.path.exists() else {}

    def wants(self, key, times):
        """Whether fewer values than this are there."""
        return len(self.values.get(key, [])) < times

    def add(self, key, value):
        self.values.setdefault(key, []).append(value)
        if not self.path:
            return
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.values, indent=1) + "\n")
        os.replace(new, self.path)

    def good(self, key):
        return [value for value in self.values.get(key, []) if value is not None]

    def median(self, key):
        values = self.good(key)
        return statistics.median(values) if values else None

    def cell(self, key, form="{:.0f}"):
        """For a table: the median, with how many measurements did not end."""
        values = self.values.get(key, [])
        if not values:
            return ""
        failed = len(values) - len(self.good(key))
        if failed == len(values):
            return "did not end"
        return form.format(self.median(key)) + (f" ({failed} of {len(values)} did not end)" if failed else "")
