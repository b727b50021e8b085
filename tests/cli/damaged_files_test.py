#!/usr/bin/env python3
"""What an administrator's files suffer on their way: cut short, written by half, other line ends, names and LIDs that
two nodes have, a locale with decimal commas. Every command that reads a fabric or its tables says what it found in one
line, or goes on with a true verdict; tables that lack something are never called good.

Environment: HOLDFAST_PROGRAM.
"""
import itertools
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["HOLDFAST_PROGRAM"]


def ended(*words, **environment):
    run = subprocess.run([PROGRAM, "fabric", *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                         env={**os.environ, **environment})
    return run.returncode, run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace")


class DamagedFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="holdfast-damaged-")
        cls.addClassCleanup(cls.folder.cleanup)
        path = pathlib.Path(cls.folder.name)
        cls.net, cls.lfts, cls.part = path / "net", path / "lfts", path / "part"
        for words in (["generate", "torus(3,3) hosts=9", "-o", cls.net],
                      ["route", cls.net, "--engine", "updn", "-o", cls.lfts]):
            code, _, error = ended(*words)
            assert code == 0, error

    def write(self, data):
        self.part.write_bytes(data)
        return self.part

    def expect_one_line(self, error, what):
        self.assertEqual(len(error.strip().splitlines()), 1, f"{what}: {error}")
        self.assertIn("part", error)

    def test_tables_cut_anywhere_are_never_good(self):
        """But where only words behind the last entry are missing, and then that is told."""
        whole = self.lfts.read_bytes()
        last_entry = whole.rindex(b"\n0x") + 1
        said = set()
        for end in [*range(0, last_entry, 131), *range(last_entry, len(whole) - 1, 4)]:
            code, out, error = ended("check", self.net, "--engines", "updn", "--tables", self.write(whole[:end]))
            said.add(code)
            if code == 2:
                self.expect_one_line(error, end)
                continue
            self.assertEqual(code, 1 if end < last_entry else code, f"cut at {end} of {len(whole)} bytes: {out}{error}")
            self.assertIn("part line", error, f"cut at {end}: no note of where")
            if code == 0:
                self.assertIn("lost pairs                0", out)
                self.assertGreater(end, last_entry + len(b"0x0012 000"), "an entry without its port")
                self.assertIn("the file ends in the middle of this line", error)
            else:
                self.assertRegex(out, "lost pairs +[1-9]", f"cut at {end}")
        self.assertEqual(said, {0, 1, 2})

    def test_discovery_cut_anywhere_is_told(self):
        whole = self.net.read_bytes()
        said = set()
        for end in range(1, len(whole), 61):
            code, out, error = ended("import", self.write(whole[:end]), "--strict")
            said.add(code)
            if code == 2:
                self.expect_one_line(error, end)
                continue
            self.assertEqual(code, 0, f"cut at {end}: {error}")
            links = whole[:end].count(b"\n[")  # lines of ports; between two whole blocks nothing is missing but nodes
            self.assertLess(links, whole.count(b"\n["), f"cut at {end}: {out}")
        self.assertIn(2, said)

    def test_line_ends_and_a_byte_order_mark_change_nothing(self):
        code, good, _ = ended("check", self.net, "--engines", "updn", "--tables", self.lfts)
        self.assertEqual(code, 0)
        crlf = self.net.with_name("crlf")
        for mark, end in itertools.product((b"", b"\xef\xbb\xbf"), (b"\r\n", b"\r")):
            crlf.write_bytes(mark + self.net.read_bytes().replace(b"\n", end))
            tables = self.write(self.lfts.read_bytes().replace(b"\n", end))
            code, out, error = ended("check", crlf, "--engines", "updn", "--tables", tables)
            self.assertEqual((code, out), (0, good), error)

    def test_lids_that_two_nodes_have_are_told_and_their_pairs_are_lost(self):
        """Two adapters, and an adapter and a switch: its eight pairs as a destination are lost."""
        text = self.net.read_text()
        for lid, other in (("12", "11"), ("12", "1")):
            self.assertIn(f"lid {lid} ", text)
            part = self.write(text.replace(f"lid {lid} ", f"lid {other} ").encode())
            code, out, error = ended("check", part, "--engines", "updn", "--tables", self.lfts)
            self.assertEqual(code, 1, out)
            self.assertIn("lost pairs                8", out)
            self.assertIn(f"LID {other} is used twice", error)
            code, _, error = ended("import", part, "--strict")
            self.assertEqual(code, 2)
            self.expect_one_line(error, "strict")

    def test_guids_that_two_switches_have_are_told(self):
        text = self.net.read_text()
        guids = [line.split("(")[0] for line in text.splitlines() if line.startswith("switchguid=")]
        part = self.write(text.replace(guids[1] + "(", guids[0] + "(").encode())
        _, out, error = ended("import", part)
        self.assertIn("belongs to another node as well", out + error)
        code, _, error = ended("import", part, "--strict")
        self.assertEqual(code, 2)
        self.expect_one_line(error, "strict")

    def test_decimal_commas_are_neither_read_nor_written(self):
        locales = self.net.with_name("locales")
        locales.mkdir()
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", locales / "de_DE.UTF-8"], capture_output=True)
        comma = {"LOCPATH": str(locales), "LC_ALL": "de_DE.UTF-8"}
        shown = subprocess.run(["/usr/bin/printf", "%.1f", "1"], env={**os.environ, **comma}, capture_output=True)
        if shown.stdout != b"1,0":
            self.skipTest(f"no locale with decimal commas: {made.stderr.decode()}")
        for words in (["check", self.net, "--engines", "updn", "--tables", self.lfts],
                      ["check", self.net, "--engines", "updn", "--tables", self.lfts, "--json"],
                      ["fail", self.net, "--years", "2.5", "--link-rate", "0.9%", "--seed", "3"],
                      ["import", self.net], ["show", self.net]):
            plain = ended(*words, LC_ALL="C")
            self.assertEqual(ended(*words, **comma), plain, words)


if __name__ == "__main__":
    unittest.main()
