#!/usr/bin/env python3
"""Where output goes: standard output that cannot be written, and files of every kind. Usage: output_test.py [SUITE]..."""

import contextlib
import glob
import os
import pty
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import unittest

HOLDFAST = os.environ["HOLDFAST_PROGRAM"]
STAND_IN = os.environ["HOLDFAST_STAND_IN"]
JOBS = os.environ["HOLDFAST_JOBS"]
TALKER = os.environ.get("HOLDFAST_TALKER", "")  # a program that says something and sends something
LIMIT = 100  # seconds for one command: far more than any needs

FLAVOURS = [flavour for flavour in ("openmpi", "mpich") if os.path.exists(f"{JOBS}/job-{flavour}")]

STUDY = """
[study]
name = "s"
[[group]]
fabric = "tree(2,2)"
engine = "updn"
traffic = "exchange messages=2"
"""
COLLECTIVES = """
[study]
kind = "collectives"
name = "c"
fabric = "xgft(2;2,2;1,2)"
collectives = 2
[[group]]
protection = "temporal"
source = "link"
mean = "10us"
"""
MACHINE = """
[machine]
name = "m"
nodes = 18
[fabric]
links = 18
switches = 9
link_failures = "5 %/y"
switch_failures = "1 %/y"
"""


class Case(unittest.TestCase):
    """A folder of its own, with what commands read, and with the special files that they are told to write to: never
    those of the machine, which a defect of the kind that is looked for here would replace, run by root."""

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="holdfast-output-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in (("s.toml", STUDY), ("c.toml", COLLECTIVES), ("m.toml", MACHINE)):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        self.standard_output()
        self.assertEqual(self.holdfast("study", "run", "s.toml", "-q").returncode, 0)

    def path(self, name):
        return os.path.join(self.folder, name)

    def device(self, name, minor):
        """A memory device (major 1) under a name of the test's; root's alone."""
        os.mknod(self.path(name), stat.S_IFCHR | 0o666, os.makedev(1, minor))
        return self.path(name)

    def full_disk(self):
        """A file name on which every write fails; one that an ordinary user cannot harm where it is the machine's."""
        if os.geteuid() != 0:
            return "/dev/full"
        return self.path("full") if os.path.exists(self.path("full")) else self.device("full", 7)

    def standard_output(self):
        if not os.path.islink(self.path("out")):
            os.symlink("/proc/self/fd/1", self.path("out"))
        return self.path("out")

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def holdfast(self, *words, stdout=subprocess.PIPE, **options):
        return subprocess.run([HOLDFAST, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=stdout, text=True,
                              stderr=subprocess.PIPE, timeout=LIMIT, check=False, **options)


class StandardOutput(Case):
    """Every command that prints, to a disk that is full and to a reader that has gone."""

    COMMANDS = [
        ("--help",), ("--version",), ("run", "--help"), ("fabric", "show", "--help"),
        ("fabric", "show", "tree(2,2)"), ("fabric", "show", "tree(2,2)", "--json"),
        ("fabric", "check", "tree(2,2)"), ("fabric", "check", "torus(5,5) hosts=25", "--json"),
        ("fabric", "route", "tree(2,2)", "--engine", "updn"), ("fabric", "route", "tree(2,2)", "--engine", "updn", "--json"),
        ("fabric", "generate", "tree(2,2)"), ("fabric", "generate", "--list"),
        ("fabric", "export", "tree(2,2)", "--to", "dot"), ("fabric", "import", "tree(2,2)"),
        ("fabric", "fail", "tree(4,2)", "--faults", "fail-link share 10%"),
        ("fabric", "fail", "tree(4,2)", "--faults", "fail-link share 10%", "-o", "-"),
        ("fabric", "diff", "tree(2,2)", "tree(3,2)"), ("fabric", "compare", "tree(2,2)", "--engines", "updn"),
        ("simulate", "--fabric", "tree(2,2)", "--traffic", "exchange"),
        ("simulate", "--fabric", "tree(2,2)", "--traffic", "exchange", "--speed"),
        ("simulate", "--fabric", "tree(2,2)", "--traffic", "exchange", "--json", "-"),
        ("simulate", "--fabric", "tree(2,2)", "--traffic", "exchange", "--json", "out"),
        ("simulate", "--fabric", "tree(2,2)", "--sweep", "--steps", "2"),
        ("plan", "m.toml"), ("plan", "m.toml", "--json"), ("plan", "--keys"), ("plan", "--tables", "redmpi"),
        ("study", "report", "s.sqlite"), ("study", "report", "s.sqlite", "--json"), ("study", "run", "s.toml"),
        ("study", "run", "s.toml", "--json"), ("study", "merge", "t.sqlite", "s.sqlite"),
        ("collective", "study", "c.toml"), ("config", "list"), ("config", "explain"), ("doctor",), ("doctor", "--json"),
        ("fault", "check", "rate 1/9"), ("reference", "options"), ("reference", "exit-codes"), ("reference", "commands"),
    ]

    def test_a_full_disk_ends_with_5_and_a_line(self):
        for words in self.COMMANDS:
            with self.subTest(" ".join(words)), open("/dev/full", "w", encoding="utf-8") as full:
                ended = self.holdfast(*words, stdout=full)
                self.assertEqual(ended.returncode, 5, ended.stderr)
                self.assertIn("No space left on device", ended.stderr)
                lines = 2 if words[-1] == "out" else 1  # a file that is standard output, too
                self.assertEqual(ended.stderr.count("holdfast: writing"), lines, ended.stderr)

    def test_a_closed_descriptor_is_no_success(self):
        ended = subprocess.run(["sh", "-c", 'exec "$0" fabric show "tree(2,2)" >&-', HOLDFAST], stderr=subprocess.PIPE,
                               text=True, timeout=LIMIT, check=False)
        self.assertEqual(ended.returncode, 5, ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1)

    def test_a_reader_that_has_gone_is_a_quiet_end(self):
        for words in self.COMMANDS:
            for ignored in (False, True):
                with self.subTest(" ".join(words), ignored=ignored):
                    reader, writer = os.pipe()
                    os.close(reader)
                    # Python ignores SIGPIPE, and its children too where it is not told otherwise.
                    ended = self.holdfast(*words, stdout=writer, restore_signals=not ignored)
                    os.close(writer)
                    if words[-1] == "out" and ignored:
                        self.assertEqual(ended.returncode, 5)  # a file that was named and is not written
                        continue
                    self.assertEqual(ended.returncode, 128 + signal.SIGPIPE if ignored else -signal.SIGPIPE, ended.stderr)
                    self.assertNotIn("holdfast:", ended.stderr)

    def test_other_ends_stay_what_they_are(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.assertEqual(self.holdfast("fabric", "show", "nothing", stdout=full).returncode, 2)


class Files(Case):
    """What is there decides how an output file is written: one mechanism for all options that name one."""

    WRITERS = [
        (("simulate", "--fabric", "tree(2,2)", "--traffic", "exchange", "--json"), '"record"'),
        (("fabric", "generate", "tree(2,2)", "-o"), "Switch"),
        (("fabric", "route", "tree(2,2)", "--engine", "updn", "-o"), "Unicast"),
        (("fabric", "export", "tree(2,2)", "--to", "dot", "-o"), "graph"),
        (("plan", "m.toml", "--html"), "<html"),
        (("study", "report", "s.sqlite", "--html"), "<html"),
        (("study", "report", "s.sqlite", "--csv"), "median_gbps"),
        (("collective", "study", "c.toml", "--json"), '"record"'),
        (("collective", "study", "c.toml", "--csv"), "protection"),
    ]

    def for_each(self, check):
        for number, (words, part) in enumerate(self.WRITERS):
            with self.subTest(" ".join(words)):
                check(number, words, part)
                self.assertEqual([name for name in os.listdir(self.folder) if "partial" in name], [])

    def test_a_link_stays_and_its_target_is_replaced_with_its_mode(self):
        def check(number, words, part):
            os.mkdir(self.path(f"there{number}"))
            target, link = self.path(f"there{number}/target"), self.path(f"link{number}")
            with open(target, "w", encoding="utf-8") as file:
                file.write("before")
            os.chmod(target, 0o640)
            os.symlink(f"there{number}/target", link)
            inode = os.stat(target).st_ino
            ended = self.holdfast(*words, link)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertTrue(os.path.islink(link))
            self.assertIn(part, self.read(link))
            self.assertNotEqual(os.stat(target).st_ino, inode, "replaced at once, not written over")
            self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o640)
            self.assertEqual(os.listdir(self.path(f"there{number}")), ["target"])

        self.for_each(check)

    def test_a_fifo_is_written_in_place(self):
        def check(number, words, part):
            fifo, got = self.path(f"fifo{number}"), []
            os.mkfifo(fifo)
            holder = os.open(fifo, os.O_RDWR)  # so that neither end waits for ever when the other does not come
            reader = threading.Thread(target=lambda: got.append(os.read(holder, 1 << 16).decode()))
            reader.start()
            ended = self.holdfast(*words, fifo)
            replaced = not stat.S_ISFIFO(os.lstat(fifo).st_mode)
            if replaced or ended.returncode != 0:
                os.write(holder, b"none")
            reader.join()
            os.close(holder)
            self.assertFalse(replaced, "it became something else")
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn(part, got[0])

        self.for_each(check)

    @unittest.skipIf(os.geteuid() != 0, "only root makes devices")
    def test_a_device_stays_one(self):
        def check(number, words, _):
            device = self.device(f"null{number}", 3)
            ended = self.holdfast(*words, device)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertTrue(stat.S_ISCHR(os.lstat(device).st_mode))

        self.for_each(check)

    def test_standard_output_by_name(self):
        def check(number, words, part):
            with open(self.path("stdout"), "w", encoding="utf-8") as out:
                ended = self.holdfast(*words, self.standard_output(), stdout=out)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn(part, self.read("stdout"))

        self.for_each(check)

    def test_a_full_disk_is_5_and_keeps_what_was_there(self):
        def check(number, words, _):
            ended = self.holdfast(*words, self.full_disk())
            self.assertEqual(ended.returncode, 5, ended.stderr)
            self.assertIn("No space left on device", ended.stderr)
            with open(self.path("kept"), "w", encoding="utf-8") as file:
                file.write("before")
            if words[0] == "study":  # a database needs room besides
                return
            ended = self.holdfast(*words, "kept",
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)))
            self.assertEqual(ended.returncode, 5, ended.stderr)
            self.assertIn("File too large", ended.stderr)
            self.assertEqual(self.read("kept"), "before")

        self.for_each(check)

    def test_a_record_of_a_job(self):
        os.mkdir(self.path("lib"))
        for flavour in FLAVOURS:
            shutil.copy(STAND_IN, self.path(f"lib/libholdfast-replicate-{flavour}.so"))
        environment = {**os.environ, "HOLDFAST_LIBRARY_PATH": self.path("lib")}
        os.symlink("target", self.path("link"))
        job = ("run", "-q", "-n", "1", "--on-failure", "abort", "--json")  # the stand-in joins no membership
        rest = ("--", f"{JOBS}/job-{FLAVOURS[0]}", "exit", "0")
        self.assertEqual(self.holdfast(*job, "link", *rest, env=environment).returncode, 0)
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertIn('"record"', self.read("target"))
        self.assertEqual(self.holdfast(*job, self.full_disk(), *rest, env=environment).returncode, 5)


