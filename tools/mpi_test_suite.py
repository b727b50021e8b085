#!/usr/bin/env python3
"""Runs a built MPI test suite natively and under `holdfast run`, and says for each program whether the verdict is the same.

The suite is one of the form of MPICH's test/mpi: folders with `testlist` files, whose lines name a program, how many
processes it wants, and arg=, env= and other words, and programs that say "No Errors" and nothing else when all is well.
It is neither fetched nor built here (docs/results/mpi-conformance.md says how). A program is run in its own folder, first
natively, then replicated:

  same          it passes both times
  differs       it passes natively and not replicated: it failed, crashed, or ended with one of Holdfast's exit codes
  time-out      it passes natively, and was still going at the limit when replicated
  refused       replicated, it called a function that Holdfast does not protect (exit code 6)
  native fails  it does not pass natively, so that it says nothing about Holdfast
  not built     the program is not there

A line that differs from another only in MPIR_CVAR_* variables, which tune MPICH, is run once. The results are kept in
--json after every program, and what is there already is not run again unless --again names its verdict. Ends with 1 when
a program differs or timed out.
"""
import argparse
import collections
import ctypes
import difflib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

VERDICTS = ["same", "refused", "native fails", "not built", "time-out", "differs"]
REFUSED = 6
PR_SET_CHILD_SUBREAPER = 36
NATIVE = {"mpich": ["mpiexec.mpich"], "openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]}


@dataclass(frozen=True)
class Entry:
    """A line of a testlist: a program, told from another one by everything but what tunes MPICH."""
    folder: str
    program: str
    ranks: int
    arguments: tuple = ()
    environment: tuple = field(default=(), compare=False)
    result: str = field(default="", compare=False)

    def name(self):
        return " ".join([f"{self.folder}/{self.program}", str(self.ranks), *self.arguments])


def parse_line(line, folder):
    """The Entry of a testlist's line; a str for a folder that it names; None for one that names nothing."""
    words = line.split("#")[0].split()
    if not words or words[0].startswith("!"):
        return None
    if len(words) == 1:
        return words[0]
    options = [word.split("=", 1) for word in words[2:] if "=" in word]
    environment = tuple(value for key, value in options if key == "env")
    tuning = all(text.startswith("MPIR_CVAR_") for text in environment)
    single = dict(options)
    where, _, program = words[0].rpartition("/")
    return Entry(folder=f"{folder}/{where}" if where else folder, program=program,
                 ranks=int(words[1]) if words[1].isdigit() else 2,
                 arguments=tuple(value for key, value in options if key == "arg") + (() if tuning else environment),
                 environment=environment, result=single.get("resultTest", ""))


def read_list(suite, source, folder, lists):
    """The entries of a folder and of those below it that its lists name, in their order, without repetitions."""
    found = {}
    for name in lists:
        path = next((p for p in (suite / folder / name, source / folder / name) if p.is_file()), None)
        for line in path.read_text().splitlines() if path else []:
            entry = parse_line(line, folder)
            if isinstance(entry, Entry):
                found.setdefault(entry, entry)
            elif entry and (source / folder / entry).is_dir():
                for inner in read_list(suite, source, f"{folder}/{entry}", lists):
                    found.setdefault(inner, inner)
            elif entry:
                found.setdefault(Entry(folder, entry, 2), Entry(folder, entry, 2))
    return list(found.values())


def descendants(pid):
    """The processes that `pid` started and those that they started, whatever group or session they went to."""
    children = collections.defaultdict(list)
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children[int(fields[1])].append(int(stat.parent.name))
    found, queue = [], [pid]
    while queue:
        below = children[queue.pop()]
        found += below
        queue += below
    return found


def end_all():
    """Ends every process that came from this one. They are its children once their parents are gone."""
    for each in (signal.SIGTERM, signal.SIGKILL):
        until = time.monotonic() + 10
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, each)
            except ProcessLookupError:
                pass
        while time.monotonic() < until:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.05)
            except ChildProcessError:
                return


