#!/usr/bin/env python3
"""Every command of holdfast x kinds of bad input, as an ordinary user. Each try must end by itself, with a documented
exit code that is never 7, without a signal that nobody sent, with at most one line "holdfast: ..." besides notes, with
what existed before as it was, and with no process left. The page docs/reference/bad-input.md is held to what was run.

Usage: bad_input_test.py [--write PAGE] [WORD...]   the tries whose command holds a word; without: all, and the page.
CMakeLists.txt gives the environment."""

import concurrent.futures
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

HOLDFAST = os.environ["HOLDFAST_PROGRAM"]
STAND_IN = os.environ["HOLDFAST_STAND_IN"]
JOBS = os.environ["HOLDFAST_JOBS"]
SOURCE = os.environ["HOLDFAST_SOURCE"]
PAGE = os.path.join(SOURCE, "docs/reference/bad-input.md")
LIMIT = 60  # seconds for one try: far more than any needs on a busy machine
NOBODY = 65534
MARK = "HOLDFAST_BAD_INPUT_TRY"
HERE = "{}"  # where the bad input stands in a command

# ------------------------------------------------------------------------------------------------ what is tried

RUN = "run -n 2 --dry-run"
# command, words with the place of an input file
INPUTS = [
    ("run PROGRAM", "run -n 2 --dry-run -- {}"),
    ("run --hostfile", f"{RUN} --hostfile {{}} -- JOB"),
    ("run --map", "run --dry-run --map {} -- JOB"),
    ("run --config", f"{RUN} --config {{}} -- JOB"),
    ("config explain --config", "config explain --config {}"),
    ("config check", "config check {}"),
    ("fabric import", "fabric import {}"),
    ("fabric import --tables", "fabric import torus(3,3) --tables {}"),
    ("fabric import --sl2vl", "fabric import net --tables lfts --sl2vl {}"),
    ("fabric import --path-records", "fabric import net --tables lfts --path-records {}"),
    ("fabric export", "fabric export {} --to dot"),
    ("fabric export --tables", "fabric export net --to lfts --tables {}"),
    ("fabric show", "fabric show {}"),
    ("fabric fail", "fabric fail {} --faults fail-link"),
    ("fabric fail --tables", "fabric fail net --what-if s-0-0/1 --tables {}"),
    ("fabric ageing", "fabric ageing {}"),
    ("fabric route", "fabric route {} --engine updn"),
    ("fabric route --root-guids", "fabric route net --engine updn --root-guids {}"),
    ("fabric route --torus-config", "fabric route net --engine torus-2qos --torus-config {}"),
    ("fabric check", "fabric check {}"),
    ("fabric check --tables", "fabric check net --tables {}"),
    ("fabric check --healthy", "fabric check net --engines updn --healthy {}"),
    ("fabric compare", "fabric compare {}"),
    ("fabric compare --torus-config", "fabric compare net --engines updn --torus-config {}"),
    ("fabric diff BEFORE", "fabric diff {} net"),
    ("fabric diff AFTER", "fabric diff net {}"),
    ("simulate --fabric", "simulate --fabric {} --limit 1us"),
    ("simulate --tables", "simulate --fabric net --limit 1us --tables {}"),
    ("simulate --trace", "simulate --fabric net --limit 1us --trace {}"),
    ("simulate --config", "simulate --fabric net --limit 1us --config {}"),
    ("predict JOB", "predict {} --fabric net -q"),
    ("predict --fabric", "predict ring.trace --fabric {} -q"),
    ("predict --tables", "predict ring.trace --fabric net -q --tables {}"),
    ("predict --host-file", "predict ring.trace --fabric net -q --host-file {}"),
    ("predict --config", "predict ring.trace --fabric net -q --config {}"),
    ("simulate --host-file", "simulate --fabric net --trace ring.trace --host-file {}"),
    ("trace show", "trace show {}"),
    ("trace check", "trace check {}"),
    ("trace convert TRACE", "trace convert {} job.goal"),
    ("plan", "plan {}"),
    ("collective study", "collective study {}"),
    ("study run", "study run {}"),
    ("study merge FROM", "study merge into.sqlite {}"),
    ("study report", "study report {}"),
]
DATABASES = {"study merge FROM", "study report"}  # read by SQLite
FOLDERS = {"predict JOB", "trace show", "trace check", "trace convert TRACE"}  # what is no folder is not opened
# An empty file that means something: no option is set, or no host has ports.
EMPTY_IS_FINE = {"run --config", "config explain --config", "config check", "simulate --config", "predict --config"}

