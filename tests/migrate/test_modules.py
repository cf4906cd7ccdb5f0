"""Names across the files of a project: its own modules, packages, re-exports and stars."""

from __future__ import annotations

import pytest

from tests.migrate.names_project import asked

IMPORT = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("from utils.tf_import import tf\nask(tf.nn)", {"utils/tf_import.py": IMPORT}),
        ("from utils.tf_import import tf as t\nask(t.nn)", {"utils/tf_import.py": IMPORT}),
        ("import utils.tf_import\nask(utils.tf_import.tf.nn)", {"utils/tf_import.py": IMPORT}),
        ("import utils.tf_import as u\nask(u.tf.nn)", {"utils/tf_import.py": IMPORT}),
        ("from utils import tf_import\nask(tf_import.tf.nn)", {"utils/tf_import.py": IMPORT}),
        ("import utils\nask(utils.tf.nn)", {"utils.py": IMPORT}),
        ("from .utils import tf\nask(tf.nn)", {"utils.py": IMPORT}),
        ("from . import utils\nask(utils.tf.nn)", {"utils.py": IMPORT}),
        (
            "from utils import tf\nask(tf.nn)",
            {"utils/__init__.py": "from .tf_import import tf", "utils/tf_import.py": IMPORT},
        ),
        (
            "import utils\nask(utils.tf_import.tf.nn)",
            {"utils/__init__.py": "from . import tf_import", "utils/tf_import.py": IMPORT},
        ),
        ("from a import nn\nask(nn)", {"a.py": "from b import nn", "b.py": f"{IMPORT}nn = tf.nn"}),
        ("from utils import *\nask(tf.nn)", {"utils.py": IMPORT}),
        ("from utils import *\nask(tf.nn)", {"utils.py": "__all__ = ['tf']\n" + IMPORT}),
        (
            "from utils import *\nask(tf.nn)",
            {"utils.py": "__all__ = []\n__all__ += ['tf', 'tf']\n" + IMPORT},
        ),
        (
            "from utils import *\nask(tf.nn)",
            {"utils.py": "__all__ = []\n__all__.append('tf')\n" + IMPORT},
        ),
        (
            "from utils import *\nask(tf.nn)",
            {"utils.py": "__all__ = ['x']\n__all__.extend(['tf'])\n" + IMPORT},
        ),
        ("from a import *\nask(tf.nn)", {"a.py": "from b import *", "b.py": IMPORT}),
        ("from a import *\nask(nn)", {"a.py": "from tensorflow import *"}),
        ("from a import nn\nask(nn)", {"a.py": "from tensorflow import *"}),
    ],
)
def test_re_exports_are_followed(text: str, others: dict[str, str]) -> None:
    assert asked(text, others) == "tf.nn"


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("from utils import tf\nask(tf.nn)", {"utils.py": "class tf: ...\n"}),
        ("from utils import tf\nask(tf.nn)", {"utils.py": ""}),
        ("from utils.missing import tf\nask(tf.nn)", {"utils/__init__.py": ""}),
        ("from .missing import tf\nask(tf.nn)", {}),
        ("from ...missing import tf\nask(tf.nn)", {}),
        ("from utils import *\nask(tf.nn)", {"utils.py": "__all__ = ['x']\n" + IMPORT}),
        ("from utils import *\nask(tf.nn)", {"utils.py": "__all__ = make()\n"}),
        (
            "from a import *\nask(tf.nn)",
            {"a.py": "from b import *\n__all__ = ['x']", "b.py": IMPORT},
        ),
        ("from utils import *\nask(_tf.nn)", {"utils.py": "import tensorflow as _tf"}),
        (f"{IMPORT}from utils import *\nask(tf.nn)", {"utils.py": "def tf(): ..."}),
        (
            "from tensorflow import layers\nfrom pkg import *\nask(layers.dense)",
            {"pkg/__init__.py": "from pkg.layers import x", "pkg/layers.py": "x = 1"},
        ),
        (
            "from pkg import nn\nask(nn.relu)",
            {"pkg/__init__.py": "from tensorflow import nn", "pkg/nn.py": ""},
        ),
    ],
)
def test_what_the_project_hides_is_not_known(text: str, others: dict[str, str]) -> None:
    assert asked(text, others) is None


