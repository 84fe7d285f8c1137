"""The record of lesson 14's small tiles, by the order of their loads."""

import pytest

from gpu_xray import xray
from tools.records import loads_between
from utils.ladder.verify import verify_all
from utils.lessons.lesson_14.big_loop import PRODUCT
from utils.lessons.lesson_14.instruction_timeline import (
    between_load_and_store,
    from_load_to_store,
)
from utils.lessons.lesson_14.small_tiles import KERNELS
from utils.measuring import rows
from utils.measuring.kernel_times import ProductTime
from utils.paths import DATA

FILES = sorted((DATA / "measured").glob("*/loads_between.csv"))
BETWEEN = {kernel: between for kernel, (_, between) in KERNELS.items()}


def test_all_products_are_right():
    shape, timed = loads_between.VERIFIED[0], loads_between.variants()
    verdicts = verify_all(loads_between.LADDER, timed, shape, kinds=("integers",))
    assert all(verdict.passed for verdict in verdicts)


@pytest.mark.slow
def test_they_differ_in_the_multiply_adds_between_load_and_store(compiler):
    found = {}
    for name, kernel in loads_between.kernels().items():
        big = max(xray(kernel, PRODUCT, "sm_90").loops, key=lambda loop: loop.end - loop.start)
        loop = from_load_to_store(tuple(one.name for one in big.body))
        found[name] = between_load_and_store(loop)[1]
    assert found == BETWEEN


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_a_record_has_all_kernels(file):
    recorded = [(row.kernel, row.n) for row in rows.read(file, ProductTime)]
    assert recorded == [(name, n) for n in loads_between.SIZES for name in BETWEEN]
