"""tools/mpi_test_suite.py: how it reads a suite's lists, and what it says of programs whose ends are known."""

import importlib.util
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "mpi_test_suite.py"
spec = importlib.util.spec_from_file_location("mpi_test_suite", TOOL)
tool = importlib.util.module_from_spec(spec)
sys.modules["mpi_test_suite"] = tool
spec.loader.exec_module(tool)


def entry(line, folder="pt2pt"):
    return tool.parse_line(line, folder)


class Lines(unittest.TestCase):
    def test_program_ranks_and_words(self):
        got = entry("sendself 2 arg=-count=3 arg=x env=A=b resultTest=TestStatus timeLimit=60 strict=false")
        self.assertEqual((got.folder, got.program, got.ranks, got.result), ("pt2pt", "sendself", 2, "TestStatus"))
        self.assertEqual(got.arguments, ("-count=3", "x", "A=b"))
        self.assertEqual(got.environment, ("A=b",))
        self.assertEqual(got.name(), "pt2pt/sendself 2 -count=3 x A=b")

    def test_what_only_tunes_mpich_is_the_same_entry(self):
        self.assertEqual(entry("mprobe 2"), entry("mprobe 2 env=MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE=16384"))
        self.assertNotEqual(entry("mprobe 2"), entry("mprobe 2 env=OTHER=1"))
        self.assertNotEqual(entry("mprobe 2"), entry("mprobe 3"))

    def test_folders_comments_and_commands(self):
        self.assertEqual(entry("attr"), "attr")
        self.assertIsNone(entry("# sendself 2"))
        self.assertIsNone(entry(""))
        self.assertIsNone(entry("!../util:dtypes"))
        self.assertEqual(entry("part/send 2", "threads").folder, "threads/part")


class Verdicts(unittest.TestCase):
    good = tool.Run(0, " No Errors\n")
    bad = tool.Run(1, "Found 2 errors\n")

    def verdict(self, native, replicated, result=""):
        return tool.verdict_of(tool.Entry("f", "p", 2, result=result), native, replicated)

    def test_all(self):
        self.assertEqual(self.verdict(self.good, self.good), "same")
        self.assertEqual(self.verdict(self.good, self.bad), "differs")
        self.assertEqual(self.verdict(self.good, tool.Run(0, "")), "differs")
        self.assertEqual(self.verdict(self.good, tool.Run(0, " No Errors\nnoise\n")), "differs")
        self.assertEqual(self.verdict(self.bad, self.good), "native fails")
        self.assertEqual(self.verdict(self.good, tool.Run(6, "")), "refused")
        self.assertEqual(self.verdict(self.good, tool.Run(0, " No Errors\n", timed_out=True)), "time-out")

    def test_programs_that_are_to_fail(self):
        self.assertEqual(self.verdict(tool.Run(7, ""), tool.Run(1, ""), "TestStatus"), "same")
        self.assertEqual(self.verdict(tool.Run(7, ""), tool.Run(4, ""), "TestStatus"), "differs")
        self.assertEqual(self.verdict(tool.Run(7, ""), self.good, "TestStatus"), "differs")
        self.assertEqual(self.verdict(self.good, self.good, "TestStatus"), "native fails")
        self.assertEqual(self.verdict(tool.Run(9, " No Errors\n"), tool.Run(1, " No Errors\n"), "TestStatusNoErrors"), "same")


class WholeRuns(unittest.TestCase):
    """A suite of shell scripts, a launcher and a holdfast that run them; HOLDFAST=1 tells a script that it is replicated."""

    programs = {
        "good": "echo ' No Errors'",
        "differs": 'test -n "$HOLDFAST" && exit 3; echo " No Errors"',
        "refused": 'test -n "$HOLDFAST" && exit 6; echo " No Errors"',
        "hangs": 'test -n "$HOLDFAST" && { sleep 1000 & echo $! > "$MARK"; wait; }; echo " No Errors"',
        "fails": "exit 1",
        "picky": 'test "$RANKS" = 9 && echo " No Errors"',
    }

    def setUp(self):
        self.keep = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.keep.name)
        for name, text in self.programs.items():
            self.script(self.root / "suite/pt2pt" / name, text)
        (self.root / "suite/pt2pt/testlist").write_text("good 2\ngood 2 env=MPIR_CVAR_X=1\npicky 9\nmissing 2\ninner\n")
        (self.root / "suite/pt2pt/inner").mkdir()
        (self.root / "suite/pt2pt/inner/testlist").write_text("refused 2\nhangs 2\ndiffers 2\nfails 2\n")
        for name in ("refused", "hangs", "differs", "fails"):
            (self.root / "suite/pt2pt" / name).rename(self.root / "suite/pt2pt/inner" / name)
        self.script(self.root / "bin/mpiexec.mpich", 'export RANKS=$2; shift 2; exec "$@"')
        self.script(self.root / "bin/holdfast",
                    'export HOLDFAST=1 RANKS=$5; while [ "$1" != -- ]; do shift; done; shift; exec "$@"')

    def tearDown(self):
        self.keep.cleanup()

    @staticmethod
    def script(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def run_tool(self, *more):
        environment = dict(os.environ, PATH=f"{self.root}/bin:{os.environ['PATH']}", MARK=str(self.root / "mark"))
        line = [sys.executable, str(TOOL), str(self.root / "suite"), "pt2pt", "--holdfast", str(self.root / "bin/holdfast"),
                "--mpi", "mpich", "--json", str(self.root / "results.json"), *more]
        return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=100, check=False)

    def verdicts(self):
        return {name: result["verdict"] for name, result in json.loads((self.root / "results.json").read_text()).items()}

    def test_every_verdict_and_nothing_left_running(self):
        self.run_tool("--skip", "hangs")
        done = self.run_tool("--only", "hangs", "--limit", "5")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(self.verdicts(), {
            "pt2pt/good 2": "same", "pt2pt/picky 9": "same", "pt2pt/missing 2": "not built",
            "pt2pt/inner/refused 2": "refused", "pt2pt/inner/hangs 2": "time-out", "pt2pt/inner/differs 2": "differs",
            "pt2pt/inner/fails 2": "native fails"})
        mark = self.root / "mark"
        sleeper = mark.read_text().strip() if mark.exists() else ""  # a busy machine may not have come so far
        self.assertFalse(sleeper and pathlib.Path(f"/proc/{sleeper}").exists())

    def test_what_is_known_is_not_run_again(self):
        self.run_tool("--only", "good|refused")
        self.assertEqual(len(self.verdicts()), 2)
        for name in ("good", "inner/refused"):
            (self.root / "suite/pt2pt" / name).write_text("#!/bin/sh\nexit 1\n")
        self.run_tool("--only", "good|refused")
        self.assertEqual(sorted(self.verdicts().values()), ["refused", "same"])
        self.run_tool("--only", "good|refused", "--again", "refused")
        self.assertEqual(sorted(self.verdicts().values()), ["native fails", "same"])

    def test_unknown_folder(self):
        done = subprocess.run([sys.executable, str(TOOL), str(self.root / "suite"), "nothing", "--holdfast", "x", "--mpi",
                               "mpich"], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no folder nothing", done.stderr)


if __name__ == "__main__":
    unittest.main()
