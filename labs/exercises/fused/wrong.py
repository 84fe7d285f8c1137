"""Wrong answers to `fused`: what `check` says, and the changes that earn it."""

TEST = "if i < out.size:"
VALUE = "value = (x[i] - mean) * scale + y[i]"
STORE = "out[i] = max(value, float32(0))"
LINES = f"        {VALUE}\n        {STORE}\n"

WRONG = {
    "no thread reads or writes any array. Is the body still to be written": {
        "empty body": [(f"    i = cuda.grid(1)\n    {TEST}\n{LINES}", "    pass\n")]},
    "`out` is memory, too, so each of these values passes it twice.": {
        "every step through out": [(LINES, "        out[i] = (x[i] - mean) * scale\n"
                                           "        out[i] = out[i] + y[i]\n"
                                           "        out[i] = max(out[i], float32(0))\n")],
        "two steps through out": [(LINES, "        out[i] = (x[i] - mean) * scale + y[i]\n"
                                          "        out[i] = max(out[i], float32(0))\n")],
        "added in out": [(LINES, "        out[i] = (x[i] - mean) * scale\n        out[i] += y[i]\n"
                                 "        if out[i] < 0:\n            out[i] = 0\n")]},
    "Nothing sets negative results to 0.": {"no limit": [(STORE, "out[i] = value")]},
    "You keep the negative results, and set the others to 0.": {
        "min for max": [(STORE, "out[i] = min(value, float32(0))")]},
    "A negative result becomes 0. Yours has lost its sign.": {
        "the absolute value": [(STORE, "out[i] = abs(value)")]},
    "You set negative values to 0 before `y` is added. The limit is the last step.": {
        "the limit before the sum": [
            (LINES, "        value = max((x[i] - mean) * scale, float32(0))\n"
                    "        out[i] = value + y[i]\n")]},
    "`y` is not in your result.": {"no y": [(" + y[i]", "")]},
    "`mean` is not in your result.": {"no mean": [("(x[i] - mean)", "x[i]")]},
    "`scale` is not in your result.": {"no scale": [(" * scale", "")]},
    "You multiply before you subtract: `mean` is taken from `x`, and then the difference is "
    "multiplied.": {
        "no brackets": [("(x[i] - mean) * scale", "x[i] - mean * scale")],
        "scaled first": [("(x[i] - mean) * scale", "x[i] * scale - mean")]},
    "You multiply `y`, too. It is added after the product.": {
        "y is scaled": [(VALUE, "value = (x[i] - mean + y[i]) * scale")]},
    "You add `mean`, and it is to be subtracted.": {
        "mean added": [("x[i] - mean", "x[i] + mean")]},
    "You divide by `scale`, and it is a factor.": {
        "divided": [("* scale", "/ scale")]},
    "You subtract `y`, and it is to be added.": {"y subtracted": [("+ y[i]", "- y[i]")]},
    "You take `x` from `mean`, and not `mean` from `x`.": {
        "the difference turned round": [("x[i] - mean", "mean - x[i]")]},
    "The limit is 0, and yours is 1.": {
        "another limit": [("float32(0)", "float32(1)")]},
    "Nothing in your kernel keeps them away.": {"no test": [(TEST, "if True:")]},
    "A test that lets 1000 pass has": {"<= for <": [(TEST, "if i <= out.size:")]},
    "The number of the block is missing in your index.": {
        "the thread alone": [("cuda.grid(1)", "cuda.threadIdx.x")]},
    "changes `x`, which is an input": {
        "steps in x": [(LINES, "        x[i] = (x[i] - mean) * scale + y[i]\n"
                               "        out[i] = max(x[i], float32(0))\n")]},
    "works on one element": {
        "as in NumPy": [(LINES, "        out[:] = (x - mean) * scale + y\n")]},
}  # fmt: skip
