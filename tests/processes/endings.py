#!/usr/bin/env python3
"""Checks how processes end if others do not arrive, stop, or are gone: in time, and with a correct
message.

    endings.py late|stopped_at_start|stopped_in_first_step PROCESSES PROGRAM ARGUMENTS...
    endings.py resumed|rests|stopped_at_rest PROCESSES
    endings.py stopped_at_rest_by_mpirun PROCESSES [MPIRUN]

PROCESSES is `processes` of this folder, PROGRAM is a program that trains.
"""
import os
import re
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "hosts"))
from two_hosts import MPI, skip

from strangers import PEER_LOST, RENDEZVOUS, Job, Process

DEADLINE = 2
IN_TIME = 10 * DEADLINE


def stop(process):
    os.kill(process.popen.pid, signal.SIGSTOP)


def resume(process):
    os.kill(process.popen.pid, signal.SIGCONT)


def trains(program, arguments, deadline=DEADLINE):
    return Job(program, 2, [*arguments, "--mesh", "2x1", "--deadline", deadline])


def late(_, program, arguments):
    trains(program, arguments).start(0).end(RENDEZVOUS, "0 came, 1 did not within 2000 ms", IN_TIME)


def stopped_at_start(_, program, arguments):
    job = trains(program, arguments)
    job.start(0).await_door()
    stop(job.start(1))
    job.all[0].end(RENDEZVOUS, "0 came, 1 did not within 2000 ms", IN_TIME)


def stopped_in_first_step(_, program, arguments):
    start_in_time = 12  # seconds to start a program with libtorch on a busy machine
    job = trains(program, arguments, start_in_time)
    job.start(0).await_door()
    job.start(1)
    while job.all[0].doors():
        time.sleep(0.001)
    stop(job.all[1])  # the processes have just met
    job.all[0].end(PEER_LOST, "for rank 1 on ", start_in_time + IN_TIME)


def resumed(processes, *_):
    """A process that was stopped and continues after the others have given it up must not report
    that they were killed."""
    for which in 0, 1:
        job = Job(processes, 2, ["--endless", "--deadline", 8])
        for process in 0, 1:
            job.start(process)
        for one in job.all:
            one.await_text("sums\n")
        stopped, other = job.all[which], job.all[1 - which]
        stop(stopped)
        other.end(PEER_LOST, "", IN_TIME)
        resume(stopped)
        stopped.end(PEER_LOST, f"rank {1 - which}", IN_TIME)
        assert "killed" not in stopped.text, stopped.text


def rests(processes, *_):
    """A process that continues after its last run is waited for, however long it computes alone."""
    job = Job(processes, 2, ["--runs", 0, "--rest", 20])
    for process in 0, 1:
        job.start(process)
    job.all[1].await_text("rests\n")
    time.sleep(13)  # after ten seconds without a sign of life a process is given up
    assert job.all[0].popen.poll() is None, f"does not wait: {job.all[0].read()}"
    for one in job.all:
        one.end(0, "all holds")


def stopped_at_rest(processes, *_):
    job = Job(processes, 3, ["--runs", 0, "--rest", 5])
    for process in 0, 1, 2:
        job.start(process)
    job.all[2].await_text("rests\n")
    stop(job.all[2])
    for one in job.all[:2]:
        one.end(0, "has not shown for 10 s that it lives, and is not waited for", 100)
    resume(job.all[2])
    job.all[2].end(0, "all holds")


def stopped_at_rest_by_mpirun(processes, mpirun=None, *_):
    if not mpirun:
        skip("no MPI: install libopenmpi-dev and openmpi-bin, configure again")
    says_who = ["sh", "-c", f"echo process $OMPI_COMM_WORLD_RANK is $$.; exec {processes} --runs 0 --rest 5"]
    here = {name: value for name, value in MPI.items() if "10.7" not in value}  # no network of two hosts
    job = Process(mpirun, ["-n", 3, *says_who], {**here, "OMPI_MCA_rmaps_base_oversubscribe": "1",
                                                 "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"})
    job.await_text("rests\n")
    stopped = int(re.search(r"process 2 is (\d+)\.", job.text).group(1))
    os.kill(stopped, signal.SIGSTOP)
    try:
        job.await_text("process 2 on ", 60)
        job.popen.wait(60)  # mpirun ends the stopped process once the others have ended
        reports = job.read().count("has not shown for 10 s that it lives, and is not waited for")
        assert reports == 2, f"{reports} of the 2 others say whom they do not wait for: {job.text}"
    finally:
        if job.popen.poll() is None:
            os.kill(stopped, signal.SIGKILL)


if __name__ == "__main__":
    check, processes, *trainer = sys.argv[1:]
    checks = [late, stopped_at_start, stopped_in_first_step, resumed, rests, stopped_at_rest, stopped_at_rest_by_mpirun]
    try:
        {one.__name__: one for one in checks}[check](processes, *trainer[:1], trainer[1:])
    finally:
        for process in Process.started:
            process.popen.kill()
            process.popen.wait()
