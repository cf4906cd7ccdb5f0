"""The adapter's names are imported where new code needs them: only there, once, and safely."""

from __future__ import annotations

import ast
import json
import textwrap

import pytest

from tests.migrate.made_rules import NPU_OPS, apply_to, apply_to_all, bytes_after, renamed
from trainferry.migrate.rule import IMPORT_RULE, Outcome

TO_NPU = renamed("to_npu", "tf.old", "npu_ops.new", NPU_OPS)


def migrated(text: str, path: str = "program.py") -> str:
    return migrated_bytes(textwrap.dedent(text).encode(), path).decode()


def migrated_bytes(data: bytes, path: str = "program.py") -> bytes:
    result = apply_to(data, TO_NPU, path=path)
    assert result.failures == []
    after = bytes_after(result, path)
    again = apply_to(after, TO_NPU, path=path)
    assert bytes_after(again, path) == after
    return after


def check(before: str, after: str) -> None:
    got = migrated(before)
    assert got == textwrap.dedent(after)
    compile(got, "program.py", "exec")


def check_left_to_the_user(text: str) -> None:
    result = apply_to(textwrap.dedent(text).encode(), TO_NPU)
    assert result.failures == []
    assert result.after == {}
    assert [one.outcome for one in result.told] == [Outcome.BY_HAND]
    assert "npu_ops" in result.told[0].message


def runs_before_use(text: str) -> bool:
    """Whether the top of the program imports `npu_ops` before it uses it."""
    body = ast.parse(text).body
    imported = [at for at, one in enumerate(body) if "import npu_ops" in ast.unparse(one)]
    used = [at for at, one in enumerate(body) if "npu_ops.new" in ast.unparse(one)]
    return imported[0] < used[0]


# Where the import goes.


def test_it_stands_behind_tensorflows_own_import() -> None:
    check(
        """\
        import os
        import tensorflow as tf
        import numpy as np

        tf.old(1)
        """,
        """\
        import os
        import tensorflow as tf
        from npu_bridge.estimator import npu_ops
        import numpy as np

        npu_ops.new(1)
        """,
    )


def test_docstring_and_all_future_lines_stay_first() -> None:
    future = "".join(
        f"from __future__ import {name}\n"
        for name in (
            "absolute_import",
            "division",
            "print_function",
            "unicode_literals",
            "generators",
            "with_statement",
        )
    )
    before = f'"""A program."""\n\n{future}\nimport tensorflow as tf\ntf.old()\n'
    after = migrated(before)
    assert after == before.replace("as tf\ntf.old", f"as tf\n{NPU_OPS}\nnpu_ops.new")
    assert ast.get_docstring(ast.parse(after)) == "A program."
    compile(after, "program.py", "exec")


def test_late_imports_keep_the_docstring_first() -> None:
    check(
        """\
        '''A program.'''
        A = 1
        B = 2
        C = 3
        D = 4
        E = 5
        F = 6
        import tensorflow as tf
        tf.old(A)
        """,
        """\
        '''A program.'''
        A = 1
        B = 2
        C = 3
        D = 4
        E = 5
        F = 6
        import tensorflow as tf
        from npu_bridge.estimator import npu_ops
        npu_ops.new(A)
        """,
    )


def test_future_line_behind_comments_stays_first() -> None:
    check(
        """\
        #!/usr/bin/env python
        # -*- coding: utf-8 -*-
        # Copyright

        # More.
        from __future__ import print_function

        def main():
            import tensorflow as tf
            tf.old()
        """,
        """\
        #!/usr/bin/env python
        # -*- coding: utf-8 -*-
        # Copyright

        # More.
        from __future__ import print_function
        from npu_bridge.estimator import npu_ops

        def main():
            import tensorflow as tf
            npu_ops.new()
        """,
    )


def test_a_statement_on_the_line_of_the_import_has_what_it_needs() -> None:
    after = migrated("import tensorflow as tf; x = tf.old()\n")
    assert after == f"{NPU_OPS}\nimport tensorflow as tf; x = npu_ops.new()\n"


def test_a_future_line_that_shares_its_line_stays_first() -> None:
    after = migrated("from __future__ import division; import tensorflow as tf; x = tf.old()\n")
    compile(after, "program.py", "exec")
    assert runs_before_use(after)


def test_a_docstring_that_shares_its_line_stays_first() -> None:
    after = migrated(
        "'''Doc.'''; from __future__ import division; import tensorflow as tf\ntf.old()\n"
    )
    assert ast.get_docstring(ast.parse(after)) == "Doc."
    compile(after, "program.py", "exec")


def test_a_docstring_alone_with_the_import_and_its_use() -> None:
    after = migrated("'''Doc.'''; import tensorflow as tf; x = tf.old()\n")
    compile(after, "program.py", "exec")
    assert ast.get_docstring(ast.parse(after)) == "Doc."
    assert runs_before_use(after)


