"""Compares predicted with measured step times of plans over processes of this machine.

    hosts_compare.py [--rounds 3] [--machine MACHINE.json]

Each round measures the machine anew, alone and as two and as four processes (redco-calibrate),
unless a file is given. Then benchmarks/hosts trains as two and as four processes. A disturbance of
the machine thus affects predictions and steps alike. TCP joins the processes (REDCO_*).

Prints a table of medians over the rounds, and the rank correlation of predicted and measured times.
Exit code 1 if the correlation is below 0.9 or a prediction is off by more than 15 %.
"""
import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile

BUILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "release")
CALIBRATE = os.path.join(BUILD, "tools", "redco-calibrate")
HOSTS = os.path.join(BUILD, "benchmarks", "hosts")


def started(processes, words):
    """Runs the command as this number of processes, which meet at a free port. Returns what the
    first process prints."""
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
    """Returns the index of each value in ascending order. Equal values share the mean of their
    indices."""
    return [sum(other < one for other in values) + (sum(other == one for other in values) - 1) / 2 for one in values]


def one_round(machine, rows):
    """Appends to rows[mesh, dtype, micro-batch]: predicted seconds, the messages' part of them,
    measured seconds."""
    with tempfile.TemporaryDirectory() as folder:
        if not machine:
            machine = os.path.join(folder, "machine.json")
            subprocess.run([CALIBRATE, "--machine", machine], check=True, stdout=subprocess.DEVNULL)
            for processes in (2, 4):
                started(processes, [CALIBRATE, "--machine", machine])
        for processes in (2, 4):
            work = os.path.join(folder, str(processes))
            for line in started(processes, [HOSTS, "--machine", machine, "--folder", work]).splitlines():
                mesh, dtype, at_once, predicted, messages, *seconds = line.split()
                row = rows.setdefault((mesh, dtype, at_once), ([], [], []))
                row[0].append(float(predicted))
                row[1].append(float(messages))
                row[2].extend(map(float, seconds))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--machine")
    settings = arguments.parse_args()
    rows = {}
    for _ in range(settings.rounds):
        one_round(settings.machine, rows)
    table = {key: [statistics.median(column) for column in row] for key, row in rows.items()}
    print("| mesh | dtype | micro-batch | predicted ms | of it messages | measured ms | error |\n|---|---|---|---|---|---|---|")
    predicted, measured = [], []
    for (mesh, dtype, at_once), (ours, messages, theirs) in sorted(table.items(), key=lambda row: row[1][0]):
        predicted.append(ours)
        measured.append(theirs)
        print("| %s | %s | %s | %.1f | %.1f | %.1f | %+.0f %% |" % (mesh, dtype, at_once, 1e3 * ours, 1e3 * messages, 1e3 * theirs,
                                                              100 * (ours / theirs - 1)))
    correlation = statistics.correlation(ranks_of(predicted), ranks_of(measured))
    errors = sorted(abs(p / m - 1) for p, m in zip(predicted, measured))
    print("\nrank correlation of %d plans: %.3f; error: median %.0f %%, largest %.0f %%" %
          (len(rows), correlation, 100 * statistics.median(errors), 100 * errors[-1]))
    return 0 if correlation >= 0.9 and errors[-1] <= 0.15 else 1


if __name__ == "__main__":
    sys.exit(main())