# command, words with the place of a number
NUMBERS = [
    ("run -n", "run --dry-run -n {} -- JOB"),
    ("run --replicas", f"{RUN} --replicas {{}} -- JOB"),
    ("run --slots", f"{RUN} --slots {{}} -- JOB"),
    ("run --seed", f"{RUN} --seed {{}} -- JOB"),
    ("run --time-limit", f"{RUN} --time-limit {{}}s -- JOB"),
    ("run --silence-limit", f"{RUN} --silence-limit {{}}s -- JOB"),
    ("fabric generate torus(N,4)", "fabric generate torus({},4)"),
    ("fabric generate tree(N,2)", "fabric generate tree({},2)"),
    ("fabric generate xgft", "fabric generate xgft(2;{},2;1,1)"),
    ("fabric generate dragonfly", "fabric generate dragonfly({},1,1,3)"),
    ("fabric generate kautz", "fabric generate kautz({},2)"),
    ("fabric generate random", "fabric generate random({},4)"),
    ("fabric generate hyperx", "fabric generate hyperx({},2)"),
    ("fabric generate hyperx parallel", "fabric generate hyperx(3,3;1,{})"),
    ("fabric generate slimfly", "fabric generate slimfly({})"),
    ("fabric generate dragonfly-plus", "fabric generate dragonfly-plus({},2,2,2,3)"),
    ("fabric generate xpander", "fabric generate xpander({},4)"),
    ("fabric generate rails", "fabric generate rails({},4,2,2)"),
    ("fabric generate rails cores", "fabric generate rails(2,4,2,2;2,{})"),
    ("fabric generate links=", "fabric generate 'torus(4,4) links={}'"),
    ("fabric generate hosts=", "fabric generate 'torus(4,4) hosts={}'"),
    ("fabric generate hosts-per-switch=", "fabric generate 'torus(4,4) hosts-per-switch={}'"),
    ("fabric generate ports=", "fabric generate 'torus(4,4) ports={}'"),
    ("fabric generate seed=", "fabric generate 'random(8,4) seed={}'"),
    ("fabric generate length=", "fabric generate 'torus(4,4) length={}m'"),
    ("fabric generate lmc=", "fabric generate 'torus(4,4) lmc={}'"),
    ("fabric generate planes=", "fabric generate 'torus(4,4) planes={}'"),
    ("fabric fail --seed", "fabric fail net --faults fail-link --seed {}"),
    ("fabric fail --years", "fabric fail net --link-rate 1% --years {}"),
    ("fabric fail --link-rate", "fabric fail net --years 1 --link-rate {}%"),
    ("fabric fail --switch-link-ratio", "fabric fail net --years 1 --link-rate 1% --switch-link-ratio 1:{}"),
    ("fabric fail --shape", "fabric fail net --years 1 --link-rate 1% --shape {}"),
    ("fabric fail --lanes", "fabric fail net --what-if s-0-0/1 --lanes {}"),
    ("fabric fail --at", "fabric fail net --faults 'fail-link mean 1h' --at {}s"),
    ("fabric ageing --confidence", "fabric ageing net --confidence {}"),
    ("fabric route --lanes", "fabric route net --engine updn --lanes {}"),
    ("fabric route --threads", "fabric route net --engine updn --threads {}"),
    ("fabric route --seed", "fabric route net --engine updn --seed {}"),
    ("fabric route --seeds", "fabric route net --engine updn --lost-routes links --seeds {}"),
    ("fabric route --time-limit", "fabric route net --engine updn --time-limit {}s"),
    ("fabric check --lanes", "fabric check net --engines updn --lanes {}"),
    ("fabric check --threads", "fabric check net --engines updn --threads {}"),
    ("fabric compare --lanes", "fabric compare net --engines updn --lanes {}"),
    ("fabric compare --jobs", "fabric compare net --engines updn --jobs {}"),
    ("fabric compare --time-limit", "fabric compare net --engines updn --time-limit {}s"),
    ("simulate --seed", "simulate --fabric net --limit 1us --seed {}"),
    ("simulate --fault-seed", "simulate --fabric net --limit 1us --fault-seed {}"),
    ("simulate --lanes", "simulate --fabric net --limit 1us --lanes {}"),
    ("simulate --steps", "simulate --fabric net --limit 1us --sweep --steps {}"),
    ("simulate --limit", "simulate --fabric net --traffic 'exchange messages=1' --limit {}s"),
    ("simulate --at", "simulate --fabric net --limit 1us --at {}s --fault 'fail-link time 9s'"),
    ("simulate --sm-trap", "simulate --fabric net --limit 2us --sm-trap {}s --fault 'fail-link link s-0-0/1 time 100ns for 1us'"),
    ("simulate --sm-sweep", "simulate --fabric net --limit 2us --sm-sweep {}s --fault 'fail-link link s-0-0/1 time 100ns for 1us'"),
    ("simulate --sm-compute", "simulate --fabric net --limit 2us --sm-compute {}s --fault 'fail-link link s-0-0/1 time 100ns for 1us'"),
    ("simulate --sm-write", "simulate --fabric net --limit 2us --sm-write {}s --fault 'fail-link link s-0-0/1 time 100ns for 1us'"),
    ("simulate --fault time", "simulate --fabric net --limit 1us --fault 'fail-link link s-0-0/1 time {}s'"),
    ("simulate --fault for", "simulate --fabric net --limit 1us --fault 'fail-link link s-0-0/1 time 100ns for {}s'"),
    ("simulate --fault noisy-link", "simulate --fabric net --limit 1us --fault 'noisy-link {}/7 link s-0-0/1'"),
    ("simulate --fault slow-link", "simulate --fabric net --limit 1us --fault 'slow-link {}/7 link s-0-0/1'"),
    ("simulate --simulate.mtu", "simulate --fabric net --limit 1us --simulate.mtu {}"),
    ("simulate --simulate.cable-length", "simulate --fabric net --limit 1us --simulate.cable-length {}"),
    ("simulate --simulate.sample", "simulate --fabric net --limit 1us --simulate.sample {}s"),
    ("simulate --traffic size=", "simulate --fabric net --limit 1us --traffic 'uniform size={}'"),
    ("simulate --traffic messages=", "simulate --fabric net --limit 1us --traffic 'uniform messages={}'"),
    ("simulate --traffic load=", "simulate --fabric net --limit 1us --traffic 'uniform load={}'"),
    ("simulate --traffic reach=", "simulate --fabric net --limit 1us --traffic 'neighbours reach={}'"),
    ("simulate --traffic share=", "simulate --fabric net --limit 1us --traffic 'hotspot share={}'"),
    ("simulate --traffic target=", "simulate --fabric net --limit 1us --traffic 'hotspot target={}'"),
    ("simulate --transport.fragment-bytes", "simulate --fabric net --limit 1us --transport --transport.fragment-bytes {}"),
    ("simulate --datagram.rails", "simulate --fabric net --limit 1us --transport --datagram.rails {}"),
    ("simulate --datagram.queue", "simulate --fabric net --limit 1us --transport --datagram.queue {}"),
    ("simulate --datagram.send-overhead", "simulate --fabric net --limit 1us --transport --datagram.send-overhead {}s"),
    ("simulate --ranks-per-host", "simulate --fabric net --trace ring.trace --ranks-per-host {}"),
    ("simulate --compute-scale", "simulate --fabric net --trace ring.trace --compute-scale {}"),
    ("predict --seeds", "predict ring.trace --fabric net -q --seeds {}"),
    ("predict --lanes", "predict ring.trace --fabric net -q --lanes {}"),
    ("predict --ranks-per-host", "predict ring.trace --fabric net -q --ranks-per-host {}"),
    ("predict --compute-scale", "predict ring.trace --fabric net -q --compute-scale {}"),
    ("predict --limit", "predict ring.trace --fabric net -q --limit {}s"),
    ("predict --workers", "predict ring.trace --fabric net -q --workers {}"),
    ("simulate --replicas", "simulate --fabric net --trace ring.trace --replicas {}"),
    ("simulate --replay.digest-byte", "simulate --fabric net --trace ring.trace --replicas 2 --replay.digest-byte {}"),
    ("simulate --inject message", "simulate --fabric net --trace ring.trace --replicas 3 --inject 'flip rank 0 replica 1 message {}'"),
    ("predict --replicas", "predict ring.trace --fabric net -q --replicas {}"),
    ("predict --senders", "predict ring.trace --fabric net -q --senders {}"),
    ("predict --datagram.queue", "predict ring.trace --fabric net -q --senders transport --datagram.queue {}"),
    ("predict --mpi.eager-limit", "predict ring.trace --fabric net -q --mpi.eager-limit {}"),
    ("plan --seed", "plan --tables redmpi --seed {}"),
    ("collective study --threads", "collective study collectives.toml --threads {}"),
    ("study run --workers", "study run study.toml --workers {}"),
    ("study run --share", "study run study.toml --share 1/{}"),
    ("study run --silence", "study run study.toml --silence {}s"),
    ("fault check rank", "fault check 'flip rank {} message 1'"),
    ("fault check message", "fault check 'flip message {}'"),
    ("fault check bit", "fault check 'flip message 1 bit {}'"),
    ("fault check rate", "fault check 'drop rate 1/{}'"),
    ("fault check delay", "fault check 'delay {}s rate 1/2'"),
    ("fault check mean", "fault check 'fail-link mean {}s'"),
    ("fault check share", "fault check 'fail-link share {}%'"),
]
# The second time a number is given: which part of the words is repeated. Others are positions of one text.
DUPLICATES = {
    "fabric generate links=": "links=2", "fabric generate hosts=": "hosts=16",
    "fabric generate hosts-per-switch=": "hosts-per-switch=1", "fabric generate ports=": "ports=36",
    "fabric generate seed=": "seed=1", "fabric generate length=": "length=7m",
    "fabric generate lmc=": "lmc=1", "fabric generate planes=": "planes=2",
    "simulate --fault time": "time 9s", "simulate --fault for": "for 9s",
    "simulate --traffic size=": "size=64", "simulate --traffic messages=": "messages=2",
    "simulate --traffic load=": "load=0.5", "simulate --traffic reach=": "reach=1",
    "simulate --traffic share=": "share=0.5", "simulate --traffic target=": "target=1",
    "fault check rank": "rank 1", "fault check message": "message 1", "fault check bit": "bit 1",
    "fault check rate": "rate 1/2", "fault check mean": "mean 1s", "fault check share": "share 1%",
}