def test_an_import_over_several_lines_is_not_cut() -> None:
    check(
        """\
        from tensorflow import (
            old,  # ours
            Session,
        )  # the end
        old()
        """,
        """\
        from tensorflow import (
            old,  # ours
            Session,
        )  # the end
        from npu_bridge.estimator import npu_ops
        npu_ops.new()
        """,
    )


def test_an_import_with_a_continued_line_is_not_cut() -> None:
    check(
        "import tensorflow \\\n    as tf\ntf.old()\n",
        f"import tensorflow \\\n    as tf\n{NPU_OPS}\nnpu_ops.new()\n",
    )


def test_a_guarded_import_of_tensorflow_is_passed_whole() -> None:
    check(
        """\
        try:
            import tensorflow.compat.v1 as tf
        except ImportError:
            import tensorflow as tf
        tf.old()
        """,
        """\
        try:
            import tensorflow.compat.v1 as tf
        except ImportError:
            import tensorflow as tf
        from npu_bridge.estimator import npu_ops
        npu_ops.new()
        """,
    )


def test_an_import_under_a_condition_is_passed_whole() -> None:
    check(
        """\
        import sys
        if sys.version_info > (3,):
            import tensorflow as tf
        else:
            import tensorflow.compat.v1 as tf

        tf.old()
        """,
        """\
        import sys
        if sys.version_info > (3,):
            import tensorflow as tf
        else:
            import tensorflow.compat.v1 as tf
        from npu_bridge.estimator import npu_ops

        npu_ops.new()
        """,
    )


def test_a_use_inside_the_guard_comes_after_the_import() -> None:
    after = migrated(
        """\
        import os
        try:
            import tensorflow as tf
            x = tf.old()
        except ImportError:
            x = None
        """
    )
    assert after.startswith(f"import os\n{NPU_OPS}\ntry:\n")


def test_a_silenced_import_is_passed_whole() -> None:
    check(
        """\
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            import tensorflow as tf
        tf.old()
        """,
        """\
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            import tensorflow as tf
        from npu_bridge.estimator import npu_ops
        tf.old()
        """.replace("tf.old", "npu_ops.new"),
    )


def test_the_import_does_not_wait_for_the_end_of_the_main_block() -> None:
    check(
        """\
        import sys
        def net():
            return tf.old()
        if __name__ == '__main__':
            import tensorflow as tf
            net()
        """,
        """\
        import sys
        from npu_bridge.estimator import npu_ops
        def net():
            return npu_ops.new()
        if __name__ == '__main__':
            import tensorflow as tf
            net()
        """,
    )


def test_an_import_for_type_checkers_only_does_not_count() -> None:
    check(
        """\
        import typing
        if typing.TYPE_CHECKING:
            import tensorflow as tf

        def main():
            import tensorflow as tf
            return tf.old()
        """,
        """\
        import typing
        from npu_bridge.estimator import npu_ops
        if typing.TYPE_CHECKING:
            import tensorflow as tf

        def main():
            import tensorflow as tf
            return npu_ops.new()
        """,
    )


def test_an_adapter_import_for_type_checkers_only_is_not_enough() -> None:
    after = migrated(
        """\
        import tensorflow as tf
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from npu_bridge.estimator import npu_ops
        tf.old()
        """
    )
    assert after.startswith(f"import tensorflow as tf\n{NPU_OPS}\n")


def test_tensorflow_only_inside_functions_gets_the_import_behind_the_first_block() -> None:
    check(
        """\
        '''Doc.'''
        import os
        import sys

        def main():
            import tensorflow as tf
            return tf.old()
        """,
        """\
        '''Doc.'''
        import os
        import sys
        from npu_bridge.estimator import npu_ops

        def main():
            import tensorflow as tf
            return npu_ops.new()
        """,
    )


def test_a_changed_path_comes_before_the_import() -> None:
    check(
        """\
        import os, sys
        if os.path.exists('lib'):
            sys.path.insert(0, 'lib')
        os.environ['X'] = '1'
        import tensorflow as tf
        tf.old()
        """,
        """\
        import os, sys
        if os.path.exists('lib'):
            sys.path.insert(0, 'lib')
        os.environ['X'] = '1'
        import tensorflow as tf
        from npu_bridge.estimator import npu_ops
        npu_ops.new()
        """,
    )


def test_a_use_before_tensorflows_second_import_comes_after_ours() -> None:
    after = migrated(
        """\
        from mine import tf_name
        import numpy
        from tensorflow import old
        old()
        import tensorflow as tf
        """
    )
    assert runs_before_use(after)


def test_a_package_file_gets_the_import_too() -> None:
    after = migrated("import tensorflow as tf\nx = tf.old()\n", "pkg/__init__.py")
    assert after == f"import tensorflow as tf\n{NPU_OPS}\nx = npu_ops.new()\n"


