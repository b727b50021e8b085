#!/usr/bin/env python3
"""The injection experiment of RedMPI (section 6): bits flipped in messages of all processes at a low rate, at degree 3.

The paper flips one message in 5,000,000 and one in 2,500,000 of NAS CG on 64 ranks, which gave 0.6 and 2.5 injections a
run. A short run has fewer messages, so the rate is chosen for as many injections a run: --per-run; --rates takes rates
as they are, the paper's own among them. Each faulty run has a clean one beside it for the time. A row of the table is a
rate:

  injections        a run, and in how many runs there were none
  wrong copies      after them: all, and the most in one run; known of lost runs as well
  right             runs that ended with the output of a run without replication
  lost, and why     runs that ended with a diagnosis; a wrong output or another exit code ends the experiment. "two
                    replicas of one rank": the record says that both had been struck, which no vote survives; "one
                    replica of each rank": no rank had two that were

--only RATE:SEED replays one run.
"""
import argparse
import collections
import json
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile


class Ended:
    def __init__(self, done, record):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.seconds = record.get("seconds", 0)
        self.counters = record.get("counters", {})
        self.message = record.get("exit", {}).get("message", "")
        self.struck = [(d["rank"], d["replica"]) for d in record.get("processes_struck", [])]
        self.out_of_job = [(d["rank"], d["replica"], "diverged" if d["diverged"] else "died")
                           for d in record.get("deaths", [])]


def run(args, degree, extra):
    with tempfile.TemporaryDirectory(prefix="holdfast-injection-") as folder:
        record = pathlib.Path(folder) / "record.json"
        line = [args.holdfast, "run", "-n", str(args.ranks), "--replicas", str(degree), "--collectives",
                args.collectives, "--quiet", "--silence-limit", args.silence, "--json", str(record), *extra, "--",
                *args.program]
        done = subprocess.run(line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=args.limit, check=False)
        return Ended(done, json.loads(record.read_text()) if record.exists() else {})


def twice_struck(ended):
    """Ranks of which two replicas or more had been struck."""
    times = collections.Counter(rank for rank, _ in ended.struck)
    return sorted(rank for rank, number in times.items() if number > 1)


def reason(ended):
    """Why a run was lost, in few words."""
    if ended.code == 3:
        what = "no majority" if "no majority" in ended.message or "copies differ" in ended.message else "uncorrected"
        return f"{what}, {'two replicas of one rank' if twice_struck(ended) else 'one replica of each rank'}"
    if "diverged" in ended.message or "silent" in ended.message:
        return "diverged"
    return "a process ended" if ended.code == 4 else f"exit code {ended.code}"


def experiment(args, rate, seeds, wanted):
    runs, clean = [], []
    for seed in seeds:
        faulty = run(args, args.degree, ["--inject", f"rate {rate}", "--seed", str(seed)])
        if faulty.code not in (0, 3, 4) or (faulty.code == 0 and faulty.out != wanted):
            sys.exit(f"--only {rate}:{seed}: exit code {faulty.code}, output {'right' if faulty.out == wanted else 'WRONG'}"
                     f"\n{faulty.err}")
        runs.append(faulty)
        if not args.only:
            clean.append(run(args, args.degree, []).seconds)
        print(f"rate {rate} seed {seed}: code {faulty.code}, {faulty.counters.get('injected', '?')} injected, "
              f"{faulty.counters.get('mismatches', '?')} wrong copies, {faulty.seconds:.1f} s"
              + "".join(f", rank {r} replica {k} {how}" for r, k, how in faulty.out_of_job)
              + (", struck " + " ".join(f"{r}.{k}" for r, k in faulty.struck) if faulty.struck else "")
              + (f", {faulty.message}" if faulty.code else ""), file=sys.stderr, flush=True)
    return runs, clean


def row(rate, runs, clean):
    injected = [r.counters.get("injected", 0) for r in runs]
    wrong = [r.counters.get("mismatches", 0) for r in runs]
    lost = collections.Counter(reason(r) for r in runs if r.code != 0)
    out = collections.Counter(how for r in runs if r.code == 0 for _, _, how in r.out_of_job)
    ended = [r.seconds for r in runs if r.code == 0]
    times = f"{statistics.mean(ended):.2f} | {statistics.mean(clean):.2f}" if ended and clean else "- | -"
    why = ", ".join(f"{n} {what}" for what, n in sorted(lost.items())) or "-"
    without = ", ".join(f"{n} {what}" for what, n in sorted(out.items())) or "-"
    return (f"| {rate} | {len(runs)} | {statistics.mean(injected):.1f} ({injected.count(0)}) | {sum(wrong)} | {max(wrong)} "
            f"| {sum(r.code == 0 for r in runs)} | {without} | {sum(lost.values())} | {why} | {times} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--holdfast", required=True, help="the program")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--degree", type=int, default=3)
    parser.add_argument("--collectives", default="native", choices=["native", "p2p"])
    parser.add_argument("--runs", type=int, default=10, help="for each rate")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--per-run", type=lambda text: [float(n) for n in text.split(",")], default=[0.6, 2.5, 10],
                        help="expected injections a run (default 0.6,2.5,10)")
    parser.add_argument("--rates", type=lambda text: text.split(","), default=[], metavar="1/N,...",
                        help="flips a message, before those of --per-run")
    parser.add_argument("--only", help="RATE:SEED, one run again")
    parser.add_argument("--silence", default="30s")
    parser.add_argument("--limit", type=float, default=600, help="seconds a run may take")
    parser.add_argument("program", nargs="+", help="the program and its arguments, after --")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    args.holdfast, args.program[0] = (str(pathlib.Path(path).resolve()) for path in (args.holdfast, args.program[0]))
    wanted = run(args, 1, []).out
    if args.only:
        rate, seed = args.only.rsplit(":", 1)
        experiment(args, rate, [int(seed)], wanted)
        return
    counted = run(args, args.degree, [])
    if counted.code != 0:
        sys.exit(f"a run without faults ends with exit code {counted.code}:\n{counted.err}")
    messages = counted.counters["messages"] + counted.counters["collectives"]
    print(f"{args.ranks} ranks, {args.degree} replicas, {args.collectives} collectives: {messages} messages and results "
          f"in all processes, seeds {args.first} to {args.first + args.runs - 1}\n")
    print("| rate | runs | injections a run (runs without) | wrong copies | most in a run | right | replicas taken out "
          "| lost | why | seconds | without faults |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for rate in args.rates + [f"1/{max(1, round(messages / per_run))}" for per_run in args.per_run]:
        runs, clean = experiment(args, rate, range(args.first, args.first + args.runs), wanted)
        print(row(rate, runs, clean), flush=True)


if __name__ == "__main__":
    main()
