"""Checks the report of scripts/gpu on programs that pass, fail, hang or are missing. Small scripts
replace the programs, and the CPU replaces the device."""
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(sys.argv[1])
STAND_INS = {
    "tests/test_tensor": "echo 'All tests passed (3 assertions in 1 test case)'",
    "tests/test_kernel": "echo 'No test cases matched'",
    "tests/test_update": """echo 'a warning' >&2; printf 'a case\\n/a/b.cpp:7: FAILED:\\n  CHECK( 1 | 2 )\\n'; head -c 900 /dev/zero | tr '\\0' x
exit 3""",
    "tests/parity": """if [ "$1" = --list ]; then
  case $2 in */files/parity) printf 'small 1x1\\nsmall 1x2\\nsmall 1x2 sequence_parallel\\nsmall 1x4\\nlarge 2x1\\n' ;; */many)
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "wrong$i 1x1"; done ;; esac
elif [ "$(basename "$1")" = large ]; then echo 'the loss is 2' >&2; echo '7 numbers and tensors compared, 1 differ'; exit 1
elif [ "${1#*wrong}" != "$1" ]; then exit 1
else echo '7 numbers and tensors compared, 0 differ'; fi""",
    "examples/language_modeling": """for word; do case $before in --workdir) folder=$word ;; --mesh) mesh=$word ;; esac; before=$word; done
mkdir -p "$folder/ckpts/step-4"; last=1.0; [ $mesh = 2x1 ] && last=1.00009; [ $mesh = 1x2 ] && last=1.00011
for loss in 4 3 2 $last; do echo "{\\"step\\":1,\\"loss\\":$loss}"; done > "$folder/metrics.jsonl"
echo '{"step":4,"eval/loss":1}' >> "$folder/metrics.jsonl\"""",
}
EXPECTED = {
    "device": "passed: 3 assertions in 1 test case",
    "uploads": "passed: 3 assertions in 1 test case",
    "kernels": "FAILED: exit code 0, No test cases matched; see ",
    "updates": "FAILED: exit code 3, b.cpp:7: FAILED: CHECK( 1 / 2 ) xxx",
    "parity": "FAILED: 3 of 4 comparisons agree",
    "parity-large-2x1": "FAILED: exit code 1, the loss is 2; see ",
    "training-reference": "passed: 4 losses",
    "training-1x1": "passed: largest relative difference of 4 losses 0.0e+00",
    "training-2x1": "passed: largest relative difference of 4 losses 9.0e-05",
    "training-2x1-zero1": "passed: largest",
    "training-2x1-zero3": "passed: largest",
    "training-1x2": "FAILED: largest relative difference of 4 losses 1.1e-04",
    "training-nccl": "skipped: NCCL needs several devices",
    "training-graph": "skipped: CUDA graphs need a CUDA device",
}


def called(build, *arguments, numbers=None):
    """Runs scripts/gpu and returns the exit code, the results by name, and the printed lines."""
    done = subprocess.run([sys.executable, "-B", ROOT / "scripts/gpu", *arguments], capture_output=True, text=True,
                          env={**os.environ, "REDCO_GPU_DEVICE": "cpu", "REDCO_GPU_BUILD": str(build), "REDCO_PARITY_DIR": str(numbers or build)})
    cells = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| ") and not line.startswith("| check")]
    return done.returncode, {cell[1].strip(): cell[2].strip() for cell in cells}, (done.stdout + done.stderr).strip().splitlines()


def expect(fits, what):
    if not fits:
        sys.exit(what)


with tempfile.TemporaryDirectory() as folder:
    build = Path(folder)
    for name, text in STAND_INS.items():
        (build / name).parent.mkdir(exist_ok=True)
        (build / name).write_text("#!/bin/sh\n" + text + "\n")
        (build / name).chmod(0o755)
    code, rows, lines = called(build, "tests", "parity", "training")
    expect(code == 1 and set(rows) == set(EXPECTED), f"exit code {code}, rows {sorted(rows)}")
    for name, words in EXPECTED.items():
        expect(rows[name].startswith(words), f"the row of {name} is {rows[name]}, not {words}")
    failed = [name for name, words in EXPECTED.items() if words.startswith("FAILED")]
    repeated = lines[lines.index("failed rows:") + 1:-2]
    expect(len(repeated) == len(failed) and all(line in lines[:-len(repeated) - 3] for line in repeated), f"the failed rows are {repeated}")
    expect(lines[-1] == "7 passed, 5 failed, 2 skipped", f"the last line is {lines[-1]}")
    expect(len(rows["updates"]) < 600, f"the row of updates has {len(rows['updates'])} characters")
    kept = [path.name for path in (build / "gpu-results/training-1x1").iterdir()]
    expect(kept == ["metrics.jsonl"], f"a training leaves {kept}")

    # The first ten comparisons that fail have a row.
    (build / "many").mkdir()
    code, rows, lines = called(build, "parity", numbers=build / "many")
    expect(rows["parity"].startswith("FAILED: 3 of 16 comparisons agree; the first 10 of 13 that fail follow"), rows["parity"])
    expect(len(rows) == 11 and lines[-1] == "0 passed, 11 failed, 0 skipped", f"rows of many comparisons: {sorted(rows)}, {lines[-1]}")

    # Rows that passed are remembered, rows that failed run again; --again runs all.
    (build / "tests/test_tensor").unlink()
    (build / "tests/test_update").write_text("#!/bin/sh\n" + STAND_INS["tests/test_tensor"] + "\n")
    _, rows, _ = called(build, "tests")
    expect(rows["device"].endswith("(before)") and rows["updates"].startswith("passed: 3"), f"rows of the second call: {rows}")
    code, rows, _ = called(build, "tests", "--again")
    expect(code == 1 and rows["device"].startswith("FAILED: exit code 127"), f"rows of the third call: {rows}")
    code, _, lines = called(build, "everything")
    expect(code == 64 and "unknown part everything" in lines[-1], f"an unknown part: exit code {code}, {lines[-1]}")

    # A program that does not end is killed with its children.
    loader = importlib.machinery.SourceFileLoader("gpu", str(ROOT / "scripts/gpu"))
    gpu = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu", loader))
    loader.exec_module(gpu)
    log = build / "hangs.log"
    code, output = gpu.run(["sh", "-c", "sleep 61 & echo $!; wait"], 1, log)
    expect(code == 124 and gpu.reason(log) == "ended after 1 s", f"a program that hangs: {code}, {gpu.reason(log)}")
    # Empty once the child has ended, until it is reaped
    child = Path("/proc") / output.strip() / "cmdline"
    for _ in range(100):
        alive = child.exists() and b"sleep" in child.read_bytes()
        if not alive:
            break
        time.sleep(0.1)
    expect(not alive, "a child of a program that was ended goes on")
