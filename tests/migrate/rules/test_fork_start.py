"""Programs that fork beside a session are told to start processes otherwise."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_project, check_unchanged, outcomes
from trainferry.migrate.rule import Concern, Outcome

RULE = "fork_start"
SESSION = "import tensorflow as tf\nsess = tf.Session()\n"


@pytest.mark.parametrize(
    "text",
    [
        "import multiprocessing\nmultiprocessing.Process(target=f).start()\n",
        "import multiprocessing as mp\npool = mp.Pool(4)\n",
        "from multiprocessing import Pool\nwith Pool(4) as pool: pass\n",
        "from concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor()\n",
        "from multiprocessing import Process\nclass Reader(Process): pass\n",
        "from multiprocessing import Pool\nPool(1)\nPool(2)\n",
        "m = tf.keras.Sequential()\nm.fit_generator(g, use_multiprocessing=True)\n",
    ],
)
def test_a_fork_is_told_once(text: str) -> None:
    told = check_unchanged(SESSION + text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "forkserver" in told[0].message


@pytest.mark.parametrize(
    "text",
    [
        "from multiprocessing.dummy import Pool\nPool(4)\n",
        "from multiprocessing.pool import ThreadPool\nThreadPool(4)\n",
        "import multiprocessing\nmultiprocessing.cpu_count()\n",
        "import multiprocessing as mp\nmp.set_start_method('spawn')\nmp.Pool(4)\n",
        "from mine import Process\nProcess()\n",
    ],
)
def test_others_are_not_told(text: str) -> None:
    assert check_unchanged(SESSION + text, RULE) == []


def test_a_file_without_sessions_is_not_told() -> None:
    assert (
        check_unchanged("import tensorflow\nimport multiprocessing as m\nm.Pool(4)\n", RULE) == []
    )


def test_a_start_method_chosen_elsewhere_is_enough() -> None:
    files = {
        "program.py": f"{SESSION}import multiprocessing as m\nm.Pool(4)\n",
        "start.py": "from multiprocessing import get_context\nget_context('forkserver')\n",
    }
    assert check_project(files, {}, RULE) == []


def test_a_helper_of_a_program_that_trains_is_worth_knowing() -> None:
    files = {
        "train.py": f"import data\n{SESSION}",
        "data.py": "import queues\n",
        "queues.py": "import multiprocessing as m\nm.Process(target=f).start()\n",
        "convert.py": "import multiprocessing as m\nm.Pool(4)\n",
    }
    told = check_project(files, {}, RULE)
    assert [(str(one.path), one.finding.concern) for one in told] == [("queues.py", Concern.TIDY)]
    assert "`train.py`" in told[0].message
