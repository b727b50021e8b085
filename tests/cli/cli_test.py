#!/usr/bin/env python3
"""Tests of the holdfast command. Usage: cli_test.py [SUITE[.TEST]...]; CMakeLists.txt gives the environment."""

import fcntl
import json
import os
import pty
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import termios
import time
import unittest

HOLDFAST = os.environ["HOLDFAST_PROGRAM"]
STAND_IN = os.environ["HOLDFAST_STAND_IN"]
JOBS = os.environ["HOLDFAST_JOBS"]
SOURCE = os.environ["HOLDFAST_SOURCE"]
LIMIT = 100  # seconds for one command: far more than any needs

FLAVOURS = [flavour for flavour in ("openmpi", "mpich") if os.path.exists(f"{JOBS}/job-{flavour}")]


def job(flavour):
    return f"{JOBS}/job-{flavour}"


class Case(unittest.TestCase):
    """A working folder, and a folder with the stand-in under the names of the libraries."""

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="holdfast-cli-"))
        os.mkdir(self.path("lib"))
        for flavour in ("openmpi", "mpich"):
            shutil.copy(STAND_IN, self.path(f"lib/libholdfast-replicate-{flavour}.so"))
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        self.environment["HOLDFAST_LIBRARY_PATH"] = self.path("lib")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def holdfast(self, *words, stdin=subprocess.DEVNULL, text_in=None, **variables):
        source = {"input": text_in} if text_in is not None else {"stdin": stdin}
        return subprocess.run([HOLDFAST, *words], cwd=self.folder, env={**self.environment, **variables}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, check=False, **source)

    def start(self, *words, **options):
        return subprocess.Popen([HOLDFAST, *words], cwd=self.folder, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def wait_for(self, condition):
        deadline = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), deadline, "nothing happened")
            time.sleep(0.02)

    def run_folders(self):
        return [name for name in os.listdir(self.folder) if name.startswith("holdfast-run-")]


