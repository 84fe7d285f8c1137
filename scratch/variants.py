"""Try variants of mma_pipelined on a device, in turns with cuBLAS. Not part of the course."""
import importlib.util, json, os, sys, time, statistics
from pathlib import Path
import numpy as np
import tensor_kernels
from tensor_kernels import mma_pipelined
SOURCE = Path(mma_pipelined.__file__).read_text()

COPIES = """            start_copies(a, (row, later), t, sa[free], place_a)
            start_copies(b, (later, col), t, sb[free], place_b)
            # A group per iteration, also when nothing is left to copy: wait_copies counts groups.
            commit_copies()
"""
LOOP = """            for z in range(0, BK, 16):
                load_fragments(sa[now], sb[now], y, x, z, lane, of_a, of_b)
                multiply_by_16(of_a, of_b, sums)
"""
EARLY = [(COPIES + LOOP, """            load_fragments(sa[now], sb[now], y, x, 0, lane, of_a, of_b)
""" + COPIES + """            multiply_by_16(of_a, of_b, sums)
            for z in range(16, BK, 16):
                load_fragments(sa[now], sb[now], y, x, z, lane, of_a, of_b)
                multiply_by_16(of_a, of_b, sums)
""")]
# fragments ahead: the next fragments are loaded before the present ones are multiplied
AHEAD = [(COPIES + LOOP, """            load_fragments(sa[now], sb[now], y, x, 0, lane, of_a, of_b)
""" + COPIES + """            for z in range(16, BK, 32):
                load_fragments(sa[now], sb[now], y, x, z, lane, next_a, next_b)
                multiply_by_16(of_a, of_b, sums)
                if z + 16 < BK:
                    load_fragments(sa[now], sb[now], y, x, z + 16, lane, of_a, of_b)
                multiply_by_16(next_a, next_b, sums)
"""), ("        t = uint32(cuda.threadIdx.x)\n", "        next_a = cuda.local.array((MT, 8), float16)\n        next_b = cuda.local.array((NT, 4), float16)\n        t = uint32(cuda.threadIdx.x)\n")]
# the first fragments of the next tile are loaded in this iteration, after its wait and barrier
ACROSS = [(COPIES + LOOP, COPIES + """            for z in range(16, BK + 16, 32):
                load_fragments(sa[now], sb[now], y, x, z, lane, next_a, next_b)
                multiply_by_16(of_a, of_b, sums)
                if z + 16 < BK:
                    load_fragments(sa[now], sb[now], y, x, z + 16, lane, of_a, of_b)
                else:
                    wait_copies(PENDING)
                    cuda.syncthreads()
                    later2 = uint32(now + 1 if now < AHEAD else 0)
                    load_fragments(sa[later2], sb[later2], y, x, 0, lane, of_a, of_b)
                multiply_by_16(next_a, next_b, sums)
"""), ("            wait_copies(PENDING)\n            cuda.syncthreads()\n            later", "            later"),
 ("        while start < k:", "        wait_copies(PENDING)\n        cuda.syncthreads()\n        load_fragments(sa[0], sb[0], y, x, 0, lane, of_a, of_b)\n        while start < k:"),
 AHEAD[1]]
GROUPED = [("        row, col = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)\n", """        number = uint32(cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x)
        per = uint32(8 * cuda.gridDim.x)
        group = number // per
        tall = uint32(min(uint32(8), uint32(cuda.gridDim.y - group * 8)))
        rest = uint32(number - group * per)
        row, col = uint32((group * 8 + rest % tall) * BM), uint32(rest // tall * BN)
""")]
DYNAMIC = [("""        sa = cuda.shared.array((STAGES, BM, BK), float16, alignment=16)
        sb = cuda.shared.array((STAGES, BK, BN), float16, alignment=16)
""", """        memory = cuda.shared.array(0, float16, alignment=16)
"""), ("block=(warps * 32,))", "block=(warps * 32,), shared_bytes=STAGES * BK * (BM + BN) * 2)"),
 ("    def start_copies(x, corner, t, tile, place):\n        chunks = tile.shape[1] // 8\n", "    def start_copies(x, corner, t, memory, base, rows, columns, place):\n        chunks = columns // 8\n"),
 ("range(tile.shape[0] * chunks // THREADS)", "range(rows * chunks // THREADS)"),
 ("(tile, (row, place(row, col)), x, at)", "(memory, uint32(base + row * columns + place(row, col)), x, at)"),
 ("def load_fragments(sa, sb, ", "def load_fragments(memory, sa, sb, "),
 ("ldmatrix_x4(of_a[i], sa, (row, place_a(row, col)))", "ldmatrix_x4(of_a[i], memory, uint32(sa + row * BK + place_a(row, col)))"),
 ("ldmatrix_x4_trans(of_b[j : j + 2], sb, (row, place_b(row, col)))", "ldmatrix_x4_trans(of_b[j : j + 2], memory, uint32(sb + row * BN + place_b(row, col)))"),
 ("load_fragments(sa[", "load_fragments(memory, sa["),
 *((f"{m}[{i}]{tail}", new) for m, off in (("sa", ""), ("sb", " + BM * BK")) for i, tail, new in ()),
 ]
