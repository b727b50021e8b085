#!/usr/bin/env python3
"""What a replicated program prints: shown as natively, compared in every stream, held back on request.

Usage: streams_test.py --holdfast PROGRAM --launcher MPIRUN CASE PROGRAM [ARGUMENT...]
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile


def expect(condition, what, detail=""):
    if not condition:
        sys.exit(f"FAILED: {what}\n{detail}")


def run(words, folder, stdin=subprocess.DEVNULL, limit=200):
    """Its exit code, standard output and standard error; nothing of it is left running."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_btl_tcp_if_include": "lo"}  # Open MPI 5 warns of hosts with two kinds of address
    child = subprocess.Popen(words, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             start_new_session=True, cwd=folder, env=environment)
    try:
        out, err = child.communicate(timeout=limit)
        return child.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        sys.exit(f"FAILED: still running after {limit} s: {' '.join(words)}")


def lines(text):
    """Children have numbers of their own."""
    return [line for line in text.splitlines() if "a child of process" not in line and "a copy" not in line]


def garbles_pieces(launcher):
    """Whether it is prterun of Open MPI 5, which now and then shows a short piece twice or not at all, natively, too
    (docs/results/debian-13.md)."""
    version = subprocess.run([launcher, "--version"], capture_output=True, text=True).stdout
    return re.search(r"\(Open MPI\) (5\.|[1-9]\d)", version) is not None