class BadInput(Case):
    """Every kind of bad input: one clear line and the documented exit code, and nothing is started or left."""

    # command line, what the one line must contain
    TABLE = [
        ("", "A subcommand is required"),
        ("rum", "there is no command 'rum': did you mean 'run'?"),
        ("run", "the number of ranks is not given: add -n N"),
        ("run -n 2", "no program is given"),
        ("run -n 2 --", "no program is given"),
        ("run -n two -- {job}", "--ranks: 'two' is no whole number from 1 to 1000000"),
        ("run -n 0 -- {job}", "'0' is no whole number from 1"),
        ("run -n -3 -- {job}", "'-3' is no whole number from 1"),
        ("run -n 2 --replicas 0 -- {job}", "'0' is out of bounds"),
        ("run -n 2 --replicas x -- {job}", "reading the number of replicas: 'x'"),
        ("run -n 2 --replicas 1.x -- {job}", "'1.x' is no number"),
        ("run -n 2 --replicas 1,2:0-2 -- {job}", "rank 2 is named, of 2 ranks"),
        ("run -n 2 --replicas 1.5 --inject 'rank 1 replica 1 message 1' -- {job}", "there is no replica 1: rank 1 has 1"),
        ("run -n 2 --replicas 2.5 --on-failure continue -- {job}", "ranks have different numbers of replicas"),
        ("run -n 2 --replicas 2.5 --slots 4 -- {job}", "2 ranks x 2 to 3 replicas need 5 slots, but there are 4"),
        ("run -n 2 -n 3 -- {job}", "--ranks"),
        ("run -n 100000000 -- {job}", "'100000000' is no whole number from 1 to 1000000"),
        ("run -n 1000000 -- {job}", "3,000,000 processes on this host"),
        ("run -n 2 --replica 2 -- {job}", "unknown option --replica: did you mean '--replicas'?"),
        ("run -n 2 --replicate.protokol x -- {job}", "did you mean '--replicate.protocol'?"),
        ("run -n 2 stray -- {job}", "'stray' before -- is not understood"),
        ("run -n 2 -- ./no-such-program", "no such file"),
        ("run -n 2 -- no-such-program", "not in PATH"),
        ("run -n 2 -- text", "did you mean ./text?"),
        ("run -n 2 -- .", "not in PATH"),
        ("run -n 2 -- ./lib", "it is a folder"),
        ("run -n 2 -- ./data", "no execute permission: chmod +x ./data"),
        ("run -n 2 -- ./text", "neither an ELF program nor a #! script"),
        ("run -n 2 -- ./script", "which MPI it uses cannot be seen: add --mpi"),
        ("run -n 2 -- /bin/ls", "it is not an MPI program"),
        ("run -n 2 --mpi lam -- {job}", "'lam' is no MPI that Holdfast knows"),
        ("run -n 2 --mpi {other} -- {job}", "but --mpi says {other}"),
        ("run -n 2 --launcher-args '-n 7' -- {job}", "holdfast sets or needs -n itself"),
        ("run -n 2 --launcher-args './other' -- {job}", "'./other' is no option"),
        ("run -n 2 --launcher-args \"--bind-to 'none\" -- {job}", "a quote does not end"),
        ("run -n 2 --output . -- {job}", "it holds files of others"),
        ("run -n 2 --output '' -- {job}", "the name is empty"),
        ("run -n 2 --output . --hostfile enough -- {job}", "enough lies in it, which the job reads"),
        ("run -n 2 --output mine -- {job}", "it holds files of others"),
        ("run -n 2 --output data -- {job}", "it is not a folder"),
        ("run -n 2 --launcher mpiru -- {job}", "did you mean 'mpirun'?"),
        ("run -n 2 --protocol all-to-al -- {job}", "did you mean 'all-to-all'?"),
        ("run -n 2 --on-corruption ignore -- {job}", "choose one of stop, report"),
        ("run -n 2 --silence-limit 5 -- {job}", "reading --silence-limit"),
        ("run -n 2 --time-limit soon -- {job}", "soon"),
        ("run -n 2 --time-limit 0s -- {job}", "'0s' is out of bounds"),
        ("run -n 2 --time-limit 290y -- {job}", "reading --time-limit"),
        ("run -n 2 --rails bogus -- {job}", "reading --rails: 'bogus' is no kind of rail"),
        ("run -n 2 --rails tcp@lo,udp@nosuch0 -- {job}", "this host has no interface nosuch0"),
        ("run -n 2 --seed -1 -- {job}", "reading --seed"),
        ("run -n 2 --inject flup -- {job}", "did you mean 'flip'?"),
        ("run -n 2 --inject 'rank 2 message 1' -- {job}", "there is no rank 2: this job has 2, numbered from 0"),
        ("run -n 2 --inject 'replica 3 message 1' -- {job}", "there is no replica 3"),
        ("run -n 2 --inject 'drop rate 1/2' -- {job}", "only flip and corrupt-header are"),
        ("run -n 2 --slots 5 -- {job}", "2 ranks x 3 replicas need 6 slots, but there are 5"),
        ("run -n 2 --slots 0 -- {job}", "'0' is no whole number from 1"),
        ("run -n 2 --slots 6 --hostfile hosts -- {job}", "exclude each other"),
        ("run -n 2 --hostfile none -- {job}", "reading the host file none"),
        ("run -n 2 --hostfile badhosts -- {job}", "badhosts:2:4: 'slots=many'"),
        ("run -n 2 --hostfile hosts -- {job}", "need 6 slots, but there are 4"),
        ("run -n 1 --hostfile hosts -- {job}", "cannot keep the 3 replicas of every rank apart"),
        ("run --map none -- {job}", "reading the map file none"),
        ("run --map badmap -- {job}", "badmap:2:3"),
        ("run --map near --hostfile hosts -- {job}", "replicas of rank 0 share a host"),
        ("run -n 3 --map map -- {job}", "it gives 2 for -n, but 3 was asked for"),
        ("run --replicas 2 --map map -- {job}", "it gives 1 for --replicas, but 2 was asked for"),
        ("run -n 2 --config none -- {job}", "none"),
        ("run -n 2 --config badconfig -- {job}", "did you mean 'replicate.protocol'?"),
        ("config", "A subcommand is required"),
        ("config check badconfig", "badconfig line 2"),
        ("config check none", "none"),
        ("config explain --config badconfig", "badconfig line 2"),
        ("fault check 'rate 1/0'", "the fault line 1 column"),
        ("doctor extra", "extra"),
    ]

    # names that a run directory has too
    USERS = ["hosts", "stdin", "record.csv", "status-report", "rank-7.out"]

    def test_table(self):
        flavour = FLAVOURS[0]
        words = {"job": job(flavour), "other": "mpich" if flavour == "openmpi" else "openmpi"}
        self.write("text", "hello\n", 0o755)
        self.write("data", "hello\n")
        self.write("script", "#!/bin/sh\ntrue\n", 0o755)
        self.write("hosts", "a slots=2\nb slots=2\n")
        self.write("badhosts", "a\nbb slots=many\n")
        self.write("map", "0 0 0\n1 1 0\n")
        self.write("near", "0 0 0\n1 0 1\n2 1 0\n3 1 1\n")
        self.write("badmap", "0 0 0\n1 x 0\n")
        self.write("badconfig", "[replicate]\nprotocl = 'all-to-all'\n")
        self.write("enough", "localhost slots=6\n")
        os.mkdir(self.path("mine"))
        for name in self.USERS:
            self.write(f"mine/{name}", "mine\n")
        before = sorted(os.listdir(self.folder))
        for line, expected in self.TABLE:
            with self.subTest(line):
                ended = self.holdfast(*shlex.split(line.format(**words)))
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertEqual(ended.stdout, "")
                self.assertEqual(ended.stderr.count("\n"), 1, "one line")
                self.assertTrue(ended.stderr.startswith("holdfast: "), ended.stderr)
                self.assertIn(expected.format(**words), ended.stderr)
                self.assertEqual(sorted(os.listdir(self.folder)), before, "nothing is left")
                self.assertEqual(sorted(os.listdir(self.path("mine"))), sorted(self.USERS), "nothing is touched")

    def test_what_is_not_installed_has_a_code_of_its_own(self):
        ended = self.holdfast("run", "-n", "2", "--", job(FLAVOURS[0]), HOLDFAST_LIBRARY_PATH="/nowhere", PATH="/nowhere")
        self.assertEqual(ended.returncode, 5)
        self.assertIn("apt-get install", ended.stderr)

    def test_environment_is_checked(self):
        ended = self.holdfast("run", "-n", "2", "--", job(FLAVOURS[0]), HOLDFAST_REPLICATE_PROTOKOL="x")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("HOLDFAST_REPLICATE_PROTOKOL", ended.stderr)


