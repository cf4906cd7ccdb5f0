"""What a project does not want to hear of stays as it is, and is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.migrate.written import AFTER, BEFORE, make_project, migrated
from trainferry.errors import UsageError


def after(tmp_path: Path, text: str, other: dict[str, bytes] | None = None) -> tuple[str, int]:
    project = make_project(tmp_path, {"net.py": text.encode(), **(other or {})})
    migration = migrated(project)
    return migration.files[0].text_after, migration.suppressed


@pytest.mark.parametrize(
    "comment",
    [
        "# trainferry: ignore",
        "# trainferry: ignore[fused_dropout] the mask is compared in a test",
        "#trainferry:ignore[other, fused_dropout]",
        "# noqa  # trainferry: ignore[fused_dropout]",
    ],
)
def test_a_comment_on_the_line_keeps_it(tmp_path: Path, comment: str) -> None:
    text = f"import tensorflow as tf\nnet = tf.nn.dropout(net, 0.8)  {comment}\n"
    assert after(tmp_path, text) == (text, 1)


def test_a_comment_alone_counts_for_the_line_below(tmp_path: Path) -> None:
    text = "import tensorflow as tf\n# trainferry: ignore[fused_dropout] why\ntf.nn.dropout(x, 1)\n"
    assert after(tmp_path, text) == (text, 1)


def test_the_last_line_of_a_long_call_will_do(tmp_path: Path) -> None:
    text = (
        "import tensorflow as tf\ntf.nn.dropout(\n  x,\n  1)  # trainferry: ignore[fused_dropout]\n"
    )
    assert after(tmp_path, text) == (text, 1)


def test_another_rule_in_the_comment_changes_nothing(tmp_path: Path) -> None:
    text = "import tensorflow as tf\ntf.nn.dropout(x, 1)  # trainferry: ignore[static_batch]\n"
    assert after(tmp_path, text)[1] == 0


def test_paths_are_ignored_by_pyproject(tmp_path: Path) -> None:
    table = b'[tool.trainferry.ignore]\n"old/**" = ["fused_dropout"]\n"gone.py" = ["*"]\n'
    files = {"net.py": BEFORE, "old/a.py": BEFORE, "gone.py": BEFORE, "pyproject.toml": table}
    migration = migrated(make_project(tmp_path, files))
    changed = {str(file.path): file.after for file in migration.changed}
    assert changed == {"net.py": AFTER}
    assert migration.suppressed == 2


def test_a_rule_that_does_not_exist_is_an_error_with_a_hint(tmp_path: Path) -> None:
    table = b'[tool.trainferry.ignore]\n"old/**" = ["fused_dropuot"]\n'
    project = make_project(tmp_path, {"net.py": BEFORE, "pyproject.toml": table})
    with pytest.raises(UsageError, match="fused_dropuot") as caught:
        migrated(project)
    assert "fused_dropout" in caught.value.hint


@pytest.mark.parametrize(
    "table",
    [
        b"[tool",
        b'[tool.trainferry.ignore]\n"a" = "b"\n',
        b"\xff",
        b"[tool.trainferry]\nignore = 3\n",
        b"[tool]\ntrainferry = 3\n",
        b"tool = 3\n",
        b'[tool.trainferry.ignored]\n"old/*" = ["*"]\n',
    ],
)
def test_a_broken_pyproject_is_told(tmp_path: Path, table: bytes) -> None:
    project = make_project(tmp_path, {"net.py": BEFORE, "pyproject.toml": table})
    with pytest.raises(UsageError, match=r"pyproject\.toml"):
        migrated(project)


def test_a_comment_that_names_no_rule_is_told_with_its_place(tmp_path: Path) -> None:
    text = (
        "import tensorflow as tf\n"
        "tf.nn.dropout(x, 1)  # trainferry: ignore[fused_dropuot, static_batch] why\n"
        "tf.nn.dropout(x, 1)  # trainferry: ignore[fused_dropout]\n"
    )
    migration = migrated(make_project(tmp_path, {"net.py": text.encode()}))
    said = "net.py:2: there is no rule `fused_dropuot` to ignore; did you mean `fused_dropout`?"
    assert migration.misspelt == (said,)
