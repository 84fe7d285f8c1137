"""From a kernel's text to closures over lanes: statements, expressions, calls, functions.

`compiler` is the way in. `intrinsics` lists what a kernel can call, and `extension` adds to it.
"""