# command, words with the place of a file that is written
OUTPUTS = [
    ("run --json", "run -n 1 --replicas 1 --mpi openmpi --json {} -- ./not-mpi"),
    ("fabric generate -o", "fabric generate torus(3,3) -o {}"),
    ("fabric import -o", "fabric import net -o {}"),
    ("fabric export -o", "fabric export net --to dot -o {}"),
    ("fabric show --svg", "fabric show net --svg {}"),
    ("fabric fail -o", "fabric fail net --faults 'fail-link share 5%' -o {}"),
    ("fabric route -o", "fabric route net --engine updn -o {}"),
    ("fabric route --sl2vl", "fabric route net --engine updn --sl2vl {}"),
    ("fabric route --path-records", "fabric route net --engine updn --path-records {}"),
    ("simulate --json", "simulate --fabric net --limit 1us --json {}"),
    ("simulate --plot", "simulate --fabric net --limit 1us --plot {}"),
    ("predict --json", "predict ring.trace --fabric net -q --json {}"),
    ("predict --page", "predict ring.trace --fabric net -q --page {}"),
    ("predict -d", "predict ring.trace --fabric net -q -d {}"),
    ("trace show --json", "trace show ring.trace --json {}"),
    ("trace show --matrix", "trace show ring.trace --matrix {}"),
    ("trace convert TO", "trace convert ring.trace {}"),
    ("plan --html", "plan machine.toml --html {}"),
    ("collective study --json", "collective study collectives.toml --json {}"),
    ("collective study --csv", "collective study collectives.toml --csv {}"),
    ("study run -d", "study run study.toml -d {}"),
    ("study merge INTO", "study merge {} ready.sqlite"),
    ("study report --html", "study report ready.sqlite --html {}"),
    ("study report --csv", "study report ready.sqlite --csv {}"),
    ("study report --plots", "study report ready.sqlite --plots {}"),
]
MAKES_A_DATABASE = {"predict -d", "study run -d", "study merge INTO"}
MAKES_A_FOLDER = {"study report --plots"}

