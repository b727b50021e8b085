#!/usr/bin/env python3
"""Which protection costs what on which fabric: recorded programs on fabrics with failed links, with one, two and three
replicas of each rank, over InfiniBand's own connections and over the transport. Each program on each fabric is one
`holdfast predict`, whose database keeps what has ended: the same command goes on.

    bench/replicas_on_fabric.py --record build/release/bin/holdfast --folder /tmp/recordings
    bench/job_on_degraded_fabric.py build/release/bin/holdfast --folder /tmp/recordings --json FILE
    bench/job_on_degraded_fabric.py --json FILE
"""
import argparse
import json
import pathlib
import subprocess
import time

PROGRAMS = ("cg-16", "fft-16", "lammps-16")
FABRICS = {"torus": ("torus(4,4) hosts=64", "dfsssp"), "tree": ("tree(8,2)", "ftree"),
           "dragonfly": ("dragonfly(4,2,2,9)", "dfsssp")}
SHARES = (0, 1, 3, 5, 10)
DIES = "fail-link any time 5ms"  # while the job runs
SEEDS = 3


def predict(holdfast, trace, fabric, folder, replicas, seeds):
    shape, engine = FABRICS[fabric]
    fails = [f"fail-link share {share}%" for share in SHARES if share] + [DIES]
    words = [word for fail in fails for word in ("--fail", fail)]
    begun = time.monotonic()
    words += ["--replicas", replicas, "--senders", "plain,transport", "--placements", "random", "--seeds", str(seeds),
              "--workers", "1", "-q", "-d", folder / f"{trace.stem}-{fabric}.sqlite", "--json", "-"]
    done = subprocess.run([holdfast, "predict", trace, "--fabric", shape, "--engines", engine, *words],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    print(f"{trace.stem} on {fabric}: {time.monotonic() - begun:.0f} s", flush=True)
    kept = ("failures", "replicas", "sender", "failed", "asked", "measured", "outcomes", "time_s", "waiting_share",
            "interruption")
    return [{name: each[name] for name in kept if name in each} for each in json.loads(done.stdout)["scenarios"]]


def cell(record, failures, replicas, sender):
    for each in record:
        if (each["failures"], each["replicas"], each["sender"]) == (failures, replicas, sender):
            return each
    return None


def label(share):
    return "none" if share == 0 else f"fail-link share {share}%"


PROTECTIONS = [(replicas, sender) for replicas in (1, 2, 3) for sender in ("plain", "transport")]


def ended(each, text):
    """With how many runs ended, where not all did."""
    return text if each["measured"] == each["asked"] else f"{text} ({each['measured']} of {each['asked']})"


def ratio(record, failures, replicas, sender):
    """To the program without protection on the whole fabric: means over seeds."""
    bare, other = cell(record, "none", 1, "plain"), cell(record, failures, replicas, sender)
    if bare is None or other is None or other["measured"] == 0:
        return "-"
    return ended(other, f"{other['time_s']['mean'] / bare['time_s']['mean']:.3f}")


def lost_ms(record, failures, replicas, sender):
    """What a failure costs beside the same protection on the whole fabric, ms."""
    whole, struck = cell(record, "none", replicas, sender), cell(record, failures, replicas, sender)
    if whole is None or struck is None or struck["measured"] == 0:
        return "-"
    return ended(struck, f"{1e3 * (struck['time_s']['mean'] - whole['time_s']['mean']):.1f}")


def table(result, head, rows, value):
    """`rows`: (what the row is called, failures); an empty name: the bare job's time, ms."""
    heads = [f"{replicas}, {sender}" for replicas, sender in PROTECTIONS]
    print(f"| program | fabric | {head} | " + " | ".join(heads) + " |\n" + "|---" * (3 + len(heads)) + "|")
    for key, record in result.items():
        program, fabric = key.split(" ")
        for name, failures in rows:
            cells = [value(record, failures, *protection) for protection in PROTECTIONS]
            name = name or f"{1e3 * cell(record, 'none', 1, 'plain')['time_s']['mean']:.1f}"
            print(f"| {program} | {fabric} | {name} | {' | '.join(cells)} |")


def show(result):
    table(result, "failed links", [(f"{share} %", label(share)) for share in SHARES], ratio)
    print()
    table(result, "bare job, ms", [("", DIES)], lost_ms)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("holdfast", nargs="?")
    parser.add_argument("--folder", type=pathlib.Path, help="of recordings, and of the databases")
    parser.add_argument("--programs", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--fabrics", nargs="*", default=list(FABRICS), choices=list(FABRICS))
    parser.add_argument("--replicas", default="1,2,3")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--json", type=pathlib.Path, required=True)
    args = parser.parse_args()
    result = json.loads(args.json.read_text()) if args.json.exists() else {}
    if args.holdfast:
        for program in args.programs:
            for fabric in args.fabrics:
                trace = args.folder / f"{program}.trace"
                result[f"{program} {fabric}"] = predict(args.holdfast, trace, fabric, args.folder, args.replicas,
                                                        args.seeds)
                args.json.write_text(json.dumps(result, indent=1) + "\n")
    show(result)


if __name__ == "__main__":
    main()
