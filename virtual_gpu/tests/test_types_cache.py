"""Types that Numba has inferred, kept on disk: equal to fresh ones, never those of other code."""

import gzip
import json
import linecache
import os
import subprocess
import sys
import textwrap
from collections import namedtuple
from functools import cache
from itertools import count
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numba import cuda, float32, float64, int32, types
from numba.np.numpy_support import from_dtype

import virtual_gpu
from gemm_kernels import LADDER
from utils.paths import ROOT
from virtual_gpu.common.errors import Unsupported
from virtual_gpu.common.source import read_source
from virtual_gpu.language import compiler, inference
from virtual_gpu.tests.kernels import broken, correct
from virtual_gpu.types import disk_cache, function_key, inferred_types, installed_code
from virtual_gpu.types.inferred_types import nodes_of

NUMBERS = iter(count())
FLOATS = types.Array(types.float32, 1, "C")
LADDERS_SHAPE = LADDER.parse(LADDER.small)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Use an empty cache and forget the programs of earlier tests; return the folder of entries."""
    monkeypatch.setenv("VIRTUAL_GPU_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("VIRTUAL_GPU_CACHE_READ_ONLY", raising=False)
    # Other tests teach Numba rules of their own, which no test can take back.
    monkeypatch.setattr(installed_code, "only_numba_types", lambda: True)
    compiler._compiled.cache_clear()
    return tmp_path / "cache" / "types"


@pytest.fixture
def inferred(monkeypatch):
    """The names of the functions that Numba's inference ran on."""
    names, run = [], inference.typed_statements

    def noted(function, *rest):
        names.append(function.__name__)
        return run(function, *rest)

    monkeypatch.setattr(inference, "typed_statements", noted)
    return names


def defined(text: str, outer: dict, above: str = "") -> dict:
    """Return the names that a text defines, in a file of its own whose text Python can read."""
    file, text = f"<cached {next(NUMBERS)}>", above + textwrap.dedent(text)
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names = {"__name__": "test_module", "cuda": cuda, **outer}
    exec(compile(text, file, "exec"), names)
    return names


def types_of(function, arguments) -> tuple:
    """Return all types of a function, by nodes in an order that depends on its text alone."""
    python = getattr(function, "py_func", function)
    type_inference = compiler.compile_function(python).inference
    return by_node(type_inference.text.source, type_inference.of_types(tuple(arguments)))


def by_node(source, types) -> tuple:
    parts = [
        (types.values.get(n), types.literals.get(n), types.stored.get(n), n in types.split)
        for n in nodes_of(source)
    ]
    return parts, types.result, types.returned, types.refusal


def without_cache(function, arguments) -> tuple:
    """Return the result of ``types_of`` from Numba alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIRTUAL_GPU_CACHE", "off")
        compiler._compiled.cache_clear()
        fresh = types_of(function, arguments)
    compiler._compiled.cache_clear()
    return fresh


# --- the key ----------------------------------------------------------------------------------

PROGRAM = """
    def make(CLOSED):
        @cuda.jit(device=True)
        def helper(value, more=DEFAULT):
            return {body}

        @cuda.jit
        def kernel(x, out):
            i = cuda.grid(1)
            v = {constant}
            while i < x.size:
                v = helper(x[i]) * CLOSED + v
                i += settings.STRIDE
            out[0] = OUTER(v) + {last}

        return kernel