# command that answers on standard output, words
ANSWERS = [
    ("doctor", "doctor"), ("config list", "config list"), ("config explain", "config explain"),
    ("config check", "config check options.toml"), ("fault check", "fault check 'flip rank 1 message 2'"),
    ("fabric generate", "fabric generate torus(3,3)"), ("fabric import", "fabric import net"),
    ("fabric export", "fabric export net --to dot"), ("fabric show", "fabric show net"),
    ("fabric show --json", "fabric show net --json"), ("fabric fail", "fabric fail net --faults 'fail-link share 5%'"),
    ("fabric route", "fabric route net --engine updn"), ("fabric check", "fabric check net --engines updn --json"),
    ("fabric compare", "fabric compare net --engines updn"), ("fabric diff", "fabric diff net net"),
    ("simulate", "simulate --fabric net --limit 1us"), ("simulate --json -", "simulate --fabric net --limit 1us --json -"),
    ("predict", "predict ring.trace --fabric net -q"), ("predict --json -", "predict ring.trace --fabric net -q --json -"),
    ("trace show", "trace show ring.trace"), ("trace show --json -", "trace show ring.trace --json -"),
    ("trace check", "trace check ring.trace"), ("fabric ageing", "fabric ageing failures.log"),
    ("plan", "plan machine.toml --json"), ("collective study", "collective study collectives.toml"),
    ("study run", "study run study.toml"), ("study report", "study report ready.sqlite"),
    ("reference", "reference options"), ("run --dry-run", f"{RUN} -- JOB"), ("--version", "--version"),
    ("--help", "--help"), ("run --help", "run --help"),
]

# command that computes for long
WORKS = [
    ("run", "run -n 1 --replicas 1 -- JOB wait ."),
    ("fabric route", "fabric route 'torus(30,30) hosts=900' --engine nue"),
    ("fabric check", "fabric check 'torus(30,30) hosts=900'"),
    ("fabric compare", "fabric compare 'torus(30,30) hosts=900'"),
    ("simulate", "simulate --fabric net --traffic 'exchange size=1000000000000'"),
    ("simulate --sweep", "simulate --fabric net --sweep --steps 1000"),
    ("collective study", "collective study long-collectives.toml"),
    ("study run", "study run long-study.toml"),
]