class Cases:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.tries = 12 if garbles_pieces(args.launcher) else 1

    def natively(self, program):
        line = [self.args.launcher] + (["--oversubscribe"] if "openmpi" in self.args.launcher else [])
        code, out, err = run([*line, "-n", "2", *program], self.folder)
        expect(code == 0, f"the native run ended with {code}", err)
        return out, err

    def natively_twice_alike(self, program):
        """As it is natively, where the launcher garbles nothing."""
        before = self.natively(program)
        for _ in range(self.tries - 1):
            now = self.natively(program)
            if [lines(text) for text in now] == [lines(text) for text in before]:
                break
            before = now
        return before

    def replicated(self, degree, program, options=(), wanted=0, stdin=subprocess.DEVNULL):
        record = self.folder / "record.json"
        code, out, err = run([self.args.holdfast, "run", "-n", "2", "--replicas", str(degree), "--json", str(record),
                              *options, "--", *program], self.folder, stdin)
        expect(code == wanted, f"{program} at degree {degree} ended with {code}, not {wanted}", err + out)
        return out, err, json.loads(record.read_text())["streams"]

    def same(self):
        """As natively, alike in all replicas, whatever else MPI and children print."""
        out, err = self.natively_twice_alike(self.args.program)
        for degree, options in ((2, []), (3, []), (3, ["--hold-output"])):
            for last in range(self.tries - 1, -1, -1):
                got, errors, streams = self.replicated(degree, self.args.program, options)
                if last == 0 or (lines(got) == lines(out) and set(lines(err)) <= set(lines(errors))):
                    break
            expect(lines(got) == lines(out), f"{options}: the output is another one", f"{out}\n{got}")
            expect(set(lines(err)) <= set(lines(errors)), f"{options}: standard error is another one", f"{err}\n{errors}")
            expect(streams["differences"] == [] and streams["streams"] == 2, "compared", streams)
            expect(streams["bytes"] > len(out), "all of it", streams)

    def detected(self):
        for stream in ("stdout", "stderr"):
            out, err, streams = self.replicated(2, [*self.args.program, "--bad", "1", "--on", stream], wanted=3)
            expect(len(streams["differences"]) == 1, "one stream differs", streams)
            found = streams["differences"][0]
            expect((found["rank"], found["stream"], found["replicas"]) == (1, stream, [0, 1]), "which", found)
            expect((found["odd"], found["others"]) == ("rank 1: x = x", "rank 1: x = 1"), "what", found)
            expect(f"rank 1's {stream} differs from line" in err and "no majority" in err, "said so", err)

    def outvoted(self):
        """A replica that is not shown is odd: the user has what is right."""
        for stream in ("stdout", "stderr"):
            out, err, streams = self.replicated(3, [*self.args.program, "--bad", "2", "--on", stream])
            expect(streams["differences"][0]["replicas"] == [2], "who", streams)
            expect("x = x" in (out if stream == "stdout" else err), "the good one is shown", out + err)
            expect("replica 2 wrote \"rank 1: x = 2\", the majority \"rank 1: x = x\"" in err, "said so", err)

    def shown_wrongly(self):
        """The one that is shown is odd: that cannot be taken back, and the job says so; or it is held back."""
        program = [*self.args.program, "--bad", "0"]
        out, err, streams = self.replicated(3, program, wanted=3)
        expect("rank 1: x = 0" in out and "what was shown is wrong, theirs is in" in err, "said so", err)
        good = pathlib.Path(streams["differences"][0]["good"])
        expect("rank 1: x = x" in good.read_text(), "the good one is there", good)
        out, err, streams = self.replicated(3, program, ["--hold-output"])
        expect("rank 1: x = x" in out and "x = 0" not in out, "the good one is shown", out)
        expect(streams["differences"][0]["replicas"] == [0], "who", streams)
        out, err, streams = self.replicated(3, [*self.args.program, "--bad", "0,2", "--alike"], ["--hold-output"])
        expect("rank 1: x = #" in out and streams["differences"][0]["replicas"] == [1], "what most say", out)

    def may_differ(self):
        program = [*self.args.program, "--process"]
        out, err, streams = self.replicated(2, program, wanted=3)
        expect("rank 0's stdout differs" in err, "each has a number of its own", err)
        out, err, streams = self.replicated(2, program, ["--files-may-differ", "rank-0.stdout"])
        expect(streams["tolerated"] == 1 and streams["differences"] == [], "tolerated", streams)
        out, err, streams = self.replicated(2, program, ["--on-corruption", "report"])
        expect("rank 0's stdout differs" in err, "said so, and no more", err)

    def threads(self):
        """Threads print in any order; each line counts."""
        out, err, streams = self.replicated(2, [*self.args.program, "--threads"])
        expect(out.count("thread one line") == 200 and out.count("thread two line") == 200, "all is shown", out)
        for found in streams["differences"]:
            expect(found["order_only"], "no line differs", found)

    def asks(self):
        """A question without an end of line is shown before it is answered, and each replica gets the answer."""
        for options in (["-r", "2"], ["-r", "2", "--hold-output"], ["-r", "3"]):
            with subprocess.Popen([self.args.holdfast, "run", "-n", "2", "--time-limit", "150s", *options,
                                   "--", *self.args.program, "--ask"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, cwd=self.folder) as job:
                seen = b""
                while b"What? " not in seen:
                    more = os.read(job.stdout.fileno(), 4096)
                    expect(more, "it asks", seen)
                    seen += more
                rest, err = job.communicate(b"nothing\nmore\n")
            expect(b"You said nothing\nand more\n" in rest and job.returncode == 0, f"{options}: it goes on",
                   (seen + rest + err).decode())

    def terminals(self):
        """No replica's output is a terminal, whatever the launcher gave each: their choices of colours are alike."""
        for degree, options in ((2, []), (3, []), (2, ["--hold-output"])):
            out, err, streams = self.replicated(degree, [*self.args.program, "--terminals"], options)
            expect(streams["differences"] == [], "what was chosen differs", streams)
            expect("stream 1: 0 0 0 0" in out and "stream 2: 0 0 0 0" in out, "a terminal", out + err)

    def vanished(self):
        """Replicas that print different text are not alike because their records are gone."""
        script = self.folder / "script"
        script.write_text('#!/bin/sh\n"$@"\nstatus=$?\nrm -f "$HOLDFAST_RUN_DIRECTORY"/rank-1.replica-*.out\nexit $status\n')
        script.chmod(0o755)
        mpi = "openmpi" if "openmpi" in self.args.launcher else "mpich"
        _, err, _ = self.replicated(2, [str(script), *self.args.program, "--bad", "1", "--on", "stdout"], ["--mpi", mpi], wanted=7)
        expect("the record of what rank 1 replica" in err and "is missing" in err, "said so", err)

    def redirected(self):
        """A script sends the program's streams where it likes: there they go, as natively, and are compared all the same."""
        own = "log.$OMPI_COMM_WORLD_RANK$PMI_RANK"  # the first replica's processes have the ranks' numbers
        texts = (f'exec "$@" > {own}', f'"$@" 2> {own}', f'"$@" > {own} 2>&1', 'exec "$@" 2>&1', '"$@" 1>&2',
                 '"$@" | sed "s/rank/RANK/"', 'exec "$@" > /dev/null',
                 'echo one > /dev/stdout; echo two; exec 3>&1; echo three > /dev/fd/3\n'
                 '"$@" | tee /dev/stderr > /dev/stdout; echo four > /proc/self/fd/1')
        for number, text in enumerate(texts):
            script = self.folder / "script"
            script.write_text(("#!/bin/sh\n", "#!/bin/bash\n")[number % 2] + text + "\n")
            script.chmod(0o755)
            program = [str(script), *self.args.program]
            mpi = "openmpi" if "openmpi" in self.args.launcher else "mpich"
            # What children print, their process ids among it, is in the file as well.
            may = ["--files-may-differ", "log.*"] if own in text and "2>" in text else []
            natively = [sorted(lines(shown)) for shown in (*self.natively(program), *self.logs())]
            for degree, options in ((2, []), (3, ["--hold-output"] if number == 2 else [])):
                out, err, streams = self.replicated(degree, program, ["--mpi", mpi, *may, *options])
                err = "\n".join(line for line in err.splitlines() if not line.startswith("holdfast: "))
                shown = [sorted(lines(shown)) for shown in (out, err, *self.logs())]
                expect(shown == natively, f"{text}, {degree} replicas, {options}: goes elsewhere", f"{natively}\n{shown}")
                expect(streams["differences"] == [] and streams["streams"] >= 1, "compared", streams)
        script.write_text(f'#!/bin/sh\n"$@" 2>&1 > {own}\n')  # what goes to standard output by way of the other is shown
        out, err, _ = self.replicated(3, program, ["--mpi", mpi])
        expect("to standard error" in out + err, "2>&1 > log: nothing is lost", out + err)

    def logs(self):
        """What the ranks' logs hold, which are taken away."""
        texts = []
        for path in sorted(self.folder.glob("log.*")):
            if path.name in ("log.0", "log.1"):
                texts.append(path.read_text())
            path.unlink()
        return texts

    def refused(self):
        line = [self.args.holdfast, "run", "-n", "2", "--replicas", "2", "--hold-output"]
        for option in (["--replicate.files", "off"], ["--on-failure", "continue"]):
            if "continue" in option and "openmpi" not in self.args.launcher:
                continue
            code, _, err = run([*line, *option, "--", *self.args.program], self.folder)
            expect(code == 2 and "reading --hold-output" in err, "refused", err)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("case", choices=[name for name in vars(Cases) if not name.startswith("_")])
    parser.add_argument("program", nargs="+")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-streams-") as folder:
        getattr(Cases(args, pathlib.Path(folder)), args.case)()


if __name__ == "__main__":
    main()