class Progress(Case):
    """Long work says where it is on a terminal, and nothing to a pipe."""

    COMMANDS = [
        (("study", "run", "long.toml", "-d", "long.sqlite"), rb"\[[# ]{30}\] \d+ of 20 runs, \d+ workers"),
        (("collective", "study", "c.toml"), rb"1 of 1 points"),
        (("fabric", "compare", "tree(2,2)", "--engines", "updn,minhop"), rb"1/2 \w+: "),
        (("fabric", "compare", "tree(2,2)", "--engines", "updn", "--renumber", "3"), rb"1/3 updn: "),
    ]

    def on_a_terminal(self, words):
        """All that a command says on standard error, where that is a terminal."""
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        process = subprocess.Popen([HOLDFAST, *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=follower)
        os.close(follower)
        said = b""
        with contextlib.suppress(OSError):  # EIO: nobody has the other side open any more
            while more := os.read(leader, 65536):
                said += more
        self.assertEqual(process.wait(timeout=LIMIT), 0, said)
        return said

    def test_on_a_terminal_alone(self):
        with open(self.path("long.toml"), "w", encoding="utf-8") as file:
            file.write(STUDY.replace('"tree(2,2)"', '["tree(2,2)", "tree(3,2)", "tree(4,2)", "tree(5,2)"]')
                       .replace('"updn"', '["updn", "minhop", "dfsssp", "lash", "ftree"]'))
        for words, shown in self.COMMANDS:
            with self.subTest(words=words):
                piped = self.holdfast(*words)
                self.assertEqual((piped.returncode, piped.stderr), (0, ""))
                for database in glob.glob(self.path("long.sqlite*")):
                    os.remove(database)
                said = self.on_a_terminal(words)
                self.assertRegex(said, shown)
                self.assertTrue(said.endswith(b"\r\x1b[K"), said[-80:])  # the line is gone at the end


class RunDirectory(Case):
    """A real job whose run directory is on a disk that fills up, at any moment."""

    def run_on_disk(self, kibibytes):
        disk = self.path("disk")
        os.makedirs(disk, exist_ok=True)
        script = f'mount -t tmpfs -o size={kibibytes}k none "$1" && shift && exec "$@"'
        # Of two mpirun that start at once, one may fail to make the folder that both keep things in.
        environment = dict(os.environ, TMPDIR=self.folder)
        return subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", disk, HOLDFAST, "run", "-n", "2", "--replicas", "2",
                               "--output", f"{disk}/out", "--", TALKER, "--samples", "3", "--rounds", "3"],
                              cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT, check=False)

    @unittest.skipUnless(os.geteuid() == 0 and TALKER, "mounting a small disk needs root; the job needs Open MPI")
    def test_it_is_told_as_a_full_disk_and_never_as_corruption(self):
        codes = []
        for kibibytes in (8, 20, 36, 40, 44, 48, 52):
            ended = self.run_on_disk(kibibytes)
            codes.append(ended.returncode)
            self.assertIn(ended.returncode, (0, 5), f"{kibibytes} KiB: {ended.stderr}")
            if ended.returncode == 5:
                self.assertRegex(ended.stderr, "is full|No space left on device")
                self.assertIn("--output", ended.stderr)
        self.assertEqual(codes[0], 5)
        self.assertEqual(self.run_on_disk(4096).returncode, 0)


