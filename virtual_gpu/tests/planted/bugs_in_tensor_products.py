"""Changes of the right kernels in `tensor_products` that plant one bug each.

Where an access, a barrier or a fragment is wrong, a finding names a line. A bug in a map, such as
that of the lanes or a swizzle, breaks no rule: only the result tells of it (WRONG_RESULT).
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from virtual_gpu import trace
from virtual_gpu.common.division import cdiv

from . import tensor_products

WRONG_RESULT = "wrong result"
RACE, BARRIER, BOUNDS, UNSET = "race", "barrier", "out_of_bounds", "uninitialised"


@dataclass(frozen=True)
class Launch:
    """A launch of one of the kernels: m, n and k, the tile of c per block, and the threads."""

    kernel: str
    shape: tuple[int, int, int]
    tile: tuple[int, int]
    threads: int


NAIVE = Launch("naive", (35, 36, 44), (16, 8), 32)
SHARED = Launch("shared", (35, 36, 44), (32, 8), 64)
SWIZZLED = Launch("swizzled", (35, 40, 136), (32, 64), 128)
PIPELINED = Launch("pipelined", (35, 40, 264), (32, 64), 128)


@dataclass(frozen=True)
class Bug:
    """A change of the text of `tensor_products`, and what is said of it.

    ``changes`` are pairs of texts, of which the first occurs once after the name of the launch's
    kernel or its first device function. ``kind`` is that of the finding, or WRONG_RESULT, and
    ``line`` is a part of the source line that the finding names.
    """

    name: str
    launch: Launch
    changes: tuple[tuple[str, str], ...]
    kind: str = WRONG_RESULT
    line: str = ""


def _bug(name: str, launch: Launch, old: str, new: str, kind=WRONG_RESULT, line: str = "") -> Bug:
    """Return a Bug with one change; the line is the new text if there is no other."""
    return Bug(name, launch, ((old, new),), kind, line or (new if kind != WRONG_RESULT else ""))


# The import of a function that the right kernels do not use.
X2 = "    ldmatrix_x2_trans,\n", "    ldmatrix_x2,\n    ldmatrix_x2_trans,\n"
ZEROS = "store8(tile, to, (zero, zero, zero, zero, zero, zero, zero, zero))"

BUGS = (
    # --- fragments from global memory ----------------------------------------------------------
    _bug("rows_of_a_by_lane_modulo_8", NAIVE,
         "y = row + lane // 4 + i // 2 * 8\n            z =",
         "y = row + lane % 8 + i // 2 * 8\n            z ="),
    _bug("k_of_a_without_pairs", NAIVE,
         "z = start + lane % 4 * 2 + i % 2", "z = start + lane % 4 + i % 2 * 4"),
    _bug("a_and_b_exchanged", NAIVE, "mma_m16n8k8(sums, of_a, of_b)",
         "mma_m16n8k8(sums, of_b, of_a)", BOUNDS),
    _bug("b_transposed", NAIVE, "of_b[i] = b[z, x]", "of_b[i] = b[x, z]", BOUNDS),
    _bug("halves_of_a_exchanged", NAIVE,
         "y = row + lane // 4 + i // 2 * 8\n            z = start + lane % 4 * 2 + i % 2",
         "y = row + lane // 4 + i % 2 * 8\n            z = start + lane % 4 * 2 + i // 2"),
    _bug("rows_of_c_by_column", NAIVE,
         "y = row + lane // 4 + i // 2 * 8\n        x = col + lane % 4 * 2 + i % 2",
         "y = row + lane // 4 + i % 2 * 8\n        x = col + lane % 4 * 2 + i // 2"),
    _bug("k_tail_of_a_unguarded", NAIVE, "if y < a.shape[0] and z < a.shape[1]:",
         "if y < a.shape[0]:", BOUNDS, "of_a[i] = a[y, z]"),
    _bug("k_tail_of_b_unguarded", NAIVE, "if z < b.shape[0] and x < b.shape[1]:",
         "if x < b.shape[1]:", BOUNDS, "of_b[i] = b[z, x]"),
    _bug("k_tail_left_out", NAIVE, "range(0, a.shape[1], 8)", "range(0, a.shape[1] - 7, 8)"),
    _bug("edge_of_c_unguarded", NAIVE, "if y < c.shape[0] and x < c.shape[1]:",
         "if x < c.shape[1]:", BOUNDS, "c[y, x] = sums[i]"),
    _bug("a_lane_is_missing", NAIVE, "        mma_m16n8k8(sums, of_a, of_b)",
         "        if lane != 31:\n            mma_m16n8k8(sums, of_a, of_b)", BARRIER,
         "mma_m16n8k8(sums, of_a, of_b)"),
    _bug("lanes_outside_of_c_leave", NAIVE, "    for i in range(4):\n        sums[i] = 0",
         "    if row + lane // 4 >= c.shape[0]:\n        return\n"
         "    for i in range(4):\n        sums[i] = 0", BARRIER, "mma_m16n8k8(sums, of_a, of_b)"),
    _bug("sums_not_cleared", NAIVE, "        sums[i] = 0", "        pass", UNSET,
         "mma_m16n8k8(sums, of_a, of_b)"),
    _bug("sums_cleared_in_the_loop", NAIVE,
         "        mma_m16n8k8(sums, of_a, of_b)",
         "        for i in range(4):\n            sums[i] = 0\n"
         "        mma_m16n8k8(sums, of_a, of_b)"),
    _bug("an_element_of_the_fragment_not_loaded", NAIVE,
         "        for i in range(4):\n            y", "        for i in range(3):\n            y",
         UNSET, "mma_m16n8k8(sums, of_a, of_b)"),
    # --- ldmatrix ------------------------------------------------------------------------------
    _bug("ldmatrix_before_the_tile_is_filled", SHARED, "cuda.syncthreads()  # filled", "pass",
         RACE, "ldmatrix_x"),
    _bug("tile_filled_before_it_is_read", SHARED, "cuda.syncthreads()  # read", "pass", RACE,
         "tile_"),
    Bug("b_without_trans", SHARED, (("ldmatrix_x2_trans(of_b", "ldmatrix_x2(of_b"), X2)),
    _bug("a_with_trans", SHARED, "ldmatrix_x4(of_a", "ldmatrix_x4_trans(of_a"),
    _bug("rows_that_are_not_aligned", SHARED, "cuda.shared.array((32, 16)",
         "cuda.shared.array((32, 20)", BOUNDS, "ldmatrix_x4(of_a"),
    _bug("column_that_is_not_aligned", SHARED, "lane // 16 * 8))", "lane // 16 * 4))", BOUNDS),
    _bug("row_out_of_bounds", SHARED, "warp * 16 + lane % 16, lane // 16 * 8",
         "warp * 16 + lane, lane // 16 * 8", BOUNDS),
    _bug("column_out_of_bounds", SHARED, "lane // 16 * 8))", "lane // 16 * 16))", BOUNDS),
    _bug("matrices_of_a_in_the_order_of_columns", SHARED,
         "(warp * 16 + lane % 16, lane // 16 * 8)",
         "(warp * 16 + lane // 16 * 8 + lane % 8, lane // 8 % 2 * 8)"),
    Bug("half_of_the_fragment_of_a", SHARED, (("ldmatrix_x4(of_a", "ldmatrix_x2(of_a"), X2),
        UNSET, "mma_m16n8k16(sums, of_a, of_b)"),
    _bug("fragment_of_b_too_small", SHARED, "of_b = cuda.local.array(4",
         "of_b = cuda.local.array(2", BOUNDS, "ldmatrix_x2_trans"),
    _bug("only_the_lanes_that_give_rows", SHARED, "        ldmatrix_x2_trans(of_b",
         "        if lane < 16:\n            ldmatrix_x2_trans(of_b", BARRIER,
         "ldmatrix_x2_trans"),
    _bug("k_tail_not_filled_with_zeros", Launch("shared", (35, 36, 12), (32, 8), 64),
         "            tile_b[z, x] = b[start + z, col + x] if inside else float16(0)",
         "            if inside:\n                tile_b[z, x] = b[start + z, col + x]", UNSET,
         "ldmatrix_x2_trans"),
    _bug("both_warps_multiply_the_same_rows", SHARED, "(warp * 16 + lane % 16,", "(lane % 16,"),
    # --- the swizzle ---------------------------------------------------------------------------
    _bug("swizzle_only_where_a_is_read", SWIZZLED, "(right ^ y % 8 * 8) + i", "right + i"),
    _bug("swizzle_only_where_tiles_are_filled", SWIZZLED, "(stage, y, z ^ y % 8 * 8)",
         "(stage, y, z)"),
    _bug("another_swizzle_where_b_is_read", SWIZZLED, "(stage, z, x ^ z % 8 * 8)",
         "(stage, z, x ^ z % 4 * 8)"),
    _bug("swizzle_by_the_row_alone", SWIZZLED, "z ^ y % 8 * 8", "z ^ y * 8", BOUNDS,
         "ldmatrix_x4(of_a"),
    _bug("swizzle_of_single_elements", SWIZZLED, "z ^ y % 8 * 8", "z ^ y % 8", BOUNDS,
         "ldmatrix_x4(of_a"),
    _bug("fragments_of_b_exchanged", SWIZZLED, "mma_m16n8k16(sums[j], of_a, of_b[j])",
         "mma_m16n8k16(sums[j], of_a, of_b[j ^ 1])"),
    # --- stages --------------------------------------------------------------------------------
    _bug("wait_is_missing", PIPELINED, "        wait_copies(IN_FLIGHT)\n", "", RACE, "ldmatrix_x"),
    _bug("wait_leaves_one_group_too_many", PIPELINED, "STAGES, IN_FLIGHT = 3, 1",
         "STAGES, IN_FLIGHT = 3, 2", RACE, "ldmatrix_x"),
    _bug("commit_is_missing", PIPELINED, "        commit_copies()\n        multiply",
         "        multiply", RACE, "ldmatrix_x"),
    _bug("commit_of_the_first_stages_is_missing", PIPELINED,
         "        commit_copies()\n    stage = 0", "    stage = 0", RACE, "ldmatrix_x"),
    _bug("barrier_after_the_wait_is_missing", PIPELINED,
         "        cuda.syncthreads()\n        ahead", "        ahead", RACE, "ldmatrix_x"),
    _bug("barrier_before_the_wait", PIPELINED,
         "        wait_copies(IN_FLIGHT)\n        cuda.syncthreads()",
         "        cuda.syncthreads()\n        wait_copies(IN_FLIGHT)", RACE, "ldmatrix_x"),
    _bug("stage_read_too_early", PIPELINED, "multiply(tile_a, tile_b, stage, sums)",
         "multiply(tile_a, tile_b, (stage + 1) % STAGES, sums)", RACE, "ldmatrix_x"),
    _bug("stage_reused_too_early", PIPELINED, "(stage + STAGES - 1) % STAGES", "stage", RACE,
         "ldmatrix_x"),
    _bug("copies_before_the_barrier", PIPELINED,
         "        wait_copies(IN_FLIGHT)\n        cuda.syncthreads()\n"
         "        ahead, free = start + (STAGES - 1) * BK, (stage + STAGES - 1) % STAGES\n"
         "        start_copies(a, (row, ahead), tile_a, BM, free)\n",
         "        ahead, free = start + (STAGES - 1) * BK, (stage + STAGES - 1) % STAGES\n"
         "        start_copies(a, (row, ahead), tile_a, BM, free)\n"
         "        wait_copies(IN_FLIGHT)\n        cuda.syncthreads()\n", RACE, "copy8_async"),
    _bug("stages_never_turn", PIPELINED, "stage = (stage + 1) % STAGES", "stage = stage + 1",
         BOUNDS, "ldmatrix_x"),
    _bug("one_stage_too_many_at_the_start", PIPELINED, "range(STAGES - 1)", "range(STAGES)", RACE,
         "copy8_async"),
    _bug("copy_beyond_k", PIPELINED,
         "if corner[0] + y < x.shape[0] and corner[1] + right < x.shape[1]:",
         "if corner[0] + y < x.shape[0]:", BOUNDS, "copy8_async"),
    _bug("copy_of_a_short_k_without_zeros", Launch("pipelined", (35, 40, 8), (32, 64), 128),
         ZEROS, "pass", UNSET, "ldmatrix_x"),
    _bug("k_tail_with_an_earlier_tile", PIPELINED, ZEROS, "pass"),
    _bug("copy_without_its_swizzle", PIPELINED, "to = stage, y, right ^ y % 8 * 8",
         "to = stage, y, right"),
    Bug("copies_of_rows_that_are_not_aligned", Launch("pipelined", (35, 40, 100), (32, 64), 128),
        (), BOUNDS, "copy8_async"),
    _bug("next_tile_of_b_from_the_same_k", PIPELINED, "start_copies(b, (ahead, col)",
         "start_copies(b, (start, col)"),
)  # fmt: skip

# Changes after which a kernel is still right, though it looks as if it had such a bug.
RIGHT = (
    Bug("a_part_of_a_chunk_of_k", Launch("naive", (35, 36, 7), (16, 8), 32), ()),
    _bug("fragments_loaded_backwards", NAIVE, "        for i in range(4):\n            y",
         "        for i in range(3, -1, -1):\n            y"),
    _bug("syncwarp_before_the_product", NAIVE,
         "        mma_m16n8k8(sums, of_a, of_b)",
         "        cuda.syncwarp()\n        mma_m16n8k8(sums, of_a, of_b)"),
    _bug("rows_with_padding", SHARED, "cuda.shared.array((32, 16)", "cuda.shared.array((32, 24)"),
    Bug("other_lanes_give_any_rows", SHARED, (("tile_b, (lane % 16, 0)", "tile_b, (lane, 0)"),)),
    Bug("halves_by_two_loads", SHARED,
        (("        ldmatrix_x4(of_a, tile_a, (warp * 16 + lane % 16, lane // 16 * 8))",
          "        ldmatrix_x2(of_a[:4], tile_a, (warp * 16 + lane % 16, 0))\n"
          "        ldmatrix_x2(of_a[4:], tile_a, (warp * 16 + lane % 16, 8))"), X2)),
    _bug("the_barrier_at_the_end_of_the_loop_is_at_its_start", SHARED,
         "        for q in range(t, 32 * 16, 64):",
         "        cuda.syncthreads()\n        for q in range(t, 32 * 16, 64):"),
    _bug("each_warp_in_a_branch_of_its_own", SHARED,
         "        mma_m16n8k16(sums, of_a, of_b)",
         "        if warp == 0:\n            mma_m16n8k16(sums, of_a, of_b)\n"
         "        else:\n            mma_m16n8k16(sums, of_a, of_b)"),
    _bug("warps_outside_of_c_do_not_multiply", Launch("shared", (16, 36, 44), (32, 8), 64),
         "        mma_m16n8k16(sums, of_a, of_b)",
         "        if row + warp * 16 < c.shape[0]:\n"
         "            mma_m16n8k16(sums, of_a, of_b)"),
    Bug("no_swizzle_on_either_side", SWIZZLED,
        (("(right ^ y % 8 * 8) + i", "right + i"), ("(stage, y, z ^ y % 8 * 8)", "(stage, y, z)"),
         ("(stage, z, x ^ z % 8 * 8)", "(stage, z, x)"))),
    Bug("swizzle_by_four_rows", SWIZZLED,
        (("(right ^ y % 8 * 8) + i", "(right ^ y % 4 * 8) + i"),
         ("z ^ y % 8 * 8", "z ^ y % 4 * 8"), ("x ^ z % 8 * 8", "x ^ z % 4 * 8"))),
    _bug("sums_of_pairs_of_columns", SWIZZLED, "        for j in range(4):\n            mma",
         "        for j in (2, 3, 0, 1):\n            mma"),
    _bug("two_stages", PIPELINED, "STAGES, IN_FLIGHT = 3, 1", "STAGES, IN_FLIGHT = 2, 0"),
    _bug("all_copies_waited_for", PIPELINED, "STAGES, IN_FLIGHT = 3, 1",
         "STAGES, IN_FLIGHT = 3, 0"),
    _bug("copies_after_the_products", PIPELINED,
         "        multiply(tile_a, tile_b, stage, sums)\n",
         "        multiply(tile_a, tile_b, stage, sums)\n        commit_copies()\n"
         "        wait_copies(0)\n"),
    _bug("two_barriers", PIPELINED, "        cuda.syncthreads()\n        ahead",
         "        cuda.syncthreads()\n        cuda.syncthreads()\n        ahead"),
    _bug("copies_only_where_k_goes_on", PIPELINED,
         "        start_copies(a, (row, ahead), tile_a, BM, free)\n"
         "        start_copies(b, (ahead, col), tile_b, BK, free)\n",
         "        if ahead < a.shape[1]:\n"
         "            start_copies(a, (row, ahead), tile_a, BM, free)\n"
         "            start_copies(b, (ahead, col), tile_b, BK, free)\n"),
)  # fmt: skip


def module_of(bug: Bug, folder: Path):
    """Return `tensor_products` with the changes of a bug, as a module that was read from a file."""
    text = Path(tensor_products.__file__).read_text()
    for old, new in bug.changes:
        text = _changed(text, bug.launch, old, new)
    file = folder / f"{bug.name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(bug.name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _changed(text: str, launch: Launch, old: str, new: str) -> str:
    """Return the text with the last occurrence of ``old`` before the next kernel exchanged.

    Raises ValueError if there is none.
    """
    end = text.index(f"def {launch.kernel}(")
    end = text.find("\n# ---", end) % (len(text) + 1)
    first = text.rindex(old, 0, end)
    return text[:first] + new + text[first + len(old) :]


def product(module, launch: Launch, rng: np.random.Generator) -> tuple:
    """Return the trace of a launch with random matrices, the result, and the exact product."""
    (m, n, k), (rows, columns) = launch.shape, launch.tile
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c = np.full((m, n), np.nan, np.float32)
    grid = cdiv(n, columns), cdiv(m, rows)
    run = trace(getattr(module, launch.kernel), grid, launch.threads, a, b, c)
    return run, c, a.astype(np.float64) @ b.astype(np.float64)


def is_right(result: np.ndarray, exact: np.ndarray) -> bool:
    """Return True if a float32 result of a tensor core is the product, up to its rounding."""
    return np.allclose(result, exact, rtol=0, atol=1e-4)
