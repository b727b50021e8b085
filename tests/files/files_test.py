#!/usr/bin/env python3
"""Runs a program that writes files natively and under `holdfast run`, and holds the files to each other.

Usage: files_test.py --holdfast PROGRAM --launcher MPIRUN CASE PROGRAM
"""
import argparse
import contextlib
import difflib
import json
import os
import pathlib
import random
import re
import signal
import stat
import subprocess
import sys
import tempfile
import threading

LAMMPS_INPUT = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
dump 1 all custom 10 dump.lammps id x y z
dump_modify 1 sort id
thermo 10
run 20
write_restart restart.lammps
write_data data.lammps
"""


def run(words, folder, limit=400):
    """Its exit code, standard output and standard error; nothing of it is left running."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             start_new_session=True, cwd=folder, env=environment)
    try:
        out, err = child.communicate(timeout=limit)
        return child.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        sys.exit(f"FAILED: still running after {limit} s: {' '.join(words)}")


def expect(condition, what, detail=""):
    if not condition:
        sys.exit(f"FAILED: {what}\n{detail}")


def tree(folder):
    """Every path below a folder: the bytes of files, the text of links, None for directories."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = os.readlink(path) if path.is_symlink() else None if path.is_dir() else path.read_bytes()
    return found


def differing(one, other):
    names = sorted(set(one) | set(other))
    return [name for name in names if one.get(name, "nothing") != other.get(name, "nothing")]


def prepared(root, name):
    """A work folder with what a run before this one left there."""
    folder = root / name
    folder.mkdir()
    (folder / "before.log").write_text("from an earlier run\n")
    (folder / "restart.dat").write_bytes(bytes(range(200)))
    (folder / "checkpoint").write_text("of an earlier run\n")
    (folder / "long.dat").write_bytes(b"x" * 1000)
    return folder


def natively(args, program, folder):
    line = [args.launcher] + (["--oversubscribe"] if "openmpi" in args.launcher else [])
    code, out, err = run([*line, "-n", "2", *program], folder)
    expect(code == 0, f"the native run ended with {code}", err)
    return out, tree(folder)


def replicated(args, degree, program, folder, root, options=(), wanted=0):
    record = root / "record.json"
    code, out, err = run([args.holdfast, "run", "-n", "2", "--replicas", str(degree), "--json", str(record), *options,
                          "--", *program], folder)
    expect(code == wanted, f"{program} at degree {degree} ended with {code}, not {wanted}", err + out)
    return out, err, json.loads(record.read_text())


def same(args, root):
    out, files = natively(args, [args.program], prepared(root, "native"))
    for degree in (2, 3):
        folder = prepared(root, f"degree-{degree}")
        got, err, record = replicated(args, degree, [args.program], folder, root)
        expect(got == out, "the output is another one", f"{out}\n{got}")
        expect(not differing(files, tree(folder)), "files differ from the native run's", differing(files, tree(folder)))
        expect(record["files"]["paths"] >= 5 and record["files"]["differences"] == [], "compared", record["files"])
        expect("compared, 0 different" in err, "the summary says so", err)
        expect(record["counters"]["written"] >= 2 * degree, "compared while it ran", record["counters"])


WAYS = ["stream", "newstream", "descriptor", "mpi", "child", "unlink", "deletion", "rmchild", "rename", "mvchild"]


def pairs(args, root):
    """Every way to use a file after every other, on files from before the job and on new ones (pairs.c)."""
    def folder_of(name):
        folder = root / name
        folder.mkdir()
        for first in WAYS:
            for second in WAYS:
                (folder / f"old-{first}-{second}").write_text("from before\n")
        return folder

    out, files = natively(args, [args.program], folder_of("native"))
    for degree in (2, 3):
        folder = folder_of(f"degree-{degree}")
        got, err, record = replicated(args, degree, [args.program], folder, root)
        expect(got == out, f"at degree {degree} the program found other files",
               "\n".join(difflib.unified_diff(out.splitlines(), got.splitlines(), "native", "replicated", "", "", 0, "")))
        expect(not differing(files, tree(folder)), f"files differ from the native run's at degree {degree}",
               differing(files, tree(folder)))
        expect(record["files"]["differences"] == [], "the replicas differ", record["files"])


def pipes(args, root):
    """Ranks that talk by pipes with names: each replica's ranks have pipes of their own (pipes.c)."""
    def folder_of(name):
        folder = root / name
        folder.mkdir()
        os.mkfifo(folder / "before")
        return folder

    line = [args.launcher] + (["--oversubscribe"] if "openmpi" in args.launcher else [])
    code, out, err = run([*line, "-n", "2", args.program], folder_of("native"))
    expect(code == 0, f"the native run ended with {code}", err)
    expect("folder/second: pipe, 499500" in out, "the native run", out)
    for degree in (2, 3):
        folder = folder_of(f"degree-{degree}")
        got, err, record = replicated(args, degree, [args.program], folder, root)
        expect(got == out, f"at degree {degree} other things came through", f"{out}\n{got}")
        expect(sorted(os.listdir(folder)) == ["new"], "what is left", os.listdir(folder))
        expect(stat.S_ISFIFO((folder / "new").stat().st_mode), "a pipe")
        expect(record["files"]["differences"] == [], "the replicas differ", record["files"])


