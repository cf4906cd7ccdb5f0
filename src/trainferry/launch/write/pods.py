"""What the pods of a Kubernetes Job and of a Kubeflow TrainJob share: devices, volumes, script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from trainferry.errors import UsageError
from trainferry.launch.environment import DEFAULT_PORT
from trainferry.launch.write.files import filled, on_one_line
from trainferry.launch.write.node_script import node_arguments, node_script
from trainferry.launch.write.plan import LaunchPlan
from trainferry.launch.write.yaml_text import Block, Noted, Yaml, yaml_document

SCRIPT = "/etc/trainferry/start.sh"
# Where Ascend's own operators mount the rank table, and how they call its config map.
RANK_TABLE = PurePosixPath("/user/serverid/devindex/config/hccl.json")
_RESOURCES = {"npu": "huawei.com/Ascend910", "cuda": "nvidia.com/gpu"}


@dataclass(frozen=True, kw_only=True)
class KubernetesOptions:
    """What a cluster asks for beyond the plan."""

    namespace: str | None = None
    resource: str | None = None  # the device plugin's name of the devices
    cpu: str | None = None  # quantities for each pod, such as 32 and 256Gi
    memory: str | None = None
    data_claim: str | None = None  # volume claims; without them NAME-data and NAME-output
    output_claim: str | None = None
    scheduler: str | None = None  # volcano, where Ascend's device plugin needs it
    runtime: str = "torch-distributed"  # of the TrainJob

    def __post_init__(self) -> None:
        for name in ("namespace", "data_claim", "output_claim", "scheduler", "runtime"):
            _check(name, getattr(self, name), r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?")
        _check("resource", self.resource, r"[a-z0-9.-]+/[A-Za-z0-9._-]{1,63}")
        for name in ("cpu", "memory"):
            _check(name, getattr(self, name), r"[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?")


def metadata(name: str, options: KubernetesOptions) -> dict[str, Yaml]:
    place: dict[str, Yaml] = {"namespace": options.namespace} if options.namespace else {}
    return {"name": name, **place}


def container_command(plan: LaunchPlan) -> tuple[list[Yaml], list[Yaml]]:
    """Command and arguments of the container: the script, and the words it is called with."""
    return ["bash", SCRIPT], [unexpanded(word) for word in node_arguments(plan)]


def unexpanded(text: str) -> str:
    """`text` so that Kubernetes, which replaces $(NAME) in commands and values, leaves it alone."""
    return text.replace("$", "$$")


def variables(plan: LaunchPlan) -> list[Yaml]:
    """The plan's variables, and this machine's address as Ascend's programs expect it."""
    given: list[Yaml] = [
        {"name": name, "value": unexpanded(value)} for name, value in plan.environment.items()
    ]
    if plan.rank_table:
        host: Yaml = {"fieldRef": {"fieldPath": "status.hostIP"}}
        note = "The machine's address: how the rank table calls it."
        given.append(Noted({"name": "XDL_IP", "valueFrom": host}, note))
    return given


def resources(plan: LaunchPlan, options: KubernetesOptions) -> dict[str, Yaml]:
    """Limits of a pod; for devices Kubernetes asks for nothing else."""
    limits: dict[str, Yaml] = {}
    if plan.device != "cpu":
        name = options.resource or _RESOURCES[plan.device]
        limits[name] = Noted(str(plan.devices_per_node), "The name is your device plugin's.")
    limits |= {"cpu": options.cpu} if options.cpu else {}
    limits |= {"memory": options.memory} if options.memory else {}
    return {"limits": limits} if limits else {}


def volumes(plan: LaunchPlan, options: KubernetesOptions) -> list[Yaml]:
    found: list[Yaml] = [{"name": "script", "configMap": {"name": f"{plan.name}-start"}}]
    if plan.rank_table:
        found.append({"name": "rank-table", "configMap": {"name": f"rings-config-{plan.name}"}})
    for name, _, claim in _folders(plan, options):
        found.append({"name": name, "persistentVolumeClaim": {"claimName": claim}})
    memory: Yaml = {"medium": "Memory"}
    note = "Readers of data hand batches over in shared memory; 64 MB, the default, is too little."
    found.append(Noted({"name": "shared-memory", "emptyDir": memory}, note))
    return found


