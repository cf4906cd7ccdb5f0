"""Which sessions stay on the host: those of tests, those for samples, those kept off GPUs."""

from __future__ import annotations

import ast
import re

from trainferry.migrate.file import File
from trainferry.migrate.library import is_tensorflow
from trainferry.migrate.rules._configs import assigned_values
from trainferry.migrate.rules._imported import imported_files, imported_modules

_TEST_BASE = re.compile(r"Test(Case|Base)?$")
_TEST_FILE = re.compile(r"(test_.*|.*_test|conftest)$")

_CODECS = re.compile(
    r"tf\.(image|io)\.(decode|encode)_|.*TFRecordWriter$|tf\.train\.Example$"
    r"|tf\.(io\.)?parse_(single_)?(sequence_)?example$"
)
_DATA = re.compile(
    r"tf(\.contrib(\.slim)?)?$"
    r"|tf\.compat\.as_\w+$"
    r"|tf\.(app|data|errors|flags|gfile|image|io|logging|python_io|strings|sysconfig)(\.|$)"
    r"|tf\.contrib\.data(\.|$)|tf\.(clip_by_value|floor|ceil|round)$"
    r"|tf\.(Session|Graph|ConfigProto|GPUOptions|InteractiveSession|OptimizerOptions)(\.|$)"
    r"|tf\.train\.(Bytes|Float|Int64)List$|tf\.train\.(Sequence)?Example(\.|$)"
    r"|tf\.train\.(Feature\w*|Coordinator|start_queue_runners|string_input_producer|batch)$"
    r"|tf\.(FixedLen|VarLen)\w+$|tf\.(TFRecord|WholeFile|TextLine|Identity)Reader$"
    r"|tf\.(placeholder|constant|cast|reshape|squeeze|expand_dims|stack|concat|shape|size|group)$"
    r"|tf\.(decode_\w+|parse_\w+|read_file|device|name_scope|to_\w+|string_\w+|substr|map_fn)$"
    r"|tf\.(reset_default_graph|get_default_graph|set_random_seed|convert_to_tensor)$"
    r"|tf\.((global|local)_variables_initializer|initialize_all_variables|range|transpose)$"
    r"|tf\.(u?int\d+|float\d+|string|bool|minimum|maximum|equal|cond|slice|gather|less|greater)$"
    r"|tf\.contrib\.slim\.(tfexample_decoder|dataset)(\.|$)"
)

_NETWORKS = re.compile(r"(keras|sonnet|tensor2tensor|tensorflow_\w+|tf_slim|tflearn)(\.|$)")


def is_in_test(file: File, node: ast.AST) -> bool:
    """Whether code is a unit test's; `test_crnn.py` alone may be a script that evaluates."""
    inside = [one for one in file.parents(node) if isinstance(one, ast.ClassDef)]
    if any(_is_test_class(file, one) for one in inside):
        return True
    return file.once(_is_test_file)


def _is_test_file(file: File) -> bool:
    return bool(_TEST_FILE.match(file.source.path.stem)) and _has_tests(file)


def only_makes_data(file: File) -> bool:
    """Whether all that a file does with TensorFlow is to read, convert and write samples."""
    return file.once(_only_makes_data)


def _only_makes_data(file: File) -> bool:
    return (
        any(_CODECS.match(name) for name in file.used)
        and _has_no_network(file)
        and all(_has_no_network(other) for other in imported_files(file))
    )


def is_kept_off_accelerators(file: File, config: ast.expr) -> bool:
    """Whether a configuration hides all GPUs: `ConfigProto(device_count={"GPU": 0})`."""
    return any(hides_gpus(value) for value in (config, *assigned_values(file, config)))


def hides_gpus(value: ast.expr) -> bool:
    """Whether this is a call with `device_count={"GPU": 0}`."""
    if not isinstance(value, ast.Call):
        return False
    counts = [one.value for one in value.keywords if one.arg == "device_count"]
    return any(
        isinstance(key, ast.Constant)
        and key.value == "GPU"
        and isinstance(count, ast.Constant)
        and count.value == 0
        for found in counts
        if isinstance(found, ast.Dict)
        for key, count in zip(found.keys, found.values, strict=True)
    )


def _is_test_class(file: File, node: ast.ClassDef) -> bool:
    return any(_TEST_BASE.search(file.text(base)) for base in node.bases)


def _has_tests(file: File) -> bool:
    if any(_is_test_class(file, one) for one in file.classes):
        return True
    return not imported_modules(file).isdisjoint(("pytest", "unittest", "absl.testing"))


def _has_no_network(file: File) -> bool:
    return file.once(_is_without_network)


def _is_without_network(file: File) -> bool:
    return all(
        _DATA.match(name) if is_tensorflow(name) else not _NETWORKS.match(name)
        for name in file.used
    )
