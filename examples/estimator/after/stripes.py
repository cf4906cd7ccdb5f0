"""Noisy pictures of stripes: horizontal, vertical, rising or falling."""

import numpy as np

SIZE = 16
DIRECTIONS = 4


def draw(count, seed):
    random = np.random.RandomState(seed)
    labels = random.randint(DIRECTIONS, size=count).astype(np.int32)
    angles = labels * np.pi / DIRECTIONS + random.normal(0, 0.05, count)
    phases = random.uniform(0, 2 * np.pi, count)
    y, x = np.mgrid[:SIZE, :SIZE]
    across = (
        x * np.cos(angles)[:, None, None] + y * np.sin(angles)[:, None, None]
    )
    images = np.sin(across + phases[:, None, None])
    images += random.normal(0, 0.5, images.shape)
    return images[..., None].astype(np.float32), labels