"""
EDITS = {
    "body": ("value + 1", "value + float32(0.5)", "value > 0", "int32(value) + more"),
    "constant": ("1", "2", "2.5", "float32(1)"),
    "last": ("(lambda n: n + 1)(n)", "len(TABLE)", "TABLE[0]", "n"),
    "closed": (1, 1.0, True, np.float32(1), np.int8(1)),
    "outer": (int32, float64, int, float, np.float32),
    "table": ((1, 2), (1.5, 2), np.ones(2), np.ones(2, np.int16)),
    "n": (3, 2.5, np.float32(3)),
    "default": (1, 2.5),
    "stride": (1, np.int32(1), 1.5),
    "argument": ("f4", "f8", "i4", "u8"),
}
FIRST = {name: choices[0] for name, choices in EDITS.items()}


def program(edits: dict):
    """Return a kernel and its argument types."""
    outer = {
        "OUTER": edits["outer"], "TABLE": edits["table"], "DEFAULT": edits["default"],
        "n": edits["n"], "float32": float32, "int32": int32, "settings": ModuleType("settings"),
    }  # fmt: skip
    outer["settings"].STRIDE = edits["stride"]
    text = PROGRAM.format(**edits)
    array = types.Array(from_dtype(np.dtype(edits["argument"])), 1, "C")
    return defined(text, outer)["make"](edits["closed"]), (array, array)


@cache
def expected(chosen: tuple[int, ...]) -> tuple:
    return without_cache(*program(edits_of(chosen)))


def edits_of(chosen: tuple[int, ...]) -> dict:
    pairs = zip(EDITS.items(), chosen, strict=True)
    return {name: choices[index] for (name, choices), index in pairs}


def after_an_edit(before: dict, after: dict) -> bool:
    """Return True if a cache that knows the program before an edit gives right types after it."""
    types_of(*program(before))
    kernel, arguments = program(after)
    from_cache = types_of(kernel, arguments)
    return from_cache == without_cache(kernel, arguments)


CHOSEN = st.tuples(*(st.integers(0, len(choices) - 1) for choices in EDITS.values()))
ONE_EDIT = st.sampled_from(
    [
        (position, index)
        for position, choices in enumerate(EDITS.values())
        for index in range(len(choices))
    ]
)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(CHOSEN, st.lists(ONE_EDIT, min_size=1, max_size=4))
def test_after_any_edit_the_types_are_those_of_no_cache(chosen, edits):
    for position, index in [*edits, (0, chosen[0])]:
        compiler._compiled.cache_clear()
        assert types_of(*program(edits_of(chosen))) == expected(chosen)
        chosen = (*chosen[:position], index, *chosen[position + 1 :])


ONE_BY_ONE = [(name, choice) for name, choices in EDITS.items() for choice in choices[1:]]


@pytest.mark.parametrize("name, choice", ONE_BY_ONE)
def test_after_one_edit_the_types_are_those_of_no_cache(name, choice):
    assert after_an_edit(FIRST, {**FIRST, "last": "n", name: choice})


def without_arguments(text, arguments, text_of_function):
    return function_key.key_of(text, (), text_of_function)


def without_text(source):
    return function_key.Text(source, "", function_key.outer_reads(source.tree))


WRONG_KEYS = {
    "closure": (function_key, "_content", lambda cell: 0, {"closed": 2.5}),
    "globals": (function_key._ValueDescriber, "_read", lambda *_: 0, {"outer": float64}),
    "modules": (function_key, "is_installed", lambda name: True, {"stride": 1.5}),
    "callees": (function_key._ValueDescriber, "_callable", lambda *_: 0, {"body": "value > 0"}),
    "defaults": (function_key._ValueDescriber, "value", lambda *_: 0, {"default": 2.5}),
    "text": (inference, "text_of", without_text, {"constant": "2.5"}),
    "arguments": (inference, "key_of", without_arguments, {"argument": "f8"}),
}


@pytest.mark.parametrize("left_out", WRONG_KEYS)
def test_a_key_that_leaves_something_out_would_be_caught(left_out, monkeypatch):
    base = {**FIRST, "body": "int32(value) + more"} if left_out == "defaults" else FIRST
    *where, wrong, edit = WRONG_KEYS[left_out]
    assert after_an_edit(base, {**base, **edit})
    monkeypatch.setenv("VIRTUAL_GPU_CACHE", os.environ["VIRTUAL_GPU_CACHE"] + "-wrong")
    monkeypatch.setattr(*where, wrong)
    assert not after_an_edit(base, {**base, **edit})


def test_another_version_is_another_key(monkeypatch, inferred):
    types_of(*program(FIRST))
    compiler._compiled.cache_clear()
    monkeypatch.setattr(installed_code, "versions", lambda: ("numba 0.99",))
    types_of(*program(FIRST))
    assert inferred == ["kernel", "helper"] * 2


def test_a_kernel_that_moves_to_another_line_and_file_is_known(inferred):
    text = """
        @cuda.jit
        def kernel(x):
            x[0] = 1
    """
    for above in ("", "# more\n" * 30):
        kernel = defined(text, {}, above)["kernel"]
        assert types_of(kernel, (FLOATS,))[0]
    assert inferred == ["kernel"]


def test_a_caller_that_is_known_needs_no_types_of_its_callee(inferred):
    types_of(*program(FIRST))
    compiler._compiled.cache_clear()
    inferred.clear()
    types_of(*program(FIRST))
    assert inferred == []


OTHERS = {
    "nothing": "",
    "an overload": "overload(len)(rule)",
    "a method": "overload_method(types.Array, 'twice')(rule)",
    "an intrinsic, which a kernel must name": "intrinsic(rule)",
    "an attribute": "registry.register_attr(Attributes)",
    "a type of a function": "registry.register_global(len)(Function)",
}
REGISTERS = """
import gemm_kernels, reduce_kernels, latency_kernels
from numba.cuda.cudadecl import registry
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate
from numba.extending import intrinsic, overload, overload_method
from virtual_gpu.types import installed_code

