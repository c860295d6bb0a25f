#!/usr/bin/env python3
"""Checks folders of every family: saved by two versions of Hugging Face transformers, read by
redco, saved by redco, and read back by transformers.

    check_folders.py PROGRAM WORK [--only NAME]

PROGRAM is build/release/tests/parity. Runs compare_folders.py with each version of transformers
that `scripts/setup --folders` installs, concurrently, in WORK/VERSION. Without them the exit code
is 77, in CI 1.
"""
import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERSIONS = ("4.57", "5.24")


def python_of(version):
    return HERE.parents[1] / f".deps/folders-{version}/bin/python"


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("program", type=Path)
    args.add_argument("work", type=Path)
    args.add_argument("--only", default="")
    args = args.parse_args()
    missing = [version for version in VERSIONS if not python_of(version).exists()]
    if missing:
        print(f"skipped: no transformers {' and '.join(missing)} in .deps; scripts/setup --folders installs both")
        sys.exit(1 if os.environ.get("CI") == "true" else 77)

    def compare(version):
        command = [python_of(version), HERE / "compare_folders.py", version, args.program, args.work / version, "--only", args.only]
        return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=os.environ | {"OMP_NUM_THREADS": "1"})

    with ThreadPoolExecutor() as threads:
        runs = list(threads.map(compare, VERSIONS))
    for run in runs:
        print(run.stdout)
    sys.exit(1 if any(run.returncode != 0 for run in runs) else 0)


if __name__ == "__main__":
    main()
