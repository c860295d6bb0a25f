"""The environment that Kubeflow's operators give to each pod of a manifest, in the order of ranks:
training operator 1.9 for a PyTorchJob, trainer 2 with its runtime torch-distributed for a
TrainJob."""


SECRET = "the value of the Secret redco"


def variables_of(entries):
    """Returns the variables of a container's `env`. A value from a Secret is SECRET."""
    return {one["name"]: SECRET if "valueFrom" in one else one["value"] for one in entries}


def pods_of_pytorch_job(job):
    name, specs = job["metadata"]["name"], job["spec"]["pytorchReplicaSpecs"]
    nodes = sum(spec.get("replicas", 1) for spec in specs.values())
    each = job["spec"].get("nprocPerNode", "auto")
    container = next(one for one in specs["Master"]["template"]["spec"]["containers"] if one["name"] == "pytorch")
    port = next((one["containerPort"] for one in container.get("ports", []) if one.get("name") == "pytorchjob-port"), 23456)
    return [{
        "PYTHONUNBUFFERED": "1",
        "MASTER_ADDR": f"{name}-master-0", "PET_MASTER_ADDR": f"{name}-master-0",
        "MASTER_PORT": str(port), "PET_MASTER_PORT": str(port),
        "WORLD_SIZE": str(nodes * (int(each) if each.isdigit() else 1)), "RANK": str(rank),
        "PET_NODE_RANK": str(rank), "PET_NPROC_PER_NODE": each, "PET_NNODES": str(nodes),
        **variables_of(container.get("env", [])),
    } for rank in range(nodes)]


def pods_of_train_job(job):
    name, trainer = job["metadata"]["name"], job["spec"]["trainer"]
    resources = trainer.get("resourcesPerNode", {})
    cpus = resources.get("requests", {}).get("cpu") or resources.get("limits", {}).get("cpu") or 1
    nodes = trainer.get("numNodes", 1)
    return [{
        "PET_NNODES": str(nodes), "PET_NPROC_PER_NODE": str(trainer.get("numProcPerNode", cpus)), "PET_NODE_RANK": str(rank),
        "PET_MASTER_ADDR": f"{name}-node-0-0.{name}", "PET_MASTER_PORT": "29500", **variables_of(trainer.get("env", [])),
    } for rank in range(nodes)]


def pods_of(job):
    return {"PyTorchJob": pods_of_pytorch_job, "TrainJob": pods_of_train_job}[job["kind"]](job)
