#!/usr/bin/env python3
"""What becomes of each function's calls: none that carries data or makes a communicator may be taken for local."""

import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ.get("HOLDFAST_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(SOURCE / "tools"))
import generate_recorder as recorder  # noqa: E402

LOCAL_ALL_THE_SAME = {"MPI_File_delete"}


def main():
    functions = recorder.wrappers.parse_table((SOURCE / "src/replicate/mpi/intercept/functions.table").read_text())
    wrong = []
    for f in functions:
        becomes = recorder.policy(f)
        if f.policy in ("verify", "create", "once") and becomes != "recorded" and f.symbol not in LOCAL_ALL_THE_SAME:
            wrong.append(f"{f.symbol} is {becomes}")
        if f.policy == "refuse" and becomes == "local":
            wrong.append(f"{f.symbol} is local, and replication refuses it")
        # What a statement names must be an argument of the function, or made by the preparation.
        text = recorder.statement(f) or ""
        known = {a.name for a in f.arguments} | {"seen", "before", "status_", "statuses_", "Fact", "Receive", "if", "else",
                                                "for", "int", "i", "MPI_UNDEFINED"}
        for name in re.findall(r"(?<![\w.:])[A-Za-z_]\w*", text):
            if name not in known:
                wrong.append(f"{f.symbol} has no '{name}'")
    for name in ("MPI_Wtime", "MPI_Comm_rank", "MPI_Type_size"):
        if recorder.policy(next(f for f in functions if f.symbol == name)) != "local":
            wrong.append(f"{name} is not local")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