def trees(args, root):
    """Trees of directories from before the job and of its own, by descriptors, with extended attributes (trees.c)."""
    def folder_of(name):
        folder = root / name
        for inner in ("old/a/b", "old/c", "around/inner", "beside/inner", "apart/a", "apart-kept", "apart-child/a"):
            (folder / inner).mkdir(parents=True)
        for i in range(40):
            for place in ("apart/a", "apart-kept", "apart-child/a"):
                (folder / place / f"k{i * 7 % 101}").write_text(f"{i}\n")
            (folder / "old/a/b" / f"k{i * 7 % 101}").write_text(f"{i}\n")
            (folder / "old" / f"m{i}").write_text(f"{i}\n")
        for inner in ("around", "beside"):
            (folder / inner / "inner/only").write_text("x")
        (folder / "attributed").write_text("of an earlier run\n")
        with contextlib.suppress(OSError):  # not every file system has them
            os.setxattr(folder / "attributed", "user.mine", b"stays")
        return folder

    def sorted_words(text):
        return [" ".join(sorted(line.split())) for line in text.splitlines()]

    native = folder_of("native")
    out, files = natively(args, [args.program], native)
    expect("k28" in out and out.count("f37") == 5 and "removed from inside: yes" in out, "the native run", out)
    for degree in (2, 3):
        folder = folder_of(f"degree-{degree}")
        got, _, record = replicated(args, degree, [args.program], folder, root)
        expect(sorted_words(got) == sorted_words(out), f"at degree {degree} the program found other files",
               f"{out}\n{got}")
        got_files = tree(folder)
        expect(got_files["listed"] == b"".join(sorted(files["listed"].splitlines(True))), "in order", got_files["listed"])
        expect(not differing(files, {**got_files, "listed": files["listed"]}), f"files differ from the native run's at degree {degree}",
               differing(files, tree(folder)))
        expect(record["files"]["differences"] == [], "the replicas differ", record["files"])
        expect(os.listxattr(folder / "attributed") == os.listxattr(native / "attributed"), "the attributes of a file",
               os.listxattr(folder / "attributed"))


@contextlib.contextmanager
def meanwhile(work, *arguments):
    """Does something beside what follows, until that is done: work(*arguments, stop)."""
    stop = threading.Event()
    other = threading.Thread(target=work, args=(*arguments, stop))
    other.start()
    try:
        yield
    finally:
        stop.set()
        other.join()


def keep_changing(folder, in_place, stop):
    """Puts one number after the other in the place of `control`, and takes some away, or overwrites it; -1 in the end.
    """
    wanted = folder / "control"
    chance = random.Random(len(str(folder)))
    while not (folder / "ready").exists():
        if stop.wait(0.01):
            return
    for number in [*range(1, 200), -1]:
        (wanted if in_place else folder / "next").write_text(f"{number}\n")
        if not in_place:
            os.rename(folder / "next", wanted)
        (folder / "changed").touch()
        if stop.wait(chance.choice((0, 0.001, 0.004, 0.01))):
            return
        if number % 5 == 0 and not in_place:
            wanted.unlink()


