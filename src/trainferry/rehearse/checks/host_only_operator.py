"""An operator that only a host can run.

`tf.py_func` calls Python, and files are read where they lie: neither exists on the device. A
graph that is handed over as a whole is refused.

Do it in the dataset (`dataset.map` runs on the host), or leave it to the host: set
`mix_compile_mode` and put it under `npu_scope.without_npu_compile_scope()`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.facts import Operator
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import names_of, number_of, places_of
from trainferry.rehearse.tracing.rank import Rank

HOST_ONLY = frozenset(
    {
        "PyFunc",
        "PyFuncStateless",
        "EagerPyFunc",
        "ReadFile",
        "WriteFile",
        "MatchingFiles",
        "ExtractJpegShape",
        "EncodeJpeg",
        "EncodePng",
        "GenerateVocabRemapping",
        "LoadAndRemapMatrix",
        "RemoteCall",
        "NcclAllReduce",
        "NcclBroadcast",
        "NcclReduce",
        "CollectiveReduce",
        "CudnnRNN",
        "CudnnRNNV2",
        "CudnnRNNV3",
    }
)


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        groups: dict[str, list[Operator]] = {}
        for one in step.on_device:
            if one.kind in HOST_ONLY:
                groups.setdefault(one.kind, []).append(one)
        mild = step.leaves_to_host
        for kind, operators in groups.items():
            yield Finding(
                "host-only-operator",
                Severity.RISK if mild else Severity.REFUSED,
                f"a train step runs `{kind}`, which only a host can ({number_of(operators)})",
                "move it into the dataset, or set `mix_compile_mode`",
                places_of(operators),
                names_of(operators),
            )
