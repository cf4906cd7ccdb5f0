"""Points in a plane and a height at each, always the same ones."""

import numpy as np


def make_samples(count):
    random = np.random.RandomState(0)
    points = random.uniform(-2, 2, (count, 2)).astype(np.float32)
    heights = np.sin(points[:, :1] * 2) + points[:, 1:]
    return points, heights.astype(np.float32)
