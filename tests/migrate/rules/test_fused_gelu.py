"""GELU is known by what it computes, and becomes one operator."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "fused_gelu"
TOP = "import math\nimport numpy as np\nimport tensorflow as tf\n"
IMPORT = "from npu_bridge.estimator.npu_unary_ops import npu_unary_ops\n"


def test_docstring_and_comments_stay() -> None:
    told = check_migrated(
        TOP
        + '''
def gelu(input_tensor):
  """Gaussian error linear unit."""
  # the formula of the paper
  cdf = 0.5 * (1.0 + tf.tanh(
      (np.sqrt(2 / np.pi) * (input_tensor + 0.044715 * tf.pow(input_tensor, 3)))))
  return input_tensor * cdf  # done
''',
        TOP
        + IMPORT
        + '''
def gelu(input_tensor):
  """Gaussian error linear unit."""
  # the formula of the paper
  return npu_unary_ops.gelu(input_tensor)  # done
''',
        RULE,
    )
    assert outcomes(told) == [Outcome.CHECK]


@pytest.mark.parametrize(
    "formula",
    [
        "0.5*x*(1+tf.tanh(np.sqrt(2/np.pi)*(x+0.044715*tf.pow(x, 3))))",
        "0.5 * x * (1 + tf.math.tanh(x * 0.7978845608 * (1 + 0.044715 * x * x)))",
        "x * tf.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))",
        "tf.multiply(0.5 * x, 1. + tf.nn.tanh(tf.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))",
    ],
)
def test_the_formula_counts_and_not_the_name_or_the_spelling(formula: str) -> None:
    check_migrated(
        f"{TOP}def activate(x):\n    return {formula}\n",
        f"{TOP}{IMPORT}def activate(x):\n    return npu_unary_ops.gelu(x)\n",
        RULE,
    )


def test_a_method_keeps_its_parameters() -> None:
    text = TOP + (
        "class Net:\n"
        "    def gelu(self, x):\n"
        "        return 0.5 * x * (1 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))\n"
    )
    after = (
        TOP
        + IMPORT
        + ("class Net:\n    def gelu(self, x):\n        return npu_unary_ops.gelu(x)\n")
    )
    check_migrated(text, after, RULE)


@pytest.mark.parametrize(
    "function",
    [
        "def gelu(x):\n    return 0.5 * x * (1 + tf.erf(x / tf.sqrt(2.0)))\n",
        "def gelu(*args):\n    return args[0] * tf.sigmoid(1.702 * args[0])\n",
        "def gelu(x, fast=True):\n    if fast:\n        return tf.tanh(x)\n    return x\n",
        "def gelu():\n    pass\n",
        "def gelu(x):\n    return x * tf.sigmoid(1.702 * x)\n",
    ],
)
def test_what_is_another_function_is_left_to_the_user(function: str) -> None:
    assert outcomes(check_unchanged(TOP + function, RULE)) == [Outcome.BY_HAND]


def test_one_line_or_decorated_is_left_to_the_user() -> None:
    formula = "0.5 * x * (1 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))"
    told = check_unchanged(f"{TOP}def gelu(x): return {formula}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    told = check_unchanged(f"{TOP}@timed\ndef gelu(x):\n    return {formula}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_other_functions_and_libraries_are_left_alone() -> None:
    assert check_unchanged(f"{TOP}def square(x):\n    return x * x\n", RULE) == []
    assert (
        check_unchanged(
            "import tensorflow as tf\nimport torch as np\ndef act(x):\n"
            "    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))\n",
            RULE,
        )
        == []
    )