def rule(context, *given):
    pass

class Attributes(AttributeTemplate):
    key = types.Array

class Function(AbstractTemplate):
    key = len

print(installed_code.only_numba_types())
{registers}
print(installed_code.only_numba_types())
"""


@pytest.mark.slow
@pytest.mark.parametrize("what", OTHERS)
def test_rules_that_others_register_with_numba_switch_the_cache_off(what):
    text = REGISTERS.format(registers=OTHERS[what])
    command = [sys.executable, "-c", text]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    stays_on = what in ("nothing", "an intrinsic, which a kernel must name")
    assert output.split() == ["True", str(stays_on)]


def test_where_others_have_registered_rules_nothing_is_kept(folder, monkeypatch):
    monkeypatch.setattr(installed_code, "only_numba_types", lambda: False)
    types_of(simple(), (FLOATS,))
    assert not folder.exists()


def test_a_registered_class_of_this_file_is_none_of_numbas():
    assert not installed_code._is_numbas_own(ForeignTemplate)
    assert installed_code._is_numbas_own(types.Array)


class ForeignTemplate:
    """A template of this file."""


n, settings = 3, ModuleType("settings")


class Settings:
    STRIDE = 1


@cuda.jit(device=True)
def calls_itself(n):
    if n < 1:
        return 0
    return calls_itself(n - 1) + 1


@pytest.mark.parametrize("value", [Settings, object(), {1: 2}, len, calls_itself])
def test_a_value_that_cannot_be_described_has_no_key(value):
    def kernel(x):
        x[0] = value

    def text_of_function(function):
        return compiler.compile_function(function).inference.text

    text = function_key.text_of(read_source(kernel))
    assert (function_key.key_of(text, (FLOATS,), text_of_function) is None) == (value is not len)


def test_a_name_that_a_comprehension_binds_may_be_a_global_elsewhere():
    def kernel(x):
        x[0] = sum([n for n in (1, 2)]) + n
        x[1] = y = 0
        x[2] = y + settings.STRIDE + x.shape[0]

    tree = read_source(kernel).tree
    assert function_key.outer_reads(tree) == (("n",), ("settings", "STRIDE"), ("sum",))


def test_a_function_that_calls_itself_is_inferred_each_time(folder, inferred):
    for _ in range(2):
        compiler._compiled.cache_clear()
        assert types_of(calls_itself, (types.int64,))[2] == types.int64
    assert inferred == ["calls_itself"] * 2


def test_an_array_as_a_global_counts_with_its_content():
    described = function_key._ValueDescriber(None).value
    assert described(np.arange(3)) != described(np.arange(1, 4))
    assert described(np.float32(1)) != described(np.float64(1))
    assert described(1) != described(True)


def test_a_named_tuple_is_described_by_its_fields():
    described = function_key._ValueDescriber(None).value
    first, second = namedtuple("Pair", "x y"), namedtuple("Pair", "x z")
    assert described(first(1, 2)) != described(second(1, 2))
    assert described(first) == described(namedtuple("Pair", "x y"))


# --- the folder -------------------------------------------------------------------------------


def simple():
    def kernel(x):
        x[0] = x[1] * 2

    return kernel


DAMAGES = {
    "empty": lambda raw: b"",
    "truncated": lambda raw: raw[: len(raw) // 2],
    "one bit": lambda raw: raw[:30] + bytes([raw[30] ^ 1]) + raw[31:],
    "no gzip": gzip.decompress,
    "no JSON": lambda raw: gzip.compress(b"{"),
    "another key": lambda raw: changed(raw, lambda entry: entry.update(key="other")),
    "a list": lambda raw: gzip.compress(b"[1, 2]"),
    "a number": lambda raw: changed(raw, lambda entry: entry.update(content=3)),
    "other nodes": lambda raw: changed(raw, lambda entry: entry["content"].update(nodes=1)),
    "no values": lambda raw: changed(raw, lambda entry: entry["content"].pop("values")),
    "a node too many": lambda raw: changed(
        raw, lambda entry: entry["content"]["values"][0][1].append(9999)
    ),
    "no type": lambda raw: changed(raw, lambda entry: entry["content"].update(returned="int")),
}


def changed(raw: bytes, change) -> bytes:
    entry = json.loads(gzip.decompress(raw))
    change(entry)
    return gzip.compress(json.dumps(entry).encode())


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_made_anew(damage, folder, inferred):
    right = types_of(simple(), (FLOATS,))
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(DAMAGES[damage](whole))
    assert types_of(simple(), (FLOATS,)) == right
    assert inferred == ["kernel"] * 2
    assert file.read_bytes() == whole


def test_a_damaged_rule_is_made_anew(folder, monkeypatch):
    from virtual_gpu.types import numba_types

    ask, dtypes = numba_types.range_dtype.__wrapped__, (np.dtype("i4"),)
    right = ask(dtypes)
    (file,) = folder.iterdir()
    for content in ([], ["what"], [None], 3, {"a": 1}):
        entry = changed(file.read_bytes(), lambda old, new=content: old.update(content=new))
        file.write_bytes(entry)
        assert ask(dtypes) == right
    monkeypatch.setattr(numba_types, "_loop_variable", None)
    assert ask(dtypes) == right == np.int32


def test_read_only_reads_and_never_writes(folder, monkeypatch, inferred):
    types_of(simple(), (FLOATS,))
    monkeypatch.setenv("VIRTUAL_GPU_CACHE_READ_ONLY", "1")
    before = {file: file.read_bytes() for file in folder.iterdir()}
    types_of(simple(), (FLOATS,))
    assert inferred == ["kernel"]
    types_of(simple(), (types.Array(types.float64, 1, "C"),))
    assert inferred == ["kernel"] * 2
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


def test_read_only_makes_no_folder(folder, monkeypatch):
    monkeypatch.setenv("VIRTUAL_GPU_CACHE_READ_ONLY", "1")
    types_of(simple(), (FLOATS,))
    assert not folder.exists()


def test_where_nothing_can_be_written_all_works_as_without_a_cache(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VIRTUAL_GPU_CACHE", str(tmp_path / "file" / "folder"))
    assert types_of(simple(), (FLOATS,)) == without_cache(simple(), (FLOATS,))


@pytest.mark.parametrize("value", ["", "off", "OFF", "0"])
def test_the_cache_can_be_switched_off(value, monkeypatch, inferred, tmp_path):
    monkeypatch.setenv("VIRTUAL_GPU_CACHE", value)
    monkeypatch.chdir(tmp_path)
    types_of(simple(), (FLOATS,))
    types_of(simple(), (FLOATS,))
    assert inferred == ["kernel"] * 2
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_in_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("VIRTUAL_GPU_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert disk_cache.folder() == tmp_path / ".cache" / "numba-virtual-gpu" / "types"


def test_the_oldest_files_go_where_there_are_too_many(folder, monkeypatch):
    monkeypatch.setattr(disk_cache, "MOST_FILES", 8)
    for number in range(9):
        disk_cache.write(f"key{number}", number)
        if number < 8:
            os.utime(folder / f"key{number}.json.gz", (number, number))
    assert [disk_cache.read(f"key{number}") for number in range(9)] == [None, None, *range(2, 9)]


WRITER = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("disk_cache", sys.argv[1])
disk_cache = importlib.util.module_from_spec(spec)
spec.loader.exec_module(disk_cache)
for number in range(300):
    disk_cache.write("key", [sys.argv[2], number] * 2000)
"""