@pytest.mark.parametrize(
    ("text", "others", "name"),
    [
        (
            "from a import tf\nask(tf.nn)",
            {"a.py": "from b import tf", "b.py": "from a import tf"},
            None,
        ),
        (
            "from a import tf\nask(tf.nn)",
            {"a.py": "from b import tf", "b.py": "from a import tf\n" + IMPORT},
            "tf.nn",
        ),
        (
            "from b import tf\nask(tf.nn)",
            {"a.py": "from b import tf\ntf = 1", "b.py": "from a import tf\n" + IMPORT},
            None,
        ),
        (
            "from a import *\nask(tf.nn)",
            {"a.py": "from b import *", "b.py": "from a import *\n" + IMPORT},
            "tf.nn",
        ),
        ("from net import *\nfrom net import tf\nask(tf.nn)", {}, "net.tf.nn"),
        (
            "from a import *\nS = getattr(tf, 'Session')\nask(S)",
            {"a.py": "from b import *\n" + IMPORT, "b.py": "from a import *"},
            "tf.Session",
        ),
    ],
)
def test_files_that_import_each_other_are_followed_to_an_end(
    text: str, others: dict[str, str], name: str | None
) -> None:
    assert asked(text, others) == name


def test_a_name_that_none_of_many_files_has_is_not_known() -> None:
    stars = "\n".join(f"from m{number} import *" for number in range(30))
    others = {f"m{number}.py": stars for number in range(30)}
    assert asked(f"{stars}\nask(unknown)", others) is None


def test_many_files_that_import_each_other_still_agree() -> None:
    stars = "\n".join(f"from m{number} import *" for number in range(30))
    others = {f"m{number}.py": IMPORT + stars for number in range(30)}
    assert asked(f"{stars}\nask(tf.nn)", others) == "tf.nn"


def test_a_star_the_project_does_not_know_reaches_through_its_files() -> None:
    others = {"a.py": "from b import *", "b.py": "from keras import *"}
    assert asked("from tensorflow import layers\nfrom a import *\nask(layers.x)", others) is None
    assert asked(f"{IMPORT}from a import *\nask(tf.nn)", others) == "tf.nn"


def test_a_long_chain_of_aliases_is_given_up() -> None:
    chain = "\n".join(f"a{number} = a{number + 1}" for number in range(2000))
    assert asked(f"{chain}\nimport tensorflow as a2000\nask(a0.nn)") is None


class TestWhereFilesAreFound:
    def test_relative_imports_count_their_levels(self) -> None:
        others = {"a/b/__init__.py": "", "a/tf_import.py": IMPORT}
        text = "from ..tf_import import tf\nask(tf.nn)"
        assert asked(text, others, path="a/b/net.py") == "tf.nn"
        text = "from .tf_import import tf\nask(tf.nn)"
        assert asked(text, {"a/tf_import.py": IMPORT}, path="a/__init__.py") == "tf.nn"

    def test_a_project_inside_the_repository_imports_from_its_own_folder(self) -> None:
        others = {"research/slim/nets/tf_import.py": IMPORT, "other/nets/tf_import.py": "tf = 1"}
        text = "from nets.tf_import import tf\nask(tf.nn)"
        assert asked(text, others, path="research/slim/train.py") == "tf.nn"

    def test_files_elsewhere_count_when_they_agree(self) -> None:
        text = "from nets.tf_import import tf\nask(tf.nn)"
        same = {"a/nets/tf_import.py": IMPORT, "b/nets/tf_import.py": IMPORT}
        other = {"a/nets/tf_import.py": IMPORT, "b/nets/tf_import.py": "tf = 1"}
        assert asked(text, same, path="c/net.py") == "tf.nn"
        assert asked(text, other, path="c/net.py") is None

    def test_a_folder_named_like_a_library_does_not_hide_it(self) -> None:
        others = {"examples/tensorflow/__init__.py": "", "keras/train.py": ""}
        assert asked(f"{IMPORT}ask(tf.nn)", others, path="examples/tensorflow/net.py") == "tf.nn"
        assert asked("import keras\nask(keras.layers)", others) == "keras.layers"

    def test_a_file_named_like_a_library_hides_it_beside_a_script(self) -> None:
        assert asked(f"{IMPORT}ask(tf.nn)", {"tensorflow.py": "nn = 1"}) is None
        others = {"a/tensorflow.py": "nn = 1", "a/__init__.py": ""}
        assert asked(f"{IMPORT}ask(tf.nn)", others, path="a/net.py") == "tf.nn"

    def test_a_project_that_is_itself_a_package_is_known_by_its_folder(self) -> None:
        others = {"__init__.py": "", "tf_import.py": IMPORT}
        text = "from mynet.tf_import import tf\nask(tf.nn)"
        assert asked(text, others, folder="mynet") == "tf.nn"
        assert asked(text, others) == "mynet.tf_import.tf.nn"
        text = "import mynet.tf_import\nask(mynet.tf_import.tf.nn)"
        assert asked(text, others, folder="mynet") == "tf.nn"

    def test_folders_whose_names_are_no_identifiers_are_told_apart(self) -> None:
        others = {"v1.0/my-net/tf_import.py": IMPORT}
        text = "from tf_import import tf\nask(tf.nn)"
        assert asked(text, others, path="v1.0/my-net/net.py") == "tf.nn"
