#!/usr/bin/env python3
"""Kills processes of a replicated job and looks at what is left of it: the output, the files, the record, the exit code.

What a job prints is known from a native run, which loses nobody. Under MPICH a killed process ends the job, and then
the exit code and the record must say who died.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CRASH, KILL = 11, 9


def expect(condition, what, detail=""):
    if not condition:
        sys.exit(f"FAILED: {what}\n{detail}")


class Case:
    """One replicated run in a folder of its own."""

    def __init__(self, args, ranks, degree, options, program, environment=None, silence="60s"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-survivors-"))
        record = self.folder / "result.json"
        line = [args.holdfast, "run", "-n", str(ranks), "--replicas", str(degree), "--silence-limit", silence, "--json",
                str(record), "--output", str(self.folder / "run"), *options, "--", args.program, *program]
        done = subprocess.run(line, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=150, check=False, env={**os.environ, **(environment or {})})
        self.line, self.code, self.out, self.err = " ".join(line), done.returncode, done.stdout, done.stderr
        self.record = json.loads(record.read_text()) if record.exists() else {}
        self.deaths = [(d["rank"], d["replica"], d["degree_left"]) for d in self.record.get("deaths", [])]

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def expect(self, condition, what):
        expect(condition, what, f"{self.line}\ncode {self.code}\nstdout:\n{self.out}\nstderr:\n{self.err}")


def native(args, ranks):
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    start = ["mpirun.openmpi", "--oversubscribe", *root] if args.mpi == "openmpi" else ["mpiexec.mpich"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*start, "-n", str(ranks), args.program], cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=100, check=False)
    expect(done.returncode == 0, "the native run failed", done.stderr)
    return done.stdout


def goes_on(args, wanted, degree, deaths, program, options=(), unverified=False, hosts=(), environment=None,
            wish=("--on-failure", "continue")):
    case = Case(args, 2, degree, [*wish, *hosts, *options], program, environment)
    case.expect(case.code == 0, "the job did not go on")
    case.expect(case.out == wanted, "the output is not that of a run without a death")
    case.expect(case.deaths == deaths, f"the record has the deaths {case.deaths}, not {deaths}")
    for rank, replica, _ in deaths:
        case.expect(f"rank {rank} replica {replica} died" in case.err, "the death is not reported")
    case.expect((case.record["counters"]["unverified"] > 0) == unverified, "what nobody confirmed is miscounted")
    case.expect(bool(options) == (case.record["counters"]["corrections"] > 0), "flips and corrections disagree")
    if "--file" in program:
        lines = [line for line in wanted.splitlines() if line.startswith("step")]
        left = (case.folder / "left.txt").read_text().splitlines()
        case.expect(left == lines, f"the file has {len(left)} lines, not {len(lines)}, or others")
    case.close()


# Stands for ssh: HOST COMMAND..., which is this host under another name.
AGENT = """#!/bin/sh
host=$1
shift
exec unshare --uts sh -c 'hostname "$0" && exec sh -c "$1"' "$host" "$*"
"""


def goes_on_over_hosts(args, wanted):
    """Three hosts in namespaces of their own, whose processes speak TCP to each other: replicas die on the first one, and
    on another."""
    if subprocess.run(["unshare", "--uts", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print("several hosts: skipped: no namespaces for host names here")
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-survivors-") as folder:
        agent, hosts = pathlib.Path(folder, "agent"), pathlib.Path(folder, "hosts")
        agent.write_text(AGENT)
        agent.chmod(0o755)
        hosts.write_text("hosta slots=2\nhostb slots=2\nhostc slots=2\n")
        environment = {"OMPI_MCA_plm_rsh_agent": str(agent), "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
                       "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo",
                       # PRRTE of Open MPI 5
                       "PRTE_MCA_plm_ssh_agent": str(agent), "PRTE_MCA_plm_ssh_no_tree_spawn": "1"}
        for dies, death in (("0", (0, 0, 2)), ("5", (1, 2, 2))):
            goes_on(args, wanted, 3, [death], ["--dies", dies, "--file", "left.txt"], hosts=["--hostfile", str(hosts)],
                    environment=environment)


def shows_last_words(args, wanted):
    """What a replica printed that led, and was taken out, has been shown. Where it is wrong, the job says so, and shows
    what the others printed as well."""
    odd = "step -1 sum 99"
    program = ["--dies", "0", "--by", str(CRASH), "--last-words"]
    lines = wanted.splitlines()
    case = Case(args, 2, 3, [], [*program, "out"])
    shown = case.out.splitlines()
    case.expect(case.code == 3, "the exit code is not 3")
    case.expect(odd in shown and shown.index(odd) <= 10, "the wrong line was not shown, or has no end")
    at = shown.index(odd)
    case.expect(shown[:at] == lines[:at] and shown[at + 1:] == lines[at:], "what follows is not the others' from there on")
    case.expect("the end of rank 0's stdout above is what replica 0 wrote, which was taken out" in case.err, "no note")
    whole = f"what was shown is wrong, theirs is in {case.folder}/run/rank-0.replica-1.out"
    case.expect(f'replica 0, which was taken out, wrote "{odd}", replica 1 "{lines[at]}": {whole}' in case.err, "no end")
    case.expect((case.folder / "run/rank-0.replica-1.out").read_text() == wanted, "the file is not whole")
    case.expect(case.record["streams"]["differences"][0]["taken_out"], "the record has no difference")
    case.close()
    case = Case(args, 2, 3, [], [*program, "err"])
    case.expect(case.code == 0 and case.out == wanted, "a word on standard error makes the output wrong")
    case.expect(f'replica 0, which was taken out, wrote "{odd}", replica 1 nothing more\n' in case.err, "nothing is told")
    case.close()
    case = Case(args, 2, 3, ["--replicate.files-may-differ", "rank-0.stdout"], [*program, "out"])
    case.expect(case.code == 0 and "above is what" not in case.err, "what may differ is told")
    case.close()


def ends(args, degree, options, program, code, words, deaths=None, counted=()):
    """`counted`: what the processes had counted when they were ended stands in the record."""
    case = Case(args, 2, degree, options, program)
    case.expect(case.code == code, f"the exit code is not {code}")
    for name in counted:
        case.expect(case.record["counters"].get(name, 0) > 0, f"the record has no {name}: {case.record['counters']}")
    case.expect(words in case.err, f"nothing says '{words}'")
    if deaths is not None:
        case.expect([d[:2] for d in case.deaths] == deaths, f"the record has the deaths {case.deaths}")
    case.close()


def all_crash(args):
    """All replicas of a rank crash: the application failed by itself, unless the launcher had ended the second before it
    came to it, which it does at once when it sees the first."""
    case = Case(args, 2, 2, [], ["--all-of", "1", "--by", str(CRASH)])
    words = {1: "the application failed", 4: "was ended by signal 11"}.get(case.code)
    case.expect(words is not None, "the exit code is neither 1 nor 4")
    case.expect(words in case.err, f"nothing says '{words}'")
    case.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], required=True)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    # Native rank n plays rank n % 2 in replica n / 2.
    # The launcher ends all others at once; the first connection that ended is that of the one that died.
    abort = ["--on-failure", "abort"]
    ends(args, 3, abort, ["--dies", "3", "--by", str(KILL)], 4, "rank 1 replica 1 died", [(1, 1)],
         counted=["messages", "collectives"])
    ends(args, 3, abort, ["--dies", "3", "--by", str(CRASH)], 4, "rank 1 replica 1 was ended by signal 11")
    all_crash(args)
    if args.mpi == "mpich":
        ends(args, 3, [], ["--dies", "3", "--by", str(KILL)], 4, "if a process dies, the job ends (MPICH")
        ends(args, 3, ["--on-failure", "continue"], [], 2, "MPICH ends a job in which a process is killed")
        return
    wanted = native(args, 2)
    goes_on(args, wanted, 3, [(1, 1, 2)], ["--dies", "3"], wish=())  # with three replicas without being asked
    ends(args, 2, [], ["--dies", "3"], 4, "--on-failure continue lets it", [(1, 1)])
    goes_on(args, wanted, 3, [(0, 0, 2)], ["--dies", "0", "--file", "left.txt"])
    goes_on(args, wanted, 3, [(1, 2, 2)], ["--dies", "5", "--by", str(CRASH), "--hold-file"])
    goes_on(args, wanted, 3, [(1, 0, 2), (0, 1, 1)], ["--dies", "1", "--then", "2", "--file", "left.txt"],
            unverified=True)
    goes_on(args, wanted, 2, [(0, 0, 1)], ["--dies", "0"], unverified=True)
    shows_last_words(args, wanted)
    goes_on_over_hosts(args, wanted)
    goes_on(args, wanted, 3, [(1, 1, 2)], ["--dies", "3", "--at", "30"],
            ["--inject", "rank 1 replica 2 message 12 bit 62"])
    ends(args, 2, ["--on-failure", "continue"], ["--all-of", "1", "--by", str(CRASH)], 1, "the application failed")
    ends(args, 3, ["--on-failure", "continue"], ["--dies", "3", "--at", "-1"], 4, "before MPI_Init was over", [(1, 1)])
    ends(args, 3, ["--on-failure", "continue"], ["--dies", "0", "--hold-file"], 4, "open through MPI-IO", [(0, 0)])
    # With two replicas left a flip is found, and the job says that it cannot tell which is right.
    ends(args, 3, ["--on-failure", "continue", "--inject", "rank 1 replica 2 message 90 bit 62"], ["--dies", "0"], 3,
         "the two replicas' copies differ", counted=["messages", "injected"])


if __name__ == "__main__":
    main()