def test_what_two_processes_write_at_once_is_whole(folder):
    command = [sys.executable, "-c", WRITER, disk_cache.__file__]
    writers = [subprocess.Popen([*command, name]) for name in "ab"]
    contents = []
    while any(writer.poll() is None for writer in writers):
        if (folder / "key.json.gz").exists():
            contents.append(disk_cache.read("key"))
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(contents) > 10
    assert all(content == content[:2] * 2000 for content in contents)
    assert [file.name for file in folder.iterdir()] == ["key.json.gz"]


# --- what is kept -----------------------------------------------------------------------------


def refused(x):
    v = 1
    if x[0] > 1000:
        v = x
    x[0] = v


def test_a_refusal_names_the_line_where_the_kernel_is_now(inferred):
    text = """
        def kernel(x):
            v = 1
            if x[0] > 1000:
                v = x
            x[0] = v
    """
    refusals = []
    for above in ("", "# more\n" * 10):
        refusals.append(types_of(defined(text, {}, above)["kernel"], (FLOATS,))[3])
    assert inferred == ["kernel"]
    assert "line 6 `x[0] = v`: Cannot unify" in refusals[0]
    assert refusals[1] == refusals[0].replace("line 6", "line 16")


@pytest.mark.parametrize(
    "reason", ["f at 0x7f001", "see line 7", "<types> (3)", 'File "kernels.py"']
)
def test_a_refusal_that_would_differ_elsewhere_is_not_kept(reason):
    source = compiler.compile_function(refused).source
    with pytest.raises(inferred_types.NotPlain):
        inferred_types.to_plain(source, inferred_types.refused(source, source.tree, reason))


