"""Checks that every long test belongs to exactly one of the seven parts of scripts/test, and what
scripts/test and .ci/run build and run for each part.

    long_tests.py ROOT LONG_TESTS TORCH_ROOMS OUTSIDE_ROOMS

LONG_TESTS: the file of names that tests/CMakeLists.txt writes. TORCH_ROOMS: the rooms above the
torch line, separated by spaces. OUTSIDE_ROOMS: rooms with [outside] cases only.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(sys.argv[1])
PARTS = [str(part) for part in range(1, 8)]
listed = [tuple(line.split()) for line in subprocess.run(
    [ROOT / "scripts/test", "--list"], check=True, capture_output=True, text=True).stdout.splitlines()]
wrong = [f"{' '.join(row)}: not a part, a tree and a name" for row in listed
         if len(row) != 3 or row[0] not in [*PARTS, "always"] or row[1] not in ("asan", "tsan", "gcc", "release")]
counts = Counter(row[1:] for row in listed)
wrong += [f"{tree} {name} is listed {count} times" for (tree, name), count in counts.items() if count > 1]

tests = {path.parent.name for path in (ROOT / "tests").glob("*/*.test.cpp")} - set(sys.argv[4].split()) | {"walls"}
threads = tests & set(sys.argv[3].split()) | {"data", "random", "log", "walls", "races"}
expected = {"asan": tests, "tsan": threads, "gcc": {"walls"}, "release": set(Path(sys.argv[2]).read_text().split())}
for tree, names in expected.items():
    found = {name for one, name in counts if one == tree}
    wrong += [f"{tree} {name} is in no part" for name in sorted(names - found)]
    wrong += [f"{tree} {name} is listed and does not exist" for name in sorted(found - names)]
wrong += [f"part {part} has nothing" for part in PARTS if part not in {row[0] for row in listed}]

# Cases that Catch2 hides run only as long tests.
for path in (ROOT / "tests").rglob("*.test.cpp"):
    for tags in re.findall(r'TEST_CASE\("[^"]*", "([^"]*\[\.\][^"]*)"', path.read_text()):
        if not re.search(r"\[long_\w+\]", tags):
            wrong.append(f"{path.relative_to(ROOT)} has a hidden case {tags} that no long test runs")

def called(script, *arguments):
    """Returns a script's exit code, output and calls. Stand-ins record calls of cmake, ctest and
    scripts/setup."""
    with tempfile.TemporaryDirectory() as folder:
        copy, calls = Path(folder) / "redco", Path(folder) / "calls"
        for name in ("scripts/test", ".ci/run"):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        for name in ("bin/cmake", "bin/ctest", "scripts/setup"):
            (copy / name).parent.mkdir(exist_ok=True)
            (copy / name).write_text(f'#!/bin/sh\necho "$(basename $0) $*" >> {calls}\n')
            (copy / name).chmod(0o755)
        done = subprocess.run([copy / script, *arguments], capture_output=True, text=True,
                              env=os.environ | {"PATH": f"{copy}/bin:{os.environ['PATH']}"})
        trees = copy / "build/all/CTestTestfile.cmake"
        text = calls.read_text() if calls.exists() else ""
        return done.returncode, done.stdout + done.stderr + text + (trees.read_text() if trees.exists() else "")


def expect(text, present, absent):
    for words in present:
        if not re.search(words, text):
            wrong.append(f"no {words!r} in:\n{text}")
    for words in absent:
        if re.search(words, text):
            wrong.append(f"{words!r} in:\n{text}")


def rooms(tree, part):
    return ";".join(row[2] for row in listed if row[1] == tree and row[0] in ("always", part))


for part in PARTS:
    folders = [r"\nsetup --tests --folders\n"] if "folders" in rooms("release", part).split(";") else []
    gcc = rooms("gcc", part)
    gcc_tree = [rf"--preset gcc -B build/gcc-rooms -DREDCO_TEST_ROOMS={gcc} ", r'("../gcc-rooms").*\n.*("../tsan-rooms")'] if gcc else []
    code, text = called("scripts/test", "--with-long", part, "-R", "comm")
    expect(text, [f"REDCO_TEST_ROOMS={rooms('asan', part)} ", f"REDCO_TEST_ROOMS={rooms('tsan', part)} ",
                  rf"REDCO_LONG_TESTS={rooms('release', part)}\n", r"ctest .* -R comm\n", f"and the long tests of part {part}\n",
                  r'("../tsan-rooms").*\n.*("../asan").*\n.*("../release")', *gcc_tree, *folders],
           [*([] if folders else ["--folders"]), *([] if gcc else ["gcc-rooms"])])
code, text = called("scripts/test", "--long", "7")
expect(text, [r"REDCO_TEST_ROOMS=meta;", rf"REDCO_LONG_TESTS={rooms('release', '7')}\n",
              r"-R \^\(asan\|tsan\|gcc\|long\)\[\.\]"], ["gcc-rooms", "tsan-rooms", "comm"])
code, text = called("scripts/test")
expect(text, [r"REDCO_LONG_TESTS=\n", "all tests except the long ones"], ["REDCO_LONG_TESTS=.", "gcc-rooms", "-R "])
if called("scripts/test", "--long", "8")[0] != 64 or called("scripts/test", "--with-long")[0] != 64:
    wrong.append("a part that does not exist is not refused with exit code 64")
before = int(time.time()) // 3600
code, text = called(".ci/run", "-R", "comm")
now = "|".join(str(hour % 7 + 1) for hour in range(before, int(time.time()) // 3600 + 1))
expect(text, [f"run: runs part ({now}) of 7 of the long tests, because hour", f"and the long tests of part ({now})\n", r"ctest .* -R comm\n"], [])
if wrong:
    sys.exit("\n".join(wrong))