INPUT_KINDS = ["missing", "directory", "empty", "binary", "unreadable", "too long", "loop", "INT", "TERM"]
NUMBER_KINDS = ["10^26", "2^32 - 1", "-1", "NaN", "word", "twice"]
LATIN = "no UTF-8"
OUTPUT_KINDS = ["read-only", "no folder", "directory", "disk full", LATIN]
ANSWER_KINDS = ["disk full", "reader gone", LATIN]
SIGNAL_KINDS = ["INT", "TERM"]
NUMBER_TEXT = {"10^26": "1" + 26 * "0", "2^32 - 1": "4294967295", "-1": "-1", "NaN": "nan", "word": "seven"}

PRECIOUS = "not to be lost\n"
MACHINE = """[machine]
name = "small"
nodes = 100
"""
STUDY = """[study]
name = "tiny"
[[group]]
name = "all"
fabric = ["tree(2,2)"]
engine = ["updn"]
failures = ["none"]
traffic = ["exchange"]
seeds = 1
"""
COLLECTIVES = """[study]
kind = "collectives"
name = "collectives"
fabric = "xgft(2;2,2;1,2)"
collectives = 2
[[group]]
name = "random"
protection = ["temporal"]
source = "link"
mean = ["10us"]
"""


class Bench:
    """A folder of the ordinary user with good inputs and every kind of bad one, and the programs where it may read them."""

    def __init__(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="holdfast-bad-input-"))
        os.chmod(self.folder, 0o755)
        self.user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        for name in ("bin", "lib", "home", "inputs"):
            os.mkdir(self.at(name))
        self.holdfast = shutil.copy(HOLDFAST, self.at("bin/holdfast"))
        shutil.copy(os.path.join(os.path.dirname(HOLDFAST), "../lib/holdfast-commands"), self.at("lib"))
        flavours = [name for name in ("openmpi", "mpich") if os.path.exists(f"{JOBS}/job-{name}")]
        self.job = shutil.copy(f"{JOBS}/job-{flavours[0]}", self.at("bin/job")) if flavours else None
        for name in ("openmpi", "mpich"):
            shutil.copy(STAND_IN, self.at(f"lib/libholdfast-replicate-{name}.so"))
        self.environment = {"PATH": os.environ["PATH"], "HOME": self.at("home"), "TMPDIR": self.at("home"), "LANG": "C",
                            "HOLDFAST_LIBRARY_PATH": self.at("lib")}
        self.make_inputs()
        for name in ("home", "inputs"):
            self.give(self.at(name))

    def at(self, name):
        return os.path.join(self.folder, name)

    def give(self, folder):
        if not self.user:
            return
        for path, folders, files in os.walk(folder):
            for name in [path] + [os.path.join(path, each) for each in folders + files]:
                os.chown(name, NOBODY, NOBODY, follow_symlinks=False)

    def make_inputs(self):
        folder = self.at("inputs")
        def put(name, content):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        put("machine.toml", MACHINE)
        put("study.toml", STUDY)
        put("collectives.toml", COLLECTIVES)
        put("long-study.toml", STUDY.replace("seeds = 1", "seeds = 1000").replace("none", "fail-link share 10%")
            .replace("tree(2,2)", "torus(6,6)"))
        put("long-collectives.toml", COLLECTIVES.replace("collectives = 2", "collectives = 10000000"))
        put("options.toml", "")
        put("failures.log", "observed, 2020-01-01, 2024-01-01\nparts, link, 20\nfailed, link, a/1, 2021-02-03\n"
            "failed, link, b/2, 2022-05-06, 2022-05-07\n")
        put("empty", "")
        put("binary", bytes(range(256)) * 64)
        put("unreadable", "secret\n")
        put("not-mpi", "#!/bin/sh\nexit 0\n")
        os.chmod(os.path.join(folder, "not-mpi"), 0o755)
        os.chmod(os.path.join(folder, "unreadable"), 0)
        os.mkdir(os.path.join(folder, "directory"))
        os.symlink("loop", os.path.join(folder, "loop"))
        shutil.copytree(os.path.join(SOURCE, "tests/cli/ring.trace"), os.path.join(folder, "ring.trace"))
        self.give(folder)
        for words in ("fabric generate 'torus(3,3) hosts=9' -o net", "fabric route net --engine updn -o lfts",
                      "study run study.toml -q -d ready.sqlite"):
            made = self.run(self.words(words, None), folder)
            if made.code != 0:
                raise SystemExit(f"{words}: {made.code}\n{made.err}")

    def words(self, command, what):
        """The words of a command line, quoted as in a shell; HERE is replaced."""
        found = [quoted or plain for quoted, plain in re.findall(r"'([^']*)'|(\S+)", command)]
        return [(self.job if word == "JOB" else word.replace(HERE, what or "")) for word in found]

    def work(self):
        """A working folder for one try, with links to the good inputs."""
        folder = tempfile.mkdtemp(dir=self.at("home"))
        for name in os.listdir(self.at("inputs")):
            if name != "ready.sqlite":
                os.symlink(os.path.join(self.at("inputs"), name), os.path.join(folder, name))
        shutil.copy(self.at("inputs/ready.sqlite"), folder) if os.path.exists(self.at("inputs/ready.sqlite")) else None
        self.give(folder)
        return folder

    def start(self, words, folder, number=0, stdout=subprocess.PIPE):
        # Two mpirun of one user that begin at once in one TMPDIR race for the folder of their sessions.
        temporary = folder + ".tmp"
        if not os.path.isdir(temporary):
            os.mkdir(temporary)
            self.give(temporary)
        return subprocess.Popen([self.holdfast, *words], cwd=folder,
                                env={**self.environment, "TMPDIR": temporary, MARK: str(number)},
                                stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, start_new_session=True,
                                **self.user)

    def run(self, words, folder, number=0, stdout=subprocess.PIPE):
        return Ended(self.start(words, folder, number, stdout))


