"""Checks the verdict of scripts/mutants on tests that fail by an assertion, by an exception, by a
crash, never, or by chance.

    mutants.py ROOT PROGRAM      the program of planted_mistakes.cpp
"""
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
from pathlib import Path

ROOT, PROGRAM = Path(sys.argv[1]), Path(sys.argv[2])
EXPECTED = {
    "an assertion": (True, "tests/build/planted_mistakes.cpp:"),
    "an assertion whose expression throws": (True, "tests/build/planted_mistakes.cpp:"),
    "a rank's assertion": (True, "tests/build/planted_mistakes.cpp:"),
    "an exception": (False, "without an assertion"),
    "an exception after an assertion": (False, "without an assertion"),
    "a crash": (False, "crashes with exit code"),
    "a hang": (False, "takes longer than 1 s"),
    "a flake that fails the first two calls": (False, "fails without the mistake too"),
    "a flake that fails the first call": (False, "a flake"),
    "no look at the mistake": (False, ""),
}
# Outputs of rank programs and scripts, and the expected answer whether they contain an assertion.
TEXTS = {
    "error: rank 1: does not hold: the root's text (exit code 70)": True,
    "Traceback ...\nAssertionError: node1.0 ended with 0, not 69": True,
    "CMake Error at RunProgram.cmake:12 (message):\n  exit code 1 instead of 137:": True,
    "CMake Error at RunProgram.cmake:16 (message):\n  no \"rank 0 waits\" in:": True,
    "error: rank 1: waited 2000 ms in barrier": False,
    "Traceback ...\nFileNotFoundError: mpirun": False,
}

# Texts of mistakes, and the fault that makes them unusable.
FAULTS = {"f(a)": "", "f(a);": "", "a ? b : c": "", "a ? b": "is no expression", "% n": "is no expression", "{a, b": "is no expression",
          "f(a": "is no expression", "a, b": "is several expressions", "a ||": "ends within", "case a: f();": "begins with a label",
          "int n = a;": "declares a name", "constexpr bool n = a;": "declares a name", "return a;": ""}

loader = importlib.machinery.SourceFileLoader("mutants", str(ROOT / "scripts/mutants"))
mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
loader.exec_module(mutants)
mutants.BUILD, mutants.TREE, mutants.WAIT = PROGRAM.parent.parent, ROOT, 1
with tempfile.TemporaryDirectory() as folder:
    for number, (case, (expected, words)) in enumerate(EXPECTED.items()):
        os.environ["REDCO_CALLS"] = str(Path(folder) / str(number))
        base = 0 if case == "a hang" else 10
        found, how, _ = mutants.finds(f"{PROGRAM.name}:{case}", 1, base)
        if found != expected or words not in how:
            sys.exit(f"{case}: {'found' if found else 'not found'}, {how!r}")
COMMAS = {"f(a, b)": False, "f(a), b": True, 'c10::str(", ", x)': False, "at::eq<int, 2>(a)": False, "{1, 2}": False}
for text, expected in COMMAS.items():
    if mutants.has_bare_comma(text) != expected:
        sys.exit(f"{text!r} has {'no' if expected else 'a'} bare comma")
for text, expected in TEXTS.items():
    if bool(mutants.assertion_in(text)) != expected:
        sys.exit(f"{text!r} is {'no' if expected else 'an'} assertion")
for text, expected in FAULTS.items():
    found = mutants.text_fault(text, "a;" if text.endswith(";") else "a", "{\n", "\n}")
    if not found.startswith(expected) or bool(found) != bool(expected):
        sys.exit(f"{text!r}: {found!r} instead of {expected!r}")
