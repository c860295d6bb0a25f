#!/usr/bin/env python3
"""Starts a program as several processes that TCP joins, as a user would by hand. Ends with the
largest exit code of them.

    start.py [--late] NUMBER PROGRAM ARGUMENTS...

--late: the last process never starts.
"""
import os
import socket
import subprocess
import sys

arguments = sys.argv[1:]
late = arguments[0] == "--late"
if late:
    arguments.pop(0)
number, program = int(arguments[0]), arguments[1:]
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
started = [
    subprocess.Popen(program, env={**os.environ, "REDCO_PROCESSES": str(number), "REDCO_PROCESS": str(process),
                                   "REDCO_MEET": f"127.0.0.1:{port}", "REDCO_PROCESSES_HERE": str(number)})
    for process in range(number - late)
]
codes = [one.wait() for one in started]
sys.exit(max(code if code >= 0 else 128 - code for code in codes))
