"""Write mma_bfloat16.py anew from mma_pipelined.py."""
s = open("tensor_kernels/mma_pipelined.py").read()
for old, new in (
    ('"""Asynchronous copies fill the tiles of the next stages while the warps multiply this one."""',
     '"""The pipeline with bfloat16 instead of float16: as many bits, a wider range, fewer digits."""'),
    ("from numba import cuda, float32, uint32\nfrom numba.types import float16\n", "from numba import cuda, float32, uint16, uint32\n"),
    ("multiply_by_16", "multiply_bfloat16"),
    ("float16, alignment", "uint16, alignment"),
    ("8), float16)", "8), uint16)"),
    ("4), float16)", "4), uint16)"),
    ("mma_pipelined", "mma_bfloat16"),
    ("TENSOR_GEMM", "TENSOR_GEMM_BFLOAT16"),
    ('"STAGES": (3, 2)', '"STAGES": (3,)'),
    ('previous="mma_swizzled"', 'previous="mma_pipelined"'),
):
    assert old in s, old
    s = s.replace(old, new)
import re
s = re.sub(r'idea="[^"]*"', 'idea="bfloat16 instead of float16"', s)
a, b = s.index("    # Copies are in flight"), s.index("    @cuda.jit\n    def mma_bfloat16")
s = s[:a] + """    # The bits of bfloat16 travel as uint16, and only the product reads them as numbers; flaw: as
    # before, each warp issues every copy, every ldmatrix and every mma itself.
""" + s[b:]
s = s.replace("import clear, multiply_bfloat16, store_sums", "import clear, multiply_bfloat16, store_sums")
open("tensor_kernels/mma_bfloat16.py", "w").write(s)
