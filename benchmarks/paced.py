"""Runs steps of several programs in turns. A disturbance of the machine thus affects all.
"""
import atexit
import json
import os
import signal
import statistics
import subprocess
import sys

SKIPPED = 3  # first steps that medians leave out


class Paced:
    """A program as several processes, `each` on each host (0: one on the first host), that runs a
    step only in its turn."""

    def __init__(self, hosts, name, each, command, environment):
        self.name, self.work, self.seconds, self.cpu, port = name, hosts.work, [], [], next(hosts.ports)
        numbers = hosts.process_numbers(each) or [(0, 0)]
        self.processes = [subprocess.Popen(hosts.all[number].inside(*command), text=True, stdin=subprocess.PIPE,
                                           stdout=subprocess.PIPE if process == 0 else subprocess.DEVNULL,
                                           stderr=self.log(process).open("w"),
                                           env={**os.environ, **environment(len(numbers), process, port)})
                          for number, process in numbers]
        atexit.register(self.kill)

    def kill(self):
        for one in self.processes:
            one.kill()

    def log(self, process):
        return self.work / f"{self.name.replace(' ', '_')}.{process}"

    def signal(self, which):
        for one in self.processes:
            one.send_signal(which)

    def turn(self):
        self.signal(signal.SIGCONT)
        for one in self.processes:
            one.stdin.write("\n")
            one.stdin.flush()
        answer = self.processes[0].stdout.readline().split()
        if not answer:
            sys.exit(f"{self.name} ended early: {self.log(0).read_text()[-2000:]}")
        self.seconds.append(float(answer[0]))
        self.cpu.append(float(answer[1]))
        self.signal(signal.SIGSTOP)

    def line(self):
        """Returns the JSON line that the program prints at its end. Our program waits once more
        before it."""
        self.signal(signal.SIGCONT)
        for one in self.processes:
            try:
                one.stdin.write("\n")
                one.stdin.close()
            except BrokenPipeError:
                pass
        text = self.processes[0].stdout.read()
        for one in self.processes:
            one.wait()
        return json.loads(text.strip().splitlines()[-1])

    def typical(self):
        return statistics.median(self.seconds[SKIPPED:])

    def typical_cpu(self):
        """Returns the median processor seconds of a step of the first process."""
        return statistics.median(self.cpu[SKIPPED:])
