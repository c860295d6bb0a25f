#!/usr/bin/env python3
"""Checks that the hosts of tests leave nothing after a test is killed or fails.

    cleanup.py FOLDER
"""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import two_hosts


def mark_of(folder):
    return f"of {folder}"


def host_processes(folder):
    """Returns the processes that a test in `folder` has started on its hosts."""
    mark = mark_of(folder).encode()
    all = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = one.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:1] == [b"sh"] and mark in words:
            all.append(one.parent.name)
    return all


def waiting(hosts):
    for host in hosts.all:
        host.start(f"{host.name}.waits", ["sh", "-c", "echo waits; sleep 600; :", mark_of(hosts.work)]).await_text("waits", 20)
    print("waits", flush=True)
    if "fail" in sys.argv:
        raise AssertionError("as asked")
    time.sleep(600)


def become(count, folder, seconds, otherwise):
    """Waits for a number of processes; a shell that forks is two for a moment."""
    end = time.monotonic() + seconds
    while len(found := host_processes(folder)) != count:
        assert time.monotonic() < end, f"{otherwise}: {found}"
        time.sleep(0.05)


def ended(work, how):
    folder = work / str(how)
    test = subprocess.Popen([sys.executable, __file__, "inside", folder, *(["fail"] if how == "fail" else [])],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    first = test.stdout.readline()
    if first.startswith("skipped"):
        two_hosts.skip(first.removeprefix("skipped: ").strip())
    assert first == "waits\n", f"a test says '{first}'"
    if how != "fail":
        become(2, folder, 100, "the hosts run nothing, or too much")
        os.kill(test.pid, how)
    code = test.wait(20)
    assert code != 0, "a test that is ended passes"
    become(0, folder, 100, "processes outlive their test")


if __name__ == "__main__":
    if sys.argv[1] == "inside":
        two_hosts.run(sys.argv[2], waiting)
    for how in signal.SIGTERM, signal.SIGKILL, "fail":
        ended(Path(sys.argv[1]).resolve(), how)