def keep_answering(folder, stop):
    """Answers each number in `question` by another one in `answer`, which is put in place when it is whole; every fifth
    by a directory as well."""
    answered = 0
    busy = folder / "busy"
    locks = [lambda: busy.touch(exist_ok=False), busy.mkdir, lambda: busy.symlink_to("the other")]
    while answered != -1 and not stop.wait(0.001):
        text = (folder / "question").read_text() if (folder / "question").exists() else ""
        if not text.endswith("\n") or int(text) == answered:
            continue
        kind = int(text) % 3
        try:
            locks[kind]()
        except FileExistsError:
            continue
        answered = int(text)
        (folder / "question").unlink()
        if answered % 5 == 0:
            (folder / "draft").mkdir()
            (folder / "draft/number").write_text(f"{answered}\n")
            (folder / "draft/link").symlink_to("nowhere")
            os.rename(folder / "draft", folder / "parcel")
        (folder / "next").write_text(f"{answered * answered + 7}\n")
        os.rename(folder / "next", folder / "answer")
        stop.wait(0.003)
        (busy.rmdir if kind == 1 else busy.unlink)()


def answers():
    return sum(n * n + 7 + (0 if n % 5 else 100 * n + len("nowhere")) for n in range(1, 31))


def outside(args, root):
    """A file that somebody outside the job changes while it reads it again and again (outside.c)."""
    for degree in (2, 3):
        for how in ("open", "stream", "place"):
            folder = root / f"{how}-{degree}"
            folder.mkdir()
            (folder / "control").write_text("0\n")
            with meanwhile(keep_changing, folder, how == "place"):
                out, err, record = replicated(args, degree, [args.program, how], folder, root)
            expect(int(re.match(r"changes (\d+), sum", out)[1]) > 5, "nothing was seen to change", out + err)
            expect(record["files"]["differences"] == [], "the replicas differ", record["files"])

        for how, place, earlier in (("talk", ".", True), ("talk", ".", False), ("box", "box", True)):
            folder = root / f"{how}-{degree}{'-again' if earlier else ''}"
            folder.mkdir()
            if earlier:
                (folder / "answer").write_text("of an earlier run\n")
            with meanwhile(keep_answering, folder / place):
                out, err, record = replicated(args, degree, [args.program, how], folder, root)
            expect(out == f"sum {answers()}, last 8\n", "the answers", out + err)
            expect(record["files"]["differences"] == [], "the replicas differ", record["files"])
            expect((folder / place / "answer").read_text() == "8\n", "the last answer", "")
            expect(not (folder / place / "question").exists(), "a question that was taken away came back", err)

        folder = root / f"lock-{degree}"
        folder.mkdir()
        (folder / "control").write_text("0\n")
        out, err, record = replicated(args, degree, [args.program, "lock"], folder, root)
        expect(out == "counted 40\n", "the ranks did not take turns", out + err)
        expect((folder / "counter").read_text() == "40\n", "the counter", (folder / "counter").read_text())
        expect(record["files"]["differences"] == [], "the replicas differ", record["files"])


def shared(args, root):
    """What ranks share by names, keys and numbers (shared.c). Nothing of it is left."""
    name, key = f"/holdfast-test-{os.getpid()}", str(0x10000000 + os.getpid())
    outside = pathlib.Path(f"/dev/shm{name}-outside")
    outside.write_text("outside")
    left = {"/dev/shm": os.listdir("/dev/shm"), "segments": segments()}
    try:
        program = [args.program, name, key]
        line = [args.launcher] + (["--oversubscribe"] if "openmpi" in args.launcher else [])
        code, out, err = run([*line, "-n", "2", *program], root)
        expect(code == 0 and "by number: 19980000" in out, f"the native run ended with {code}", out + err)
        for degree in (2, 3):
            got, err, record = replicated(args, degree, program, root, root)
            expect(got == out, f"at degree {degree} other things were shared", f"{out}\n{got}")
            expect(record["counters"]["mismatches"] == 0, "alike in all replicas", record["counters"])
            ours = [each for each in set(os.listdir("/dev/shm")) - set(left["/dev/shm"])
                    if each.startswith((f"holdfast-{os.getuid()}-", f"sem.holdfast-{os.getuid()}-", name[1:]))]
            expect(not ours, "left in /dev/shm", ours)
            expect(not segments() - left["segments"], "left of System V", segments() - left["segments"])
    finally:
        outside.unlink()


