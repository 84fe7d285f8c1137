"""In the picture, an asynchronous copy has one instruction and no register."""

from utils.lessons.lesson_17.async_copy import draw_copy_path


def test_the_second_way_passes_no_register():
    body = draw_copy_path().body
    first, second = body.split("an asynchronous copy")
    assert "register" in first
    assert "register" not in second
    assert ("LDG<" in first, "STS<" in first, "LDGSTS<" in second) == (True, True, True)
