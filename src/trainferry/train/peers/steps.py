"""Training steps of peers, built from their own code as its authors train it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from trainferry.devices.precision import autocast
from trainferry.errors import UsageError
from trainferry.train.peers.peer import Case, Peer, Step

_CLIPPED_AT = 5.0


def build_step(peer: Peer, case: Case) -> Step:
    """Return a function that does one whole training step on made-up data."""
    if peer.kind == "file":
        path, _, function = peer.name.rpartition(":")
        step: Step = getattr(_module_of(Path(path)), function)(case)
        return step
    if peer.kind == "clovaai":
        return _reading(Path(peer.name), case)
    return _naming(peer, case)


def _naming(peer: Peer, case: Case) -> Step:
    """Photographs: momentum, smoothed cross-entropy, channels last, as the packages' scripts."""
    device = torch.device(case.device)
    network = _from_package(peer, case).to(device).train()
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    weights = network.parameters()
    optimizer = torch.optim.SGD(
        weights, lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True, fused=True
    )
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    images = torch.randn(case.batch, 3, case.height, case.width, device=device)
    images = images.to(memory_format=torch.channels_last)
    labels = torch.randint(0, case.classes, (case.batch,), device=device)
    compute = _in_mode(network, case)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with autocast(device, case.precision):
            loss = criterion(compute(images), labels)
        loss.backward()
        optimizer.step()

    return step


def _reading(checkout: Path, case: Case) -> Step:
    """Words: None-VGG-BiLSTM-CTC with Adadelta and clipped gradients, on grey pictures."""
    device = torch.device(case.device)
    options = SimpleNamespace(
        Transformation="None",
        FeatureExtraction="VGG",
        SequenceModeling="BiLSTM",
        Prediction="CTC",
        input_channel=1,
        output_channel=512,
        hidden_size=256,
        num_class=case.classes,
        imgH=case.height,
        imgW=case.width,
        num_fiducial=20,
        batch_max_length=case.labels,
    )
    sys.path.insert(0, str(checkout))
    network = importlib.import_module("model").Model(options).to(device).train()
    optimizer = torch.optim.Adadelta(network.parameters(), lr=1.0, rho=0.95, eps=1e-8)
    criterion = nn.CTCLoss(zero_infinity=True)
    images = torch.randn(case.batch, 1, case.height, case.width, device=device)
    lengths = torch.randint(3, 12, (case.batch,))
    labels = torch.randint(1, case.classes, (int(lengths.sum()),))
    compute = _in_mode(network, case)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with autocast(device, case.precision):
            logits = compute(images, None)
        classes = logits.float().log_softmax(2).permute(1, 0, 2)
        times = torch.full((case.batch,), classes.shape[0], dtype=torch.int32, device=device)
        criterion(classes, labels.to(device), times, lengths.to(device)).backward()
        nn.utils.clip_grad_norm_(network.parameters(), _CLIPPED_AT)
        optimizer.step()

    return step


def _from_package(peer: Peer, case: Case) -> nn.Module:
    package: Any = importlib.import_module(peer.kind)
    if peer.kind == "timm":
        known = set(package.list_models())
        make = package.create_model
    else:
        known = set(package.models.list_models())
        make = package.models.get_model
    if peer.name not in known:
        raise UsageError(
            f"{peer.kind} {package.__version__} has no network `{peer.name}`",
            hint=f"name one of its own: --against {peer.kind}:NAME",
        )
    network: nn.Module = make(peer.name, num_classes=case.classes)
    return network


def _in_mode(network: nn.Module, case: Case) -> Callable[..., Tensor]:
    if case.mode == "eager":
        return network
    mode = None if case.mode == "compile" else case.mode
    compiled: Callable[..., Tensor] = torch.compile(network, mode=mode)
    return compiled


def _module_of(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module
