"""The public projects of `rehearse_originals.py`: where they are, and what a small run takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from originals_data import make_nothing, make_photos, make_signs, make_words


@dataclass(frozen=True)
class Project:
    """An original, and what a small run of it takes."""

    name: str
    commit: str
    entry: str
    arguments: str
    """`{data}` is the folder of its data."""
    make_data: Callable[[Path, Path], None]
    checkout: str = ""
    """Its folder in ORIGINALS; that of its name when empty."""
    root: str = "."
    """The project's folder within the checkout."""
    parts: tuple[str, ...] = ()
    """What is copied of it; all when empty."""
    configured: tuple[tuple[str, str, str], ...] = ()
    """Values of configuration files: file, pattern, what stands there instead."""
    for_ranks: str = ""
    """More arguments when there are several ranks."""
    distributed: str = "hccl"
    """How it is migrated for several ranks."""


_RESNET = ("official/*.py", "official/utils", "official/r1/*.py", "official/r1/[ru]*")
PROJECTS = (
    Project(
        "CRNN_Tensorflow",
        "0e2be73",
        "tools/train_shadownet.py",
        "-d {data} -c {data}/char_dict/char_dict_en.json -o {data}/char_dict/ord_map_en.json",
        make_words,
        configured=(("config/global_config.py", r"(TRAIN\.BATCH_SIZE =) 64", r"\1 4"),),
    ),
    Project(
        "resnet_cifar",
        "1212599e7",
        "official/r1/resnet/cifar10_main.py",
        "--use_synthetic_data --resnet_size=20 --batch_size=8 --model_dir=model --train_epochs=1 "
        "--max_train_steps=20 --data_format=channels_last",
        make_nothing,
        checkout="resnet",
        parts=_RESNET,
        distributed="auto",
    ),
    Project(
        "resnet_imagenet",
        "1212599e7",
        "official/r1/resnet/imagenet_main.py",
        "--use_synthetic_data --resnet_size=18 --batch_size=4 --model_dir=model --train_epochs=1 "
        "--max_train_steps=20 --data_format=channels_last",
        make_nothing,
        checkout="resnet",
        parts=_RESNET,
        distributed="auto",
    ),
    Project(
        "attention_ocr",
        "27bd23e58",
        "train.py",
        "--dataset_dir={data} --train_log_dir=log --batch_size=2 --max_number_of_steps=20",
        make_signs,
        root="research/attention_ocr/python",
    ),
    Project(
        "tf-hrnet",
        "949beb4",
        "top/train.py",
        "--data_path={data} --net_cfg=cfgs/w18_s4.cfg --batch_size=2 --buffer_size=16",
        make_photos,
        for_ranks="--enbl_multi_gpu",
        distributed="auto",
    ),
)
