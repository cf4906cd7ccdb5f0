"""Files that start a plan on the schedulers people have: Slurm, Kubernetes, ModelArts."""

from __future__ import annotations