class Ended:
    """What came of a process."""

    def __init__(self, process):
        self.hung = False
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.hung = True
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        self.code = process.returncode
        self.out = (out or b"").decode(errors="replace")
        self.err = err.decode(errors="replace")


class Try:
    """One command with one kind of bad input; `allowed` are the codes that are right."""

    def __init__(self, table, command, kind, line, allowed):
        self.table, self.command, self.kind, self.line, self.allowed = table, command, kind, line, allowed
        self.number = 0
        self.code = None
        self.wrong = []

    def what(self):
        return f"{self.table}: {self.command}, {self.kind}"

    def judge(self, ended, sent=None):
        self.code = ended.code
        if sent and ended.code == -sent:
            self.code = 128 + sent  # as a shell says it
        if ended.hung:
            self.wrong.append(f"not ended after {LIMIT} s")
        elif self.code < 0:
            self.wrong.append(f"ended by signal {-self.code}")
        elif self.code not in self.allowed:
            self.wrong.append(f"code {self.code}, expected one of {sorted(self.allowed)}")
        lines = [line for line in ended.err.splitlines() if line]
        ours = [line for line in lines if line.startswith("holdfast: ") and not line.startswith("holdfast: note: ")]
        notes = [line for line in lines if line.startswith("holdfast: note: ")]
        usual = [line for line in lines if re.fullmatch(r"\d+ of \d+ (runs|points).*|\d+/\d+ \S+: .*", line)]
        usual += [line for line in ours if re.match(  # the job's summary
            r"holdfast: (\d+ ranks? x \d+ replicas?, |output of the other replicas and what is known: )", line)]
        ours = [line for line in ours if line not in usual]
        quiet = self.code in (0, 1) or self.code > 128
        if len(ours) != 1 and not (quiet and not ours):
            self.wrong.append(f"{len(ours)} lines of holdfast's")
        if len(ours) + len(notes) + len(usual) != len(lines):
            self.wrong.append("other lines on standard error")
        if any(len(line) > 1000 for line in lines):
            self.wrong.append("a line of more than 1,000 letters")
        if self.wrong:
            self.wrong.append("said: " + ended.err[:600].strip())


def input_try(bench, one, folder):
    bad = {"missing": "no-such-file", "directory": "directory", "empty": "empty", "binary": "binary",
           "unreadable": "unreadable", "too long": "n" * 5000, "loop": "loop"}
    if one.kind in bad:
        one.judge(bench.run(bench.words(one.line, bad[one.kind]), folder, one.number))
        return
    # A pipe that nobody writes to: the command waits for its input when the signal comes.
    os.mkfifo(os.path.join(folder, "pipe"))
    os.chmod(os.path.join(folder, "pipe"), 0o666)
    process = bench.start(bench.words(one.line, "pipe"), folder, one.number)
    wait_until_asleep(process)
    number = signal.SIGINT if one.kind == "INT" else signal.SIGTERM
    if process.poll() is None:
        process.send_signal(number)
    one.judge(Ended(process), number)


def wait_until_asleep(process):
    """Until the process waits in an open or read of the pipe, or has ended."""
    deadline = time.monotonic() + LIMIT
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with open(f"/proc/{process.pid}/syscall", encoding="ascii") as file:
                if file.read().split()[0] in ("257", "2", "0", "56", "63"):  # openat, open, read; of AArch64 too
                    return
        except (OSError, IndexError):
            pass
        time.sleep(0.01)


