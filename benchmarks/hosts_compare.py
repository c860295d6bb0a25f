"""Predicted beside measured step times of plans over processes of this machine: one prediction and the median of several rounds.

    hosts_compare.py MACHINE.json [--rounds 3] [--calibrate PROGRAM]

First redco-calibrate, PROGRAM, adds the links between two processes and between four to MACHINE.json.

Each round starts benchmarks/hosts as two processes and as four, which TCP joins (REDCO_*). Prints a table and the rank
correlation of predicted and measured times; exit code 1 where it is below 0.9 or a prediction is off by more than 15 %.
"""
import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("REDCO_HOSTS", os.path.join(HERE, "..", "build", "release", "benchmarks", "hosts"))


def started(processes, words):
    """What the first of so many processes prints; they meet at a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        meet = "127.0.0.1:%d" % free.getsockname()[1]
    running = []
    for process in range(processes):
        environment = dict(os.environ, REDCO_PROCESSES=str(processes), REDCO_PROCESS=str(process), REDCO_MEET=meet,
                           REDCO_PROCESSES_HERE=str(processes))
        running.append(subprocess.Popen(words, env=environment, text=True, stderr=None if process == 0 else subprocess.DEVNULL,
                                        stdout=subprocess.PIPE if process == 0 else subprocess.DEVNULL))
    text = running[0].communicate()[0]
    if any(process.wait() for process in running):
        sys.exit("hosts_compare: this failed as %d processes: %s" % (processes, " ".join(words)))
    return text


def ranks_of(values):
    """Positions in rising order; equal values share the mean of theirs."""
    return [sum(other < one for other in values) + (sum(other == one for other in values) - 1) / 2 for one in values]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("machine")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--calibrate")
    given = arguments.parse_args()
    for processes in (2, 4) if given.calibrate else ():
        sys.stderr.write(started(processes, [given.calibrate, "--machine", given.machine]))
    rows = {}
    for _ in range(given.rounds):
        for processes in (2, 4):
            with tempfile.TemporaryDirectory() as folder:
                text = started(processes, [PROGRAM, "--machine", given.machine, "--folder", folder])
            for line in text.splitlines():
                mesh, dtype, at_once, predicted, messages, *seconds = line.split()
                row = rows.setdefault((mesh, dtype, at_once), (float(predicted), float(messages), []))
                row[2].extend(map(float, seconds))
    print("| mesh | dtype | micro-batch | predicted ms | of it messages | measured ms | error |\n|---|---|---|---|---|---|---|")
    predicted, measured = [], []
    for (mesh, dtype, at_once), (seconds, messages, all_seconds) in sorted(rows.items(), key=lambda row: row[1][0]):
        predicted.append(seconds)
        measured.append(statistics.median(all_seconds))
        print("| %s | %s | %s | %.1f | %.1f | %.1f | %+.0f %% |" % (mesh, dtype, at_once, 1e3 * seconds, 1e3 * messages,
                                                              1e3 * measured[-1], 100 * (seconds / measured[-1] - 1)))
    correlation = statistics.correlation(ranks_of(predicted), ranks_of(measured))
    errors = sorted(abs(p / m - 1) for p, m in zip(predicted, measured))
    print("\nrank correlation of %d plans: %.3f; error: median %.0f %%, largest %.0f %%" %
          (len(rows), correlation, 100 * statistics.median(errors), 100 * errors[-1]))
    return 0 if correlation >= 0.9 and errors[-1] <= 0.15 else 1


if __name__ == "__main__":
    sys.exit(main())
