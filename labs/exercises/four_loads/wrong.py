"""Wrong answers to `four_loads`: what `check` says, and the changes that earn it."""

FIRST = "cuda.blockIdx.x * 1024 + cuda.threadIdx.x"
PLACE = "i = first + 256 * j"
LOAD, STORE = "            values[j] = x[i]\n", "            out[i] = values[j]\n"
TEST = "if i < x.size:"
LOADS = f"    for j in range(4):\n        {PLACE}\n        {TEST}\n{LOAD}"
STORES = f"    for j in range(4):\n        {PLACE}\n        {TEST}\n{STORE}"
LOCAL = "    values = cuda.local.array(4, float32)\n"
BODY = f"    first = {FIRST}\n{LOCAL}{LOADS}{STORES}"


def scalars(*lines: str) -> list[tuple[str, str]]:
    """A body with four variables in place of the array; i0 to i3 are the elements."""
    places = "".join(f"    i{j} = first + {256 * j}\n" for j in range(4))
    return [(BODY, f"    first = {FIRST}\n    n = x.size\n{places}" + "".join(lines))]


def load(j: int, test: bool = True) -> str:
    return f"    v{j} = x[i{j}]{f' if i{j} < n else float32(0)' if test else ''}\n"


def store(j: int, value: int | None = None) -> str:
    return f"    if i{j} < n:\n        out[i{j}] = v{j if value is None else value}\n"


def in_order(order: str) -> list[tuple[str, str]]:
    """Loads and stores in such an order: "l0 s0 l1 s1 ..."."""
    return scalars(*({"l": load, "s": store}[one[0]](int(one[1])) for one in order.split()))


