#!/usr/bin/env python3
"""Checks faults on one of two hosts while collectives run. All other processes must end in time,
with exit code 69 and one sentence with the missing rank, its host and the collective.

    faults.py --work FOLDER --laws PROGRAM [--mpirun PROGRAM]
"""
import argparse
import os
import re
import signal
import time
from pathlib import Path

import two_hosts

DEADLINE = 5
PEER_LOST, RENDEZVOUS = 69, 76
CALL = r"in all_reduce\(sum\) of Float \[20000\] for 'grads', call \d+ of group world"
LANE = rf"in step 7, {CALL} lane"
COLLECTIVE = rf"waited {1000 * DEADLINE} ms {CALL} for rank "


def sum_on(hosts, name, program, each, *how):
    return hosts.by_hand(name, each, [program, "--endless", "--deadline", DEADLINE, *how])


def await_sums(started):
    for one in started:
        one.await_text("sums\n", 60)


def end_with(code, processes):
    """Checks the exit codes of processes, which must end within ten deadlines."""
    end = time.monotonic() + 10 * DEADLINE
    for one in processes:
        found = one.end(end - time.monotonic())
        assert found == code, f"{one.out.name} ended with {found}, not {code}: {one.text}"


def one_sentence(processes, words):
    errors = re.findall(r"^error: .*", "".join(one.text for one in processes), re.MULTILINE)
    assert len(errors) == 1 and re.search(words, errors[0]), f"not one sentence with '{words}': {errors}"


# Each fault is a generator in three phases, so that several faults run concurrently: it starts
# processes, breaks something, and checks the result.


def signalled(hosts, program, each, rank, which, words, *how):
    all = sum_on(hosts, f"{which.name}_{rank}{''.join(how)}", program, each, *how)
    yield
    await_sums(all)
    os.kill(all[rank].popen.pid, which)
    yield
    survivors = [one for one in all if one is not all[rank]]
    end_with(PEER_LOST, survivors)
    one_sentence(survivors, words)
    all[rank].popen.kill()


def rank_busy(hosts, program):
    """The process of rank 0 lives and reports it: rank 1 waits until the deadline and does not
    take it for dead."""
    all = hosts.by_hand("busy", 1, [program, "--endless", "--deadline", DEADLINE, "--busy", DEADLINE + 4])
    yield
    await_sums(all)
    yield
    end_with(PEER_LOST, all)
    one_sentence(all, r"rank 1: " + COLLECTIVE + r"0 on node1 \(10.7.0.1\), which did not come")


def mpi_rank_stopped(hosts, program, mpirun):
    """mpirun kills the stopped process once another process has ended."""
    says_who = ["sh", "-c", f"echo pid $OMPI_COMM_WORLD_RANK $$; exec {program} --endless --deadline {DEADLINE}"]
    run = hosts.mpirun("mpirun_stopped", mpirun, 1, says_who)
    yield
    run.await_text(r"(?s)sums\n.*sums\n", 60)
    os.kill(int(re.search(r"pid 1 (\d+)", run.text).group(1)), signal.SIGSTOP)
    yield
    end_with(PEER_LOST, [run])
    one_sentence([run], r"rank 0: " + COLLECTIVE + "1 on node2, which did not come")


def link_cut(hosts, program):
    all = sum_on(hosts, "cut", program, 2)
    yield
    await_sums(all)
    hosts.cut()
    yield
    end_with(PEER_LOST, all)
    one_sentence(all[:2], r"rank [01]: " + COLLECTIVE + r"[23] on node2 \(10.7.0.2\)")
    one_sentence(all[2:], r"rank 0: its process on node1 \(10.7.0.1\) does not answer: it is stopped, or the way to it is cut")


def host_away(hosts, program):
    """After the cut the hosts do not find each other."""
    all = hosts.by_hand("away", 1, [program, "--deadline", DEADLINE])
    yield
    end_with(RENDEZVOUS, all)
    one_sentence(all[:1], r"process 0 of 2 .* 0 came, 1 did not")
    one_sentence(all[1:], rf"process 1 of 2 .* meet at node1:\d+: process 0 does not let it in within {1000 * DEADLINE} ms")


def pass_at_once(*faults):
    for phase in range(3):
        for one in faults:
            next(one, None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in "work", "laws":
        parser.add_argument(f"--{name}", type=lambda name: Path(name).resolve(), required=True)
    parser.add_argument("--mpirun")
    options = parser.parse_args()

    def test(hosts):
        node1, node2 = r"node1 \(10.7.0.1\)", r"node2 \(10.7.0.2\)"
        pass_at_once(
            signalled(hosts, options.laws, 2, 3, signal.SIGKILL,
                      f"rank 3: its process on {node2} is gone without a word: .*; rank 0 waits {CALL}$"),
            signalled(hosts, options.laws, 1, 1, signal.SIGSTOP, f"rank 0: {COLLECTIVE}1 on {node2}, which did not come"),
            signalled(hosts, options.laws, 1, 0, signal.SIGSTOP, f"rank 0: its process on {node1} does not answer"),
            signalled(hosts, options.laws, 1, 1, signal.SIGSTOP,
                      f"rank 0: waited {1000 * DEADLINE} ms {LANE} for rank 1 on {node2}, which did not come", "--lane"),
            signalled(hosts, options.laws, 1, 1, signal.SIGKILL,
                      f"rank 1: its process on {node2} is gone without a word: .*; rank 0 waits {LANE}$", "--lane"),
            rank_busy(hosts, options.laws),
            *([mpi_rank_stopped(hosts, options.laws, options.mpirun)] if options.mpirun else []))
        pass_at_once(link_cut(hosts, options.laws))
        pass_at_once(host_away(hosts, options.laws))

    two_hosts.run(options.work, test)
