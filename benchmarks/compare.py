"""Runs programs of benchmarks/ in turns; prints their JSON lines and the ratios of their medians.

    compare.py eager    [options of bench]  the trainer and PyTorch's eager mode: ratio of tok/s;
                                            PyTorch uses as many threads as all our ranks together
    compare.py compiled [options of bench]  the trainer and PyTorch under torch.compile
    compare.py graph    [options of bench]  the trainer without and with --cuda-graph; needs --apart
    compare.py overhead [options of bench]  the trainer and a hand-written loop: the trainer's cost
    compare.py MESH     [options of bench]  the trainer on two meshes: ratio of tok/s

Commas join several comparisons: eager,compiled. The programs run one step each in turns, so that a
disturbance of the machine affects all of them. The first three steps do not count. With --apart the
programs run one after the other, for models of which a device holds only one. If a program other
than ours then fails, its line says so and the next program runs. --program FILE: the bench of
another build.
"""
import json
import os
import statistics
import subprocess
import sys

import peer

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(HERE, "..", "build", "release", "benchmarks", "bench")
SKIPPED = 3


def option(arguments, name, default):
    return arguments[arguments.index(name) + 1] if name in arguments else default


def without(arguments, name):
    at = arguments.index(name) if name in arguments else len(arguments)
    return arguments[:at] + arguments[at + 2:]


def peer_arguments(arguments):
    """Returns the arguments of the peer: the workload and all options except those without meaning
    for it. The peer refuses options that it does not have. Its threads are those of all our
    ranks together, 0 being all cores."""
    replicas, shards = (int(n) for n in option(arguments, "--mesh", "1x1").split("x"))
    threads = int(option(arguments, "--threads", 0)) * replicas * shards
    for ours in ("--threads", "--loop", "--peak"):
        arguments = without(arguments, ours)
    return [*arguments, "--threads", str(threads)]


def command_of(mode, program, arguments):
    if mode in ("eager", "compiled"):
        return [sys.executable, os.path.join(HERE, "peer.py"), *peer_arguments(arguments), *(["--compile"] if mode == "compiled" else [])]
    if mode == "graph":
        return [program, *arguments, "--cuda-graph"]
    if mode == "overhead":
        return [program, *arguments, "--loop", "hand"]
    return [program, *without(arguments, "--mesh"), "--mesh", mode]


def last_line(text):
    return json.loads(text.strip().splitlines()[-1])


def in_turns(commands, steps):
    """Runs the programs step by step in turns. Returns their JSON lines and the (wall, cpu) seconds
    of each step of each program."""
    running = [subprocess.Popen([*c, "--paced"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for c in commands]
    times = [[] for _ in commands]
    order = list(range(len(commands)))
    for step in range(steps):
        for i in order if step % 2 == 0 else reversed(order):
            running[i].stdin.write("\n")
            running[i].stdin.flush()
            answer = running[i].stdout.readline().split()
            if not answer:
                sys.exit("compare: this ended early: " + " ".join(commands[i]))
            times[i].append([float(number) for number in answer])
    lines = []
    for program in running:
        try:  # our programs wait once more after the last step
            program.stdin.write("\n")
            program.stdin.close()
        except BrokenPipeError:
            pass
        lines.append(last_line(program.stdout.read()))
        program.wait()
    return lines, times


def apart(commands):
    """Runs the programs one after the other. Returns their JSON lines. If a program other than the
    first fails, its line holds the reason."""
    lines = []
    for mode, command in commands:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode == 0:
            lines.append(last_line(done.stdout))
        elif not lines:
            sys.exit(f"compare: exit code {done.returncode} of " + " ".join(command))
        else:
            why = "out of memory" if done.returncode == peer.OUT_OF_MEMORY else f"exit code {done.returncode}"
            lines.append({"program": mode, "failed": why})
    return lines


def rated(lines):
    """Adds the speed and the share of the peak to the peers' lines, computed from the first line's
    operations."""
    flops, peak = lines[0].get("flops"), lines[0].get("peak_tflop_s")
    for line in lines[1:]:
        if flops and "step_s" in line and "tflop_s" not in line:
            line["tflop_s"] = round(flops / line["step_s"] / 1e12, 4)
        if peak and "tflop_s" in line:
            line["share_of_peak"] = round(line["tflop_s"] / peak, 4)
    return lines


def main():
    modes, arguments = sys.argv[1].split(","), [part for word in sys.argv[2:] for part in word.split("=", 1)]
    one_by_one = "--apart" in arguments
    arguments = [a for a in arguments if a != "--apart"]
    program, steps = option(arguments, "--program", OURS), int(option(arguments, "--steps", 13))
    arguments = without(without(arguments, "--program"), "--steps")
    commands = [[program, *arguments], *(command_of(mode, program, arguments) for mode in modes)]
    commands = [[*c, "--steps", str(steps)] for c in commands]
    lines, times = (apart(list(zip(["ours", *modes], commands))), []) if one_by_one else in_turns(commands, steps)
    for line in rated(lines):
        print(json.dumps(line))
    for i, mode in enumerate(modes, 1):
        ratio = {"compare": mode, "mesh": option(arguments, "--mesh", "1x1"), "dtype": option(arguments, "--dtype", "f32"),
                 "rounds": steps - SKIPPED}
        for at, name in enumerate(("wall", "cpu")):
            if one_by_one:
                seconds = ("step_s", "step_cpu_s")[at]
                ratio[name + "_ratio"] = round(lines[i][seconds] / lines[0][seconds], 4) if seconds in lines[i] else None
                continue
            ours, theirs = ([t[at] for t in one[SKIPPED:]] for one in (times[0], times[i]))
            ratio[name + "_ratio"] = round(statistics.median(theirs) / statistics.median(ours), 4)
            ratio[name + "_ratio_of_rounds"] = round(statistics.median(b / a for a, b in zip(ours, theirs)), 4)
        print(json.dumps(ratio))
    sys.exit(1 if any("failed" in line for line in lines) else 0)


if __name__ == "__main__":
    main()
