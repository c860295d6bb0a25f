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

# Texts `right` and `wrong`, the code before and after, and the fault that makes the texts unusable.
FAULTS = [
    ("f(a)", "a", "{", "}", ""),
    ("f(a);", "a;", "{", "}", ""),
    ("f(a);", "", "{  // why\n#endif\n", "}", ""),
    ("return a;", "f();", "case a: ", "}", ""),
    ("for (int i : a) f(i);", ";", "else ", "}", ""),
    ("a ? b : c", "a", "x = ", ";", ""),
    ("a || b", "a", "x = c || ", ";", ""),
    ("std::min<int, 2>(a, b)", "a", "x = ", ";", ""),
    ('c10::str(", ", \';\')', "a", "x = ", ";", ""),
    ("*a < b", "b", "x && ", ";", ""),
    (" f(a);", ";", "{", "}", "begins or ends with a blank"),
    ("b", "c", "x = a.", ";", "begins within a name"),
    ("case a: f();", "case a:", "{", "}", "begins with a label"),
    ("a_(b)", "a_(c)", "x(int b) : ", " {}", "initializes a member"),
    ("a ||", "a", "x = ", "b;", "ends within an expression"),
    ("a +=", "b +=", "{", " c;", "ends within an expression"),
    ("f(a", "f(b", "x = ", ");", "has half of a pair of brackets"),
    ("f(a);", "f(b)", "{", "}", "is no statement"),
    ("a - b;", "a;", "x = ", "}", "is no statement"),
    ("else f(a);", ";", "if (b) x(); ", "}", "is no statement"),
    ("a ? b", "a", "x = ", ";", "is no expression"),
    ("% n", "n", "x = a ", ";", "is no expression"),
    ("-= b", "-= c", "a ", ";", "is no expression"),
    ("{a, b}", "a", "x = ", ";", "is no expression"),
    ("f(a)", "", "x = ", ";", "is no expression"),
    ("f(a)", "f(); g()", "x = ", ";", "is no expression"),
    ("a, b", "a", "f(", ");", "is several expressions"),
    ("a && b", "a", "x = ", " == c;", "is only a part of an operand"),
    ("b - c", "b", "x = a - ", ";", "is only a part of an operand"),
    ("int n = a;", "f();", "{", "}", "declares a name"),
    ("constexpr bool n = a;", "f();", "{", "}", "declares a name"),
]

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
for text, expected in TEXTS.items():
    if bool(mutants.assertion_in(text)) != expected:
        sys.exit(f"{text!r} is {'no' if expected else 'an'} assertion")
for *texts, expected in FAULTS:
    found = mutants.text_fault(*texts)
    if expected not in found or bool(found) != bool(expected):
        sys.exit(f"{texts}: {found!r} instead of {expected!r}")
mistakes = [{"id": f"run-{i}", "path": Path("include/redco/run/step.hpp"), "right": right, "wrong": "x", "number": i, "tests": []}
            for i, right in enumerate(("once", "#pragma once"))]
(switched,) = mutants.with_switches(mistakes).values()
if not switched.startswith("(::redco_mutant(1) ? (x) : (#pragma (::redco_mutant(0) ? (x) : (once))"):
    sys.exit("a text within a longer text is not switched: " + switched[:100])

# The hash of a mistake changes with its entry, the source file of its test case and the headers of
# that file, and not with other files.
with tempfile.TemporaryDirectory() as folder:
    mutants.ROOT = Path(folder).resolve()
    files = {"include/redco/run/step.hpp": "#include <redco/run/loss.hpp>\n", "include/redco/run/loss.hpp": "loss",
             "tests/run/step.test.cpp": '#include <redco/run/step.hpp>\nTEST_CASE("a step"\n " ends")', "tests/files/ids.json": "1",
             "tests/run/other.test.cpp": 'TEST_CASE("another") { read("ids.json"); }', "scripts/mutants": "",
             "include/redco/run/other.hpp": "other"}
    for name, text in files.items():
        mutants.write(mutants.ROOT / name, text.encode())

    def digest(test, what="a mistake"):
        for function in (mutants.text_of, mutants.included, mutants.sources_of, mutants.files_digest):
            function.cache_clear()
        return mutants.digest_of({"what": what, "path": Path("include/redco/run/step.hpp"), "tests": [test]})

    def changes(name, test):
        before = digest(test)
        (mutants.ROOT / name).write_text(files[name] + "changed")
        after = digest(test)
        (mutants.ROOT / name).write_text(files[name])
        return before != after

    for name, test, expected in (
            ("include/redco/run/step.hpp", "test_run:a step ends", True), ("include/redco/run/loss.hpp", "test_run:a step ends", True),
            ("tests/run/step.test.cpp", "test_run:a step*", True), ("tests/run/other.test.cpp", "test_run:a step*", False),
            ("include/redco/run/other.hpp", "test_run", False), ("tests/run/other.test.cpp", "test_run", True),
            ("tests/files/ids.json", "test_run:another", True), ("tests/files/ids.json", "test_run:a step ends", False),
            ("scripts/mutants", "test_run:a step ends", True)):
        if changes(name, test) != expected:
            sys.exit(f"a change of {name} {'does not change' if expected else 'changes'} the hash of a mistake of {test}")
    if digest("test_run:a step ends") == digest("test_run:a step ends", "another mistake"):
        sys.exit("the entry of a mistake does not change its hash")
