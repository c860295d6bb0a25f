"""Runs two programs of benchmarks/ step by step in turns and prints both JSON lines and the ratio of their medians.

    compare.py eager    [options of bench]    PyTorch's eager mode beside the trainer: ratio of tok/s
    compare.py overhead [options of bench]    the hand-written loop beside the trainer: what the trainer costs
    compare.py MESH     [options of bench]    the same on another mesh: ratio of tok/s

Each step waits for the other program's, so that whatever else the machine does touches both alike. The first three
steps count for neither.
"""
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(HERE, "..", "build", "release", "benchmarks", "bench")
SKIPPED = 3


def option(arguments, name, default):
    return arguments[arguments.index(name) + 1] if name in arguments else default


def main():
    mode, arguments = sys.argv[1], sys.argv[2:]
    steps = int(option(arguments, "--steps", 13))
    if mode == "eager":
        other = [sys.executable, os.path.join(HERE, "peer.py")]
        for name in ("--dtype", "--dropout"):
            if name in arguments:
                other += [name, option(arguments, name, None)]
        other.insert(2, arguments[0])
    elif mode == "overhead":
        other = [OURS, *arguments, "--loop", "hand"]
    else:
        other = [OURS, *arguments]
        other[other.index("--mesh") + 1] = mode
    commands = [[OURS, *arguments], other]
    running = [subprocess.Popen([*c, "--steps", str(steps), "--paced"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
               for c in commands]
    times = [[], []]
    for step in range(steps):
        for i in ((0, 1) if step % 2 == 0 else (1, 0)):
            running[i].stdin.write("\n")
            running[i].stdin.flush()
            answer = running[i].stdout.readline().split()
            if not answer:
                sys.exit("compare: this ended early: " + " ".join(commands[i]))
            times[i].append([float(number) for number in answer])
    lines = []
    for program in running:
        try:  # ours waits once more
            program.stdin.write("\n")
            program.stdin.close()
        except BrokenPipeError:
            pass
        lines.append(json.loads(program.stdout.read().strip().splitlines()[-1]))
        program.wait()
        print(json.dumps(lines[-1]))
    ratio = {"compare": mode, "mesh": option(arguments, "--mesh", "1x1"), "dtype": option(arguments, "--dtype", "f32"),
             "rounds": steps - SKIPPED}
    for at, name in enumerate(("wall", "cpu")):
        ours, theirs = ([t[at] for t in one[SKIPPED:]] for one in times)
        ratio[name + "_ratio"] = round(statistics.median(theirs) / statistics.median(ours), 4)
        ratio[name + "_ratio_of_rounds"] = round(statistics.median(b / a for a, b in zip(ours, theirs)), 4)
    print(json.dumps(ratio))


if __name__ == "__main__":
    main()