def number_try(bench, one, folder):
    if one.kind != "twice":
        words = bench.words(one.line, NUMBER_TEXT[one.kind])
    elif one.command in DUPLICATES:
        good = DUPLICATES[one.command]
        name = re.split(r"[= ]", good)[0]
        words = [re.sub(re.escape(name) + r"[= ]\S*\{\}\S*", f"{good} {good}", word) for word in
                 bench.words(one.line, HERE)]
    else:
        line = bench.words(one.line, "1")
        at = next(i for i, word in enumerate(line) if word == one.command.split()[-1])
        words = line[:at] + line[at:at + 2] + line[at:]
    one.judge(bench.run(words, folder, one.number))


def work_try(bench, one, folder):
    process = bench.start(bench.words(one.line, None), folder, one.number)
    deadline = time.monotonic() + LIMIT
    ready = os.path.join(folder, "0")  # as the job says it
    while process.poll() is None and time.monotonic() < deadline and not os.path.exists(ready):
        if "JOB" not in one.line and seconds_used(process.pid) > 0.2:
            break
        time.sleep(0.02)
    number = signal.SIGINT if one.kind == "INT" else signal.SIGTERM
    if process.poll() is None:
        process.send_signal(number)
    one.judge(Ended(process), number)


def seconds_used(process):
    """Of computing, by the process and its children that have ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def latin(name):
    """As a file is called that was named in ISO 8859-1."""
    return name + "\udce9"


def latin_try(bench, one, folder):
    """Good input, of which every name has a byte that is no UTF-8."""
    inputs = os.listdir(folder)
    for name in inputs:
        os.symlink(name, os.path.join(folder, latin(name)))
    words = [latin(word) if word in inputs else word for word in bench.words(one.line, latin("file"))]
    one.judge(bench.run(words, folder, one.number))
    if one.table == "output" and not os.path.exists(os.path.join(folder, latin("file"))):
        one.wrong.append("it wrote no file of that name")


def output_try(bench, one, folder):
    if one.kind == LATIN:
        return latin_try(bench, one, folder)
    place = {"read-only": "kept/file", "no folder": "no-such-folder/file", "directory": "target",
             "disk full": "/dev/full"}[one.kind]
    os.mkdir(os.path.join(folder, "kept"))
    os.mkdir(os.path.join(folder, "target"))
    kept = os.path.join(folder, "kept/file")
    with open(kept, "w", encoding="ascii") as file:
        file.write(PRECIOUS)
    bench.give(folder)
    os.chmod(kept, 0o444)
    os.chmod(os.path.join(folder, "kept"), 0o555)
    before = os.stat("/dev/full")
    one.judge(bench.run(bench.words(one.line, place), folder, one.number))
    with open(kept, encoding="ascii") as file:
        if file.read() != PRECIOUS:
            one.wrong.append("the file that was there is another")
    if os.listdir(os.path.join(folder, "kept")) != ["file"]:
        one.wrong.append("something was left beside the file")
    if not stat.S_ISCHR(os.stat("/dev/full").st_mode) or os.stat("/dev/full").st_ino != before.st_ino:
        one.wrong.append("/dev/full is another")
    os.chmod(os.path.join(folder, "kept"), 0o755)


def answer_try(bench, one, folder):
    if one.kind == LATIN:
        return latin_try(bench, one, folder)
    words = bench.words(one.line, None)
    if one.kind == "disk full":
        with open("/dev/full", "wb") as full:
            one.judge(bench.run(words, folder, one.number, stdout=full))
        return
    reading, writing = os.pipe()
    os.close(reading)
    ended = bench.run(words, folder, one.number, stdout=writing)
    os.close(writing)
    one.judge(ended, signal.SIGPIPE)
    if "holdfast: " in ended.err and one.code != 5:
        one.wrong.append("a reader that has gone is no news: " + ended.err[:300])


def all_tries(words):
    tries = []
    def add(*of):
        if not words or any(word in of[1] for word in words):
            tries.append(Try(*of))
    for command, line in INPUTS:
        for kind in INPUT_KINDS:
            allowed = {"INT": {130}, "TERM": {143}}.get(kind, {2})
            if kind in ("INT", "TERM") and (command in DATABASES | FOLDERS or command == "run PROGRAM"):
                allowed = {2}  # what is no regular file is refused, and nothing waits
            if kind == "empty" and command in EMPTY_IS_FINE:
                allowed = {0}
            add("input", command, kind, line, allowed)
    for command, line in NUMBERS:
        for kind in NUMBER_KINDS:
            if kind == "twice" and command not in DUPLICATES and not command.split()[-1].startswith("-"):
                continue
            add("number", command, kind, line, {0, 1, 2} if kind == "2^32 - 1" else {2})
    for command, line in OUTPUTS:
        for kind in OUTPUT_KINDS:
            if kind in ("directory", "no folder") and command in MAKES_A_FOLDER:
                continue
            full = {2, 5} if kind == "directory" or command in MAKES_A_DATABASE else {5}
            add("output", command, kind, line, {0, 1} if kind == LATIN else full)
    for command, line in ANSWERS:
        for kind in ANSWER_KINDS:
            gone = {0, 1, 128 + signal.SIGPIPE}
            add("answer", command, kind, line, {"disk full": {5}, "reader gone": gone, LATIN: {0, 1}}[kind])
    for command, line in WORKS:
        for kind in SIGNAL_KINDS:
            add("work", command, kind, line, {130} if kind == "INT" else {143})
    for number, one in enumerate(tries, 1):
        one.number = number
    return tries


HANDLERS = {"input": input_try, "number": number_try, "output": output_try, "answer": answer_try,
            "work": work_try}


def attempt(bench, one):
    folder = bench.work()
    try:
        HANDLERS[one.table](bench, one, folder)
    except Exception as error:  # a defect of this test must not end the others
        one.wrong.append(f"{type(error).__name__}: {error}")
    finally:
        for path, folders, _ in os.walk(folder):
            for name in folders:
                os.chmod(os.path.join(path, name), 0o755, follow_symlinks=True)
        shutil.rmtree(folder, ignore_errors=True)


def left_processes():
    """Tries of which a process is still there: its number by their environment."""
    left = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                found = re.search(rb"(?:^|\0)" + MARK.encode() + rb"=(\d+)\0", file.read())
        except OSError:
            continue
        if found:
            left.setdefault(int(found[1]), []).append(entry)
    return left


def table(tries, name, kinds, doc):
    rows = {}
    for one in tries:
        if one.table == name:
            rows.setdefault(one.command, {})[one.kind] = one.code
    page = f"\n{doc}\n\n| command | {' | '.join(kinds)} |\n|{'---|' * (len(kinds) + 1)}\n"
    for command, codes in rows.items():
        cells = ["" if codes.get(kind) is None else str(codes[kind]) for kind in kinds]
        page += f"| `{command}` | {' | '.join(cells)} |\n"
    return page


def page_of(tries):
    page = f"""# What bad input does