class Giants(Case):
    """What does not fit into the memory is refused by an estimate, before it is begun; what is merely long says so on a
    terminal."""

    MEMORY = 2 << 30

    def limited(self, *words):
        return subprocess.run([HOLDFAST, *words], cwd=self.folder, env=self.environment, text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (self.MEMORY, self.MEMORY)))

    def refused(self, *words):
        ended = self.limited(*words)
        self.assertEqual((ended.returncode, ended.stdout), (2, ""), ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        return ended.stderr

    def test_a_fabric(self):
        said = self.refused("fabric", "generate", "torus(1000,1000) hosts=4000000")
        self.assertRegex(said, r"generating torus\(1000,1000\) .*it needs about [\d.]+ GB of memory, and [\d.]+ [MG]B are")
        said = self.refused("fabric", "generate", "torus(3,3) ports=1000000000 placement=random")  # a list of free ports
        self.assertIn("a switch has at most 254 ports", said)
        self.MEMORY = 900 << 20  # the list of a million switches' ports alone is a gigabyte
        said = self.refused("fabric", "generate", "torus(1000,1000) ports=254 placement=random")
        self.assertRegex(said, r"it needs about [\d.]+ GB of memory, and [\d.]+ [MG]B are available")

    def test_a_discovery_file(self):
        self.write("net", "".join(f'Switch 254 "S-{number:016x}"\n' for number in range(1, 400001)))  # 13 MB of text
        self.assertRegex(self.refused("fabric", "import", "net"),
                         r"reading net: it needs about [\d.]+ GB of memory, and [\d.]+ [MG]B are available: is it the right")

    def test_its_tables(self):
        said = self.refused("simulate", "--fabric", "torus(200,200) hosts=40000")
        self.assertRegex(said, r"routing with dfsssp: refused, it needs about 6.4 GB of memory, and [\d.]+ [MG]B are available")

    def test_threads_and_processes(self):
        self.assertIn("no whole number from 0 to 4096",
                      self.refused("fabric", "check", "torus(4,4)", "--threads", "100000000"))
        self.assertIn("no whole number from 1 to 1000000", self.refused("run", "-n", "100000000", "--", "true"))

    def test_memory_that_ends_all_the_same_is_no_defect(self):
        self.write("study.toml", "[study]\nname = 'x'\n[[group]]\nname = 'all'\nfabric = ['tree(2,2)']\nengine = ['updn']\n"
                   "failures = ['none']\ntraffic = ['exchange']\nseeds = 1000000000\n")
        ended = self.limited("study", "run", "study.toml")
        self.assertIn(ended.returncode, (2, 5), ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)

    def terminal_until(self, words, part):
        """What a command says on a terminal until a part of it is there; then the command is ended."""
        leader, follower = pty.openpty()
        process = subprocess.Popen([HOLDFAST, *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=follower)
        os.close(follower)
        self.addCleanup(os.close, leader)
        said = b""
        try:
            while part not in said:
                said += os.read(leader, 4096)
        finally:
            process.terminate()
            process.communicate(timeout=LIMIT)
        return said.decode()

    def test_a_long_simulation_shows_its_share_on_a_terminal(self):
        said = self.terminal_until(["simulate", "--fabric", "tree(4,2)", "--traffic", "exchange size=1000000000000"],
                                   b"s left")
        self.assertRegex(said, r"\[ *\] +0 %  \d+ s left")

    def test_what_has_no_share_shows_its_time_on_a_terminal_alone(self):
        os.mkfifo(self.path("pipe"))
        self.assertRegex(self.terminal_until(["fabric", "show", "pipe"], b" s"), r"opening the fabric pipe: \d+ s")
        process = self.start("fabric", "show", "pipe")
        time.sleep(3)
        process.terminate()
        self.assertEqual(process.communicate(timeout=LIMIT), ("", ""))


class DryRun(Case):
    """The exact command for each launcher, with what differs between machines and moments replaced."""

    def command(self, *words, **variables):
        ended = self.holdfast("run", "--dry-run", "--output", "out", "--on-failure", "abort", *words, **variables)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stderr, "")
        self.assertFalse(os.path.exists(self.path("out")), "a dry run touches nothing")
        line = ended.stdout.replace(self.folder, "DIR").replace(JOBS, "JOBS")
        line = re.sub(r"(-x |-genv )?HOLDFAST_(REPLICATE_ON_FAILURE|RUN_JOB)[= ]\w+ ", "", line)
        line = re.sub(r"HOLDFAST_RUN_EPOCH([= ])\d+(:\d+){4}", r"HOLDFAST_RUN_EPOCH\1EPOCH", line)
        line = re.sub(r"HOLDFAST_RUN_(ENTROPY|IDENTITY)([= ])\d+", r"HOLDFAST_RUN_\1\2BITS", line)
        line = re.sub(r"HOLDFAST_RUN_SHARED_MEMORY([= ])/dev/shm/holdfast-\S+", r"HOLDFAST_RUN_SHARED_MEMORY\1FOLDERS", line)
        # Under PRRTE (Open MPI 5) what is shown comes from files.
        line = line.replace("-x HOLDFAST_RUN_OUTPUT=files -x GFORTRAN_UNBUFFERED_PRECONNECTED=y ", "")
        line = line.replace(" --allow-run-as-root", "").replace(" --mca mpi_yield_when_idle 1", "")
        return re.sub(r"(DIR|/\S*)/((?:mpirun|mpiexec|srun)\S*)", r"\2", line)

    @unittest.skipUnless("openmpi" in FLAVOURS, "Open MPI is not installed")
    def test_openmpi(self):
        self.assertEqual(
            self.command("-n", "2", "--protocol", "all-to-all", "--inject", "rank 1 message 40 bit 7", "--inject", "rate 1/9",
                         "--seed", "5", "--", job("openmpi"), "it's", "-n"),
            "mpirun.openmpi -n 6 --oversubscribe -x HOLDFAST_REPLICATE_DEGREE=3 "
            "-x HOLDFAST_REPLICATE_PROTOCOL=all-to-all "
            "-x 'HOLDFAST_REPLICATE_INJECT=flip rank 1 message 40 bit 7; flip rate 1/9' -x HOLDFAST_REPLICATE_SEED=5 "
            "-x HOLDFAST_RUN_RANKS=2 -x HOLDFAST_RUN_DIRECTORY=DIR/out -x HOLDFAST_RUN_STDIN=/dev/null "
            "-x HOLDFAST_RUN_PROGRAM=JOBS/job-openmpi -x HOLDFAST_RUN_SHARED_MEMORY=FOLDERS -x HOLDFAST_RUN_EPOCH=EPOCH -x HOLDFAST_RUN_ENTROPY=BITS "
            "-x HOLDFAST_RUN_CLEAR_BLOCKS=1 -x HOLDFAST_RUN_IDENTITY=BITS "
            "-x LD_PRELOAD=DIR/lib/libholdfast-replicate-openmpi.so "
            "JOBS/job-openmpi 'it'\\''s' -n\n")

    @unittest.skipUnless("openmpi" in FLAVOURS, "Open MPI is not installed")
    def test_openmpi_on_several_hosts(self):
        self.write("hosts", "a slots=2\nb:2\nc slots=2\n")
        self.assertEqual(
            self.command("-n", "2", "--hostfile", "hosts", "--", job("openmpi")),
            "# DIR/out/hosts:\n#   a\n#   a\n#   b\n#   b\n#   c\n#   c\n"
            "mpirun.openmpi -n 6 --map-by seq --hostfile DIR/out/hosts -x HOLDFAST_REPLICATE_DEGREE=3 "
            "-x HOLDFAST_RUN_RANKS=2 -x HOLDFAST_RUN_DIRECTORY=DIR/out -x HOLDFAST_RUN_STDIN=/dev/null "
            "-x HOLDFAST_RUN_PROGRAM=JOBS/job-openmpi -x HOLDFAST_RUN_SHARED_MEMORY=FOLDERS -x HOLDFAST_RUN_EPOCH=EPOCH -x HOLDFAST_RUN_ENTROPY=BITS "
            "-x HOLDFAST_RUN_CLEAR_BLOCKS=1 -x HOLDFAST_RUN_IDENTITY=BITS "
            "-x LD_PRELOAD=DIR/lib/libholdfast-replicate-openmpi.so JOBS/job-openmpi\n")

    @unittest.skipUnless("mpich" in FLAVOURS, "MPICH is not installed")
    def test_hydra(self):
        self.write("hosts", "a slots=2\nb:2\n")
        self.assertEqual(
            self.command("-n", "2", "-r", "2", "--hostfile", "hosts", "--", job("mpich"), LD_PRELOAD="libm.so.6"),
            "# DIR/out/hosts:\n#   a:2\n#   b:2\n"
            "mpiexec.mpich -n 4 -f DIR/out/hosts -genv HOLDFAST_REPLICATE_DEGREE 2 "
            "-genv HOLDFAST_RUN_RANKS 2 -genv HOLDFAST_RUN_DIRECTORY DIR/out -genv HOLDFAST_RUN_STDIN /dev/null "
            "-genv HOLDFAST_RUN_PROGRAM JOBS/job-mpich -genv HOLDFAST_RUN_SHARED_MEMORY FOLDERS -genv HOLDFAST_RUN_EPOCH EPOCH "
            "-genv HOLDFAST_RUN_ENTROPY BITS "
            "-genv HOLDFAST_RUN_CLEAR_BLOCKS 1 -genv HOLDFAST_RUN_IDENTITY BITS "
            "-genv LD_PRELOAD DIR/lib/libholdfast-replicate-mpich.so:libm.so.6 "
            "JOBS/job-mpich\n")

    def test_what_a_death_means_is_decided_by_the_mpi_and_the_options(self):
        def continues(*words):
            ended = self.holdfast("run", "--dry-run", "-n", "2", *words)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            return "ON_FAILURE=continue" in ended.stdout or "ON_FAILURE continue" in ended.stdout
        for flavour in FLAVOURS:
            can = flavour == "openmpi"
            self.assertEqual(continues("--", job(flavour)), can, flavour)
            self.assertEqual(continues("--protocol", "all-to-all", "-r", "4", "--", job(flavour)), can, flavour)
            for option in (["--on-failure", "abort"], ["-r", "2"], ["-r", "1"], ["-r", "2.5"], ["--hold-output"],
                           ["--same-thread-order"], ["--protocol", "msg-plus-hash"]):
                self.assertFalse(continues(*option, "--", job(flavour)), option)

    def test_further_options_of_the_launcher(self):
        for flavour in FLAVOURS:
            ended = self.holdfast("run", "--dry-run", "-n", "2", "--launcher-args", "-bind-to none -x 'a b'", "--", job(flavour))
            self.assertEqual(ended.returncode, 0, ended.stderr)
            words = shlex.split(ended.stdout)
            at = words.index("-bind-to")
            self.assertEqual(words[at:at + 4], ["-bind-to", "none", "-x", "a b"])
            self.assertLess(at, words.index(job(flavour)))

    def test_srun(self):
        self.write("srun", "#!/bin/sh\n", 0o755)
        self.write("hosts", "a slots=2\nb:2\nc slots=2\n")
        flavour = FLAVOURS[0]
        plugin = {"openmpi": "pmix", "mpich": "pmi2"}[flavour]
        path = self.folder + ":" + os.environ["PATH"]
        self.assertEqual(
            self.command("-n", "2", "--launcher", "srun", "--hostfile", "hosts", "--chain", "--", job(flavour), PATH=path,
                         LD_PRELOAD="libm.so.6"),
            "# DIR/out/hosts:\n#   a\n#   a\n#   b\n#   b\n#   c\n#   c\n"
            "HOLDFAST_REPLICATE_DEGREE=3 HOLDFAST_REPLICATE_CHAIN=true HOLDFAST_RUN_RANKS=2 "
            "HOLDFAST_RUN_DIRECTORY=DIR/out HOLDFAST_RUN_STDIN=/dev/null "
            f"HOLDFAST_RUN_PROGRAM=JOBS/job-{flavour} HOLDFAST_RUN_SHARED_MEMORY=FOLDERS HOLDFAST_RUN_EPOCH=EPOCH HOLDFAST_RUN_ENTROPY=BITS "
            "HOLDFAST_RUN_CLEAR_BLOCKS=1 HOLDFAST_RUN_IDENTITY=BITS "
            "SLURM_HOSTFILE=DIR/out/hosts srun -n 6 --export=ALL --input=none --quit-on-interrupt "
            f"--mpi={plugin} --distribution=arbitrary "
            f"env LD_PRELOAD=libm.so.6:DIR/lib/libholdfast-replicate-{flavour}.so JOBS/job-{flavour}\n")

    def test_a_map_file_says_who_shares_a_host(self):
        """Native ranks fill the hosts in order; without a map each rank's replicas would be a slot of a, of b and of c."""
        self.write("hosts", "a slots=3\nb:2\nc slots=4\n")
        self.write("far", "0 0 0\n1 1 0\n2 2 0\n3 0 1\n4 1 1\n5 2 1\n")
        self.write("near", "0 0 0\n1 0 1\n2 1 0\n3 1 1\n4 2 0\n5 2 1\n")
        placed = {}
        for name, words in (("far", []), ("near", ["--colocate"])):
            line = self.command("--map", name, *words, "--hostfile", "hosts", "--", job(FLAVOURS[0]))
            placed[name] = [text[4:] for text in line.splitlines() if text.startswith("#   ")]
        self.assertEqual(placed["far"], placed["near"])
        wanted = ["a", "a", "a", "b", "b", "c"] if FLAVOURS[0] == "openmpi" else ["a:3", "b:2", "c:1"]
        self.assertEqual(placed["far"], wanted)

    def test_a_map_file_gives_ranks_and_replicas(self):
        self.write("map", "0 0 0\n1 0 1\n2 1 0\n3 1 1\n")
        line = self.command("--map", "map", "--", job(FLAVOURS[0]))
        self.assertRegex(line, r"-n 4 .*HOLDFAST_REPLICATE_DEGREE[= ]2 .*HOLDFAST_REPLICATE_MAP[= ]DIR/map ")
        self.assertRegex(line, r"HOLDFAST_RUN_RANKS[= ]2 ")

    def test_ranks_with_different_numbers_of_replicas(self):
        line = self.command("-n", "3", "--replicas", "1.5", "--", job(FLAVOURS[0]))
        self.assertRegex(line, r"-n 5 .*HOLDFAST_REPLICATE_DEGREE[= ]1\.5 .*HOLDFAST_RUN_RANKS[= ]3 ")
        line = self.command("-n", "4", "--replicas", "1,3:0,2:2-3", "--", job(FLAVOURS[0]))
        self.assertRegex(line, r"-n 8 .*HOLDFAST_REPLICATE_DEGREE[= ]'?1,3:0,2:2-3'? ")
        self.write("map", "0 0 0\n1 1 0\n2 1 1\n")
        for words in ((), ("--replicas", "1,2:1")):
            line = self.command(*words, "--map", "map", "--", job(FLAVOURS[0]))
            self.assertRegex(line, r"-n 3 .*HOLDFAST_REPLICATE_DEGREE[= ]2 .*HOLDFAST_REPLICATE_MAP[= ]DIR/map ")

    def test_a_flag_beats_the_environment_beats_a_file(self):
        self.write("c.toml", "[replicate]\ndegree = 5\nsilence_limit = '7s'\non_corruption = 'report'\n")
        line = self.command("-n", "1", "--config", "c.toml", "--on-corruption", "stop", "--", job(FLAVOURS[0]),
                            HOLDFAST_REPLICATE_SILENCE_LIMIT="9s")
        self.assertRegex(line, r"HOLDFAST_REPLICATE_DEGREE[= ]5 ")
        self.assertRegex(line, r"HOLDFAST_REPLICATE_SILENCE_LIMIT[= ]9s ")
        self.assertRegex(line, r"HOLDFAST_REPLICATE_ON_CORRUPTION[= ]stop ")

    def test_every_row_is_a_flag(self):
        rows = re.findall(r"--replicate\.[a-z-]+", self.holdfast("config", "list").stdout)
        help_text = self.holdfast("run", "--help").stdout
        self.assertGreater(len(rows), 5)
        for flag in rows:
            self.assertIn(flag, help_text)


class Doctor(Case):
    def test_says_what_is_there(self):
        ended = self.holdfast("doctor")
        self.assertEqual(ended.returncode, 0)
        self.assertIn("lib/libholdfast-replicate-openmpi.so", ended.stdout)

    def test_json(self):
        record = json.loads(self.holdfast("doctor", "--json").stdout)
        self.assertEqual(record["record"], "holdfast.doctor")
        self.assertTrue(record["any_mpi"])

    def test_runs_a_job_with_each_mpi(self):
        ended = self.holdfast("doctor", "--test")
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertRegex(ended.stdout, r"(?m)^self test of openmpi +holdfast: 2 ranks x 2 replicas, \d+ messages .* verified")
        if re.search(r"(?m)^rails +(?!missing)", ended.stdout):
            self.assertRegex(ended.stdout, r"(?m)^self test of rails +holdfast: transport: [1-9][\d,]* fragments")
        if shutil.which("ibsim") and shutil.which("opensm", path=os.environ["PATH"] + ":/usr/sbin"):
            self.assertRegex(ended.stdout, r"(?m)^self test of OpenSM +(?!missing)")

    def test_a_self_test_that_fails_ends_with_5(self):
        self.write("holdfast-self-test-openmpi", "#!/bin/sh\nexit 3\n", 0o755)
        ended = self.holdfast("doctor", "--test", HOLDFAST_LIBRARY_PATH=self.folder)
        self.assertEqual(ended.returncode, 5)
        self.assertRegex(ended.stdout, r"(?m)^self test of openmpi +missing")

    def test_sees_a_library_that_cannot_be_loaded(self):
        self.write("libholdfast-replicate-openmpi.so", "not a library")
        ended = self.holdfast("doctor", HOLDFAST_LIBRARY_PATH=self.folder)
        self.assertRegex(ended.stdout, r"(?m)^libholdfast-replicate-openmpi.so +missing.*build Holdfast again: ERROR")

    def test_ends_with_5_without_mpi(self):
        ended = self.holdfast("doctor", PATH="/nowhere")
        self.assertEqual(ended.returncode, 5)
        self.assertIn("apt-get install openmpi-bin", ended.stdout)
        self.assertIn("apt-get install mpich", ended.stdout)


class Config(Case):
    def test_list_explain_check(self):
        self.write("good.toml", "[replicate]\nsilence_limit = '5s'\n")
        self.assertIn("--replicate.protocol", self.holdfast("config", "list").stdout)
        explained = self.holdfast("config", "explain", "--config", "good.toml", HOLDFAST_REPLICATE_SEED="4").stdout
        self.assertIn("replicate.silence_limit = 5s  (good.toml line 2)", explained)
        self.assertIn("replicate.seed = 4  (HOLDFAST_REPLICATE_SEED)", explained)
        self.assertIn("replicate.degree = 3  (default)", explained)
        checked = self.holdfast("config", "check", "good.toml")
        self.assertEqual((checked.returncode, checked.stdout), (0, "good.toml: good\n"))

    def test_fault_check_prints_the_plain_form(self):
        checked = self.holdfast("fault", "check", "message 40   rank 1 # x")
        self.assertEqual((checked.returncode, checked.stdout), (0, "flip rank 1 message 40\n"))


class Reference(Case):
    def test_version(self):
        self.assertRegex(self.holdfast("--version").stdout, r"^holdfast \d+\.\d+\.\d+\n$")

    def test_every_help_teaches_by_example(self):
        for command in (["run"], ["doctor"], ["config"], ["fault"], ["reference"]):
            ended = self.holdfast(*command, "--help")
            self.assertEqual(ended.returncode, 0)
            self.assertIn("Examples:", ended.stdout, command)
        self.assertIn("Exit codes:", self.holdfast("run", "--help").stdout)

    def test_the_table_of_commands_has_what_help_lists(self):
        """What the manual pages and the completions are made from."""
        def check(command, path):
            shown = self.holdfast(*path, "--help").stdout
            for option in command["options"]:
                for name in option.get("names", [option.get("positional")]):
                    self.assertIn(name, shown, path)
                for choice in option.get("choices", []):
                    self.assertIn(choice, shown, path)
                if option.get("bounds"):
                    self.assertIn(f"{option['value']}:{option['bounds']}", shown, path)
            listed = re.findall(r"^  ([a-z][a-z-]*)  ", shown.partition("Subcommands:\n")[2].partition("\n\n")[0], re.MULTILINE)
            self.assertEqual([below["name"] for below in command["commands"]], listed, path)
            for below in command["commands"]:
                check(below, path + [below["name"]])

        check(json.loads(self.holdfast("reference", "commands").stdout), [])

    def test_the_commands_of_a_job_are_there_without_the_others(self):
        """Where only `holdfast` was built, as ./demo does, or holdfast-commands was lost."""
        os.mkdir(self.path("bin"))
        alone = shutil.copy(HOLDFAST, self.path("bin/holdfast"))

        def ask(*words):
            return subprocess.run([alone, *words], env=self.environment, text=True, capture_output=True, timeout=LIMIT, check=False)

        self.assertEqual(ask("run", "--help").stdout, self.holdfast("run", "--help").stdout)
        self.assertEqual(ask("--version").stdout, self.holdfast("--version").stdout)
        listed = re.findall(r"^  ([a-z]+)  ", ask("--help").stdout.partition("Subcommands:\n")[2], re.MULTILINE)
        self.assertEqual([name for name in ("run", "doctor", "fault") if name in listed], ["run", "doctor", "fault"])
        ended = ask("fabric", "show", "tree(2,2)")
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr.count("\n")), (5, "", 1))
        self.assertIn("packaging/prepare commands", ended.stderr)
        os.symlink("/dev/null", self.path("lib/holdfast-commands"))
        self.assertEqual(ask("fabric", "show", "tree(2,2)").returncode, 5)
        os.remove(self.path("lib/holdfast-commands"))
        self.write("lib/holdfast-commands", "no program", 0o644)
        ended = ask("fabric", "show", "tree(2,2)")
        self.assertEqual((ended.returncode, ended.stderr.count("\n")), (5, 1))
        self.assertIn("Permission denied", ended.stderr)

    def test_exit_code_page(self):
        with open(f"{SOURCE}/docs/reference/exit-codes.md", encoding="utf-8") as file:
            self.assertEqual(self.holdfast("reference", "exit-codes").stdout, file.read())


