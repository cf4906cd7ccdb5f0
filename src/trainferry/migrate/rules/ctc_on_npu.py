"""Give CTC dense labels, and decode on the host.

`tf.nn.ctc_loss` takes its labels as a sparse tensor, and the decoders give sparse tensors: how
many values they hold changes from batch to batch. The vendor's list says both that they run and
that they do not. The known way is to pad the labels to a fixed length in the input pipeline, to
keep their lengths beside them, and to use `tf.nn.ctc_loss_v2`, whose blank must be told to be
the last class.

    -loss = tf.nn.ctc_loss(labels, logits, lengths)
    +loss = tf.nn.ctc_loss_v2(labels, logits, label_lengths, lengths, blank_index=-1)

By hand: always, because the labels have to change; told at the parser of the records too, where
labels of any length are read. Decoders can stay on the host with
`mix_compile_mode` and `npu_scope.without_npu_compile_scope()`, or decode fetched values.

Source: Ascend TF Adapter 1.15 API list of 2026-07; the vendor's own port of a CRNN.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._device_code import is_test
from trainferry.migrate.rules._mixed import is_kept_on_host

CONCERN = Concern.RUN


@on_call("tf.nn.ctc_loss")
def loss(call: Call, file: File) -> Iterator[Finding]:
    if is_test(file):
        return
    logits = call.argument(1, "inputs") or call.argument(7, "logits")
    lengths = call.argument(2, "sequence_length")
    time_major = call.argument(6, "time_major")
    text = ", ".join(
        (
            "labels",
            "logits" if logits is None else file.text(logits),
            "label_lengths",
            "lengths" if lengths is None else file.text(lengths),
            *(() if time_major is None else (f"logits_time_major={file.text(time_major)}",)),
            "blank_index=-1",
        )
    )
    yield Finding(
        call,
        Outcome.BY_HAND,
        f"pad the labels to a fixed length and write `tf.nn.ctc_loss_v2({text})`",
    )


@on_call("tf.VarLenFeature", "tf.io.VarLenFeature")
def labels_of_any_length(call: Call, file: File) -> Iterator[Finding]:
    kind = call.argument(0, "dtype")
    is_number = kind is not None and file.full_name(kind) in ("tf.int64", "tf.int32")
    if is_number and not is_test(file) and file.project.once(_has_sparse_loss):
        yield Finding(
            call,
            Outcome.BY_HAND,
            "if these are the labels of `tf.nn.ctc_loss`, store their lengths in the records too "
            "and read the labels padded: `tf.FixedLenFeature([longest], tf.int64)`",
            concern=Concern.TIDY,  # the loss itself is told as what stops the run
        )


def _has_sparse_loss(project: ProjectFiles) -> bool:
    return any(True for file in project.files for _ in file.calls_of("tf.nn.ctc_loss"))


@on_call("tf.keras.backend.ctc_batch_cost", "keras.backend.ctc_batch_cost")
def keras_loss(call: Call, _file: File) -> Iterator[Finding]:
    yield Finding(
        call,
        Outcome.BY_HAND,
        "makes sparse labels inside: write `tf.nn.ctc_loss_v2` with dense labels of fixed length "
        "and `blank_index=-1`",
    )


@on_call(
    "tf.nn.ctc_greedy_decoder",
    "tf.nn.ctc_beam_search_decoder",
    "tf.nn.ctc_beam_search_decoder_v2",
    "tf.keras.backend.ctc_decode",
    "keras.backend.ctc_decode",
)
def decoder(call: Call, file: File) -> Iterator[Finding]:
    if is_test(file) or is_kept_on_host(call.node, file):
        return
    yield Finding(
        call,
        Outcome.BY_HAND,
        "decode on the host: fetch the logits, or set `mix_compile_mode` and put the call under "
        "`with npu_scope.without_npu_compile_scope():`",
    )
