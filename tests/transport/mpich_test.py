#!/usr/bin/env python3
"""MPICH over the libfabric provider, on one host whose processes share no memory (MPIR_CVAR_NOLOCAL), and the same
MPICH as what it is: an MPI in a prefix of its own. The prefix is of an MPICH of --with-device=ch4:ofi, which Debian
does not have (tools/mpich_over_libfabric builds one).

Usage: mpich_test.py PREFIX HOLDFAST SOURCE_TREE CASE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

RAILS = "udp@lo,tcp@lo"


def expect(condition, what, detail=""):
    if not condition:
        sys.exit(f"{what}\n{detail}")


class Here:
    """Programs that the prefix's mpicc compiles, run by Holdfast with the prefix in PATH, as `module load` does."""

    def __init__(self, prefix, holdfast, source, folder):
        self.prefix, self.holdfast, self.source, self.folder = prefix, holdfast, source, folder
        self.environment = {**os.environ, "PATH": f"{prefix}/bin:{os.environ['PATH']}", "MPIR_CVAR_NOLOCAL": "1"}

    def compiled(self, path):
        program = self.folder / pathlib.Path(path).stem
        if not program.exists():
            command = [f"{self.prefix}/bin/mpicc", "-std=gnu11", "-O2", str(self.source / path), "-o", str(program),
                       "-lm"]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False)
            expect(done.returncode == 0, f"mpicc {path}", done.stdout)
        return str(program)

    def run(self, *words, code=0, **variables):
        done = subprocess.run([self.holdfast, *words], cwd=self.folder, env={**self.environment, **variables},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=250, check=False)
        expect(done.returncode == code, f"{words} ended with {done.returncode}, should with {code}",
               done.stdout + done.stderr)
        return done

    def over_rails(self, ranks, program, *arguments, replicas=1, **variables):
        """Its output, and the transport's counters."""
        record = self.folder / "record.json"
        done = self.run("run", "-n", str(ranks), "--replicas", str(replicas), "--rails", RAILS, "--json", str(record),
                        "--", self.compiled(program), *arguments, **variables)
        written = json.loads(record.read_text())
        expect(written.get("transport", {}).get("fragments_sent", 0) > 0, f"{program}: nothing went over the rails",
               written)
        return done.stdout, written


def verified(out, what):
    expect(re.search(r"\bverified\b", out), f"{what}: not verified", out)


def case_messages(here):
    for ranks in (2, 4):
        out, _ = here.over_rails(ranks, "tests/transport/exchange.c", "5", "20", "4194304")
        verified(out, f"exchange, {ranks} processes")


def case_one_sided(here):
    """Puts and gets are the provider's; what accumulates comes by MPICH's own messages, in their order."""
    out, _ = here.over_rails(3, "tests/transport/one_sided.c")
    verified(out, "one-sided")


def case_examples(here):
    for name, arguments in (("ring", []), ("sort", ["--keys", "200000"]), ("cg", []), ("fft", []), ("halo", [])):
        out, _ = here.over_rails(4, f"examples/{name}.c", *arguments)
        verified(out, name)


def case_lossy(here):
    out, written = here.over_rails(2, "tests/transport/exchange.c", "5", "20", "1048576",
                                   HOLDFAST_RAILS_FAULTS="drop any rate 1/50; flip any rate 1/30")
    verified(out, "with losses")
    counters = written["transport"]  # packets are sealed: one that was changed is a forged one
    changed = sum(counters[name] for name in ("corrupt_headers", "corrupt_fragments", "forged_packets"))
    expect(counters["fragments_retransmitted"] > 0 and changed > 0, "nothing was lost, or nothing changed", counters)


def case_rail_dies(here):
    out, written = here.over_rails(2, "tests/transport/exchange.c", "10", "200", "1048576",
                                   HOLDFAST_RAILS_FAULTS="kill-rail rail 0 message 100")
    verified(out, "after a rail's death")
    expect(written["transport"]["rails_lost"] > 0, "no rail was lost", written["transport"])


def case_replicated(here):
    """Replicas over the rails, one of whose messages is wrong; and without them, by what MPICH has itself."""
    flip = ("--inject", "flip rank 0 replica 1 message 2 bit 7")
    program = here.compiled("examples/ring.c")
    for more in ((), ("--rails", RAILS)):
        done = here.run("run", "-n", "2", "--replicas", "3", *flip, *more, "--", program)
        verified(done.stdout, "three replicas")
        expect(re.search(r"[1-9] corrected", done.stderr), "the flip was not corrected", done.stderr)
    here.run("run", "-n", "2", "--replicas", "2", *flip, "--", program, code=3)


def case_prefix(here):
    """Which library serves the program, by which launcher, and what doctor says of both."""
    program = here.compiled("examples/ring.c")
    planned = here.run("run", "-n", "2", "--replicas", "2", "--dry-run", "--", program).stdout
    expect(f"{here.prefix}/bin/mpiexec" in planned and "libholdfast-replicate-mpich.so" in planned, "the launcher",
           planned)
    elsewhere = {**here.environment, "PATH": os.environ["PATH"]}
    done = subprocess.run([here.holdfast, "run", "-n", "2", "--replicas", "2", "--dry-run", "--", program],
                          env=elsewhere, stdout=subprocess.PIPE, text=True, check=False)
    expect(f"{here.prefix}/bin/mpiexec" in done.stdout, "the launcher, its prefix not in PATH", done.stdout)
    said = here.run("doctor").stdout
    expect(re.search(rf"{re.escape(here.prefix)}\S*.*", said), "doctor does not name the prefix", said)


def case_refused(here):
    """Debian's MPICH has no libfabric."""
    compiler = "/usr/bin/mpicc.mpich"
    if not os.path.exists(compiler):
        print("skipped: there is no mpicc.mpich")
        sys.exit(77)
    program = here.folder / "debians"
    subprocess.run([compiler, "-w", str(here.source / "examples/ring.c"), "-o", str(program), "-lm"], check=True)
    done = here.run("run", "-n", "2", "--transport", "--", str(program), code=2)
    expect("does not use libfabric" in done.stderr and len(done.stderr.splitlines()) == 1, "one line that says so",
           done.stderr)


def main():
    prefix, holdfast, source, case = sys.argv[1:5]
    with tempfile.TemporaryDirectory(prefix="holdfast-mpich-") as folder:
        here = Here(prefix.rstrip("/"), os.path.abspath(holdfast), pathlib.Path(source), pathlib.Path(folder))
        globals()[f"case_{case}"](here)
    print(f"{case}: as it should be")


if __name__ == "__main__":
    main()
