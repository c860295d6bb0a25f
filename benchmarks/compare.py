"""Runs two programs of benchmarks/ step by step in turns and prints both JSON lines and the ratio of their medians.

    compare.py eager    [options of bench]    PyTorch's eager mode beside the trainer: ratio of tok/s; it takes as many
                                              threads as all our ranks together
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


def without(arguments, name):
    at = arguments.index(name) if name in arguments else len(arguments)
    return arguments[:at] + arguments[at + 2:]


def peer_arguments(arguments):
    """The workload and all options, which the peer refuses if it has none like it, but for what has no meaning there: its
    threads are those of all our ranks, 0 being all cores, and it has one loop."""
    replicas, shards = (int(n) for n in option(arguments, "--mesh", "1x1").split("x"))
    threads = int(option(arguments, "--threads", 0)) * replicas * shards
    return [*without(without(arguments, "--threads"), "--loop"), "--threads", str(threads)]


def main():
    mode, arguments = sys.argv[1], [part for given in sys.argv[2:] for part in given.split("=", 1)]
    steps = int(option(arguments, "--steps", 13))
    arguments = without(arguments, "--steps")
    if mode == "eager":
        other = [sys.executable, os.path.join(HERE, "peer.py"), *peer_arguments(arguments)]
    elif mode == "overhead":
        other = [OURS, *arguments, "--loop", "hand"]
    else:
        other = [OURS, *without(arguments, "--mesh"), "--mesh", mode]
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