WRONG = {
    "no thread reads or writes": {
        "empty body": [(BODY, "    pass\n")],
        "> for <": [(TEST, "if i > x.size:")]},
    "no thread ever stores": {"only loads": [(STORES, "")]},
    "1 load of its 4": {
        "load and store in turn": [(LOADS, ""), (STORE, "            out[i] = x[i]\n")]},
    "`out[i] = value`": {
        "in turn by a variable": [(BODY,
             f"    first = {FIRST}\n    for j in range(4):\n        {PLACE}\n"
             f"        {TEST}\n            value = x[i]\n            out[i] = value\n")]},
    "`out[i] = values[j]`": {"in turn by the array": [(LOADS + STORES, LOADS + STORE)]},
    "2 loads of its 4": {
        "two and two": in_order("l0 l1 s0 s1 l2 l3 s2 s3"),
        "one load ahead": in_order("l0 l1 s0 l2 s1 l3 s2 s3")},
    "3 loads of its 4": {
        "three and one": in_order("l0 l1 l2 s0 s1 s2 l3 s3"),
        "the last load after the first store": in_order("l0 l1 l2 s0 l3 s1 s2 s3")},
    "the target is 4": {
        "four adjacent words": [(FIRST, "cuda.grid(1) * 4"), (PLACE, "i = first + j")]},
    "4 words apart": {
        "adjacent loads alone": [(FIRST, "cuda.blockIdx.x * 1024 + 4 * cuda.threadIdx.x"),
            (PLACE, "i = first + j")]},
    "That is the value of `{x}[256]`, 255 elements further: it was loaded for another element. "
    "Which value does the store of this element take?": {
        "loads along, stores adjacent": [(STORES,
             "    for j in range(4):\n        i = cuda.blockIdx.x * 1024 + 4 * "
             "cuda.threadIdx.x + j\n        if i < x.size:\n            out[i] = values[j]\n")]},
    "2 words apart": {
        "threads two apart": [(FIRST, "cuda.blockIdx.x * 1024 + 2 * cuda.threadIdx.x"),
            (PLACE, "i = first + j % 2 + j // 2 * 512")]},
    "4 blocks of 256 threads with 4 elements each reach 4,096 elements, and there are 4,000. "
    "Nothing in your kernel keeps threads from going there.": {
        "no test": [(f"        {TEST}\n{LOAD}", "        values[j] = x[i]\n"),
            (f"        {TEST}\n{STORE}", "        out[i] = values[j]\n")]},
    "Your test `{branch}` lets this element pass. Is each of the four elements of a thread tested "
    "by itself, and with the length?": {
        "a test for the first element alone": [
            (LOADS + STORES, (LOADS + STORES).replace("i < x.size", "first < x.size"))],
        "tests the number of the first length": [(TEST, "if i < 4096:")]},
    "Threads leave at line {return} by the number of one of their elements. This thread also has "
    "element 3232, which is inside. Each of its elements needs a test of its own.": {
        "leaves by the first element": [
            (LOCAL, f"{LOCAL}    if first >= x.size:\n        return\n"),
            (f"        {TEST}\n{LOAD}", "        values[j] = x[i]\n"),
            (f"        {TEST}\n{STORE}", "        out[i] = values[j]\n")]},
    "This line does not stand in an `if`: loads and stores both need the test.": {
        "loads without a test": [(f"        {TEST}\n{LOAD}", "        values[j] = x[i]\n")],
        "stores without a test": [(f"        {TEST}\n{STORE}", "        out[i] = values[j]\n")]},
    "That is one too far: the elements have the numbers 0 to 3999. A test that lets 4000 pass has "
    "`<=` for `<`, or `>` for `>=`.": {"<= for <": [(TEST, "if i <= x.size:")]},
    "They belong to the last block, which reaches beyond the end. There a thread has elements "
    "inside and elements outside: `{out}[3232]` is inside, and it is left out. Each element needs "
    "a test of its own.": {
        "a test by the last element": [
            (LOADS + STORES, (LOADS + STORES).replace("i < x.size", "first + 768 < x.size"))],
        "leaves by the last element": [
            (LOCAL, f"{LOCAL}    if first + 768 >= x.size:\n        return\n")]},
    "They belong to the last block, which reaches beyond the end. There a thread has elements "
    "inside and elements outside: `{out}[3072]` is inside, and it is left out. Each element needs "
    "a test of its own.": {
        "whole blocks alone": [
            (LOCAL, f"{LOCAL}    if (cuda.blockIdx.x + 1) * 1024 > x.size:\n        return\n")]},
    "The last element, n - 1 = 4095, is inside: a test leaves it out.": {
        "one element less": [(TEST, "if i < x.size - 1:")]},
    "All elements from 2048 on are missing. Which test or loop ends there?": {
        "half": [(TEST, "if i < x.size // 2:")]},
    "Thread 0 stores 3 elements, 0, 256, 512, and it has 4.": {
        "three elements": [("range(4)", "range(3)")],
        "stores three": [(STORES, STORES.replace("range(4)", "range(3)"))]},
    "Thread 0 stores 1 element, 0, and it has 4.": {
        "one element": [
            (LOADS + STORES, "    if first < x.size:\n        out[first] = x[first]\n")],
        "the same element four times": [(PLACE, "i = first")]},
    "reads values[3]": {"loads three": [(LOADS, LOADS.replace("range(4)", "range(3)"))]},
    "uses values[4]": {"five elements": [("range(4)", "range(5)")]},
    "uses values[3]": {"a place too few": [("array(4,", "array(3,")]},
    "Block 1 begins with the same element as block 0: `threadIdx.x` begins again at 0 in every "
    "block. The number of the block is missing in your index.": {
        "the thread alone": [(FIRST, "cuda.threadIdx.x")]},
    "All 256 threads of block 0 store the same element, 0. The number of the thread is missing in "
    "your index.": {
        "the block alone": [(FIRST, "cuda.blockIdx.x * 1024")],
        "y of the thread": [("threadIdx.x", "threadIdx.y")]},
    "Blocks 0 and 1 both store 768 elements, the first is 256. Block 0 begins with element 0, "
    "block 1 with 256, and each stores 1024. What is the number of the block multiplied with?": {
        "the block times 256": [(FIRST, "cuda.grid(1)")]},
    "Blocks 0 and 1 both store 512 elements, the first is 512. Block 0 begins with element 0, "
    "block 1 with 512, and each stores 1024. What is the number of the block multiplied with?": {
        "the block times 512": [("1024", "512")]},
    "Blocks 0 and 1 both store 1 element, the first is 1023. Block 0 begins with element 0, block "
    "1 with 1023, and each stores 1024. What is the number of the block multiplied with?": {
        "the block times 1023": [("1024", "1023")]},
    "Block 0 stores 1024 elements, and block 1 begins 1025 further: a gap is left between them. "
    "What is the number of the block multiplied with?": {
        "the block times 1025": [("1024", "1025")]},
    "Block 0 stores 1024 elements, and block 1 begins 2048 further: a gap is left between them. "
    "What is the number of the block multiplied with?": {
        "the block times 2048": [("1024", "2048")]},
    "Thread 0 stores the elements 0, 32, 64, 96, and thread 32 stores 32, too. How far apart are "
    "the elements of one thread, and how many threads lie between?": {
        "elements 32 apart": [("256 * j", "32 * j")],
        "another step in the stores": [(STORES, STORES.replace("256 * j", "32 * j"))]},
    "Thread 0 stores the elements 0, 1, 2, 3, and thread 1 stores 1, too. How far apart are the "
    "elements of one thread, and how many threads lie between?": {
        "elements 1 apart": [("256 * j", "j")]},
    "Thread 0 stores the elements 0, 255, 510, 765, and thread 255 stores 255, too. How far apart "
    "are the elements of one thread, and how many threads lie between?": {
        "elements 255 apart": [("256 * j", "255 * j")]},
    "Block 1 begins with element 1024, and block 0 stores up to element 1791. How far apart are "
    "the elements of one thread?": {"elements 512 apart": [("256 * j", "512 * j")]},
    "Block 1 begins with element 1024, and block 0 stores up to element 1155. How far apart are "
    "the elements of one thread?": {"elements 300 apart": [("256 * j", "300 * j")]},
    "Block 1 begins with element 1024, and block 0 stores up to element 3327. How far apart are "
    "the elements of one thread?": {"elements 1024 apart": [("256 * j", "1024 * j")]},
    "That is the value of `{x}[768]`, 768 elements further: it was loaded for another element. "
    "Which value does the store of this element take?": {
        "stores in reverse order": [(STORE, STORE.replace("[j]", "[3 - j]"))]},
    "That is the value of `{x}[256]`, 256 elements further: it was loaded for another element. "
    "Which value does the store of this element take?": {
        "stores the next one": [(STORE, STORE.replace("[j]", "[(j + 1) % 4]"))]},
    "All elements of thread 0, 0, 256, 512, 768, hold the value of `{x}[0]`, the first that it "
    "loads. Each load needs a place of its own until the store.": {
        "stores the first four times": [(STORE, STORE.replace("[j]", "[0]"))]},
    "All elements of thread 0, 0, 256, 512, 768, hold the value of `{x}[768]`, the last that it "
    "loads. Each load needs a place of its own until the store.": {
        "one variable for all": [(LOCAL, ""), (LOAD, "            value = x[i]\n"),
            (STORE, "            out[i] = value\n")],
        "one place for all": [("values[j]", "values[0]")],
        "shared without room for each thread": [
            (LOCAL, "    values = cuda.shared.array(256, float32)\n"),
            (LOAD, "            values[cuda.threadIdx.x] = x[i]\n"),
            (STORE, "            out[i] = values[cuda.threadIdx.x]\n")]},
    "That is the value of `{x}[512]`, 256 elements before: it was loaded for another element. "
    "Which value does the store of this element take?": {
        "one of four in a wrong place": (
            scalars(*map(load, range(4)), store(0), store(1), store(2), store(3, 2)))},
    "All threads of the block share the one array `{tile x}`, and they overwrite each other's "
    "values there. A barrier does not help: each thread needs places of its own.": {
        "a place for all threads": [("cuda.local", "cuda.shared")]},
    "far more turns than": {
        "a loop over all elements": [
            (BODY, "    for i in range(x.size):\n        out[i] = x[i]\n")]},
    "only 1 of 32 lanes": {
        "one thread": [(BODY, "    if cuda.grid(1) == 0:\n        for i in range(x.size):\n"
             "            out[i] = x[i]\n")]},
    "2 stores for an element": {"stores twice": [(STORE, STORE + STORE)]},
    "changes `x`, which is an input": {"changes x": [("out[i] = values[j]", "x[i] = values[j]")]},
    "which is an input": {
        "into the wrong array": [("values[j] = x[i]", "values[j] = out[i]"),
            ("out[i] = values[j]", "x[i] = values[j]")]},
    "needs the value of `out` before": {"reads the result": [("= x[i]", "= out[i]")]},
    "a thread stores one element": {"as in NumPy": [(BODY, "    out[:] = x\n")]},
    "`cuda.grid(2)` gives several numbers": {"two dimensions": [(FIRST, "cuda.grid(2)")]},
    "one dimension": {"a shape for a length": [("x.size", "x.shape")]},
    "three numbers": {"threadIdx without x": [(FIRST, "cuda.blockIdx * 1024 + cuda.threadIdx")]},
    "`x[first:first + 1024:256]` loads nothing by itself": {
        "slices": [(BODY, f"    first = {FIRST}\n    there = x[first : first + 1024 : 256]\n"
             "    for j in range(there.size):\n        out[first + 256 * j] = there[j]\n")]},
    "local.array": {"a list": [(LOCAL, "    values = [0, 0, 0, 0]\n")]},
    "the name y is not defined": {"a name that is not defined": [("= x[i]", "= y[i]")]},
    "stay in this loop for ever": {
        "never ends": [(BODY, f"    i = {FIRST}\n    while i < x.size:\n        out[i] = x[i]\n")]},
    "Block 0 begins with element 1, and nobody stores those before it. What is added to "
    "your index?": {"elements of the neighbour": [(PLACE, "i = first + 256 * j + 1")]},
    "The elements begin with number 0. What does your index take away?": {
        "far below 0": [(FIRST, "cuda.blockIdx.x * 1024 - cuda.threadIdx.x")]},
    "from the end": {"before the first": [(PLACE, "i = first + 256 * j - 1")]},
    "in the machine code only 1 load stands before the first use of a loaded value, and 4 are "
    "needed. What does the kernel do with a value before it has begun all its loads? An element of "
    "a local array whose index is not known to the compiler is written to memory at once, and that "
    "is a use.": {
        "a place that the compiler does not know": [("values[j]", "values[(j + first) % 4]")]},
}  # fmt: skip