@dataclass
class Run:
    code: int = 0
    out: str = ""
    err: str = ""
    seconds: float = 0
    timed_out: bool = False


def run(line, folder, environment, limit):
    start = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True)
        done = Run()
        try:
            done.code = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            done.timed_out = True
            # `holdfast run` and MPI's launchers end their processes on a signal; what they leave is ended by end_all().
            process.terminate()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        end_all()
        done.seconds = round(time.monotonic() - start, 1)
        for file, name in ((out, "out"), (err, "err")):
            file.seek(0)
            setattr(done, name, file.read(200_000).decode(errors="replace"))
    return done


def passes(entry, done):
    """The suite's own rules for what a program must print, and how it must end."""
    lines = [line.strip() for line in done.out.splitlines() if line.strip() and "FORTRAN STOP" not in line]
    no_errors = any(line.lower() == "no errors" for line in lines)
    if done.timed_out:
        return False
    if entry.result in ("TestStatus", "TestErrFatal"):
        return done.code != 0 and not any(line.lower() == "no errors" for line in lines)
    if entry.result == "TestStatusNoErrors":
        return done.code != 0 and no_errors
    return done.code == 0 and no_errors and all(line.lower() in ("no errors", "test passed") for line in lines)


def verdict_of(entry, native, replicated):
    if not passes(entry, native):
        return "native fails"
    # A program that is to fail must fail by itself: code 1, not one of Holdfast's own.
    if passes(entry, replicated) and replicated.code in (0, 1):
        return "same"
    if replicated.timed_out:
        return "time-out"
    return "refused" if replicated.code == REFUSED else "differs"


def difference(native, replicated):
    """What the replicated program wrote to standard output that it did not natively, and the other way round."""
    before, after = sorted(native.out.splitlines()), sorted(replicated.out.splitlines())
    lines = [line for line in difflib.unified_diff(before, after, "native", "replicated", lineterm="", n=0)
             if not line.startswith("@@")]
    return lines[2:42]


