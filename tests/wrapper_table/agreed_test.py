#!/usr/bin/env python3
"""Holds docs/reference/agreed.md to what the sources answer alike in all replicas.

Usage: agreed_test.py SOURCE_FOLDER
"""
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
LIBC = SOURCE / "src/replicate/libc"
EXPORTED = re.compile(r"\[\[gnu::visibility\(\"default\"\)\]\][^;{(]*?\b(\w+)\(")


def exported(name):
    """The functions of the C library that a source file stands for."""
    text = (LIBC / name).read_text()
    names = set(EXPORTED.findall(text)) | set(re.findall(r"^HOLDFAST_FILE_SYSTEM\((\w+)", text, re.M))
    return names - {"function", "random_device_value"}


def strings(name, array):
    body = re.search(rf"constexpr const char\* {array}\[\] = {{(.*?)}};", (LIBC / name).read_text(), re.S).group(1)
    return set(re.findall(r'"([^"]+)"', body))


def answered():
    functions = set().union(*(exported(name) for name in ("clocks.cc", "timed_waits.cc", "system.cc", "identity.cc", "random.cc", "environment.cc",
                                                         "cleared_blocks.cc", "terminals.cc")))
    files = {f"/proc/self/{name}" for name in strings("made_files.cc", "of_process")} | strings("made_files.cc", "of_host")
    variables = set().union(*(strings("environment.cc", f"{which}_names") for which in ("rank", "size", "local_rank", "local_size", "member", "folder", "descriptor")))
    return functions | files | variables | {"/dev/urandom", "/dev/random", "/proc/sys/kernel/random/uuid"}


class Agreed(unittest.TestCase):
    def test_what_is_answered_is_what_the_page_lists(self):
        page = (SOURCE / "docs/reference/agreed.md").read_text()
        table = page[page.index("## Agreed"):page.index("## Not agreed")]
        listed = set()
        for row in table.splitlines():
            cells = row.split("|")
            if len(cells) > 4:
                listed |= set(re.findall(r"`([^`]+)`", cells[2]))
        listed -= {"stat"}
        self.assertEqual(listed, answered())


if __name__ == "__main__":
    unittest.main()
