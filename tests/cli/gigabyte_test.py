#!/usr/bin/env python3
"""A gigabyte of what is no fabric, or one line of a fabric again and again: every command that reads a fabric, its
tables or an OpenSM dump ends within its limits of memory and processor time, with one line or a verdict that is true.

Environment: HOLDFAST_PROGRAM.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["HOLDFAST_PROGRAM"]
GIGABYTE = 1 << 30
MOST_MEMORY = 5 * GIGABYTE  # of addresses: the text, and what is made of it
MOST_SECONDS = 100  # of the processor, for a loop without an end


def limit(memory):
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def ended(*words, memory=MOST_MEMORY):
    run = subprocess.run([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         errors="replace", preexec_fn=lambda: limit(memory))
    return run.returncode, run.stdout, run.stderr


class Gigabyte(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="holdfast-gigabyte-")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "subnet"

    def fill(self, piece):
        free = shutil.disk_usage(self.folder.name).free
        if free < 2 * GIGABYTE:
            self.skipTest(f"{free >> 20} MiB are free in {self.folder.name}")
        piece *= (1 << 24) // len(piece)
        with open(self.path, "wb") as file:
            while file.tell() < GIGABYTE:
                file.write(piece)

    def expect_one_line(self, code, error):
        self.assertEqual(code, 2, error)
        self.assertEqual(len(error.strip().splitlines()), 1, error[:2000])
        self.assertIn("subnet", error)
        self.assertLess(len(error), 1000)

    def test_zeros(self):
        with open(self.path, "wb") as file:
            file.truncate(GIGABYTE)
        for words in (["check", self.path], ["import", self.path], ["check", "torus-3x3x3", "--tables", self.path]):
            code, _, error = ended("fabric", *words)
            self.expect_one_line(code, error)

    def test_a_line_without_end(self):
        self.fill(b"Switch")
        code, _, error = ended("fabric", "check", self.path)
        self.expect_one_line(code, error)

    def test_lines_that_say_nothing(self):
        self.fill(b"what is this?\n")
        code, _, error = ended("fabric", "import", self.path)
        self.expect_one_line(code, error)
        code, _, error = ended("fabric", "check", "torus-3x3x3", "--tables", self.path)
        self.expect_one_line(code, error)

    def test_the_same_switch_again_and_again(self):
        """As ibnetdiscover --grouping has it, and as two switches with one GUID would be."""
        line = b'Switch\t36 "S-0002c90200000001"\t\t# "sw" enhanced port 0 lid %d lmc 0\n'
        self.fill(line % 1)
        code, out, error = ended("fabric", "import", self.path)
        self.assertEqual(code, 0, error)
        self.assertIn("switches      1 ", out)
        self.fill(line % 1 + line % 2)
        code, _, error = ended("fabric", "import", self.path, "--strict")
        self.expect_one_line(code, error)

    def test_nodes_without_end(self):
        """Each line describes a switch of 12 kB or two of them, which is told before memory is full."""
        half = ("{ SW Ports:FE SystemGUID:%016x NodeGUID:%016x PortGUID:%016x VenID:000002C9 DevID:BD360000 "
                "Rev:000000A1 {s%d} LID:0000 PN:01 }")
        formats = {
            "discovery": lambda guid: f'switchguid={guid:#x}({guid:x})\nSwitch\t254 "S-{guid:016x}"\t# "s{guid}"\n',
            "ports": lambda guid: f"SW     0 254 0x{guid:016x} 4x SDR                                    's{guid}'\n",
            "subnet list": lambda guid: " ".join(half % ((one,) * 4) for one in (2 * guid, 2 * guid + 1))
                                        + " PHY=4x LOG=ACT SPD=2.5\n",
        }
        for name, line in formats.items():
            with self.subTest(name):
                with open(self.path, "w") as file:
                    file.writelines(line(guid) for guid in range(1, 300_001))
                code, _, error = ended("fabric", "import", self.path, memory=2 * GIGABYTE)
                self.expect_one_line(code, error)
                self.assertIn("of memory", error)

    def test_a_file_that_describes_as_much_as_there_is(self):
        """Lists that grow need room for three times themselves: told with the file's name before that is missing."""
        with open(self.path, "w") as file:
            file.writelines(f'switchguid={guid:#x}({guid:x})\nSwitch\t254 "S-{guid:016x}"\t# "s{guid}"\n'
                            for guid in range(1, 400_001))
        for words in (["import", self.path], ["check", self.path]):
            code, _, error = ended("fabric", *words)
            self.expect_one_line(code, error)
            self.assertIn("of memory", error)


if __name__ == "__main__":
    unittest.main()
