"""Every long test belongs to exactly one of the seven parts of scripts/test, and the parts together have all of them.

    long_tests.py ROOT LONG_TESTS TORCH_ROOMS OUTSIDE_ROOMS

LONG_TESTS: the file of names that tests/CMakeLists.txt writes; TORCH_ROOMS: the rooms above the torch line, with spaces between;
OUTSIDE_ROOMS: those with no other cases than [outside].
"""
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(sys.argv[1])
PARTS = [str(part) for part in range(1, 8)]
listed = [tuple(line.split()) for line in subprocess.run(
    [ROOT / "scripts/test", "--list"], check=True, capture_output=True, text=True).stdout.splitlines()]
wrong = [f"{' '.join(row)}: not a part, a tree and a name" for row in listed
         if len(row) != 3 or row[0] not in [*PARTS, "always"] or row[1] not in ("asan", "tsan", "release")]
counts = Counter(row[1:] for row in listed)
wrong += [f"{tree} {name} is listed {count} times" for (tree, name), count in counts.items() if count > 1]

tests = {path.parent.name for path in (ROOT / "tests").glob("*/*.test.cpp")} - set(sys.argv[4].split()) | {"walls"}
threads = tests & set(sys.argv[3].split()) | {"data", "random", "log", "walls", "races"}
expected = {"asan": tests, "tsan": threads, "release": set(Path(sys.argv[2]).read_text().split())}
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
run = (ROOT / ".ci/run").read_text()
if "% 7 + 1" not in run or "--with-long" not in run:
    wrong.append(".ci/run does not run another part each day of seven")
if wrong:
    sys.exit("\n".join(wrong))
