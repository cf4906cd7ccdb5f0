"""Starts a program as several real ranks on this machine, and says how they ended."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def started_ranks(
    ranks: int, arguments: Sequence[str], **variables: str
) -> Iterator[list[subprocess.Popen[str]]]:
    """Start `python ARGUMENTS` once for every rank; whoever is left at the end is killed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = [
        subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={
                **os.environ,
                "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
                "OMP_NUM_THREADS": "1",
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(ranks),
                "LOCAL_WORLD_SIZE": str(ranks),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
                **variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        for rank in range(ranks)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.communicate()


def run_ranks(ranks: int, arguments: Sequence[str], **variables: str) -> list[tuple[int, str, str]]:
    """Run ranks to their ends; return exit status, stdout and stderr of each."""
    with started_ranks(ranks, arguments, **variables) as processes:
        outputs = [process.communicate(timeout=300) for process in processes]
        return [
            (process.returncode, out, err)
            for process, (out, err) in zip(processes, outputs, strict=True)
        ]
