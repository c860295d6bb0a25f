#!/usr/bin/env python3
"""Builds every fuzz target of this folder by clang++ with libFuzzer and sanitizers, and runs each
for some seconds, two at a time.

    fuzz.py ROOT BUILD TORCH_ROOT [SECONDS]        BUILD is a tree of the preset `fuzz`

All targets start from one seed, and from files of the repository in the format that the target
reads, if there are some. Exit code 1 if a target crashes or runs nothing, or if `planted`, which
must crash, does not.
"""
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "hosts"))
from two_hosts import skip

root, build, torch_root = (Path(name).resolve() for name in sys.argv[1:4])
seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 10
CORPORA = {"chat_template": ".deps/minja/templates/*.jinja", "from_config": "tests/**/config.json",
           "tokenizer": "tests/**/tokenizer.json"}
# Fewer runs are no test. Most targets make thousands in ten seconds; this one starts two processes
# and parses by std::regex in each run.
LEAST_RUNS = {"chat_template": 30}
MOST_BYTES = {"chat_template": 1300}  # of a seed: larger ones take most of the time
# A child that is forked while libFuzzer starts its thread for this limit can wait without end for a
# lock of AddressSanitizer. The limit does not count the memory of children.
MOST_MEGABYTES = {"chat_template": 0}


def called(*command):
    done = subprocess.run([str(word) for word in command], cwd=root, text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def must(*command):
    code, text = called(*command)
    if code != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed ({code}):\n{text}")


def run(name):
    """Exit code and words of a target."""
    work = build / "fuzz" / name
    shutil.rmtree(work, ignore_errors=True)
    (work / "seeds").mkdir(parents=True)
    if name in CORPORA:
        for number, path in enumerate(sorted(root.glob(CORPORA[name]))):
            if path.stat().st_size <= MOST_BYTES.get(name, 100_000):
                shutil.copy(path, work / "seeds" / str(number))
    words = root / "tests/fuzz" / f"{name}.dict"
    return called(build / "fuzz" / f"fuzz_{name}", "-seed=1", f"-max_total_time={seconds}", "-timeout=20",
                  f"-rss_limit_mb={MOST_MEGABYTES.get(name, 4000)}", "-print_final_stats=1", f"-artifact_prefix={work}/",
                  *([f"-dict={words}"] if words.exists() else []), work / "seeds")


build.mkdir(parents=True, exist_ok=True)
code, text = called("clang++", "-fsanitize=fuzzer,address,undefined", root / "tests/fuzz/planted.cpp", "-std=c++20", "-o", build / "probe")
if code != 0:
    skip(f"clang++ links no fuzz target: install libclang-rt-dev\n{text}")
must("cmake", "--preset", "fuzz", "-B", build, f"-DREDCO_TORCH_ROOT={torch_root}")
must("cmake", "--build", build, "-j", os.cpu_count() or 1)
wrong = []
names = sorted(path.stem for path in (root / "tests/fuzz").glob("*.cpp"))
with ThreadPoolExecutor(2) as pool:
    for name, (code, text) in zip(names, pool.map(run, names)):
        runs = re.search(r"stat::number_of_executed_units: (\d+)", text)
        count = int(runs.group(1)) if runs else 0
        print(f"{name}: {count} runs, exit code {code}")
        if name == "planted":
            if code == 0 or "AddressSanitizer: heap-buffer-overflow" not in text:
                wrong.append(f"planted: its mistake is not found:\n{text}")
        elif code != 0 or count < LEAST_RUNS.get(name, 100):
            wrong.append(f"{name}: exit code {code} after {count} runs:\n{text[-8000:]}")
if wrong:
    sys.exit("\n".join(wrong))
