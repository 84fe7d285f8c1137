from types import SimpleNamespace

import pytest

from utils.errors import CourseError
from utils.machine import devices


def gpu(name="NVIDIA H200", sms=132, capability=(9, 0), **changes):
    """The driver's facts about a GPU, as `numba.cuda.get_current_device()` returns them."""
    attributes = {
        "CLOCK_RATE": 1_980_000,
        "MEMORY_CLOCK_RATE": 3_201_000,
        "GLOBAL_MEMORY_BUS_WIDTH": 6016,
        "L2_CACHE_SIZE": 60 * 2**20,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 228 * 1024,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 227 * 1024,
    }
    return SimpleNamespace(
        name=name,
        compute_capability=capability,
        MULTIPROCESSOR_COUNT=sms,
        **attributes | changes,
    )


class FakeCuda:
    """Return a numba.cuda of a machine with this GPU, or with this problem."""

    def __init__(self, gpu=None, problem=None, broken=False):
        self.gpu, self.problem, self.broken = gpu, problem, broken

    def is_available(self):
        return self.gpu is not None or self.broken

    def cuda_error(self):
        return self.problem

    def get_current_device(self):
        if self.broken:
            raise RuntimeError(self.problem)
        return self.gpu

    def current_context(self):
        memory = SimpleNamespace(free=0, total=140 * 2**30)
        return SimpleNamespace(get_memory_info=lambda: memory)


@pytest.mark.parametrize("device", devices.known(), ids=lambda device: device.name)
def test_the_data_sheet_agrees_with_sms_times_lanes_times_clock(device):
    assert device.fp32_gflops == pytest.approx(device.computed_gflops(), rel=0.02)


@pytest.mark.parametrize("device", devices.known(), ids=lambda device: device.name)
def test_every_row_is_plausible_and_names_its_source(device):
    assert device.memory_gb_per_s > 50
    assert device.max_shared_kib_per_block <= device.shared_kib_per_sm
    assert 2010 <= device.year <= 2026
    assert any(word in device.source for word in ("data sheet", "white paper", "specification"))


@pytest.mark.parametrize("device", devices.known(), ids=lambda device: device.name)
def test_a_peak_of_tensor_cores_names_its_source_and_is_that_of_its_multiprocessors(device):
    """An SM makes 256 to 4096 multiply-adds per cycle; Hopper's peak has a clock of its own."""
    assert bool(device.tensor_gflops) == bool(device.tensor_source)
    if device.tensor_gflops:
        assert device.compute_capability >= (7, 0)
        assert any(word in device.tensor_source for word in ("sheet", "white paper", "specific"))
        clock = device.boost_clock_mhz / 1e3
        per_cycle = device.tensor_gflops / (2 * device.sms * clock)
        powers = [2**exponent for exponent in range(8, 13)]
        assert min(abs(per_cycle / power - 1) for power in powers) < 0.08


def test_devices_of_one_compute_capability_have_the_same_multiprocessor():
    lanes = {(d.compute_capability, d.fp32_lanes_per_sm) for d in devices.known()}
    shared = {(d.compute_capability, d.max_shared_kib_per_block) for d in devices.known()}
    assert len(lanes) == len(shared) == len({d.compute_capability for d in devices.known()})


def test_enough_devices_are_known():
    assert len(devices.known()) >= 22


def test_no_name_or_alias_means_two_devices():
    labels = [name for d in devices.known() for name in {d.slug, *map(devices.slug, d.aliases)}]
    assert len(labels) == len(set(labels)) > 22


@pytest.mark.parametrize("name", ["C2070", "Tesla K40", "GTX Titan X (Maxwell)", "Tesla V100"])
def test_the_devices_of_the_sources_are_known(name):
    assert devices.find(name).fp32_gflops in (1030, 4291, 6144, 15700)


def test_a_computed_peak_follows_the_clock():
    assert devices.find("NVIDIA H200").computed_gflops(1000) == 132 * 128 * 2


@pytest.mark.parametrize("name", ["NVIDIA H200", "nvidia h200", "h200", "H200 SXM", "3090"])
def test_a_device_is_found_by_name_alias_or_a_part_that_fits_one(name):
    assert devices.find(name).name in ("NVIDIA H200", "NVIDIA GeForce RTX 3090")


def test_a_part_that_fits_several_devices_is_refused_with_their_names():
    with pytest.raises(CourseError, match="several devices: choose NVIDIA A100-SXM4-40GB"):
        devices.find("A100")


def test_an_unknown_device_is_refused_with_close_names():
    with pytest.raises(CourseError, match=r"'RTX 490' is no device.*RTX 4090"):
        devices.find("RTX 490")


def test_the_folder_name_is_the_same_for_a_name_and_its_alias():
    assert devices.slug("H200") == devices.find("NVIDIA H200").slug == "nvidia_h200"


def test_any_processor_has_a_folder_name():
    assert devices.slug("Intel(R) Xeon(R) CPU @ 2.20GHz") == "intel_r_xeon_r_cpu_2_20ghz"


def test_a_known_gpu_keeps_its_data_sheet_and_gains_the_drivers_bandwidth():
    device = devices.current(FakeCuda(gpu()))
    assert device == devices.find("NVIDIA H200")
    assert (device.peak_gflops, device.peak_gb_per_s) == (66900, 4800)
    assert device.driver_gb_per_s == pytest.approx(4814, abs=1)


def test_an_unknown_gpu_is_described_by_its_driver():
    device = devices.current(FakeCuda(gpu(name="NVIDIA Z1", sms=10, capability=(8, 7))))
    assert (device.name, device.slug, device.sms) == ("NVIDIA Z1", "nvidia_z1", 10)
    assert (device.fp32_gflops, device.memory_gb_per_s, device.year) == (None, None, None)
    assert device.fp32_lanes_per_sm == 128
    assert device.peak_gflops == pytest.approx(10 * 128 * 2 * 1.98)
    assert device.peak_gb_per_s == device.driver_gb_per_s
    assert (device.memory_gib, device.l2_kib, device.max_shared_kib_per_block) == (140, 61440, 227)


def test_a_slice_of_a_known_gpu_does_not_get_the_whole_gpus_peak():
    device = devices.from_driver(gpu(sms=16), memory_bytes=2**34)
    assert device.peak_gflops == pytest.approx(66900 * 16 / 132, rel=0.01)


def test_a_driver_that_hides_the_memory_clock_gives_no_bandwidth():
    assert devices.from_driver(gpu(MEMORY_CLOCK_RATE=0), 2**34).driver_gb_per_s is None


def test_a_usable_device_needs_no_reason():
    assert devices.why_no_device(FakeCuda(gpu())) is None


@pytest.mark.parametrize(
    "cuda, reason",
    [
        (FakeCuda(problem="CUDA driver library cannot be found.\nEnsure"), "No CUDA driver was"),
        (FakeCuda(problem="CUDA is disabled due to setting NUMBA_DISABLE_CUDA=1"), "switched off"),
        (FakeCuda(problem="CUDA_ERROR_NO_DEVICE (100)"), "cannot be used (CUDA_ERROR_NO_DEVICE"),
        (FakeCuda(problem="compute capability\n< (5, 0)", broken=True), "capability < (5, 0)"),
        (FakeCuda(problem=None), "compiler is missing"),
    ],
)
def test_a_device_that_cannot_be_used_has_a_reason_in_one_sentence(cuda, reason):
    assert devices.current(cuda) is None
    sentence = devices.why_no_device(cuda)
    assert reason in sentence
    assert sentence.endswith(": kernels run on the virtual GPU.")
    assert "\n" not in sentence
