"""Runs benchmarks/generation.cpp, on one rank and on two, and generation_peer.py in turns. Prints
their JSON lines and the ratios of tok/s.

    generation_compare.py [--rounds 6] [--batch 1 8] [--beams 1 4] [--tokens 128] [--threads 2]

The programs decode in turns, so that a disturbance of the machine affects all of them. The first
decoding does not count. If other programs use the cores too, --threads 1 and the ratio of processor
times say more than wall times.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.environ.get("REDCO_GENERATION", os.path.join(HERE, "..", "build", "release", "benchmarks", "generation"))


def case(options, batch, beams):
    rounds, meshes = options.rounds, ["1x1", "1x2"] if options.threads > 1 else ["1x1"]
    names = [*meshes, "transformers"]
    same = ["--batch", str(batch), "--beams", str(beams), "--rounds", str(rounds), "--tokens", str(options.tokens),
            "--threads", str(options.threads), "--paced"]
    commands = [[OURS, "--mesh", mesh, *same] for mesh in meshes]
    commands.append([sys.executable, os.path.join(HERE, "generation_peer.py"), *same])
    running = [subprocess.Popen(c, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for c in commands]
    times = {name: [] for name in names}
    for turn in range(rounds):
        for i in range(len(names)):
            i = (i + turn) % len(names)
            running[i].stdin.write("\n")
            running[i].stdin.flush()
            answer = running[i].stdout.readline().split()
            if not answer:
                sys.exit("generation_compare: this ended early: " + " ".join(commands[i]))
            times[names[i]].append([float(number) for number in answer])
    for program in running:
        try:  # our programs wait once more after the last decoding
            program.stdin.write("\n")
            program.stdin.close()
        except BrokenPipeError:
            pass
        print(program.stdout.read().strip().splitlines()[-1])
        program.wait()
    line = {"compare": "generate", "batch": batch, "beams": beams, "threads": options.threads, "rounds": rounds - 1}
    for at, unit in enumerate(("wall", "cpu")):
        typical = {name: statistics.median(t[at] for t in times[name][1:]) for name in names}
        for name in names:
            if unit == "wall":
                line["tok_s_" + name] = round(batch * options.tokens / typical[name], 1)
            if name in meshes:
                line[unit + "_ratio_" + name] = round(typical["transformers"] / typical[name], 3)
    print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    for beams in options.beams:
        for batch in options.batch:
            case(options, batch, beams)


if __name__ == "__main__":
    main()