for i in ("stage", "free"):
    DYNAMIC.append((f"t, sa[{i}], place_a", f"t, memory, uint32({i} * (BM + BN) * BK), BM, BK, place_a"))
    DYNAMIC.append((f"t, sb[{i}], place_b", f"t, memory, uint32({i} * (BM + BN) * BK + BM * BK), BK, BN, place_b"))
DYNAMIC_OPTIONAL = [(f"sa[{i}], sb[{i}]", f"uint32({i} * (BM + BN) * BK), uint32({i} * (BM + BN) * BK + BM * BK)") for i in ("now", "later2", "0")]


def choices(**values):
    text = ", ".join(f'"{k}": ({v},)' for k, v in values.items())
    return [('choices={"BM": (128,), "BN": (128,), "BK": (32,), "STAGES": (3, 2)}', "choices={" + text + "}")]


def std(BM=128, BN=128, BK=32, STAGES=3):
    return choices(BM=BM, BN=BN, BK=BK, STAGES=STAGES)


LEAN = [("""        for load in range(tile.shape[0] * chunks // THREADS):
            number = uint32(t + load * THREADS)
            row, col = number // chunks, number % chunks * 8
""", """        rows_at_once = THREADS // chunks
        for load in range(tile.shape[0] // rows_at_once):
            row, col = uint32(t // chunks + load * rows_at_once), t % chunks * 8
"""), ("(row, place_a(row, col)))", "(row, place_a(down, col)))"),
("""            row, col = uint32(z + down), uint32(x + j * 8 + right)
            ldmatrix_x4_trans(of_b[j : j + 2], sb, (row, place_b(row, col)))""", """            row, col = uint32(z + down), uint32(j * 8 + right)
            ldmatrix_x4_trans(of_b[j : j + 2], sb, (row, uint32(x + place_b(down, col))))""")]
SPREAD = [(COPIES + LOOP, """            load_fragments(sa[now], sb[now], y, x, 0, lane, of_a, of_b)
            start_copies(a, (row, later), t, sa[free], place_a)
            multiply_by_16(of_a, of_b, sums)
            load_fragments(sa[now], sb[now], y, x, 16, lane, of_a, of_b)
            start_copies(b, (later, col), t, sb[free], place_b)
            commit_copies()
            multiply_by_16(of_a, of_b, sums)
""")]
NARROW = [("WM, WN = 64, 64", "WM, WN = 64, 32")]
D = DYNAMIC + DYNAMIC_OPTIONAL
VARIANTS = {
    "base s3": std(),
    "carveout s3": std(),
    "base s2": std(STAGES=2),
    "lean s3": std() + LEAN,
    "early s3": std() + EARLY,
    "spread s3": std() + SPREAD,
    "across s3": std() + ACROSS,
    "lean across s3": std() + ACROSS + LEAN,
    "grouped s3": std() + GROUPED,
    "grouped across s3": std() + GROUPED + ACROSS,
    "base bk16 s4": std(BK=16, STAGES=4),
    "128x256 bk16 s4": std(BN=256, BK=16, STAGES=4),
    "256x128 bk16 s4": std(BM=256, BK=16, STAGES=4),
    "128x256 bk32 s2": std(BN=256, BK=32, STAGES=2),
    "narrow s3": std() + NARROW,
    "dynamic s4": std(STAGES=4) + D,
    "dynamic across s4": std(STAGES=4) + ACROSS + D,
    "dynamic across bk64 s3": std(BK=64, STAGES=3) + ACROSS + D,
    "dynamic 128x256 across bk32 s4": std(BN=256, BK=32, STAGES=4) + ACROSS + D,
    "dynamic 128x256 across bk64 s3": std(BN=256, BK=64, STAGES=3) + ACROSS + D,
    "dynamic 256x128 across bk64 s3": std(BM=256, BK=64, STAGES=3) + ACROSS + D,
}
FOLDER = Path("/tmp/t41a_variants")


def module(name, edits):
    text = SOURCE
    for old, new in edits:
        assert old in text or (old, new) in DYNAMIC_OPTIONAL, (name, old)
        text = text.replace(old, new)
    FOLDER.mkdir(exist_ok=True)
    stem = "v_" + "".join(c if c.isalnum() else "_" for c in name)
    path = FOLDER / f"{stem}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(stem, path)
    mod = importlib.util.module_from_spec(spec)
    sys.modules[stem] = mod
    spec.loader.exec_module(mod)
    return mod