def test_types_that_json_cannot_say_are_not_kept():
    source = compiler.compile_function(refused).source
    record = from_dtype(np.dtype([("a", "f4")]))
    with pytest.raises(inferred_types.NotPlain):
        inferred_types.to_plain(source, inferred_types.Types(returned=record))


def twice_from_disk(kernels: list[tuple]) -> list[str]:
    """Return the names of the functions that Numba types although all kernels are in the cache.

    Each kernel must get the same types from the cache as without it.
    """
    again, run = [], inference.typed_statements

    def noted(function, *rest):
        again.append(function.__name__)
        return run(function, *rest)

    fresh = [types_of(*one) for one in kernels]
    compiler._compiled.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inference, "typed_statements", noted)
        for one, expected in zip(kernels, fresh, strict=True):
            assert types_of(*one) == expected
    return again


def typed(kernel, arguments) -> tuple:
    return kernel, tuple(map(kernel.typeof_pyval, arguments))


def steps() -> list[tuple]:
    """Return each step of the ladder with the types of its arguments."""
    calls = []
    for step in LADDER.steps:
        inputs = step.task.problem(LADDERS_SHAPE, "uniform").inputs
        out = np.zeros(step.task.output_shape(*vars(LADDERS_SHAPE).values()), np.float32)
        calls.append(step.variant().main_call(LADDERS_SHAPE, inputs, out))
    return [typed(call.kernel, call.arguments) for call in calls]


@pytest.mark.slow
def test_the_types_of_all_gemm_steps_come_back_from_disk():
    assert twice_from_disk(steps()) == []


@pytest.mark.slow
def test_the_types_of_the_broken_and_correct_kernels_come_back_from_disk():
    cases = [*broken.CASES, *correct.CASES]
    kernels = [typed(case.kernel, case.arguments()) for case in cases]
    again = twice_from_disk(kernels)
    assert len(again) <= len(kernels) // 20, again


@pytest.mark.parametrize("name", ["tiled", "vectorized"])
def test_the_types_of_a_step_come_back_from_disk(name):
    names = [step.name for step in LADDER.steps]
    assert twice_from_disk([steps()[names.index(name)]]) == []


def test_a_launch_with_types_from_disk_counts_the_same():
    variant = LADDER.step("vectorized").variant()
    traces = []
    for _ in range(2):
        compiler._compiled.cache_clear()
        inputs = variant.step.task.problem(LADDERS_SHAPE, "uniform").inputs
        call = variant.main_call(LADDERS_SHAPE, inputs, np.zeros((35, 36), np.float32))
        trace = virtual_gpu.trace(
            call.kernel, call.launch.grid, call.launch.block, *call.arguments
        )
        traces.append((trace.totals.to_dict(), trace.findings, call.arguments[2].tobytes()))
    assert traces[0] == traces[1]


def test_a_kernel_that_cannot_be_typed_is_refused_as_without_a_cache():
    kernel = cuda.jit(refused)
    for _ in range(2):
        compiler._compiled.cache_clear()
        with pytest.raises(Unsupported, match=r"`x\[0\] = v`: Cannot unify"):
            virtual_gpu.trace(kernel, 1, 32, np.ones(32))


@cuda.jit
def fence_not_called(out):
    cuda.threadfence  # noqa: B018, a slip of the reader's
    out[0] = 1.0


def test_a_function_that_is_named_and_not_called_is_as_without_a_cache(monkeypatch):
    for setting in (os.environ["VIRTUAL_GPU_CACHE"], "off"):
        monkeypatch.setenv("VIRTUAL_GPU_CACHE", setting)
        compiler._compiled.cache_clear()
        out = np.zeros(1, np.float32)
        virtual_gpu.trace(fence_not_called, 1, 1, out)
        assert out[0] == 1
