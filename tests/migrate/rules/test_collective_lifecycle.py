"""Communication starts before the first question for a rank, and ends with the program."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_project, check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "collective_lifecycle"
IMPORTS = """\
import atexit
from npu_bridge.npu_init import close_session
from npu_bridge.npu_init import init_resource
from npu_bridge.npu_init import shutdown_resource
"""
START = """\
npu_session, npu_shutdown = init_resource()
atexit.register(close_session, npu_session)
atexit.register(shutdown_resource, npu_session, npu_shutdown)
"""
INDENTED = "".join(f"    {line}\n" for line in START.splitlines())
ASKS = "from hccl.manage.api import get_rank_id\ndef main(_):\n    print(get_rank_id())\n"


@pytest.mark.parametrize(
    "guard",
    [
        "if __name__ == '__main__':\n{}    tf.app.run()\n",
        "if '__main__' == __name__:\n{}    app.run(main)\n",
        "if __name__ == '__main__':\n    parse()\n{}    main(0)\n    done()\n",
    ],
)
def test_it_starts_before_the_program_runs(guard: str) -> None:
    told = check_migrated(
        f"import tensorflow as tf\n{ASKS}{guard.format('')}",
        f"import tensorflow as tf\n{IMPORTS}{ASKS}{guard.format(INDENTED)}",
        RULE,
    )
    assert outcomes(told) == [Outcome.CHECK]


def test_the_file_that_begins_is_found_through_imports() -> None:
    other = "import tensorflow as tf\nif __name__ == '__main__':\n    tf.app.run()\n"
    check_project(
        {
            "main.py": "import tensorflow as tf\nimport train\n"
            "if __name__ == '__main__':\n    tf.app.run(train.main)\n",
            "train.py": ASKS,
            "convert.py": other,
        },
        {
            "main.py": f"import tensorflow as tf\n{IMPORTS}import train\n"
            f"if __name__ == '__main__':\n{INDENTED}    tf.app.run(train.main)\n",
        },
        RULE,
    )


def test_a_script_starts_before_its_first_question() -> None:
    asks = "from npu_bridge.estimator.npu import npu_strategy\n"
    check_migrated(
        f"import tensorflow as tf\n{asks}x = 1\nif x:\n    s = npu_strategy.NPUStrategy()\n",
        f"import tensorflow as tf\n{IMPORTS}{asks}x = 1\n{START}"
        "if x:\n    s = npu_strategy.NPUStrategy()\n",
        RULE,
    )


def test_a_start_on_one_line_is_told() -> None:
    told = check_unchanged(f"{ASKS}if __name__ == '__main__': main(0)\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "init_resource()" in told[0].message


def test_several_programs_are_told() -> None:
    program = (
        "import common\nimport tensorflow as tf\nif __name__ == '__main__':\n    tf.app.run()\n"
    )
    told = check_project({"common.py": ASKS, "a.py": program, "b.py": program}, {}, RULE)
    assert outcomes(told) == [Outcome.BY_HAND] * 2


def test_a_library_without_a_program_is_told() -> None:
    assert outcomes(check_unchanged(ASKS, RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "start",
    [
        "from npu_bridge.npu_init import *\nsess, down = init_resource()\n",
        "from npu_bridge.estimator import npu_ops\nsess.run(npu_ops.initialize_system())\n",
        "import horovod.tensorflow as hvd\nhvd.init()\n",
    ],
)
def test_what_has_started_is_not_started_again(start: str) -> None:
    assert check_unchanged(f"{start}{ASKS}if __name__ == '__main__':\n    main(0)\n", RULE) == []


def test_nothing_starts_when_all_that_is_distributed_is_left() -> None:
    assert check_unchanged(ASKS, RULE, Options(distributed="none")) == []


def test_other_ranks_are_not_ours() -> None:
    assert check_unchanged("from mpi import get_rank_id\nget_rank_id()\n", RULE) == []