class Suite:
    def __init__(self, args):
        self.args = args
        self.root = pathlib.Path(args.suite).resolve()
        self.source = pathlib.Path(args.source).resolve() if args.source else self.root
        self.results = {}
        if args.json and pathlib.Path(args.json).exists():
            self.results = json.loads(pathlib.Path(args.json).read_text())
        self.natives = json.loads(pathlib.Path(args.natives).read_text()) if args.natives else {}

    def keep(self):
        if not self.args.json:
            return
        whole = pathlib.Path(self.args.json)
        part = whole.with_name(whole.name + ".part")
        part.write_text(json.dumps(self.results, indent=1))
        part.replace(whole)

    def execute(self, entry, ranks, replicated):
        args = self.args
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        environment.update(text.split("=", 1) for text in entry.environment if "=" in text)
        program = ["./" + entry.program, *(word for word in entry.arguments if word not in entry.environment)]
        if replicated:
            line = [args.holdfast, "run", "--mpi", args.mpi, "-n", str(ranks), "--replicas", str(args.degree), "--quiet",
                    "--silence-limit", f"{args.limit * 3 / 4:.0f}s", *shlex.split(args.options), "--", *program]
        else:
            line = [*NATIVE[args.mpi], "-n", str(ranks), *program]
        return run(line, self.root / entry.folder, environment, args.limit if replicated else args.native_limit)

    def native(self, entry):
        """Natively with at most --most-ranks processes; with as many as the list says where that is too few for it."""
        known = self.natives.get(entry.name(), {})
        if "native" in known:
            return known["ranks"], Run(**known["native"])
        fewer = min(entry.ranks, self.args.most_ranks)
        done = self.execute(entry, fewer, False)
        if passes(entry, done) or fewer == entry.ranks:
            return fewer, done
        return entry.ranks, self.execute(entry, entry.ranks, False)

    def judge(self, entry):
        if not os.access(self.root / entry.folder / entry.program, os.X_OK):
            return {"verdict": "not built"}
        ranks, native = self.native(entry)
        result = {"ranks": ranks, "native": {"code": native.code, "seconds": native.seconds,
                                             "timed_out": native.timed_out, "out": native.out[-2000:],
                                             "err": native.err[-2000:]}}
        if not passes(entry, native):
            return {"verdict": "native fails", **result}
        replicated = self.execute(entry, ranks, True)
        return {"verdict": verdict_of(entry, native, replicated), **result, "code": replicated.code,
                "seconds": replicated.seconds, "difference": difference(native, replicated), "err": replicated.err[-4000:]}

    def wanted(self, entry):
        if self.args.only and not re.search(self.args.only, entry.name()):
            return False
        if self.args.skip and re.search(self.args.skip, entry.name()):
            return False
        known = self.results.get(entry.name())
        return known is None or known["verdict"] in self.args.again

    def report(self, name, result):
        seconds = f" {result['native']['seconds']} s, {result.get('seconds', '-')} s" if "native" in result else ""
        print(f"{result['verdict']:<14}{name}{seconds}", flush=True)
        for line in result.get("difference", []):
            print("    " + line)
        if result["verdict"] not in ("same", "native fails", "not built"):
            for line in result["err"].splitlines()[-12:]:
                print("    ! " + line)

    def table(self, folders):
        print(f"\n{'folder':<16}" + "".join(f"{verdict:>14}" for verdict in VERDICTS))
        bad = 0
        for folder in folders:
            count = collections.Counter(result["verdict"] for name, result in self.results.items()
                                        if name.split("/")[0] == folder)
            bad += count["differs"] + count["time-out"]
            print(f"{folder:<16}" + "".join(f"{count[verdict]:>14}" for verdict in VERDICTS))
        return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", help="folder of the built suite")
    parser.add_argument("folders", nargs="+", help="folders of it, as pt2pt coll")
    parser.add_argument("--holdfast", required=True, help="the program")
    parser.add_argument("--mpi", required=True, choices=sorted(NATIVE), help="the MPI that the suite was built with")
    parser.add_argument("--source", help="folder of its sources, where it was built in another")
    parser.add_argument("--lists", default="testlist", help="names of the lists, with ',' between them (default testlist)")
    parser.add_argument("--degree", type=int, default=2, help="replicas (default 2)")
    parser.add_argument("--options", default="", help="more options of `holdfast run`, in one word")
    parser.add_argument("--most-ranks", type=int, default=4, help="fewer ranks than the list says, where the program "
                        "passes natively with them (default 4)")
    parser.add_argument("--native-limit", type=float, default=60, help="seconds that a native run may take (default 60)")
    parser.add_argument("--limit", type=float, default=180, help="seconds that a replicated run may take (default 180)")
    parser.add_argument("--only", help="programs whose line, as 'pt2pt/sendrecv2 2', has a match of this expression")
    parser.add_argument("--skip", help="not those whose line has a match of this expression")
    parser.add_argument("--json", help="file that keeps the results")
    parser.add_argument("--natives", help="file of another --json, of the same MPI: its native runs are not made again")
    parser.add_argument("--again", type=lambda text: text.split(","), default=[], help="verdicts whose programs are run "
                        "although --json has a result, with ',' between them")
    args = parser.parse_args()
    for folder in args.folders:
        if not (pathlib.Path(args.suite) / folder).is_dir():
            parser.error(f"{args.suite} has no folder {folder}")

    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    suite = Suite(args)
    entries = [entry for folder in args.folders
               for entry in read_list(suite.root, suite.source, folder, args.lists.split(",")) if suite.wanted(entry)]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for number, entry in enumerate(entries, 1):
            if sys.stderr.isatty():
                print(f"\r\033[K{number} of {len(entries)}: {entry.name()}", end="\r", file=sys.stderr, flush=True)
            result = suite.judge(entry)
            suite.results[entry.name()] = result
            suite.keep()
            suite.report(entry.name(), result)
    except KeyboardInterrupt:
        end_all()
        print("interrupted: what was run before is kept", file=sys.stderr)
    sys.exit(1 if suite.table(args.folders) else 0)


if __name__ == "__main__":
    main()
