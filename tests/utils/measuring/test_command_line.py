"""The command lines of all ladders."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from PIL import Image

import gemm_kernels
import gemm_kernels.cpu
import latency_kernels
import reduce_kernels
from utils.figures.plot_command import plot_command
from utils.machine import devices
from utils.measuring import command_line, measure, records
from utils.measuring.measure_command import WRONG, measure_command
from utils.measuring.timing import Timing

GPU = gemm_kernels.LADDER
CPU = gemm_kernels.cpu.LADDER
H200 = devices.find("NVIDIA H200")


def main(ladder, arguments):
    commands = (measure_command(ladder), plot_command(ladder))
    return command_line.main(ladder.title, commands, arguments)


@pytest.fixture(autouse=True)
def empty_data(tmp_path, monkeypatch):
    """Keep tests from reading or writing the repository's own records."""
    monkeypatch.setattr(records, "DATA", tmp_path)
    return tmp_path


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(devices, "current", lambda: None)
    monkeypatch.setattr(devices, "why_no_device", lambda: "No CUDA driver was found.")


@pytest.fixture
def h200(monkeypatch):
    """Pretend to be on an H200: kernels run on the virtual GPU, and their times are made up."""
    times = [Timing(2.0, 1.9, 2.2, 7, 5, 1980.0), Timing(1.0, 0.9, 1.1, 7, 10, 1980.0)]
    code = {"registers": 32, "shared_bytes": 0, "spill_bytes": 0}

    def run_once(rivals):
        for rival in rivals:
            rival()
        return times[: len(rivals)]

    monkeypatch.setattr(devices, "current", lambda: H200)
    monkeypatch.setattr(measure, "time_gpu", run_once)
    monkeypatch.setattr(measure, "_machine_code", lambda variant, shape: code)


def with_step(ladder, function):
    """Return the ladder with one step that runs a plain Python function instead of a kernel."""
    return replace(ladder, steps=(replace(ladder.steps[0], build=lambda: function),))


def wrong(a, b, c):
    c[...] = 1


def rows_of(capsys) -> list[dict]:
    return json.loads(capsys.readouterr().out)


def test_json_has_every_column_and_who_verified(capsys, no_gpu):
    assert main(GPU, ["--json", "--steps", "naive"]) == 0
    (row,) = rows_of(capsys)
    assert tuple(row) == (*records.COLUMNS, "verified", "verified_on", "recorded_on")
    assert (row["step"], row["verified"], row["verified_on"]) == ("naive", True, "virtual GPU")
    assert row["time_ms"] is None


@pytest.mark.parametrize(
    "ladder", [GPU, reduce_kernels.LADDER, latency_kernels.LADDER], ids=lambda x: x.name
)
def test_without_a_gpu_every_step_is_verified_on_the_virtual_one(ladder, capsys, no_gpu):
    # Some of the long ladders: all their kernels are run by tests of their own.
    steps = [step.name for step in (*ladder.steps[:2], ladder.steps[-1])]
    assert main(ladder, ["--json", "--steps", *steps]) == 0
    rows = rows_of(capsys)
    assert {row["step"] for row in rows} == set(steps)
    assert all(row["verified"] for row in rows)


def test_without_a_gpu_constants_without_a_record_are_shown_where_they_are_asked_for(
    capsys, no_gpu, empty_data
):
    assert main(GPU, ["--json", "--steps", "tiled"]) == 0
    assert [row["params"] for row in rows_of(capsys)] == ["TILE=32"]
    assert main(GPU, ["--json", "--steps", "tiled", "--params", "TILE=8"]) == 0
    assert [row["params"] for row in rows_of(capsys)] == ["TILE=8"]


def test_without_a_gpu_recorded_figures_are_shown_as_recorded(capsys, no_gpu, h200, monkeypatch):
    assert main(GPU, ["--record", "--n", "16", "5x3x4", "--steps", "naive"]) == 0
    monkeypatch.setattr(devices, "current", lambda: None)
    capsys.readouterr()
    assert main(GPU, ["--json", "--steps", "naive", "tiled", "--n", "16"]) == 0
    naive, *tiled = rows_of(capsys)
    assert naive["recorded_on"] == f"NVIDIA H200, {naive['date']}"
    assert (naive["m"], naive["time_ms"], naive["verified_on"]) == (16, 2.0, "virtual GPU")
    assert all(row["time_ms"] is None and row["recorded_on"] is None for row in tiled)


