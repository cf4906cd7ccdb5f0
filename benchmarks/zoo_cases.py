"""What `rehearse_zoo.py` rehearses, and what is known to be wrong in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from originals_data import make_photos
from zoo_data import make_shards, make_signs, make_words

BUILT_IN = "TensorFlow/built-in/cv"


@dataclass(frozen=True)
class Case:
    """One rehearsal of a network of the zoo."""

    name: str
    folder: str
    """In the zoo."""
    entry: str
    arguments: str
    """`{data}` is the folder of its data."""
    make_data: Callable[[Path, Path], None]
    ranks: int = 1
    place: str = "."
    """Where the network's folder goes in the project that is rehearsed."""
    more: tuple[str, ...] = ()
    """What the project needs from MODELS."""
    configured: tuple[tuple[str, str, str], ...] = ()
    """Numbers of its configuration: file, pattern, what stands there instead."""
    environment: dict[str, str] = field(default_factory=dict)
    slips: dict[str, str] = field(default_factory=dict)
    """What is known to be wrong in it: the check that tells, and the file."""
    fails_with: str = ""
    """The error that is known to end it before it trains."""


WORDS = "-d {data} -c {data}/characters.json -o {data}/order.json"
CRNN: dict[str, Any] = {
    "folder": f"{BUILT_IN}/detection/CRNN_Kernel_ID0055_for_TensorFlow",
    "make_data": make_words,
    "configured": (("config/global_config.py", r"(\n__C\.TRAIN\.BATCH_SIZE =) 64", r"\1 4"),),
}
HRNET: dict[str, Any] = {
    "folder": f"{BUILT_IN}/image_classification/HRNet_ID0139_for_TensorFlow",
    "entry": "top/train.py",
    "make_data": make_photos,
}
PHOTOS = (
    "--data_path={data} --net_cfg=cfgs/w18_s4.cfg --batch_size=2 --batch_size_eval=2 "
    "--buffer_size=16 --nb_smpls_train=200 --model_path=model"
)
CASES = (
    Case("CRNN", entry="tools/train_npu.py", arguments=WORDS + " -s model", **CRNN),
    Case(
        "CRNN on two ranks",
        entry="tools/train_npu.py",
        arguments=WORDS + " -s model",
        ranks=2,
        slips={"weights-differ": "tools/train_npu.py"},
        **CRNN,
    ),
    Case(
        "CRNN, its other script",
        entry="tools/train_shadownet.py",
        arguments=WORDS,
        fails_with="too many values to unpack (expected 3)",
        **CRNN,
    ),
    Case(
        "CRNN with the key of that script",
        entry="tools/train_npu.py",
        arguments=WORDS + " -s model",
        slips={"unknown-option": "tools/train_npu.py"},
        **{
            **CRNN,
            "configured": (
                *CRNN["configured"],
                ("tools/train_npu.py", r'\["mix_compile_mode"\]', '["allow_mix_compile"]'),
            ),
        },
    ),
    Case(
        "Attention-OCR",
        "TensorFlow/contrib/cv/Attention-OCR_ID2013_for_TensorFlow",
        "NPU_train.py",
        "--dataset_dir={data} --train_log_dir=log --batch_size=2 --checkpoint_inception= "
        "--max_number_of_steps=20",
        make_signs,
        configured=(("data_provider.py", r"(queue_capacity=)3000", r"\g<1>16"),),
    ),
    Case(
        "ResNet50TF",
        f"{BUILT_IN}/image_classification/ResNet50TF_for_TensorFlow",
        "official/r1/resnet/imagenet_main.py",
        "--data_dir={data} --batch_size=2 --model_dir=model --train_epochs=1 "
        "--max_train_steps=200 --data_format=channels_last",
        make_shards,
        place="official",
        more=("official/utils", "official/__init__.py"),
    ),
    Case(
        "HRNet",
        arguments=PHOTOS + " --over_dump",
        slips={
            "swapped-dump-keys": "trainer/trainer.py",
            "two-npu-entries": "top/train.py",
            "drop-remainder": "datasets/abstract_dataset.py",
        },
        **HRNET,
    ),
    Case(
        "HRNet on two ranks",
        arguments=PHOTOS + " --enbl_multi_gpu",
        ranks=2,
        slips={"two-npu-entries": "top/train.py", "drop-remainder": "datasets/abstract_dataset.py"},
        **HRNET,
    ),
    Case(
        "DenseNet121",
        f"{BUILT_IN}/image_classification/DenseNet121_ID0067_for_TensorFlow",
        "train.py",
        "--data_dir={data} --mode=train --batch_size=2 --max_train_steps=20 --log_dir=model",
        make_photos,
        environment={"DEVICE_INDEX": "0"},
    ),
)