class JobCase(Case):
    """The stand-in does not say who is there, so that no job of it could go on when a process dies."""

    def setUp(self):
        super().setUp()
        self.environment["OMPI_MCA_btl_tcp_if_include"] = "lo"  # Open MPI 5 warns of hosts with two kinds of address
        self.environment["HOLDFAST_REPLICATE_ON_FAILURE"] = "abort"


class Jobs(JobCase):
    """Jobs under the real launchers: how each kind of end is reported."""

    RECORD = ('record.json={"counters": {"messages": 48112, "bytes": 61200000, "mismatches": 1, "corrections": 1}, '
              '"corrupted": [{"rank": 1, "replica": 2, "copies": 1}]}')

    # files that the library leaves, the job's status, exit code, what is said
    TABLE = [
        (RECORD, 0, 0, "holdfast: 2 ranks x 3 replicas, 48,112 messages (61.2 MB) verified, 1 mismatch, 1 corrected "
                       "(rank 1 replica 2)\n"),
        (RECORD, 9, 1, "its status is 9"),
        ("none=", 0, 7, "nothing shows that it was verified"),
        ('record.json={"counters": {"mess', 0, 7, "nothing shows that it was verified"),
        ('incident-0.1.json={"kind": "uncorrected", "message": "no majority"}', 3, 3, "no majority (exit code 3"),
        ('incident-0.1.json={"kind": "diverged", "message": "other calls"}', 4, 4, "other calls (exit code 4"),
        ('incident-0.1.json={"kind": "refused", "message": "MPI_X"}', 6, 6, "MPI_X (exit code 6"),
        ('incident-0.1.json={"kind": "crash", "signal": 11, "mess', 4, 4, "is damaged (exit code 4"),
        ('incident-0.0.json={"kind": "crash", "signal": 11}|incident-0.1.json={"kind": "crash", "signal": 11}|'
         'incident-0.2.json={"kind": "crash", "signal": 11, "message": "x"}', 4, 1, "in all 3 replicas alike"),
    ]

    def test_table(self):
        for flavour in FLAVOURS:
            for files, status, code, said in self.TABLE:
                with self.subTest(f"{flavour}: {files} {status}"):
                    ended = self.holdfast("run", "-n", "2", "--json", "out.json", "--", job(flavour), "exit", str(status),
                                          TEST_FILES=files)
                    self.assertEqual(ended.returncode, code, ended.stderr)
                    self.assertIn(said, ended.stderr)
                    record = json.loads(self.read("out.json"))
                    self.assertEqual(record["exit"]["code"], code)
                    self.assertEqual(record["mpi"], flavour)
                    self.assertEqual(record["degree"], 3)
                    folders = self.run_folders()
                    self.assertEqual(len(folders), 0 if code == 0 else 1, "kept on failure only")
                    for folder in folders:
                        self.assertIn(folder, ended.stderr)
                        shutil.rmtree(self.path(folder))

    def test_the_library_is_preloaded_beside_the_users_own(self):
        for flavour in FLAVOURS:
            os.mkdir(self.path(flavour))
            ended = self.holdfast("run", "-n", "1", "--", job(flavour), "environment", "LD_PRELOAD", flavour,
                                  LD_PRELOAD="libm.so.6")
            self.assertEqual(ended.returncode, 0, ended.stderr)
            ours = self.path(f"lib/libholdfast-replicate-{flavour}.so")
            for native in range(3):
                self.assertEqual(self.read(f"{flavour}/{native}"), ours + ":libm.so.6")

    def test_quiet_and_output(self):
        ended = self.holdfast("run", "-q", "-n", "1", "--output", "out", "--", job(FLAVOURS[0]), "exit", "0")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        left = set(os.listdir(self.path("out"))) - {"launcher.err"}  # Open MPI 5 warns of hosts with two kinds of address
        self.assertEqual(sorted(left),
                         [".holdfast-run", "finished-0.0", "finished-0.1", "finished-0.2", "record.json"], "plumbing is removed")

    def test_an_output_folder_belongs_to_one_job_at_a_time(self):
        os.mkdir(self.path("up"))
        first = self.start("run", "-n", "1", "--output", "out", "--", job(FLAVOURS[0]), "wait", self.path("up"),
                           stdin=subprocess.DEVNULL)
        self.wait_for(lambda: len(os.listdir(self.path("up"))) == 3)
        before = sorted(os.listdir(self.path("out")))
        second = self.holdfast("run", "-n", "1", "--output", "out", "--", job(FLAVOURS[0]), "exit", "0")
        self.assertEqual(second.returncode, 2, second.stderr)
        self.assertEqual(second.stderr.count("\n"), 1, second.stderr)
        self.assertIn("another job is running in it", second.stderr)
        self.assertEqual(sorted(os.listdir(self.path("out"))), before, "nothing of the first one's is touched")
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=LIMIT)
        third = self.holdfast("run", "-n", "1", "--output", "out", "--", job(FLAVOURS[0]), "exit", "0")
        self.assertEqual(third.returncode, 0, third.stderr)

    def test_evidence_that_is_not_there_is_no_agreement(self):
        for variables, said in (({"TEST_NO_CLOSING": "0.2"}, "finished-0.2) is missing"),
                                ({"TEST_CLOSING_JOB": "another"}, "is another job's"),
                                ({"TEST_JOB": "another"}, "nothing shows that it was verified")):
            with self.subTest(said):
                ended = self.holdfast("run", "-n", "1", "--", job(FLAVOURS[0]), "exit", "0", **variables)
                self.assertEqual(ended.returncode, 7, ended.stderr)
                self.assertIn(said, ended.stderr)

    def test_what_a_death_means_is_said_at_the_start(self):
        for flavour in FLAVOURS:
            ended = self.holdfast("run", "-n", "1", "--", job(flavour), "exit", "0")
            self.assertEqual(ended.stderr.splitlines()[0], "holdfast: if a process dies, the job ends (--on-failure abort)")
            ended = self.holdfast("run", "-n", "1", "-r", "1", "--", job(flavour), "exit", "0")
            self.assertNotIn("if a process dies", ended.stderr)

    def test_the_launchers_own_words_are_kept_in_a_file(self):
        if "openmpi" not in FLAVOURS:
            self.skipTest("Open MPI is not installed")
        ended = self.holdfast("run", "-n", "1", "--output", "out", "--", job("openmpi"), "exit", "3")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("launcher.err in it", ended.stderr)
        self.assertNotIn("mpirun", ended.stderr)
        self.assertIn("non-zero", self.read("out/launcher.err"))
        ended = self.holdfast("run", "-n", "1", "--launcher-args", "--mca no-such", "--", job("openmpi"), "exit", "0")
        self.assertEqual(ended.returncode, 5, ended.stderr)
        self.assertIn("unable to find", ended.stderr, "nobody else says why")
        ended = self.holdfast("run", "-n", "1", "--replicas", "3", "--launcher-args", "--no-such", "--", job("openmpi"))
        self.assertEqual(ended.returncode, 5, ended.stderr)
        self.assertRegex(ended.stdout + ended.stderr, "un(known|recognized) option", "prterun says it there")

    def test_a_record_that_cannot_be_written_is_refused_before_the_job(self):
        for path in ("absent/record.json", ".", ""):
            ended = self.holdfast("run", "-n", "1", "--json", path, "--", job(FLAVOURS[0]), "exit", "0")
            self.assertEqual(ended.returncode, 5, ended.stderr)
            self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
            self.assertRegex(ended.stderr, "^holdfast: writing ")

    def test_a_fault_that_never_struck_is_named(self):
        ended = self.holdfast("run", "-n", "1", "--inject", "rank 0 message 7; rank 0 message 8", "--", job(FLAVOURS[0]),
                              "exit", "0", TEST_STRUCK="1")
        self.assertIn("1 of 2 injected faults never struck: flip rank 0 message 7\n", ended.stderr)

    def test_a_script(self):
        for flavour in FLAVOURS:
            self.write("job.sh", f'#!/bin/sh\nexec "{job(flavour)}" "$@"\n', 0o755)
            ended = self.holdfast("run", "-n", "1", "--mpi", flavour, "--", "./job.sh", "exit", "5")
            self.assertEqual(ended.returncode, 1, ended.stderr)
            self.assertIn("its status is 5", ended.stderr)
            shutil.rmtree(self.path(self.run_folders()[0]))

    def test_the_seed_of_injected_faults_is_printed(self):
        ended = self.holdfast("run", "-n", "1", "--inject", "rate 1/9", "--seed", "77", "--", job(FLAVOURS[0]), "exit", "0")
        self.assertIn("injecting faults with seed 77", ended.stderr)