Every command with every kind of bad input, {len(tries)} tries, as an ordinary user. The cells are exit codes
(exit-codes.md says what they mean). None is 7, nothing hangs, there is one line on standard error, and what existed
before is as it was. Generated by `tests/cli/bad_input_test.py --write`; the test `cli.EveryBadInput` holds the page to
what was run.
"""
    page += table(tries, "input", INPUT_KINDS, "## Files that are read\n\nUnreadable: mode 0. Too long: a name of 5,000 "
                  "letters. Loop: a symbolic link to itself. INT and\nTERM: the signal comes while the command waits for a "
                  "pipe that nobody writes to; what must be a regular file is refused\nbefore.")
    page += table(tries, "number", NUMBER_KINDS, "## Numbers\n\nWhere 2^32 - 1 is a good number, as of a seed, the command "
                  "ends as usual. Twice: the same option or key again.")
    page += table(tries, "output", OUTPUT_KINDS, "## Files that are written\n\nRead-only: a file of mode 0444 in a folder "
                  "of mode 0555. Disk full: /dev/full. No UTF-8: all is good, and the names\nof files have a byte "
                  "of ISO 8859-1.")
    page += table(tries, "answer", ANSWER_KINDS, "## Standard output\n\nReader gone: a pipe whose other end is closed, as "
                  "`| head -1` leaves it; 141 is 128 + SIGPIPE, as of other\nprograms, and nothing is said. No UTF-8: all is "
                  "good, and the names of files have a byte of\nISO 8859-1.")
    page += table(tries, "work", SIGNAL_KINDS, "## Signals at work\n\nINT is Ctrl-C. What a study has finished is kept: the "
                  "same command goes on from there.")
    return page


def main(words):
    write = words[words.index("--write") + 1] if "--write" in words else None
    words = [word for word in words if word not in ("--write", write)]
    bench = Bench()
    tries = all_tries(words)
    try:
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            list(pool.map(lambda one: attempt(bench, one), tries))
        for number, processes in left_processes().items():
            if 0 < number <= len(tries):
                tries[number - 1].wrong.append(f"processes left: {processes}")
    finally:
        shutil.rmtree(bench.folder, ignore_errors=True)
    bad = [one for one in tries if one.wrong]
    for one in bad:
        print(re.sub(r"(\S{70})\S{100,}", r"\1...", f"{one.what()}: {'; '.join(one.wrong)}"))
    print(f"{len(tries)} tries, {len(bad)} wrong, as {'nobody' if bench.user else 'the user'}")
    if words:
        return 1 if bad else 0
    page = page_of(tries)
    if write:
        with open(write, "w", encoding="utf-8") as file:
            file.write(page)
    elif not os.path.exists(PAGE) or open(PAGE, encoding="utf-8").read() != page:
        print(f"{PAGE} is not what was run: write it again with --write")
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