def mounts(plan: LaunchPlan, options: KubernetesOptions) -> list[Yaml]:
    found: list[Yaml] = [
        {"name": "script", "mountPath": str(PurePosixPath(SCRIPT).parent), "readOnly": True}
    ]
    if plan.rank_table:
        table = str(RANK_TABLE.parent)
        found.append({"name": "rank-table", "mountPath": table, "readOnly": True})
    for name, folder, _ in _folders(plan, options):
        only: dict[str, Yaml] = {"readOnly": True} if name == "data" else {}
        found.append({"name": name, "mountPath": str(folder), **only})
    found.append({"name": "shared-memory", "mountPath": "/dev/shm"})
    return found


def one_machine_each(label: str, value: str) -> dict[str, Yaml]:
    """Affinity that puts no two pods with this label on one machine."""
    term: Yaml = {
        "labelSelector": {"matchLabels": {label: value}},
        "topologyKey": "kubernetes.io/hostname",
    }
    rule = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"podAntiAffinity": {rule: [term]}}


def config_maps(plan: LaunchPlan, options: KubernetesOptions, pod: str, service: str) -> str:
    """The script, and the rank table where its content is known. `pod` lacks the pod's number."""
    names = {
        "POD": pod,
        "SERVICE": service,
        "PORT": str(plan.rendezvous_port or DEFAULT_PORT),
        "JOB": plan.name,
        "NODE": node_script(plan, RANK_TABLE if plan.rank_table else None),
    }
    script: dict[str, Yaml] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(f"{plan.name}-start", options),
        "data": {"start.sh": Block(filled(_SCRIPT, names))},
    }
    text = yaml_document("The script of each pod; the command's words are its arguments.", script)
    if plan.rank_table and plan.rank_table_json is not None:
        table: dict[str, Yaml] = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata(f"rings-config-{plan.name}", options),
            "data": {RANK_TABLE.name: Block(plan.rank_table_json)},
        }
        text += yaml_document("The rank table; its servers must be the machines used.", table)
    return text


def needed_first(plan: LaunchPlan, options: KubernetesOptions) -> Iterator[str]:
    """What has to be in the cluster before the files are applied."""
    for name, folder, claim in _folders(plan, options):
        mode = "ReadOnlyMany or ReadWriteMany" if name == "data" else "ReadWriteMany"
        yield f"a volume claim `{claim}` ({mode}), seen in the pods as {folder}"
    if plan.rank_table and plan.rank_table_json is None:
        table = f"{RANK_TABLE.name}=YOUR-TABLE.json"
        yield (
            f"the rank table: kubectl create configmap rings-config-{plan.name}{_in(options)} "
            f"--from-file={table}"
        )
    if plan.device == "npu":
        yield "Ascend's device plugin and Docker runtime, which put driver and NPUs into the pods"


def kubectl(options: KubernetesOptions, words: str) -> str:
    return f"kubectl{_in(options)} {words}"


def _in(options: KubernetesOptions) -> str:
    return f" --namespace {options.namespace}" if options.namespace else ""


def _folders(
    plan: LaunchPlan, options: KubernetesOptions
) -> Iterator[tuple[str, PurePosixPath, str]]:
    """Name, folder and claim of each volume; a folder for both purposes is one volume."""
    data, output = plan.data_folder, plan.output_folder
    if data and data != output:
        yield "data", data, options.data_claim or f"{plan.name}-data"
    if output:
        yield "output", output, options.output_claim or f"{plan.name}-output"


def _check(name: str, value: str | None, pattern: str) -> None:
    if value is not None and not re.fullmatch(pattern, value):
        raise UsageError(
            f"`{on_one_line(value)}` cannot be the {name} of a Kubernetes job",
            hint=f"give the {name} as `kubectl get` or `kubectl describe node` shows it",
        )


_SCRIPT = """\
set -euo pipefail
node=$JOB_COMPLETION_INDEX
machine=@POD@-$node.@SERVICE@
address=@POD@-0.@SERVICE@
port=@PORT@
job_id=@JOB@

@NODE@"""
