from __future__ import annotations

from trainferry.counted import counted


def test_one_thing_is_no_plural() -> None:
    assert counted(1, "file") == "1 file"
    assert counted(0, "file") == "0 files"
    assert counted(1, "class", "classes") == "1 class"
    assert counted(1200, "class", "classes") == "1,200 classes"
