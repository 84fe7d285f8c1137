"""Submissions for the lab `tiling` that try to gain points, time or files they do not deserve.

Each is the text of a `.py`, under a name that says what it tries. PWNED stands for a file that a
submission would write if any of its Python ran.
"""

HEAD = "import math\n\nimport numpy as np\nfrom numba import cuda, float32\n\n"
DEF = "def tiling(a, b, c):\n"
KERNEL = f"@cuda.jit\n{DEF}"
EVERYWHERE = "i, j = cuda.grid(2)\nif i < c.shape[0] and j < c.shape[1]:\n"
TOUCH = "__import__('os').system('touch PWNED')"


def kernel(body: str, before: str = "") -> str:
    """Return the text of a submission whose kernel has this body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{HEAD}{before}{KERNEL}{lines}"


def _nested(depth: int) -> str:
    opened = "".join(f"{'    ' * level}if True:\n" for level in range(depth))
    return f"{opened}{'    ' * depth}pass"


# Python outside of the kernel, which would run if the file were imported.
OUTSIDE = {
    "runs a command": f"{TOUCH}\n",
    "leaves the process": "import os\nos._exit(0)\n",
    "loops for ever": "while True:\n    pass\n",
    "replaces a comparison": "np.array_equal = lambda *other: True\n",
    "replaces the checker": "import labs\nlabs.check = lambda *other: 100\n",
    "prints a result": "print('{\"score\": 100}')\n",
    "exits with success": "raise SystemExit(0)\n",
    "registers an exit": f"import atexit\natexit.register(lambda: {TOUCH})\n",
    "defines a class that acts": f"class Act:\n    did = {TOUCH}\n",
    "counts to a huge number": "N = 9**9**9**9\n",
    "computes a huge list": "N = [0] * 10**12\n",
    "shifts far": "N = 1 << 10**9\n",
    "reads the solution": "from labs.exercises.tiling.solution import tiling\n",
    "imports the solution's file": (
        "import labs.exercises.tiling.solution\ntiling = labs.exercises.tiling.solution.tiling\n"
    ),
    "opens the solution": "text = open('labs/exercises/tiling/solution.py').read()\nexec(text)\n",
    "asks for the secret": "import os\nsecret = os.environ['COURSE_SECRET']\n",
}
# A kernel whose text acts where it is defined.
DEFINED = {
    "acts in a default": f"{HEAD}@cuda.jit\ndef tiling(a, b, c, d={TOUCH}):\n    pass\n",
    "acts in an annotation": f"{HEAD}@cuda.jit\ndef tiling(a: {TOUCH}, b, c):\n    pass\n",
    "acts in what it returns": f"{HEAD}@cuda.jit\ndef tiling(a, b, c) -> {TOUCH}:\n    pass\n",
    "acts in a decorator": f"{HEAD}@cuda.jit\n@(lambda f: {TOUCH})\n{DEF}    pass\n",
    "acts in an option": f"{HEAD}@cuda.jit(fastmath={TOUCH})\n{DEF}    pass\n",
    "two of one name": f"{kernel('pass')}\n{KERNEL}    c[0, 0] = 1\n",
    "a name and no function": f"{HEAD}tiling = 5\n",
    "a class of the name": f"{HEAD}class tiling:\n    py_func = None\n",
    "no Python": f"{HEAD}@cuda.jit\ndef tiling(a, b, c:\n    pass\n",
}
# Bodies of the kernel.
INSIDE = {
    "imports": "import os\nos.system('touch PWNED')",
    "a lambda": f"c[0, 0] = (lambda: {TOUCH})()",
    "walks to a module": "c[0, 0] = np.lib.os.environ.x",
    "walks by globals": "c[0, 0] = cuda.to_device.__globals__['os']",
    "walks by subclasses": "c[0, 0] = ().__class__.__base__.__subclasses__()",
    "walks by a tuple's method": "x = (1).__class__\nc[0, 0] = x.__init__",
    "names a builtin": "c[0, 0] = open('PWNED', 'w').write('x')",
    "evaluates a text": f"c[0, 0] = eval(\"{TOUCH}\")",
    "asks for an attribute": "c[0, 0] = getattr(cuda, 'gpus')",
    "formats an attribute": "x = '{0.__class__}'.format(a)\nc[0, 0] = 1",
    "changes a module": "np.float32 = None\nc[0, 0] = 1",
    "a global": "global float32\nfloat32 = None",
    "waits for ever": "while True:\n    pass",
    "counts for ever": "i = 0\nwhile i >= 0:\n    i += 1",
    "recursion": "c[0, 0] = tiling(a, b, c)",
    "a huge power": "c[0, 0] = 9**9**9**9",
    "a huge local array": "x = cuda.local.array(10**9, float32)\nx[0] = 1\nc[0, 0] = x[0]",
    "a huge shared array": "x = cuda.shared.array(10**9, float32)\nx[0] = 1\nc[0, 0] = x[0]",
    "nested deeply": _nested(30),
    "prints for ever": "for i in range(10000):\n    print('{\"score\": 100}')",
    "a barrier for some": "if cuda.threadIdx.x == 0:\n    cuda.syncthreads()",
    "writes beyond the end": "c[10**6, 10**6] = 1",
    "changes the inputs": "a[0, 0] = 0\nb[0, 0] = 0\nc[0, 0] = 0",
    "stores NaN": f"{EVERYWHERE}    c[i, j] = np.nan",
    "guesses a constant": f"{EVERYWHERE}    c[i, j] = 42",
    "raises": "raise ValueError('100 points')",
    "an assertion": "assert False",
}  # fmt: skip
# Bodies of the host function `benchmark(device, m, n, k)`, which would be called.
HOST = {
    "walks by a pattern": "match m:\n    case int(__class__=x):\n        pass",
    "writes a file by a pattern": (
        "x = 0\nmatch np.float32(1):\n    case np.float32(tofile=x):\n        x('PWNED')"
    ),
    "catches the end of its time": "try:\n    launch()\nexcept* float:\n    pass",
    "reads what the device hides": "x = device.queue",
    "changes the device": "device.now = lambda: 0",
    "walks to the judge": "x = device.launch.__self__",
    "walks by globals": "x = device.now.__func__.__globals__",
    "formats an attribute": "x = '{0.__class__}'.format(device)",
    "writes an attribute into a text": "x = f'{device.__class__}'",
    "loads a file": "x = np.load('secret')",
    "writes a file": "np.zeros(3).tofile('PWNED')",
    "names a builtin": "x = open('secret')",
    "asks for an attribute": "x = getattr(device, 'queue')",
    "imports": "import os",
    "a class": "class Rate:\n    pass",
    "a generator": "yield 1",
}
# Files that are no text of Python.
RAW = {
    "nothing": b"",
    "NUL bytes": b"\0" * 100,
    "another encoding": "@cuda.jit\ndef tiling(a, b, c):\n    'é'\n".encode("latin-1"),
    "a huge number": HEAD.encode() + b"X = " + b"9" * 5000 + b"\n",
    "many parentheses": kernel("c[0, 0] = " + "(" * 1000 + "1" + ")" * 1000).encode(),
    "a long sum": kernel("c[0, 0] = " + "+".join(["a[0, 0]"] * 5000)).encode(),
    "many signs": kernel("c[0, 0] = " + "-" * 5000 + "1").encode(),
    "too many bytes": b"#" * 5_000_001,
}
TEXTS = {
    **{name: before + kernel("pass") for name, before in OUTSIDE.items()},
    **DEFINED,
    **{f"{name} in the kernel": kernel(body) for name, body in INSIDE.items()},
}
ATTACKS = {**{name: text.encode() for name, text in TEXTS.items()}, **RAW}
