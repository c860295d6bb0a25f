"""Checks benchmarks/compare.py: the arguments of the peer, the rating of peers, and the report of
programs that fail."""
import sys

sys.path.insert(0, sys.argv[1])
import compare

arguments = {
    "W1": "W1 --threads 0",
    "W1 --mesh 1x2 --dtype bf16": "W1 --mesh 1x2 --dtype bf16 --threads 0",
    "W2 --threads 3 --mesh 2x2 --dropout 0.1": "W2 --mesh 2x2 --dropout 0.1 --threads 12",
    "W1 --loop hand --threads 2": "W1 --threads 2",
    "W1 --unheard-of 7": "W1 --unheard-of 7 --threads 0",
    "L1 --device cuda --batch 4 --length 512 --peak 989": "L1 --device cuda --batch 4 --length 512 --threads 0",
}
for ours, theirs in arguments.items():
    found = " ".join(compare.peer_arguments(ours.split()))
    if found != theirs:
        sys.exit(f"{ours}: the peer gets {found}, not {theirs}")

# A peer's speed follows from our number of operations and its own step time.
rated = compare.rated([{"flops": 3e12, "peak_tflop_s": 60.0, "step_s": 1.0}, {"step_s": 0.25}, {"failed": "out of memory"}])
if rated[1:] != [{"step_s": 0.25, "tflop_s": 12.0, "share_of_peak": 0.2}, {"failed": "out of memory"}]:
    sys.exit(f"peers are rated {rated[1:]}")

# Programs one after the other: a failure of a program other than ours is reported, and the next
# program runs.
works = ["sh", "-c", "echo words; echo '{\"step_s\": 2}'"]
report = compare.apart([("ours", works), ("eager", ["sh", "-c", "exit 75"]), ("graph", ["sh", "-c", "exit 64"]), ("1x2", works)])
if report != [{"step_s": 2}, {"program": "eager", "failed": "out of memory"}, {"program": "graph", "failed": "exit code 64"}, {"step_s": 2}]:
    sys.exit(f"the report of programs that run one after the other is {report}")
