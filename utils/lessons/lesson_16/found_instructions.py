"""Cards that say whether the reader found certain instructions in a loop of machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

from gemm_kernels import LADDER
from gpu_xray.loops import FFMA
from gpu_xray.sass import Instruction
from utils.ladder.step import Step, Variant
from utils.lessons import load_waits
from utils.lessons.cards import Card
from utils.lessons.compiled_loops import listing
from utils.lessons.counting import as_variant
from utils.lessons.load_waits import waits_per_8
from utils.translation import translate
from virtual_gpu.pictures.svg import Picture

FEWER_WARPS = 2  # an SM holds half as many warps with 64 registers per thread as with 32


def find_in_loop(
    step: Step | Variant,
    multiply_add: int | None = None,
    load: int | None = None,
    jump: int | None = None,
) -> Card:
    """Return a card that says whether the reader found three instructions in a step's hot loop.

    Instructions are numbered from 1, as `machine_loop` shows them. multiply_add: the first
    multiply-add. load: one of the two loads that bring its factors. jump: the jump back. None means
    that the reader has not answered yet.
    """
    code = listing(str(as_variant(step)))
    first = _multiply_adds(code)[0]
    right = {
        "multiply_add": {first + 1},
        "load": {index + 1 for index in _loads_of(code, first)},
        "jump": {index + 1 for index, one in enumerate(code) if one.name == "BRA"},
    }
    given = {"multiply_add": multiply_add, "load": load, "jump": jump}
    found = {name: given[name] in numbers for name, numbers in right.items()}
    sentences = [
        _said(
            code, name, given[name], translate((_FOUND if is_right else _MISSING)[name]), is_right
        )
        for name, is_right in found.items()
    ]
    return _card(sentences, all(found.values()))


# What is said of the instruction that was found, by the argument of `find_in_loop`.
_FOUND = {
    "multiply_add": "It is the first that multiplies and adds: it reads three registers.",
    "load": "It writes a register that the first multiply-add multiplies.",
    "jump": "It goes back to the top as long as its predicate is true.",
}
_MISSING = {
    "multiply_add": "It is not the first instruction with the opcode `FFMA`.",
    "load": "It does not bring a factor of the first multiply-add. Compare the register that a "
    "load writes, its first one, with those that the multiply-add reads.",
    "jump": "It does not jump. Which instruction must be the last one of an iteration?",
}


def find_wait(step: Step | Variant, load: int | None = None, cycles: int | None = None) -> Card:
    """Return a card on what the third multiply-add of a step's hot loop and its jump wait for.

    load: the number of a load, counted from 1, for which the third multiply-add waits. cycles: the
    cycles that pass at least from the last comparison, which sets the predicate of the jump, to the
    jump. None means that the reader has not answered yet.
    """
    code = listing(str(as_variant(step)))
    user = _multiply_adds(code)[2]
    compares, jumps = (
        [index for index, one in enumerate(code) if one.name == name] for name in ("ISETP", "BRA")
    )
    (flag,), setter = code[user].control.waits, None
    if _is_number(load, code):
        setter = code[load - 1].control.write_barrier
    sets_it = setter == flag and load <= user
    words = translate("It sets no flag when its value arrives, so it is no load.")
    if setter is not None:
        words = translate(
            "It sets flag {setter}, and instruction {user} waits for flag {flag}.",
            setter=setter,
            user=user + 1,
            flag=flag,
        )
    stalls = [one.control.stall for one in code[compares[-1] : jumps[-1]]]
    said = _said(code, "load", load, words, sets_it)
    done = sets_it and cycles == sum(stalls)
    return _card([said, _said_of_cycles(cycles, stalls, compares[-1] + 1)], done)


def _said_of_cycles(given: int | None, stalls: Sequence[int], first: int) -> str:
    """Return a sentence on the number of cycles that the reader gave.

    stalls: the cycles from each instruction to the next one. first: the number of the instruction
    with the first stall.
    """
    if given is None:
        return translate("`{name}`: no number yet.", name="cycles")
    if given == sum(stalls):
        return translate(
            "Right. `cycles`: {parts} = {total}. A jump, or a mark such as `@P1`, can read a "
            "predicate only {total} cycles after the instruction that computes it.",
            parts=" + ".join(map(str, stalls)),
            total=given,
        )
    return translate(
        "Not yet. `cycles`: {given} is not the sum of the waits. Point at the instructions {first} "
        "to {last}, and add up the cycles after which the warp may start the next one.",
        given=given,
        first=first,
        last=first + len(stalls) - 1,
    )


def find_sum(starter: ModuleType, load: int | None = None, store: int | None = None) -> Card:
    """Return a card on the load and the store of the sum that the second multiply-add adds to.

    starter: the module of an exercise's starter whose loop is recorded. load, store: the numbers of
    the two instructions in its hot loop, counted from 1. None means that the reader has not
    answered yet.
    """
    exercise, _, version = starter.__name__.rpartition(".")
    code = listing(f"{exercise.rpartition('.')[2]} {version}")
    user = _multiply_adds(code)[1]
    result, *_, addend = (operand.removesuffix(".reuse") for operand in code[user].operands)
    loads = [at for at, one in enumerate(code) if one.name == "LDL" and one.operands[0] == addend]
    brings = max(at for at in loads if at < user) + 1
    keeps = next(
        at for at in range(user, len(code))
        if code[at].name == "STL" and code[at].operands[1] == result
    ) + 1  # fmt: skip
    words = translate("It does not load {addend} from local memory.", addend=addend)
    if load == brings:
        words = translate(
            "It loads {addend} from the address in {address}.",
            addend=addend,
            address=code[load - 1].operands[1].strip("[]"),
        )
    elif load in {at + 1 for at in loads}:
        words = translate(
            "It loads {addend}, too, but for another sum. Which load of {addend} is the last one "
            "before instruction {user}?",
            addend=addend,
            user=user + 1,
        )
    kept = translate(
        "It does not store the new sum, which instruction {user} writes to {result}.",
        user=user + 1,
        result=result,
    )
    if store == keeps:
        kept = translate(
            "It stores {result} at the address in {address}.",
            result=result,
            address=code[store - 1].operands[0].strip("[]"),
        )
    said = [
        _said(code, "load", load, words, load == brings),
        _said(code, "store", store, kept, store == keeps),
    ]
    return _card(said, load == brings and store == keeps)


def find_waits(
    multi_output: float | None = None, solution: float | None = None, times: float | None = None
) -> Card:
    """Return a card on the waits of two loops and on what they let expect of the times.

    multi_output, solution: the waits for loads per 8 multiply-adds of these kernels with eight
    sums. times: the estimated time of the solution over that of multi_output, if half as many warps
    are on an SM and the time is waits over warps. A number is right if it is off by less than 0.01.
    None means that the reader has not answered yet.
    """
    name = "multi_output"
    right = {
        name: waits_per_8(listing(_loop_of_multi_output())),
        "solution": waits_per_8(listing("sums_in_registers solution")),
    }
    right["times"] = FEWER_WARPS * right["solution"] / right[name]
    given = {name: multi_output, "solution": solution, "times": times}
    said = [_said_of_waits(one, given, right) for one in right]
    return _card(said, _are_near(given, right))


def draw_waits() -> Picture:
    """Draw where the warps of two kernels with eight sums wait: multi_output and the solution.

    The rows are the loads and multiply-adds in one iteration of the recorded hot loop of each.
    """
    return load_waits.draw_waits(
        {
            "multi_output": listing(_loop_of_multi_output()),
            "one solution": listing("sums_in_registers solution"),
        }
    )


def _loop_of_multi_output() -> str:
    """Return the name of multi_output with its default constants."""
    return str(LADDER.step("multi_output").variant())


def _is_near(given: float | None, right: float) -> bool:
    """Return True if a number is off by less than 0.01; None is not near."""
    return isinstance(given, int | float) and abs(given - right) < 0.01


def _are_near(given: Mapping[str, float | None], right: Mapping[str, float]) -> bool:
    """Return True if the reader gave all numbers of `right`, and each is near the right one."""
    return all(_is_near(given[name], right[name]) for name in right)


def _said_of_waits(
    name: str, answers: Mapping[str, float | None], right: Mapping[str, float]
) -> str:
    """Return a sentence on a number of waits, or on the ratio of times, that the reader gave.

    name: the argument of the reader's call. answers, right: the given and the right number by
    argument. The right numbers of others are not told before all are right.
    """
    given = answers[name]
    if given is None:
        return translate("`{name}`: no number yet.", name=name)
    near = _is_near(given, right[name])
    if name == "times":
        if near and not _are_near(answers, right):
            return translate("Right. `times`: {times:g}.", times=right[name])
        if near:
            return translate(
                "Right. `times`: {fewer} · {solution:g} ÷ {course:g} = {times:g}.",
                fewer=FEWER_WARPS,
                solution=right["solution"],
                course=right["multi_output"],
                times=right[name],
            )
        return translate(
            "Not yet. `times`: {given} is not the waits of the solution over those of "
            "`multi_output`, multiplied by what half as many warps cost.",
            given=given,
        )
    if near:
        return translate(
            "Right. `{name}`: {waits:g} for every eight multiply-adds.",
            name=name,
            waits=right[name],
        )
    return translate(
        "Not yet. `{name}`: {given} is not the number of bars over the number of green squares, "
        "times 8.",
        name=name,
        given=given,
    )


def _card(sentences: Sequence[str], done: bool) -> Card:
    """Return the card with these sentences. done: True if all answers are right."""
    return Card("good" if done else "ask", tuple(sentences))


def _multiply_adds(code: Sequence[Instruction]) -> list[int]:
    """Return the indices of the multiply-adds in `code`."""
    return [index for index, one in enumerate(code) if one.name in FFMA]


def _loads_of(code: Sequence[Instruction], user: int) -> list[int]:
    """Return the ascending indices of the loads of the registers that instruction `user` reads.

    They are loads from global memory above it. Of several loads of a register, the last one counts.
    """
    sources = {source[0] for source in code[user].sources if source}
    loads: dict[str, int] = {}
    for index, one in enumerate(code[:user]):
        if one.name == "LDG":
            loads |= dict.fromkeys(one.loaded & sources, index)
    return sorted(set(loads.values()))


def _is_number(given: object, code: Sequence[Instruction]) -> bool:
    """Return True if the reader gave the number of an instruction of `code`, counted from 1."""
    return isinstance(given, int) and 1 <= given <= len(code)


def _said(
    code: Sequence[Instruction], name: str, given: int | None, words: str, is_right: bool
) -> str:
    """Return sentences on the number that the reader gave for an instruction.

    They begin with "Right." if `is_right`, else with "Not yet.", and end with `words`, a sentence
    on the instruction with this number. If `given` is None or no number of an instruction of
    `code`, the sentence asks for one instead. name: the argument of the reader's call.
    """
    if given is None:
        return translate("`{name}`: no number yet.", name=name)
    if not _is_number(given, code):
        return translate(
            "`{name}` is {given}: give a number from 1 to {count}.",
            name=name,
            given=given,
            count=len(code),
        )
    return translate(
        "{verdict} `{name}`: {given} is `{opcode}`. {words}",
        verdict=translate("Right." if is_right else "Not yet."),
        name=name,
        given=given,
        opcode=code[given - 1].text_to("").strip(),
        words=words,
    )