class Relay(Case):
    """Output that passes through `holdfast run` itself."""

    def run_job(self, stdout, *words):
        os.makedirs(self.path("lib"), exist_ok=True)
        for flavour in FLAVOURS:
            shutil.copy(STAND_IN, self.path(f"lib/libholdfast-replicate-{flavour}.so"))
        files = "|".join(f"rank-0.replica-{k}.out=said\n" for k in range(3))
        environment = {**os.environ, "HOLDFAST_LIBRARY_PATH": self.path("lib"),
                       "TEST_FILES": 'record.json={"counters": {"messages": 7, "bytes": 56}}|' + files}
        return self.holdfast("run", "-n", "1", *words, "--", f"{JOBS}/job-{FLAVOURS[0]}", "exit", "0", stdout=stdout,
                             env=environment)

    def test_output_that_is_held_back_must_arrive(self):
        shown = self.run_job(subprocess.PIPE, "--hold-output")
        self.assertEqual((shown.returncode, shown.stdout), (0, "said\n"), shown.stderr)
        with open("/dev/full", "w", encoding="utf-8") as full:
            ended = self.run_job(full, "--hold-output", "--json", "out.json")
        self.assertEqual(ended.returncode, 5, ended.stderr)
        self.assertIn("writing to standard output: No space left on device", ended.stderr)
        self.assertIn('"code": 5', self.read("out.json"))

    def test_output_that_the_launcher_shows_must_arrive(self):
        for flavour in FLAVOURS:
            for words in (("--replicas", "1"), ("--replicas", "2", "--on-failure", "abort")):
                with self.subTest(flavour=flavour, words=words):
                    job = ("-n", "1", *words, "--", f"{JOBS}/job-{flavour}", "say", "said")
                    shown = self.holdfast("run", *job)
                    self.assertEqual((shown.returncode, shown.stdout), (0, "said\n"), shown.stderr)
                    with open("/dev/full", "w", encoding="utf-8") as full:
                        ended = self.holdfast("run", *job, stdout=full)
                    self.assertEqual(ended.returncode, 5, ended.stderr)
                    self.assertIn("writing to standard output: No space left on device", ended.stderr)

    def test_nothing_starts_whose_output_would_be_lost(self):
        with open("/dev/null", encoding="utf-8") as for_reading:
            ended = self.run_job(for_reading)
        self.assertEqual(ended.returncode, 5, ended.stderr)
        self.assertIn("writing to standard output: Bad file descriptor", ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1)

    def test_a_reader_that_has_gone_is_a_quiet_end(self):
        reader, writer = os.pipe()
        os.close(reader)
        ended = self.run_job(writer, "--hold-output", "-q")
        os.close(writer)
        self.assertEqual((ended.returncode, ended.stderr), (128 + signal.SIGPIPE, ""))


if __name__ == "__main__":
    unittest.main()