def segments():
    """Memory of the program's size, its semaphores, and all message queues."""
    found = set()
    for kind, size in (("shm", "8000"), ("sem", "2"), ("msg", None)):
        with open(f"/proc/sysvipc/{kind}", encoding="ascii") as file:
            found |= {f"{kind} {line.split()[1]}" for line in list(file)[1:] if size in (None, line.split()[3])}
    return found


def metadata(args, root):
    """What replicas are told of files and directories is the same in all of them; the program compares it itself, by
    collectives, and writes it to a file."""
    for degree in (2, 3):
        folder = root / f"degree-{degree}"
        folder.mkdir()
        (folder / "before").write_text("from before\n")
        (folder / "was there" / "inner" / "innermost").mkdir(parents=True)
        (folder / "was there" / "passed over").mkdir()
        for name in ("file", "inner/file", "inner/innermost/another", "passed over/file"):
            (folder / "was there" / name).write_text(name)
        for name, target in (("to a folder", "inner"), ("to nothing", "nothing"), ("inner/back", "..")):
            (folder / "was there" / name).symlink_to(target)
        got, _, record = replicated(args, degree, [args.program], folder, root)
        expect("everything was looked at" in got, "the program's own verdict", got)
        expect((folder / "seen").stat().st_size > 1000, "it wrote what it saw", tree(folder).keys())
        expect(record["files"]["differences"] == [] and record["counters"]["mismatches"] == 0, "no difference", record)


def runs(args, root):
    """Libraries, scripts and programs that the job writes: each replica runs the version that it wrote. The program
    compares what they say."""
    native = root / "native"
    native.mkdir()
    command = [args.program, args.libraries]
    code, out, err = run([args.launcher, *(["--oversubscribe"] if "openmpi" in args.launcher else []), "-n", "2", *command],
                         native)
    expect(code == 0 and "everything was run" in out, "natively", out + err)
    for degree in (2, 3):
        folder = root / f"degree-{degree}"
        folder.mkdir()
        got, _, record = replicated(args, degree, command, folder, root)
        expect("everything was run" in got, "the program's own verdict", got)
        expect(record["files"]["differences"] == [] and record["counters"]["mismatches"] == 0, "no difference", record)
        expect(tree(folder) == tree(native), "the same files", tree(folder).keys())


def detected(args, root):
    """While the job runs, from what was written; at its end, from what is in the files, where nobody saw it written."""
    folder = prepared(root, "work")
    _, err, record = replicated(args, 2, [args.program, "--bad", "1"], folder, root, wanted=3)
    expect("rank 0 have written different bytes to" in err and "stream.txt, past the first 0" in err, "said so", err)
    expect(record["files"]["paths"] == 0, "before the end of the job", record["files"])
    left = list(folder.glob("holdfast-run-*/holdfast-files/replica-1/shadow/**/stream.txt"))
    expect(len(left) == 1, "the other replica's file is left for a look", list(folder.rglob("*")))

    folder = prepared(root, "mapped")
    _, err, record = replicated(args, 2, [args.program, "--bad", "1", "--map"], folder, root, wanted=3)
    differences = record["files"]["differences"]
    expect(len(differences) == 1, "one file differs", differences)
    expect(differences[0]["path"].endswith("/stream.txt"), "which", differences)
    expect(differences[0]["first_difference"] == 1234, "where", differences)
    expect(differences[0]["corrected"] is False, "nobody can tell which is right", differences)
    expect("stream.txt in different states, from byte 1234 on" in err, "said so", err)


