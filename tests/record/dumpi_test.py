"""Traces of DUMPI become recordings. Each program runs twice: recorded by Holdfast, and under dumpi_writer.c, which writes
the text that dumpi2ascii would. What both say must be equal: who sent how much to whom, and the calls that both see."""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

# What dumpi_writer.c writes; persistent requests and the rest of MPI it does not.
SEEN = {"MPI_Send", "MPI_Rsend", "MPI_Ssend", "MPI_Isend", "MPI_Irecv", "MPI_Recv", "MPI_Sendrecv", "MPI_Wait", "MPI_Waitall",
        "MPI_Waitany", "MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Scan", "MPI_Gather", "MPI_Scatter",
        "MPI_Allgather", "MPI_Alltoall", "MPI_Gatherv", "MPI_Scatterv", "MPI_Allgatherv", "MPI_Alltoallv",
        "MPI_Reduce_scatter", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_free", "MPI_Cart_create", "MPI_Cart_sub",
        "MPI_Init", "MPI_Finalize"}


def expect(condition, what, *detail):
    if not condition:
        sys.exit("\n".join([f"FAILED: {what}", *map(str, detail)]))


def run(words, folder, environment=None, expected=0):
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, errors="replace",
                          env={**os.environ, **(environment or {})}, check=False)
    expect(done.returncode == expected, f"{words} ended with {done.returncode}, not {expected}", done.stdout[-2000:],
           done.stderr[-2000:])
    return done.stdout, done.stderr


def totals(args, folder, trace):
    out, _ = run([args.holdfast, "trace", "show", trace, "--json", "-"], folder)
    return json.loads(out)


def volume(flows):
    return {flow["rank"]: (flow["messages"], flow["bytes"]) for flow in flows}


def same_program(args, name, ranks, program, folder):
    os.makedirs(f"{folder}/{name}/texts")
    here = f"{folder}/{name}"
    run([args.holdfast, "run", "--replicas", "1", "-n", ranks, "--record", "ours", "--", *program], here)
    launch = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
    if args.mpi == "mpich":
        launch = ["mpiexec.mpich"]
    tool = {"LD_PRELOAD": args.writer, "DUMPI_FOLDER": f"{here}/texts"}
    preload = ["env", *(f"{key}={value}" for key, value in tool.items())]
    run([*launch, "-n", ranks, *preload, *program], here)
    expect(len(glob.glob(f"{here}/texts/*.txt")) == ranks, "a text of each rank")
    _, err = run([args.holdfast, "trace", "convert", "texts", "theirs"], here)
    expect(err == "", "no note", err)
    run([args.holdfast, "trace", "check", "theirs"], here)
    ours, theirs = totals(args, here, "ours"), totals(args, here, "theirs")
    expect(theirs["ranks"] == ranks and theirs["mpi"] == "dumpi", "the job", theirs["ranks"], theirs["mpi"])
    compared = 0
    for rank, (own, other) in enumerate(zip(ours["by_rank"], theirs["by_rank"])):
        for name_of, function in own["functions"].items():
            if name_of not in SEEN or name_of == "MPI_Init":
                continue
            seen = other["functions"].get(name_of)
            expect(seen is not None and seen["calls"] == function["calls"], f"{name}: rank {rank}: calls of {name_of}",
                   function, seen)
            expect(seen["bytes"] == function["bytes"], f"{name}: rank {rank}: bytes of {name_of}", function, seen)
            compared += 1
        expect(set(own["functions"]) >= set(other["functions"]) - {"MPI_Init"}, f"{name}: rank {rank}: no other function",
               sorted(other["functions"]))
        for way in ("sent", "received"):
            expect(volume(own[way]) == volume(other[way]), f"{name}: rank {rank}: what it {way}", own[way], other[way])
    print(f"{name}: {compared} functions of {ranks} ranks are equal")
    out, _ = run([args.holdfast, "simulate", "--fabric", "mesh(2,2) hosts=4", "--trace", "theirs", "--json", "-"], here)
    expect(json.loads(out), "the replay says something")
    run([args.holdfast, "trace", "convert", "theirs", "job.goal"], here)
    expect("send" in open(f"{here}/job.goal", encoding="utf-8").read(), "a schedule with messages")


def bad_input(args, folder):
    """Each is one line, with the documented code, and nothing is written."""
    good = sorted(glob.glob(f"{folder}/*/texts/*.txt"))[0]
    text = open(good, encoding="utf-8").read()
    call = text.index(" entering at walltime ")
    cases = {
        "nothing": ({}, "holds no text"),
        "gap": ({"t-0000.txt": text, "t-0002.txt": text}, "the text of rank 1 is missing"),
        "twice": ({"t-0000.txt": text, "u-0.txt": text}, "both of rank 0"),
        "empty": ({"t-0000.txt": ""}, "no call of MPI"),
        "other": ({"t-0000.txt": "a letter\nto somebody\n"}, "no call of MPI"),
        "binary": ({"t-0000.txt": "\0\1\2" * 500}, ""),
        "moment": ({"t-0000.txt": text[:call] + text[call:].replace("walltime ", "walltime x", 1)}, "no number of seconds"),
        "cut": ({"t-0000.txt": text[: text.index(" returning at ") + 3]}, "the text ends within a call"),
        "mixed": ({"t-0000.txt": text.replace("MPI_Init returning", "MPI_Send returning", 1)}, "ends as one of MPI_Send"),
    }
    for name, (files, says) in cases.items():
        os.makedirs(f"{folder}/bad/{name}")
        for file, content in files.items():
            with open(f"{folder}/bad/{name}/{file}", "w", encoding="utf-8") as out:
                out.write(content)
        if not files:
            open(f"{folder}/bad/{name}/notes.md", "w", encoding="utf-8").close()
        _, err = run([args.holdfast, "trace", "convert", f"bad/{name}", f"bad/{name}.trace"], folder, expected=2)
        expect(err.count("\n") == 1 and says in err, f"{name}: one line that says so", err)
        expect(not os.path.exists(f"{folder}/bad/{name}.trace"), f"{name}: nothing is written")
    os.makedirs(f"{folder}/full")
    shutil.copy(good, f"{folder}/full/keep.txt")
    os.makedirs(f"{folder}/one")
    shutil.copy(good, f"{folder}/one/t-0.txt")
    _, err = run([args.holdfast, "trace", "convert", "one", "full"], folder, expected=2)
    expect("holds something already" in err, "a folder that holds something is left alone", err)
    print(f"{len(cases) + 1} bad inputs are one line each")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("holdfast", "mpi", "writer", "examples"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, ranks, arguments in (("cg", 4, ["--size", 12]), ("fft", 4, ["--size", 16]), ("sort", 3, ["--keys", 20000]),
                                       ("multigrid", 4, ["--size", 16, "--cycles", 3]), ("pipelined_cg", 2, [])):
            same_program(args, name, ranks, [f"{args.examples}/{name}", *arguments], folder)
        if args.mpi == "openmpi" and shutil.which("lmp"):
            with open(f"{folder}/in.melt", "w", encoding="utf-8") as script:
                script.write("units lj\natom_style atomic\nlattice fcc 0.8442\nregion box block 0 6 0 6 0 6\n"
                             "create_box 1 box\ncreate_atoms 1 box\nmass 1 1.0\nvelocity all create 3.0 87287\n"
                             "pair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0 2.5\nfix 1 all nve\nthermo 10\nrun 40\n")
            same_program(args, "lammps", 4, ["lmp", "-in", f"{folder}/in.melt", "-log", "none"], folder)
        bad_input(args, folder)


if __name__ == "__main__":
    main()
