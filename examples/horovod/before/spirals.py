"""Points on two spirals, and which spiral each lies on."""

import numpy as np


def scatter(count, seed):
    random = np.random.RandomState(seed)
    labels = random.randint(2, size=count).astype(np.int32)
    turn = np.sqrt(random.uniform(0.05, 1, count)) * 2 * np.pi
    angle = turn + labels * np.pi
    points = np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1)
    points += random.normal(0, 0.1, points.shape)
    return points.astype(np.float32), labels