def test_the_table_says_where_figures_were_recorded(capsys, no_gpu, h200, monkeypatch):
    main(GPU, ["--record", "--n", "256", "--steps", "naive"])
    monkeypatch.setattr(devices, "current", lambda: None)
    capsys.readouterr()
    main(GPU, ["--steps", "naive"])
    output = capsys.readouterr()
    assert "recorded on NVIDIA H200, 20" in output.out
    assert "verified on virtual GPU" in output.out
    assert "The figures were recorded on NVIDIA H200" in output.err


def test_a_device_without_records_gives_an_empty_table_and_a_note(capsys, no_gpu):
    assert main(GPU, ["--device", "t4", "--steps", "naive"]) == 0
    output = capsys.readouterr()
    assert "no figures" in output.out
    assert f"Nothing is recorded on {devices.find('t4').name}" in output.err


def test_a_measurement_fills_a_record(capsys, h200):
    assert main(GPU, ["--json", "--n", "5x3x4", "--steps", "tiled"]) == 0
    row = rows_of(capsys)[0]
    assert (row["m"], row["n"], row["k"], row["elements"]) == (5, 3, 4, None)
    assert (row["device"], row["step"], row["params"]) == ("NVIDIA H200", "tiled", "TILE=32")
    assert row["gflops"] == pytest.approx(2 * 5 * 3 * 4 / 2e-3 / 1e9)
    assert row["efficiency"] == pytest.approx(row["gflops"] / H200.peak_gflops)
    assert (row["time_ms_min"], row["time_ms_max"]) == (1.9, 2.2)
    assert (row["registers"], row["sm_clock_mhz"]) == (32, 1980)
    assert row["recorded_on"] is None


def test_a_reduction_is_measured_in_bytes(capsys, h200):
    assert main(reduce_kernels.LADDER, ["--json", "--n", "2^10", "--steps", "reduce9"]) == 0
    row = rows_of(capsys)[0]
    assert row["gb_per_s"] == pytest.approx(4 * 1024 / 2e-3 / 1e9)
    assert row["gflops"] is None
    assert row["elements"] == 1024


def test_the_library_is_compared_in_the_same_run(capsys, h200):
    ladder = replace(GPU, library=replace(GPU.library, bind=lambda inputs, out: lambda: None))
    assert main(ladder, ["--json", "--n", "8", "--steps", "naive"]) == 0
    (row,) = rows_of(capsys)
    assert (row["library"], row["library_ratio"]) == ("cuBLAS", 0.5)


def test_more_than_the_peak_is_an_error_with_an_explanation(capsys, h200, monkeypatch):
    monkeypatch.setattr(devices, "current", lambda: replace(H200, fp32_gflops=1e-9))
    assert main(GPU, ["--n", "32", "--record"]) == command_line.REFUSED
    assert "of the peak, which no kernel reaches" in capsys.readouterr().err


def test_a_wrong_kernel_fails_and_is_never_recorded(capsys, empty_data):
    ladder = with_step(CPU, wrong)
    assert main(ladder, ["--n", "8", "--record"]) == WRONG
    assert "FAILED" in capsys.readouterr().out
    assert list(empty_data.rglob("*.csv")) == []


def test_a_kernel_that_goes_wrong_while_it_is_timed_is_not_recorded(capsys, empty_data):
    calls = []

    def tires(a, b, c):
        calls.append(1)
        c[...] = a @ b if len(calls) < 5 else 0

    ladder = with_step(CPU, tires)
    assert main(ladder, ["--n", "8", "--record", "--json"]) == WRONG
    (row,) = rows_of(capsys)
    assert not row["verified"]
    assert row["gflops"] is None
    assert list(empty_data.rglob("*.csv")) == []


def test_a_failure_is_an_answer_in_json_too(capsys):
    assert main(with_step(CPU, wrong), ["--n", "8", "--json"]) == WRONG
    assert [row["verified"] for row in rows_of(capsys)] == [False]


def test_a_record_can_be_read_back(empty_data):
    steps = ["--steps", "naive", "loop_reordered"]
    assert main(CPU, ["--n", "8", "4x5x6", "--record", *steps]) == 0
    frame = records.measured(devices.cpu_name(), "cpu")
    assert list(frame["step"]) == ["naive", "naive", "loop_reordered", "loop_reordered"]
    assert set(frame["library"]) == {"NumPy BLAS"}
    assert (frame["gflops"] > 0).all()
    assert set(frame["numba"]) == {measure.versions().numba}


def test_a_record_needs_a_device(capsys, no_gpu):
    assert main(GPU, ["--record"]) == command_line.REFUSED
    output = capsys.readouterr()
    assert "--record needs a CUDA device. No CUDA driver was found." in output.err
    assert output.out == ""


