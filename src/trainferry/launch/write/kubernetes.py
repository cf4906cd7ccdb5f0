"""An indexed Job for plain Kubernetes, and a TrainJob for clusters with Kubeflow Trainer 2.2.

In both a pod is a machine: it gets its number from the Job, and the others find it by a name that
a headless Service makes from that number.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from trainferry.errors import UsageError
from trainferry.launch.environment import DEFAULT_PORT
from trainferry.launch.write.files import LaunchFile, on_one_line
from trainferry.launch.write.plan import LaunchPlan
from trainferry.launch.write.pods import (
    KubernetesOptions,
    config_maps,
    container_command,
    kubectl,
    metadata,
    mounts,
    needed_first,
    one_machine_each,
    resources,
    variables,
    volumes,
)
from trainferry.launch.write.yaml_text import Noted, Yaml, yaml_comment, yaml_document


def kubernetes_files(plan: LaunchPlan, options: KubernetesOptions) -> tuple[LaunchFile, ...]:
    """A Job with all it needs, and a TrainJob with all it needs: apply one of the two files."""
    if plan.image is None:
        raise UsageError(
            "a pod needs an image, and the plan names none",
            hint="give the image that holds the command and its packages",
        )
    if plan.device_numbers:
        raise UsageError(
            "a pod's devices are numbered from 0, whichever the cluster gives it",
            hint="leave out the device numbers",
        )
    for folder in (plan.data_folder, plan.output_folder):
        if folder and ":" in str(folder):
            raise UsageError(
                f"`{folder}` cannot be mounted into a pod", hint="use a folder without a colon"
            )
    return _job_file(plan, options), _train_job_file(plan, options)


def _job_file(plan: LaunchPlan, options: KubernetesOptions) -> LaunchFile:
    name = f"{plan.name}-job.yaml"
    documents = [
        yaml_document(
            "Gives each pod a name that the others can look up.", _service(plan, options)
        ),
        config_maps(plan, options, plan.name, plan.name),
        yaml_document("One pod for each machine.", _job(plan, options)),
    ]
    watch = f"logs --follow job/{plan.name}"
    return _file(plan, options, name, documents, watch)


def _train_job_file(plan: LaunchPlan, options: KubernetesOptions) -> LaunchFile:
    reserved = [name for name in plan.environment if name.startswith("PET_")]
    if reserved:
        raise UsageError(
            f"`{reserved[0]}` belongs to Kubeflow Trainer, which sets it itself",
            hint=f"remove {reserved[0]} from the environment",
        )
    head = "Needs Kubeflow Trainer 2.2 or later. How often pods start again is the runtime's."
    if options.scheduler:
        head += f"\nThe runtime must ask for the scheduler {options.scheduler}; a TrainJob cannot."
    documents = [
        config_maps(plan, options, f"{plan.name}-node-0", plan.name),
        yaml_document(head, _train_job(plan, options)),
    ]
    watch = f"logs --follow --selector jobset.sigs.k8s.io/jobset-name={plan.name}"
    return _file(plan, options, f"{plan.name}-trainjob.yaml", documents, watch)


def _file(
    plan: LaunchPlan, options: KubernetesOptions, name: str, documents: list[str], watch: str
) -> LaunchFile:
    submit = kubectl(options, f"apply --filename {name}")
    end = [f"Submit: {submit}", f"Watch:  {kubectl(options, watch)}"]
    end.append(f"Stop:   {kubectl(options, f'delete --filename {name}')}")
    text = yaml_comment("\n".join(_explained(plan, options))) + "".join(documents)
    return LaunchFile(name, text + yaml_comment("\n".join(end)), submit)


def _explained(plan: LaunchPlan, options: KubernetesOptions) -> Iterator[str]:
    yield f"{plan.ranks} ranks: {plan.nodes} pods with {plan.devices_per_node} devices each."
    yield f"Command: {on_one_line(shlex.join(plan.command))}"
    needed = list(needed_first(plan, options))
    if needed:
        yield "Needed first:"
    for one in needed:
        yield f"  - {on_one_line(one)}"


def _service(plan: LaunchPlan, options: KubernetesOptions) -> dict[str, Yaml]:
    ready = "Ranks look for each other before any of them is ready."
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(plan.name, options),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": Noted(True, ready),
            "selector": {"job-name": plan.name},
            "ports": [{"name": "rendezvous", "port": plan.rendezvous_port or DEFAULT_PORT}],
        },
    }


def _job(plan: LaunchPlan, options: KubernetesOptions) -> dict[str, Yaml]:
    ignored: Yaml = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(plan.name, options),
        "spec": {
            "completionMode": "Indexed",
            "completions": plan.nodes,
            "parallelism": plan.nodes,
            "backoffLimit": Noted(
                plan.restarts * plan.nodes,
                f"Failed pods before the Job fails: {plan.restarts} times all of them.",
            ),
            **_deadline(plan),
            "podFailurePolicy": Noted(
                {"rules": [ignored]}, "A pod moved away by the cluster is no failure."
            ),
            "template": {"spec": _pod(plan, options)},
        },
    }


def _pod(plan: LaunchPlan, options: KubernetesOptions) -> dict[str, Yaml]:
    scheduler: dict[str, Yaml] = {"schedulerName": options.scheduler} if options.scheduler else {}
    command, arguments = container_command(plan)
    container: dict[str, Yaml] = {
        "name": "node",
        "image": plan.image or "",
        "command": command,
        "args": arguments,
        **_unless_empty("env", variables(plan)),
        **_unless_empty("resources", resources(plan, options)),
        "volumeMounts": mounts(plan, options),
    }
    return {
        "subdomain": Noted(plan.name, "With the Service: pods are called NAME-NUMBER.NAME."),
        "restartPolicy": "Never",
        **scheduler,
        **_apart(plan, "job-name"),
        "containers": [container],
        "volumes": volumes(plan, options),
    }


def _train_job(plan: LaunchPlan, options: KubernetesOptions) -> dict[str, Yaml]:
    command, arguments = container_command(plan)
    trainer: dict[str, Yaml] = {
        "image": plan.image or "",
        "command": command,
        "args": arguments,
        **_unless_empty("env", variables(plan)),
        "numNodes": plan.nodes,
        "numProcPerNode": plan.devices_per_node,
        **_unless_empty("resourcesPerNode", resources(plan, options)),
    }
    pod: Yaml = {
        **_apart(plan, "jobset.sigs.k8s.io/jobset-name"),
        "containers": [{"name": "node", "volumeMounts": mounts(plan, options)}],
        "volumes": volumes(plan, options),
    }
    job: Yaml = {"name": "node", "template": {"spec": {"template": {"spec": pod}}}}
    patch: Yaml = {
        "manager": "trainferry",
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}},
    }
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": metadata(plan.name, options),
        "spec": {
            "runtimeRef": Noted({"name": options.runtime}, "Its job and container: `node`."),
            **_deadline(plan),
            "trainer": trainer,
            "runtimePatches": [patch],
        },
    }


def _deadline(plan: LaunchPlan) -> dict[str, Yaml]:
    limit = plan.time_limit_seconds
    return {"activeDeadlineSeconds": limit} if limit else {}


def _apart(plan: LaunchPlan, label: str) -> dict[str, Yaml]:
    if plan.nodes == 1:
        return {}
    rule = one_machine_each(label, plan.name)
    return {"affinity": Noted(rule, "No two pods on one machine.")}


def _unless_empty(key: str, value: list[Yaml] | Mapping[str, Yaml]) -> dict[str, Yaml]:
    return {key: value} if value else {}
