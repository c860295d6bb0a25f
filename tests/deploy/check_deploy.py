#!/usr/bin/env python3
"""Checks deploy/. The manifests are valid for their operators and invalid after each change that
the operators refuse. options/launch knows the variables that the operators set. The lines of the
Dockerfile name existing files and options.

    check_deploy.py
"""
import copy
import json
import os
import re
import sys
from pathlib import Path

try:
    import jsonschema
    import yaml
except ImportError as e:
    if os.environ.get("CI") == "true":
        sys.exit(f"CI lacks what this test needs: {e}; run scripts/setup --tests")
    print(f"skipped: {e}; scripts/setup --tests installs python3-yaml and python3-jsonschema")
    sys.exit(77)

from operators import pods_of

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "tests/files/deploy"


def manifest(name):
    return yaml.safe_load((ROOT / "deploy" / name).read_text())


def validator(name):
    schema = json.loads((SCHEMAS / name).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema, resolver=jsonschema.RefResolver(f"{SCHEMAS.as_uri()}/{name}", schema))


def changed(job, path, value):
    """Returns the manifest with another value at a path such as "spec/trainer/image", or without
    it."""
    job = copy.deepcopy(job)
    *way, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    at = job
    for step in way:
        at = at[step]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return job


def check_manifest(name, schema, mistakes):
    job, check = manifest(name), validator(schema)
    problems = [f"{'/'.join(map(str, one.path))}: {one.message}" for one in check.iter_errors(job)]
    assert not problems, f"deploy/{name}: {problems}"
    for path, value in mistakes:
        assert not check.is_valid(changed(job, path, value)), f"{schema} takes deploy/{name} with {path} = {value}"
    return job


def check_variables(job, nodes):
    """Checks that each pod is one process, and that the library reads every variable that is set.
    """
    known = set(re.findall(r'"([A-Z][A-Z_]+)"', (ROOT / "include/redco/options/launch.inl.hpp").read_text()))
    pods = pods_of(job)
    assert len(pods) == nodes, f"{len(pods)} pods, not {nodes}"
    for rank, variables in enumerate(pods):
        unknown = variables.keys() - known - {"PYTHONUNBUFFERED"}
        assert not unknown, f"a {job['kind']} sets {unknown}, which options/launch does not read"
        assert variables["PET_NNODES"] == str(nodes) and variables["PET_NODE_RANK"] == str(rank)
        assert variables["PET_NPROC_PER_NODE"] == "1", "one process for each pod"
        assert len(variables["REDCO_SECRET"]) >= 16, "pods meet on a network, so they need a secret"


def check_command(command, arguments):
    folder, program = command[0].rsplit("/", 1)
    assert folder == "build/release/examples" and (ROOT / "examples" / f"{program}.cpp").exists(), f"no program {command[0]}"
    assert "--workdir" in arguments and arguments[arguments.index("--resume") + 1] == "auto", "a job that is started again goes on"


def check_dockerfile():
    lines = re.sub(r"\\\n", " ", (ROOT / "deploy/Dockerfile").read_text()).splitlines()
    steps = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    assert steps[0][0] == "FROM" and re.fullmatch(r"debian:\d+", steps[0][1]), steps[0]
    copied, ran = set(), []
    for what, rest in steps[1:]:
        if what == "COPY":
            *sources, _ = rest.split()
            for source in sources:
                assert (ROOT / source).exists(), f"COPY {source}: it is not there"
            copied |= set(sources)
        if what == "RUN":
            for command in rest.split("&&"):
                check_step(command.split(), copied)
                ran.append(command.split()[0])
    assert ran[:1] == ["scripts/setup"] and "cmake" in ran, f"installs, then builds: {ran}"


def check_step(words, copied):
    if words[0] == "scripts/setup":
        # Only scripts/setup contains names of packages.
        assert words[0] in copied and os.access(ROOT / words[0], os.X_OK), "scripts/setup is not copied before it runs"
        usage = (ROOT / words[0]).read_text()
        assert all(f"    {option})" in usage for option in words[1:]), f"scripts/setup has no {words[1:]}"
    elif words[0] == "cmake":
        presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
        options = re.findall(r"^option\((\w+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
        if "--preset" in words:
            assert words[words.index("--preset") + 1] in [one["name"] for one in presets if not one.get("hidden")]
        else:
            assert words[1:] == ["--build", "build/release"], words
        for word in words:
            assert not word.startswith("-D") or word[2:].split("=")[0] in options, f"no option {word}"
    else:
        raise AssertionError(f"the Dockerfile runs {words[0]}: only scripts/setup and cmake are checked here")


if __name__ == "__main__":
    pods = "spec/pytorchReplicaSpecs"
    job = check_manifest("pytorchjob.yaml", "pytorchjob.schema.json", [
        ("apiVersion", "kubeflow.org/v2"), ("kind", "TrainJob"), ("metadata/name", "Redco"), ("spec/nprocPerNode", 1),
        ("spec/replicas", 4), (f"{pods}/Master", None), (f"{pods}/Master/replicas", 2), (f"{pods}/Worker/replicas", "3"),
        (f"{pods}/Worker/restartPolicy", "OnError"), (f"{pods}/Worker/template/spec/containers", []),
        (f"{pods}/Master/template/spec/containers/0/name", "trainer"), (f"{pods}/Master/template/spec/containers/0/image", None),
        (f"{pods}/Master/template/spec/containers/0/ports/0/containerPort", 0),
        (f"{pods}/Master/template/spec/containers/0/resources/requests/memory", "8 GB")])
    check_variables(job, 4)
    container = job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    check_command(container["command"], container["args"])

    pod = "spec/runtimePatches/0/trainingRuntimeSpec/template/spec/replicatedJobs/0"
    job = check_manifest("trainjob.yaml", "trainjob.schema.json", [
        ("apiVersion", "trainer.kubeflow.org/v1"), ("kind", "PyTorchJob"), ("metadata", {}), ("spec/runtimeRef", None),
        ("spec/runtimeRef/name", None), ("spec/trainer/numNodes", "4"), ("spec/trainer/numProcPerNode", "auto"),
        ("spec/trainer/replicas", 4), ("spec/runtimePatches/0/manager", None), (f"{pod}/name", "worker"),
        (f"{pod}/template/spec/template/spec/containers/0/image", "redco"),
        (f"{pod}/template/spec/template/spec/containers/0/name", "pytorch")])
    check_variables(job, 4)
    check_command(job["spec"]["trainer"]["command"], job["spec"]["trainer"]["args"])
    # Without numProcPerNode the operator counts CPUs.
    assert pods_of(changed(job, "spec/trainer/numProcPerNode", None))[0]["PET_NPROC_PER_NODE"] == "4"
    check_dockerfile()