def test_what_was_finished_before_ctrl_c_is_recorded(capsys, monkeypatch):
    def interrupted(rivals):
        if rivals[0].args[0].shape == (9, 9):
            raise KeyboardInterrupt
        rivals[0]()
        return [Timing(1.0, 1.0, 1.0, 7, 1)] * len(rivals)

    monkeypatch.setattr(measure, "time_cpu", interrupted)
    arguments = ["--n", "8", "9", "10", "--record", "--steps", "naive", "loop_reordered"]
    assert main(CPU, arguments) == command_line.INTERRUPTED
    assert set(records.measured(devices.cpu_name(), "cpu")["m"]) == {8}
    assert "What was finished is recorded" in capsys.readouterr().err


def test_some_of_the_constants_can_be_chosen(capsys, h200):
    assert main(GPU, ["--json", "--n", "8", "--steps", "tiled", "--params", "TILE=8"]) == 0
    assert [row["params"] for row in rows_of(capsys)] == ["TILE=8"]


def test_a_plot_draws_what_is_recorded_and_says_what_it_shows(capsys, h200, tmp_path):
    main(reduce_kernels.LADDER, ["--record", "--n", "2^10", "2^11", "--steps", "reduce9"])
    capsys.readouterr()
    assert main(reduce_kernels.LADDER, ["plot", str(tmp_path / "figures")]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = ["reduce_gb_per_s.png", "reduce_share_of_peak.png"]
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == names
    for name, line in zip(names, lines, strict=True):
        path, _, alt_text = line.partition(": ")
        assert path.endswith(name)
        assert Image.open(path).text["Description"] == alt_text


def test_a_plot_of_nothing_is_refused(capsys, no_gpu, tmp_path):
    assert main(GPU, ["plot", str(tmp_path)]) == command_line.REFUSED
    assert "nothing has been recorded there yet" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--n", "big"], "'big' is no matrix size"),
        (["--steps", "nave"], "no step 'nave': did you mean naive"),
        (["--device", "abacus"], "'abacus' is no device"),
        (["--params", "TILE=5"], "No step has the constants 'TILE=5': choose some of "),
    ],
)
def test_a_request_that_cannot_be_met_is_one_sentence(arguments, sentence, capsys, no_gpu):
    assert main(GPU, arguments) == command_line.REFUSED
    output = capsys.readouterr()
    assert sentence in output.err
    assert "Traceback" not in output.err
    assert output.out == ""


@pytest.mark.parametrize(
    "code, sentence",
    [
        ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "toolkit is newer than the GPU's driver"),
        ("CUDA_ERROR_OUT_OF_MEMORY", "do not fit into the memory"),
    ],
)
def test_a_driver_error_that_a_reader_can_act_upon_is_one_sentence(
    code, sentence, capsys, h200, monkeypatch
):
    def refuse(*arguments):
        raise RuntimeError(f"[222] Call to cuLinkAddData results in {code}")

    monkeypatch.setattr(measure, "time_gpu", refuse)
    assert main(GPU, ["--n", "8"]) == command_line.REFUSED
    assert sentence in capsys.readouterr().err


def test_other_errors_keep_their_traceback(h200, monkeypatch):
    def crash(*arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(measure, "time_gpu", crash)
    with pytest.raises(ZeroDivisionError):
        main(GPU, ["--n", "8"])


def test_help_names_the_command_as_it_is_typed():
    result = subprocess.run(
        [sys.executable, "-m", "gemm_kernels.cpu", "--help"],
        capture_output=True, text=True, check=True, cwd=gemm_kernels.__path__[0] + "/..",
    )  # fmt: skip
    assert result.stdout.startswith("usage: python -m gemm_kernels.cpu")
    assert all(f"  {command} " in result.stdout for command in ("measure", "plot", "bench"))


def test_json_alone_is_on_standard_output(tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "gemm_kernels.cpu", "--json", "--n", "8",
         "--steps", "naive"],
        capture_output=True, text=True, check=True, cwd=gemm_kernels.__path__[0] + "/..",
    )  # fmt: skip
    assert [row["step"] for row in json.loads(result.stdout)] == ["naive"]


def test_steps_that_the_device_is_too_old_for_are_left_out_and_named(capsys, h200, monkeypatch):
    monkeypatch.setattr(devices, "current", lambda: devices.find("t4"))
    assert main(GPU, ["--json", "--n", "8", "--steps", "naive", "async_copy"]) == 0
    output = capsys.readouterr()
    assert "too old for async_copy: left out" in output.err
    assert {row["step"] for row in json.loads(output.out)} == {"naive"}
