"""The part of the Kubernetes API that our files use: fields, types, and what is required.

Written by hand, and only as far as our files go: a field that is not listed does not exist here.
Job and TrainJob follow the custom resources of Kubeflow Trainer, which hold the Job's fields too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Schema = Callable[[Any, str], Iterator[str]]


def problems(document: Any) -> list[str]:
    """What an API server would refuse; nothing for a good document."""
    kind = (document.get("apiVersion"), document.get("kind"))
    if kind not in SCHEMAS:
        return [f"unknown {kind}"]
    return list(SCHEMAS[kind](document, ""))


def text(pattern: str = r"(?s).*") -> Schema:
    def check(value: Any, path: str) -> Iterator[str]:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            yield f"{path}: {value!r} is not {pattern}"

    return check


def number(least: int) -> Schema:
    def check(value: Any, path: str) -> Iterator[str]:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            yield f"{path}: {value!r} is not a number from {least}"

    return check


def truth(value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, bool):
        yield f"{path}: {value!r} is not a boolean"


def many(one: Schema, most: int = 128, key: str | None = None) -> Schema:
    def check(value: Any, path: str) -> Iterator[str]:
        if not isinstance(value, list) or len(value) > most:
            yield f"{path}: {value!r} is not a list of at most {most}"
            return
        for place, item in enumerate(value):
            yield from one(item, f"{path}[{place}]")
        keys = [item[key] for item in value] if key else []
        if len(set(keys)) < len(keys):
            yield f"{path}: a {key} is there twice"

    return check


def table(keys: str, values: Schema) -> Schema:
    def check(value: Any, path: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{path}: {value!r} is not a mapping"
            return
        for key, item in value.items():
            yield from text(keys)(key, f"{path}.{key}")
            yield from values(item, f"{path}.{key}")

    return check


def fields(required: dict[str, Schema], **optional: Schema) -> Schema:
    def check(value: Any, path: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{path}: {value!r} is not an object"
            return
        yield from (f"{path}.{name} is missing" for name in required.keys() - value.keys())
        for name, item in value.items():
            known = required.get(name) or optional.get(name)
            if known is None:
                yield f"{path}.{name} does not exist"
            else:
                yield from known(item, f"{path}.{name}")

    return check


def one_of(**choices: Schema) -> Schema:
    """An object with exactly one of these fields, beside `name`."""

    def check(value: Any, path: str) -> Iterator[str]:
        if len(value.keys() & choices.keys()) != 1:
            yield f"{path} must have one of {', '.join(choices)}"
        yield from fields({"name": LABEL}, **choices)(value, path)

    return check


LABEL = text(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
DOMAIN = text(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
QUANTITY = text(r"[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?")
LABEL_VALUE = text(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
QUALIFIED = r"([a-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
METADATA = fields({"name": LABEL}, namespace=LABEL, labels=table(QUALIFIED, LABEL_VALUE))
RESOURCES = fields({}, limits=table(QUALIFIED, QUANTITY), requests=table(QUALIFIED, QUANTITY))
VARIABLE = fields(
    {"name": text(r"[A-Za-z_][A-Za-z0-9_]*")},
    value=text(),
    valueFrom=fields({"fieldRef": fields({"fieldPath": text(r"(status|metadata|spec)\..+")})}),
)
VARIABLES = many(VARIABLE, key="name")
MOUNTS = many(fields({"name": LABEL, "mountPath": text(r"[^:]+")}, readOnly=truth), key="mountPath")
VOLUMES = many(
    one_of(
        configMap=fields({"name": DOMAIN}),
        persistentVolumeClaim=fields({"claimName": DOMAIN}),
        emptyDir=fields({}, medium=text("Memory|")),
    ),
    key="name",
)
AFFINITY_TERM = fields(
    {"topologyKey": text(QUALIFIED)},
    labelSelector=fields({}, matchLabels=table(QUALIFIED, LABEL_VALUE)),
)
AFFINITY = fields(
    {},
    podAntiAffinity=fields({}, requiredDuringSchedulingIgnoredDuringExecution=many(AFFINITY_TERM)),
)
CONTAINER = fields(
    {"name": LABEL, "image": text(".+")},
    command=many(text()),
    args=many(text()),
    env=VARIABLES,
    resources=RESOURCES,
    volumeMounts=MOUNTS,
)
# A Job's pods may not have the restart policy Always, and with a podFailurePolicy only Never.
POD = fields(
    {"containers": many(CONTAINER, key="name"), "restartPolicy": text("Never")},
    subdomain=LABEL,
    schedulerName=DOMAIN,
    affinity=AFFINITY,
    volumes=VOLUMES,
)
JOB = fields(
    {
        "template": fields({"spec": POD}),
        "completionMode": text("Indexed"),
        "completions": number(1),
        "parallelism": number(1),
    },
    backoffLimit=number(0),
    activeDeadlineSeconds=number(1),
    podFailurePolicy=fields(
        {
            "rules": many(
                fields(
                    {"action": text("Ignore|Count|FailJob|FailIndex")},
                    onPodConditions=many(fields({"type": text("DisruptionTarget")})),
                ),
                most=20,
            )
        }
    ),
)
TRAINER = fields(
    {},
    image=text(".{1,500}"),
    command=many(text()),
    args=many(text()),
    env=VARIABLES,
    numNodes=number(0),
    numProcPerNode=number(1),
    resourcesPerNode=RESOURCES,
)
POD_PATCH = fields(
    {},
    affinity=AFFINITY,
    volumes=VOLUMES,
    containers=many(fields({"name": LABEL}, volumeMounts=MOUNTS), key="name"),
)
JOB_PATCH = fields(
    {"name": text("node")},
    template=fields({}, spec=fields({}, template=fields({}, spec=POD_PATCH))),
)
PATCH = fields(
    {"manager": text(".{1,253}")},
    trainingRuntimeSpec=fields(
        {}, template=fields({}, spec=fields({}, replicatedJobs=many(JOB_PATCH, key="name")))
    ),
)
TRAIN_JOB = fields(
    {"runtimeRef": fields({"name": DOMAIN})},
    trainer=TRAINER,
    runtimePatches=many(PATCH, most=16, key="manager"),
    activeDeadlineSeconds=number(1),
)
SERVICE = fields(
    {},
    clusterIP=text("None"),
    publishNotReadyAddresses=truth,
    selector=table(QUALIFIED, LABEL_VALUE),
    ports=many(fields({"port": number(1)}, name=LABEL), key="port"),
)


def _document(version: str, kind: str, **own: Schema) -> Schema:
    head = {"apiVersion": text(version), "kind": text(kind), "metadata": METADATA}
    return fields({**head, **own})


SCHEMAS: dict[Any, Schema] = {
    ("v1", "Service"): _document("v1", "Service", spec=SERVICE),
    ("v1", "ConfigMap"): _document("v1", "ConfigMap", data=table(r"[-._a-zA-Z0-9]+", text())),
    ("batch/v1", "Job"): _document("batch/v1", "Job", spec=JOB),
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): _document(
        "trainer.kubeflow.org/v1alpha1", "TrainJob", spec=TRAIN_JOB
    ),
}