def reported(args, root):
    """A difference that is only to be reported is so at once, and again at the end."""
    options = ["--on-corruption", "report"]
    _, err, _ = replicated(args, 2, [args.program, "--bad", "1"], prepared(root, "work"), root, options)
    expect("have written different bytes to" in err and "in different states, from byte 1234 on" in err, "both", err)


def stays_open(args, root):
    """What is written long before the file is closed is compared then, and not at the end only."""
    program = [args.program, "--bad", "1", "--stays-open"]
    out, err, _ = replicated(args, 2, program, prepared(root, "work"), root, wanted=3)
    expect("long.log, past the first 65536" in err, "said so", err)
    expect("closed" not in out, "it was not closed before that", out)


def scratch(args, root):
    """A file that is written, closed, renamed and removed is compared all the same."""
    _, err, _ = replicated(args, 2, [args.program, "--bad", "1", "--scratch"], prepared(root, "work"), root, wanted=3)
    expect("scratch.tmp, past the first 0" in err, "said so", err)


def corrected(args, root):
    _, files = natively(args, [args.program], prepared(root, "native"))
    for bad in (0, 2):
        folder = prepared(root, f"bad-{bad}")
        _, err, record = replicated(args, 3, [args.program, "--bad", str(bad)], folder, root)
        differences = record["files"]["differences"]
        expect(len(differences) == 1 and differences[0]["corrected"], "corrected", differences)
        expect(differences[0]["replicas"] == [bad], "who", differences)
        expect(f"replica {bad} differs from the majority" in err, "said so", err)
        expect(not differing(files, tree(folder)), "the good file stays", differing(files, tree(folder)))


def tolerated(args, root):
    option = ["--files-may-differ", "*.log:stream.*"]
    _, _, record = replicated(args, 2, [args.program, "--bad", "1"], prepared(root, "work"), root, option)
    expect(record["files"]["tolerated"] == 1, "counted", record["files"])


def dies(args, root):
    _, files = natively(args, [args.program], prepared(root, "native"))
    folder = prepared(root, "work")
    line = [args.holdfast, "run", "-n", "2", "--replicas", "2", "--", args.program, "--die"]
    code, _, err = run(line, folder)
    expect(code != 0, "it was killed", err)
    expect("files of the other replicas" in err, "said where they are", err)
    got = {name: text for name, text in tree(folder).items() if not name.startswith("holdfast-run-")}
    expect(differing(files, got) == ["late.txt"], "what replica 0 wrote before is there", differing(files, got))


def lammps(args, root):
    def folder(name):
        made = root / name
        made.mkdir()
        (made / "in.small").write_text(LAMMPS_INPUT)
        return made

    def without_times(files):
        """The log tells how long things took."""
        lines = files["log.lammps"].decode().splitlines()
        timing = re.compile(r"time|Performance|CPU|%|Pair|Neigh|Comm|Output|Modify|Other|bin|Memory|memory")
        return {**files, "log.lammps": "\n".join(line for line in lines if not timing.search(line))}

    program = [args.program, "-in", "in.small"]
    _, files = natively(args, program, folder("native"))
    expect({"log.lammps", "dump.lammps", "restart.lammps", "data.lammps"} <= set(files), "written", sorted(files))
    for degree in (2, 3):
        work = folder(f"degree-{degree}")
        _, _, record = replicated(args, degree, program, work, root)
        got = tree(work)
        wrong = differing(without_times(files), without_times(got))
        expect(not wrong, "files differ from the native run's", wrong)
        expect(record["files"]["differences"] == [], "alike in all replicas", record["files"])
        expect(record["files"]["bytes"] > len(files["dump.lammps"]), "compared", record["files"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("case", choices=["same", "pairs", "metadata", "runs", "pipes", "shared", "outside",
                                         "trees", "detected", "reported", "stays_open",
                                         "scratch", "corrected", "tolerated", "dies", "lammps"])
    parser.add_argument("program")
    parser.add_argument("--libraries", help="folder of libraries that the program opens")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-files-") as folder:
        globals()[args.case](args, pathlib.Path(folder))


if __name__ == "__main__":
    main()