class Input(JobCase):
    """Standard input reaches rank 0 of every replica, whatever it is."""

    TEXT = "".join(f"line {number}\n" for number in range(60000))

    def expect_read(self, flavour, ended, text):
        self.assertEqual(ended.returncode, 0, ended.stderr)
        for native in range(6):
            self.assertEqual(self.read(f"{flavour}/{native}"), text if native % 2 == 0 else "", native)

    def each(self):
        for flavour in FLAVOURS:
            os.mkdir(self.path(flavour))
            yield flavour, ["run", "-n", "2", "--", job(flavour), "read", flavour]

    def test_file(self):
        self.write("in", self.TEXT)
        for flavour, words in self.each():
            with open(self.path("in"), encoding="utf-8") as file:
                self.expect_read(flavour, self.holdfast(*words, stdin=file), self.TEXT)

    def test_rest_of_a_file(self):
        self.write("in", self.TEXT)
        for flavour, words in self.each():
            with open(self.path("in"), "rb", buffering=0) as file:
                file.read(7)
                self.expect_read(flavour, self.holdfast(*words, stdin=file), self.TEXT[7:])

    def test_pipe(self):
        for flavour, words in self.each():
            self.expect_read(flavour, self.holdfast(*words, text_in=self.TEXT), self.TEXT)

    def test_empty(self):
        for flavour, words in self.each():
            self.expect_read(flavour, self.holdfast(*words), "")

    def test_terminal(self):
        flavour = FLAVOURS[0]
        os.mkdir(self.path(flavour))
        master, slave = pty.openpty()
        process = self.start("run", "-n", "2", "--", job(flavour), "read", flavour, stdin=slave, start_new_session=True,
                             preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        os.write(master, b"typed\n\x04")
        _, err = process.communicate(timeout=LIMIT)
        os.close(master)
        self.assertEqual(process.returncode, 0, err)
        for native in (0, 2, 4):
            self.assertEqual(self.read(f"{flavour}/{native}"), "typed\n")

    def test_a_job_that_reads_nothing_ends(self):
        for flavour in FLAVOURS:
            source, sink = os.pipe()
            ended = self.holdfast("run", "-n", "2", "--", job(flavour), "noread", stdin=source)
            os.close(source)
            os.close(sink)
            self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_more_than_a_job_reads_is_no_trouble(self):
        ended = self.holdfast("run", "-n", "2", "--", job(FLAVOURS[0]), "noread", text_in=self.TEXT * 4)
        self.assertEqual(ended.returncode, 0, ended.stderr)


class Hosts(JobCase):
    """Placement as the launchers carry it out, on hosts that are made of UTS namespaces of this one."""

    def setUp(self):
        super().setUp()
        made = subprocess.run(["unshare", "--uts", "hostname", "alpha"], capture_output=True, check=False)
        if made.returncode != 0:
            self.skipTest("making hosts takes root")
        self.write("rsh", '#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\nhost=$1; shift\n'
                          'exec unshare --uts bash -c "hostname $host; $*"\n', 0o755)

    def test_replicas_of_a_rank_run_on_different_hosts(self):
        self.write("hosts", "alpha slots=2\nbeta slots=3\ngamma slots=2\ndelta slots=2\n")
        for flavour in FLAVOURS:
            os.mkdir(self.path(flavour))
            ended = self.holdfast("run", "-n", "3", "--hostfile", "hosts", "--", job(flavour), "host", self.path(flavour),
                                  OMPI_MCA_plm_rsh_agent=self.path("rsh"), PRTE_MCA_plm_ssh_agent=self.path("rsh"),
                                  OMPI_MCA_hwloc_base_binding_policy="none", PRTE_MCA_hwloc_default_binding_policy="none",
                                  HYDRA_LAUNCHER="rsh", HYDRA_LAUNCHER_EXEC=self.path("rsh"))
            self.assertEqual(ended.returncode, 0, ended.stderr)
            hosts = [self.read(f"{flavour}/{native}") for native in range(9)]
            for rank in range(3):
                self.assertEqual(len({hosts[rank], hosts[rank + 3], hosts[rank + 6]}), 3, hosts)


class Signals(JobCase):
    """Signals and the time limit end jobs with their codes, and nothing of them is left."""

    def job_processes(self):
        """Processes of this test's jobs: their command lines hold the working folder."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read()
            except OSError:
                continue
            if self.folder.encode() in words:
                found.append(words)
        return found

    def start_waiting(self, flavour, *options):
        shutil.rmtree(self.path("up"), ignore_errors=True)
        os.mkdir(self.path("up"))
        process = self.start("run", *options, "-n", "2", "--", job(flavour), "wait", self.path("up"),
                             stdin=subprocess.DEVNULL)
        self.wait_for(lambda: len(os.listdir(self.path("up"))) == 6)
        return process

    def test_each_signal(self):
        for flavour in FLAVOURS:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(f"{flavour} {number}"):
                    process = self.start_waiting(flavour)
                    process.send_signal(number)
                    _, err = process.communicate(timeout=LIMIT)
                    self.assertEqual(process.returncode, 128 + number, err)
                    self.assertEqual(self.job_processes(), [])

    def test_time_limit(self):
        for flavour in FLAVOURS:
            process = self.start_waiting(flavour, "--time-limit", "4s")
            _, err = process.communicate(timeout=LIMIT)
            self.assertEqual(process.returncode, 124, err)
            self.assertEqual(self.job_processes(), [])

    def test_the_job_ends_when_holdfast_is_killed(self):
        for flavour in FLAVOURS:
            process = self.start_waiting(flavour)
            process.kill()
            process.communicate(timeout=LIMIT)
            self.wait_for(lambda: not self.job_processes())


if __name__ == "__main__":
    unittest.main(verbosity=2)