def test_a_file_without_imports_of_its_own_gets_it_at_the_top() -> None:
    after = migrated("x = __import__('tensorflow').old()\n")
    assert after == f"{NPU_OPS}\nx = npu_ops.new()\n"


def test_comments_at_the_top_are_not_split_from_their_shebang() -> None:
    after = migrated("#!/usr/bin/python\n# coding: utf-8\nx = __import__('tensorflow').old()\n")
    assert after.splitlines()[:3] == ["#!/usr/bin/python", "# coding: utf-8", NPU_OPS]


def test_no_final_newline() -> None:
    after = migrated(
        "def f(tf): return tf\nf(__import__('tensorflow').old())\nimport tensorflow as tf"
    )
    assert after.startswith(f"{NPU_OPS}\n") or runs_before_use(after)
    compile(after, "program.py", "exec")
    after = migrated("def f():\n    return tf.old()\nimport tensorflow as tf")
    assert after == f"def f():\n    return npu_ops.new()\nimport tensorflow as tf\n{NPU_OPS}"


# Bytes.


def test_line_ends_of_the_file_are_kept() -> None:
    for end in (b"\r\n", b"\r", b"\n"):
        after = migrated_bytes(end.join([b"import tensorflow as tf", b"tf.old()", b""]))
        lines = [b"import tensorflow as tf", NPU_OPS.encode(), b"npu_ops.new()", b""]
        assert after == end.join(lines)


def test_a_byte_order_mark_stays_at_the_start() -> None:
    mark = b"\xef\xbb\xbf"
    after = migrated_bytes(mark + b"x = __import__('tensorflow').old()\n")
    assert after == mark + NPU_OPS.encode() + b"\nx = npu_ops.new()\n"
    after = migrated_bytes(mark + b"import tensorflow as tf; x = tf.old()\n")
    assert after == mark + f"{NPU_OPS}\nimport tensorflow as tf; x = npu_ops.new()\n".encode()


def test_a_file_in_gbk_keeps_its_text() -> None:
    before = '# -*- coding: gbk -*-\n"""训练"""\nimport tensorflow as tf  # 导入\ntf.old("模型")\n'
    after = migrated_bytes(before.encode("gbk")).decode("gbk")
    assert after == before.replace("# 导入\ntf.old", f"# 导入\n{NPU_OPS}\nnpu_ops.new")


def test_tabs_and_form_feeds_do_not_matter() -> None:
    after = migrated("import\ttensorflow\tas\ttf\t\n\x0c\ndef f():\n\treturn tf.old()\n")
    assert after == (
        f"import\ttensorflow\tas\ttf\t\n{NPU_OPS}\n\x0c\ndef f():\n\treturn npu_ops.new()\n"
    )


def notebook(*cells: str) -> bytes:
    return json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code",
                    "execution_count": None,
                    "metadata": {},
                    "outputs": [],
                    "source": cell.splitlines(keepends=True),
                }
                for cell in cells
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 4,
        },
        indent=1,
    ).encode()


def cells_of(data: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(data)["cells"]]


def test_a_notebook_imports_in_the_cell_of_tensorflow() -> None:
    before = notebook("%matplotlib inline\n!pip install x\nimport tensorflow as tf", "tf.old()")
    after = cells_of(migrated_bytes(before, "net.ipynb"))
    assert after == [
        f"%matplotlib inline\n!pip install x\nimport tensorflow as tf\n{NPU_OPS}",
        "npu_ops.new()",
    ]


def test_the_last_cell_of_a_notebook_may_end_without_a_newline() -> None:
    before = notebook("def f():\n  return tf.old()", "import tensorflow as tf")
    after = cells_of(migrated_bytes(before, "net.ipynb"))
    assert after == ["def f():\n  return npu_ops.new()", f"import tensorflow as tf\n{NPU_OPS}"]


def test_a_notebook_with_magics_only_in_its_first_cell() -> None:
    before = notebook("%load_ext tensorboard", "def f():\n  import tensorflow as tf\n  tf.old()\n")
    after = cells_of(migrated_bytes(before, "net.ipynb"))
    assert sum(cell.count(NPU_OPS) for cell in after) == 1
    assert after[0].endswith("%load_ext tensorboard")


def test_a_cell_magic_stays_on_the_first_line_of_its_cell() -> None:
    before = notebook("%%time\nx = __import__('tensorflow').old()\n")
    after = cells_of(migrated_bytes(before, "net.ipynb"))
    assert after == [f"%%time\n{NPU_OPS}\nx = npu_ops.new()\n"]


# Names.


