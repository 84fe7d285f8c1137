"""Stacked bars of loops: every instruction has a kind, and the alt text agrees with the bars."""

from utils.lessons.lesson_16.instruction_shares import draw_shares, kinds, load_store_bound

MIX = {"FFMA": 4, "LDS.128": 2, "STS.32": 1, "IMAD": 1, "ISETP": 1, "BAR": 1}


def test_instructions_are_counted_by_kind():
    assert kinds(MIX) == {
        "multiply-add": 4,
        "load or store": 3,
        "address or counter": 1,
        "test, jump or barrier": 2,
    }


def test_the_words_name_the_bound_and_the_record():
    drawn = draw_shares("Loops", {"one": (MIX, 0.25), "two": (MIX, None)}, "one GPU")
    by_loads = "at most 33.3% of the peak by loads and stores"
    assert f"one: 40.0% multiply-adds, {by_loads}, 25.0% of the peak recorded" in str(drawn)
    assert f"two: 40.0% multiply-adds, {by_loads}." in str(drawn)
    assert "recorded on one GPU" in drawn.body


def test_a_bar_ends_where_the_axis_does():
    drawn = draw_shares("Loops", {"one": (MIX, None)})
    assert drawn.body.count("<rect") == 4 + 4  # of the legend and of the bar
    assert "Upright" not in drawn.body


def test_loads_and_stores_bound_the_share_where_they_are_many():
    assert load_store_bound({"FFMA": 4, "LDG.32": 8}) == 1 / 8
    assert load_store_bound({"FFMA": 64, "LDS.128": 4}) == 1
    drawn = draw_shares("Loops", {"one": ({"FFMA": 4, "LDG.32": 8}, None)})
    assert "at most 12.5% of the peak by loads and stores" in str(drawn)
    assert "Triangle" in drawn.body