def function_of(kernel, signature):
    """The driver's function, after the kernel was compiled for the current device."""
    from cuda.bindings import driver as D
    kernel.compile(signature.args)
    (overload,) = kernel.overloads.values()
    f = overload._codelibrary.get_cufunc()
    handle = getattr(f, "handle", f)
    if isinstance(handle, D.CUfunction):
        return f, handle
    kern = handle if isinstance(handle, D.CUkernel) else D.CUkernel(int(handle))
    err, func = D.cuKernelGetFunction(kern)
    assert int(err) == 0, err
    return f, func


def set_attribute(func, name, value):
    from cuda.bindings import driver as D
    (err, *_) = D.cuFuncSetAttribute(func, getattr(D.CUfunction_attribute, name), value)
    assert int(err) == 0, (name, err)


def blocks_per_sm(func, threads, nbytes):
    from cuda.bindings import driver as D
    err, blocks = D.cuOccupancyMaxActiveBlocksPerMultiprocessor(func, threads, nbytes)
    return blocks if int(err) == 0 else err


def look(arch="sm_90"):
    from collections import Counter
    from gpu_xray import xray
    for name, edits in VARIANTS.items():
        try:
            s = module(name, edits).STEP
            x = xray(s.variant().kernel, s.signature, arch)
            h = Counter(i.name for i in x.hot.body)
            print(f"{name:32s} regs {x.registers} local {x.local_bytes} shared {x.shared_bytes} hot {len(x.hot.body)} HMMA {h['HMMA']} LDSM {h['LDSM']} STS {h['STS']}", flush=True)
        except Exception as e:
            print(name, type(e).__name__, str(e)[:300], flush=True)


def main():
    import cupy
    from functools import partial
    from numba import cuda
    from utils.ladder.shapes import GemmShape
    from utils.ladder.problems import judge, poisoned
    from utils.ladder.tasks import TENSOR_GEMM
    from utils.measuring.timing import time_gpu
    from utils.ladder.libraries import CUBLAS_TENSOR
    start = time.time()
    good = {}
    small = TENSOR_GEMM.problem(GemmShape(387, 392, 456), "uniform")
    inputs = tuple(map(cuda.to_device, small.inputs))
    lib = CUBLAS_TENSOR.bind(inputs, np.empty((387, 392), np.float32))
    lib()
    print("cuBLAS", judge(small, next(c.cell_contents for c in lib.__closure__ if getattr(c.cell_contents, "shape", None) == (387, 392))), flush=True)
    for name, edits in VARIANTS.items():
        try:
            v = module(name, edits).STEP.variant()
            launch = v.launch(small.shape)
            f, func = function_of(v.kernel, v.step.signature)
            if launch.shared_bytes > 48 * 1024:
                set_attribute(func, "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES", launch.shared_bytes)
            if "carveout" in name:
                set_attribute(func, "CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT", 100)
            out = cuda.to_device(poisoned((387, 392)))
            v.execution(small.shape, inputs, out)()
            verdict = judge(small, out)
            print(f"{name:32s} {verdict} regs {f.attrs.regs} local {f.attrs.local} blocks per SM {blocks_per_sm(func, launch.threads, launch.shared_bytes)} {time.time() - start:.0f} s", flush=True)
            if verdict.passed:
                good[name] = v
        except Exception as e:
            print(name, "FAILED", type(e).__name__, str(e)[:300], flush=True)
    for n in (4096, 2048):
        shape = GemmShape(n, n, n)
        g = np.random.default_rng(1)
        a, b = (cuda.to_device((g.random((n, n), np.float32) * 2 - 1).astype(np.float16)) for _ in range(2))
        out = cuda.device_array((n, n), np.float32)
        A, B = cupy.asarray(a), cupy.asarray(b)
        half = partial(cupy.matmul, A, B, out=cupy.empty((n, n), np.float16))
        runs = {"cuBLAS float16": half, **{name: v.execution(shape, (a, b), out) for name, v in good.items()}}
        times = time_gpu([CUBLAS_TENSOR.bind((a, b), out), *runs.values()], 15)
        base = times[0].median_ms
        print(f"-- {n} uniform: cuBLAS float32 {2*n**3/base/1e9:.0f} TFLOP/s, clock {times[0].sm_clock_mhz}")
        for name, t in sorted(zip(runs, times[1:]), key=lambda p: p[1].median_ms):
            print(f"   {name:32s} {2*n**3/t.median_ms/1e9:6.1f} TFLOP/s  x cuBLAS {base/t.median_ms:.3f}  [{t.min_ms:.4f} {t.max_ms:.4f}] {t.sm_clock_mhz}", flush=True)
    print("seconds", round(time.time() - start, 1))


if __name__ == "__main__":
    look() if "--look" in sys.argv else main()