@pytest.mark.parametrize(
    "present",
    [
        "from npu_bridge.estimator import npu_ops",
        "from npu_bridge.npu_init import *",
        "import npu_bridge.estimator.npu_ops as npu_ops",
    ],
)
def test_what_is_imported_is_not_imported_again(present: str) -> None:
    after = migrated(f"import tensorflow as tf\n{present}\ntf.old()\n")
    assert after == f"import tensorflow as tf\n{present}\nnpu_ops.new()\n"


@pytest.mark.parametrize(
    "taken",
    [
        "npu_ops = 1",
        "import npu_ops",
        "from mine import npu_ops",
        "def npu_ops(): pass",
        "class npu_ops: pass",
        "def f(npu_ops): return npu_ops",
        "f = lambda npu_ops: npu_ops",
        "def f():\n    npu_ops = 1",
        "def f():\n    global npu_ops\n    npu_ops = 1",
        "for npu_ops in (): pass",
        "with open('x') as npu_ops: pass",
        "try:\n    pass\nexcept OSError as npu_ops:\n    pass",
        "import numpy as npu_ops",
        "(npu_ops, y) = 1, 2",
        "npu_ops += 1",
        "print([npu_ops for npu_ops in ()])",
        "if (npu_ops := 1): pass",
        "del npu_ops",
        "npu_ops: int",
        "npu_ops = None",
        "def f():\n    from mine import npu_ops\n    return npu_ops",
    ],
)
def test_a_name_used_for_something_else_is_left_to_the_user(taken: str) -> None:
    check_left_to_the_user(f"import tensorflow as tf\n{taken}\ntf.old()\n")


def test_an_attribute_of_a_class_hides_nothing_outside_the_class() -> None:
    after = migrated(
        """\
        import tensorflow as tf
        class Model:
            npu_ops = 1
            def run(self):
                return tf.old(self.npu_ops)
        """
    )
    assert NPU_OPS in after
    assert "return npu_ops.new(self.npu_ops)" in after


def test_the_same_import_inside_a_function_hides_nothing() -> None:
    after = migrated(
        """\
        import tensorflow as tf
        def other():
            from npu_bridge.estimator import npu_ops
            return npu_ops.old
        tf.old()
        """
    )
    assert after.startswith(f"import tensorflow as tf\n{NPU_OPS}\n")
    assert after.endswith("\nnpu_ops.new()\n")


def test_a_use_in_the_body_of_that_class_is_left_to_the_user() -> None:
    check_left_to_the_user(
        """\
        import tensorflow as tf
        class Model:
            npu_ops = 1
            layer = tf.old()
        """
    )


@pytest.mark.parametrize("star", ["from mine import *", "from keras.layers import *"])
def test_a_star_import_of_unknown_names_brings_none_of_the_adapter(star: str) -> None:
    after = migrated(f"import tensorflow as tf\n{star}\ntf.old(tf.old())\n")
    assert after == f"import tensorflow as tf\n{NPU_OPS}\n{star}\nnpu_ops.new(npu_ops.new())\n"


def test_a_star_import_of_the_project_is_looked_into() -> None:
    program = b"import tensorflow as tf\nfrom mine import *\ntf.old()\n"
    result = apply_to_all({"program.py": program, "mine.py": b"npu_ops = 1\n"}, TO_NPU)
    assert [one.outcome for one in result.told] == [Outcome.BY_HAND]
    result = apply_to_all({"program.py": program, "mine.py": f"{NPU_OPS}\n".encode()}, TO_NPU)
    assert bytes_after(result) == program.replace(b"tf.old", b"npu_ops.new")


def test_what_is_imported_too_late_is_imported_earlier() -> None:
    before = f"import tensorflow as tf\nx = tf.old()\n{NPU_OPS}\n"
    assert runs_before_use(migrated(before))


def test_what_is_imported_late_is_early_enough_for_functions() -> None:
    after = migrated(f"import tensorflow as tf\ndef f():\n    tf.old()\n{NPU_OPS}\n")
    assert after == f"import tensorflow as tf\ndef f():\n    npu_ops.new()\n{NPU_OPS}\n"


# Telling.


def test_the_import_is_told_once_with_the_rules_that_need_it() -> None:
    result = apply_to(b"import tensorflow as tf\ntf.old()\ntf.old()\n", TO_NPU)
    (told,) = [one for one in result.told if one.rule is IMPORT_RULE]
    assert told.outcome is Outcome.CHANGED
    assert told.message == f"`{NPU_OPS}` for to_npu"


def test_the_import_is_told_alike_where_it_shares_a_line() -> None:
    text = b"from __future__ import division; import tensorflow as tf; tf.old()\n"
    result = apply_to(text, TO_NPU)
    (told,) = [one for one in result.told if one.rule is IMPORT_RULE]
    assert told.message == f"`{NPU_OPS}` for to_npu"


def test_a_file_that_needs_nothing_gets_no_import() -> None:
    assert apply_to(b"import tensorflow as tf\ntf.other()\n", TO_NPU).after == {}
