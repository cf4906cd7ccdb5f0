"""The manifests: an API server accepts them, references are in place, the script runs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies

from tests.launch.write.kubernetes_schemas import problems
from tests.launch.write.plans import (
    NASTY,
    TEXTS,
    clean_environment,
    plan,
    recording_plan,
    seen_by_ranks,
)
from trainferry.errors import UsageError
from trainferry.launch.environment import rank_environment
from trainferry.launch.write.kubernetes import kubernetes_files
from trainferry.launch.write.node_script import node_arguments
from trainferry.launch.write.plan import LaunchPlan
from trainferry.launch.write.pods import RANK_TABLE, KubernetesOptions

ALL = KubernetesOptions(
    namespace="ocr",
    resource="huawei.com/ascend-1980",
    cpu="96",
    memory="512Gi",
    data_claim="pictures",
    output_claim="runs",
    scheduler="volcano",
    runtime="mine",
)
TABLE = json.dumps({"version": "1.0", "status": "completed", "server_list": []}, indent=1) + "\n"
CASES: list[dict[str, Any]] = [
    {},
    {"device": "cuda", "time_limit_seconds": 3600, "environment": {"A": "$(B) $$ $C\n'"}},
    {"device": "cpu", "nodes": 1, "data_folder": None, "output_folder": None},
    {"starter": "ranks", "rank_table": PurePosixPath("/x.json"), "rank_table_json": TABLE},
    {"output_folder": PurePosixPath("/data"), "working_folder": PurePosixPath("/my code")},
]


def documents(plan: LaunchPlan, options: KubernetesOptions, file: int) -> dict[str, Any]:
    text = kubernetes_files(plan, options)[file].text
    found = list(yaml.safe_load_all(text))
    assert len({(one["kind"], one["metadata"]["name"]) for one in found}) == len(found)
    return {f"{one['kind']} {one['metadata']['name']}": one for one in found}


def pod(found: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = found["Job read-words"]["spec"]["template"]["spec"]
    return spec


def expanded(text: str, environment: dict[str, str]) -> str:
    """What Kubernetes makes of a command or a value: $(NAME) is replaced, $$ is one dollar."""
    result, place = "", 0
    while place < len(text):
        two = text[place : place + 2]
        end = text.find(")", place)
        if two == "$$":
            result, place = result + "$", place + 2
        elif two == "$(" and end > 0:
            name = text[place + 2 : end]
            result += environment.get(name, f"$({name})")
            place = end + 1
        else:
            result, place = result + text[place], place + 1
    return result


@pytest.mark.parametrize("options", [KubernetesOptions(), ALL], ids=["plain", "all"])
@pytest.mark.parametrize("changed", CASES)
def test_an_api_server_accepts_every_document(
    changed: dict[str, Any], options: KubernetesOptions
) -> None:
    for file in range(2):
        for one in documents(plan(image="a/b:c", **changed), options, file).values():
            assert problems(one) == []
            assert one["metadata"].get("namespace") == options.namespace


@pytest.mark.parametrize("changed", CASES)
def test_what_is_mounted_is_there(changed: dict[str, Any]) -> None:
    for file in range(2):
        found = documents(plan(image="a", **changed), KubernetesOptions(), file)
        if file == 0:
            spec = pod(found)
        else:
            patches = found["TrainJob read-words"]["spec"]["runtimePatches"]
            jobs = patches[0]["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
            spec = jobs[0]["template"]["spec"]["template"]["spec"]
        mounted = {one["name"] for one in spec["containers"][0]["volumeMounts"]}
        assert mounted == {one["name"] for one in spec["volumes"]}
        maps = [one["configMap"]["name"] for one in spec["volumes"] if "configMap" in one]
        assert [f"ConfigMap {name}" in found for name in maps] == [True] * len(maps)


def test_the_job_finds_its_pods_through_the_service() -> None:
    found = documents(plan(image="a"), KubernetesOptions(), 0)
    job, service = found["Job read-words"]["spec"], found["Service read-words"]["spec"]
    assert (job["completions"], job["parallelism"], job["backoffLimit"]) == (2, 2, 6)
    assert job["template"]["spec"]["subdomain"] == "read-words"
    assert service["clusterIP"] == "None"
    assert service["selector"] == {"job-name": "read-words"}
    script = found["ConfigMap read-words-start"]["data"]["start.sh"]
    assert "address=read-words-0.read-words\n" in script
    train = documents(plan(image="a"), KubernetesOptions(), 1)
    script = train["ConfigMap read-words-start"]["data"]["start.sh"]
    assert "address=read-words-node-0-0.read-words\n" in script


@pytest.mark.parametrize(
    ("device", "options", "limits"),
    [
        ("npu", KubernetesOptions(), {"huawei.com/Ascend910": "4"}),
        ("cuda", KubernetesOptions(), {"nvidia.com/gpu": "4"}),
        ("npu", ALL, {"huawei.com/ascend-1980": "4", "cpu": "96", "memory": "512Gi"}),
        ("cpu", KubernetesOptions(cpu="8"), {"cpu": "8"}),
    ],
)
def test_devices_are_asked_for_by_their_plugins_names(
    device: str, options: KubernetesOptions, limits: dict[str, str]
) -> None:
    asked = plan(image="a", device=device)
    container = pod(documents(asked, options, 0))["containers"][0]
    assert container["resources"]["limits"] == limits
    trainer = documents(asked, options, 1)["TrainJob read-words"]["spec"]["trainer"]
    assert trainer["resourcesPerNode"]["limits"] == limits
    assert (trainer["numNodes"], trainer["numProcPerNode"]) == (2, 4)


def test_the_rank_table_is_mounted_where_ascend_expects_it() -> None:
    given_table = plan(
        image="a",
        starter="ranks",
        rank_table=PurePosixPath("/x.json"),
        rank_table_json=TABLE,
    )
    found = documents(given_table, KubernetesOptions(), 0)
    assert found["ConfigMap rings-config-read-words"]["data"] == {"hccl.json": TABLE}
    paths = [one["mountPath"] for one in pod(found)["containers"][0]["volumeMounts"]]
    assert str(RANK_TABLE.parent) in paths
    assert str(RANK_TABLE) in found["ConfigMap read-words-start"]["data"]["start.sh"]
    named = plan(image="a", starter="ranks", rank_table=PurePosixPath("/x.json"))
    text = kubernetes_files(named, KubernetesOptions())[0].text
    assert "kubectl create configmap rings-config-read-words --from-file=hccl.json=" in text


@settings(max_examples=60, deadline=None)
@given(
    strategies.lists(TEXTS | strategies.sampled_from(["$(HOME)", "$$(A)", "$$$"]), max_size=4),
    TEXTS,
)
def test_words_and_values_arrive_as_they_were_typed(words: list[str], value: str) -> None:
    written = plan(image="a", command=("python", *words), environment={"A": value})
    container = pod(documents(written, KubernetesOptions(), 0))["containers"][0]
    trainer = documents(written, KubernetesOptions(), 1)["TrainJob read-words"]["spec"]["trainer"]
    known = {"HOME": "/root", "A": "b"}
    for one in (container, trainer):
        assert [expanded(word, known) for word in one["args"]] == node_arguments(written)
        values = {item["name"]: item.get("value", "") for item in one["env"]}
        assert expanded(values["A"], known) == value


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("file", [0, 1], ids=["job", "trainjob"])
def test_pods_start_every_rank_with_its_variables(tmp_path: Path, file: int) -> None:
    two = recording_plan(tmp_path, image="a")
    found = documents(two, KubernetesOptions(), file)
    container = (
        pod(found)["containers"][0]
        if file == 0
        else found["TrainJob read-words"]["spec"]["trainer"]
    )
    script = tmp_path / "start.sh"
    script.write_text(found["ConfigMap read-words-start"]["data"]["start.sh"])
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    values = {one["name"]: expanded(one["value"], {}) for one in container["env"]}
    words = ["bash", str(script), *(expanded(word, {}) for word in container["args"])]
    for index in range(2):
        environment = clean_environment(JOB_COMPLETION_INDEX=str(index), **values)
        subprocess.run(words, env=environment, check=True, capture_output=True, timeout=60)
    seen = seen_by_ranks(tmp_path)
    assert sorted(seen) == list(range(8))
    address = ("read-words-0.read-words", "read-words-node-0-0.read-words")[file]
    for rank, one in seen.items():
        expected = rank_environment(two, rank, address=address)
        assert {key: one["environment"].get(key) for key in expected} == expected
        assert one["words"] == list(NASTY)


def test_the_files_say_how_they_are_submitted() -> None:
    for file in kubernetes_files(plan(image="a"), ALL):
        assert file.submit == f"kubectl --namespace ocr apply --filename {file.name}"
        assert f"# Submit: {file.submit}\n" in file.text


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "needs an image"),
        ({"image": "a", "environment": {"PET_NNODES": "1"}}, "belongs to Kubeflow"),
        ({"image": "a", "data_folder": PurePosixPath("/a:b")}, "cannot be mounted"),
    ],
)
def test_a_plan_that_pods_cannot_run_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        kubernetes_files(plan(**changed), KubernetesOptions())


@pytest.mark.parametrize(
    ("name", "value"),
    [("namespace", "A b"), ("resource", "gpu"), ("memory", "lots"), ("data_claim", "x\ny")],
)
def test_an_option_that_is_no_name_is_refused(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"cannot be the {name}"):
        KubernetesOptions(**{name: value})


def test_the_schemas_of_these_tests_refuse_what_is_wrong() -> None:
    job = documents(plan(image="a"), KubernetesOptions(), 0)["Job read-words"]
    job["spec"]["template"]["spec"]["restartPolicy"] = "Always"
    job["spec"]["completions"] = "2"
    job["spec"]["extra"] = 1
    del job["spec"]["template"]["spec"]["containers"][0]["image"]
    assert len(problems(job)) == 4
