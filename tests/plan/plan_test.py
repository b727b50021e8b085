#!/usr/bin/env python3
"""Tests of `holdfast plan`. CMakeLists.txt gives the environment."""

import glob
import html.parser
import json
import os
import subprocess
import tempfile
import unittest

HOLDFAST = os.environ["HOLDFAST_PROGRAM"]
MACHINES = os.path.join(os.environ["HOLDFAST_SOURCE"], "examples", "machines")
LIMIT = 200  # seconds for one command: far more than any needs


def plan(*words):
    return subprocess.run([HOLDFAST, "plan", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=LIMIT)


class Page(html.parser.HTMLParser):
    """What a browser would load, and whether tags close in order."""

    VOID = {"meta", "rect", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.loaded, self.headings = [], [], 0

    def handle_starttag(self, tag, attributes):
        self.loaded += [value for name, value in attributes if name in ("src", "href")]
        self.headings += tag == "h2"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag, tag


class Examples(unittest.TestCase):
    def test_every_example_is_planned_in_all_forms(self):
        machines = sorted(glob.glob(os.path.join(MACHINES, "*.toml")))
        self.assertGreater(len(machines), 5)
        for machine in machines:
            with self.subTest(machine), tempfile.TemporaryDirectory() as folder:
                text = plan(machine)
                self.assertEqual(text.returncode, 0, text.stderr)
                self.assertIn("\n* ", text.stdout)
                page_file = os.path.join(folder, "plan.html")
                record = plan(machine, "--json", "--html", page_file)
                self.assertEqual(record.returncode, 0, record.stderr)
                said = json.loads(record.stdout)
                self.assertEqual((said["record"], said["version"]), ("holdfast.plan", 1))
                for section in said["sections"]:
                    self.assertIn(section["title"], text.stdout)
                    for fact in section["facts"]:
                        self.assertTrue(fact["source"], fact)
                with open(page_file, encoding="utf-8") as file:
                    page = Page()
                    page.feed(file.read())
                self.assertEqual((page.open, page.loaded), ([], []))
                self.assertEqual(page.headings, len(said["sections"]))

    def test_same_seed_same_answer(self):
        machine = os.path.join(MACHINES, "redmpi-100k.toml")
        self.assertEqual(plan(machine, "--seed", "3").stdout, plan(machine, "--seed", "3").stdout)
        self.assertNotEqual(plan(machine, "--seed", "3").stdout, plan(machine, "--seed", "4").stdout)


class Tables(unittest.TestCase):
    def test_redmpi(self):
        record = plan("--tables", "redmpi", "--json")
        self.assertEqual(record.returncode, 0, record.stderr)
        tables, section_7 = json.loads(record.stdout)["sections"]
        rows = tables["tables"][0]["rows"]
        self.assertEqual([row[0]["value"] for row in rows], [100, 1000, 10000, 100000])
        # work at 100,000 nodes: 34.4 % by Daly's formula, 35 % printed in the paper
        self.assertAlmostEqual(rows[3][3]["value"], 0.344, 3)
        self.assertEqual(rows[3][8]["value"], 0.35)
        alone, pairs = section_7["tables"][0]["rows"][:2]
        self.assertAlmostEqual(alone[1]["value"], 5.94, 2)
        self.assertLess(pairs[1]["value"], 1.1)


class BadInput(unittest.TestCase):
    def refused(self, *words, code=2):
        result = plan(*words)
        self.assertEqual(result.returncode, code, result.stdout)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result.stderr

    def machine(self, text):
        file = tempfile.NamedTemporaryFile("w", suffix=".toml", delete=False)
        self.addCleanup(os.remove, file.name)
        with file:
            file.write(text)
        return file.name

    def test_what_to_plan(self):
        self.assertIn("one of them", self.refused())
        self.assertIn("one of them", self.refused("x.toml", "--keys"))
        self.assertIn("--help", self.refused("--tables", "other"))

    def test_files(self):
        self.assertIn("there is no such file", self.refused("absent.toml"))
        name = self.machine('[machine]\nname = "m"\nnodes = 3\nnode_mtbf = "5 y"\n')
        self.assertIn(os.path.basename(name) + ":4: [machine] has no key 'node_mtbf'", self.refused(name))
        name = self.machine('[machine]\nname = "m"\nnodes = 3\n[fabric]\nlinks = 1\nswitches = 1\nlink_failures = "1 %/y"\n'
                            'switch_failures = "1 %/y"\nregression = "absent.json"\n')
        self.assertIn("absent.json", self.refused(name))

    def test_a_page_that_cannot_be_written(self):
        machine = os.path.join(MACHINES, "tsubame2.toml")
        result = plan(machine, "--html", "/dev/null/page.html")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/dev/null/page.html", result.stderr)


class Keys(unittest.TestCase):
    def test_are_listed(self):
        self.assertIn("| `failures.node_mtbf` |", plan("--keys").stdout)


if __name__ == "__main__":
    unittest.main()
