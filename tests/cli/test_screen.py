import io

import pytest
from rich.console import Console

from proviso_service.cli.transcript import Busy, Footnote, Note, Screen, Step, Withdraw, Write


def shown(*steps: Step, terminal: bool = False, width: int = 20, height: int = 10) -> str:
    file = io.StringIO()
    console = Console(
        file=file,
        force_terminal=terminal,
        color_system=None,
        width=width,
        height=height,
        markup=False,
        highlight=False,
        soft_wrap=True,
        _environ={"TERM": "xterm"},
    )
    screen = Screen(console)
    for step in steps:
        screen.show(step)
    screen.close()
    return file.getvalue()


def test_text_and_notes_have_their_own_lines() -> None:
    assert shown(Note("tool  0.1 s"), Write("One "), Write("two."), Footnote("[1] a.md")) == (
        "  tool  0.1 s\nOne two.\n[1] a.md\n"
    )


def test_without_a_terminal_there_are_no_control_codes_and_withdrawals_are_said() -> None:
    out = shown(Busy("tool ..."), Write("Wrong."), Withdraw("Wrong.", "it is void"), Write("Right."))
    assert out == "Wrong.\n  [the text above is withdrawn: it is void]\nRight.\n"


def test_terminal_wipes_withdrawn_text_over_all_its_rows() -> None:
    text = "a" * 45 + "\nb"
    out = shown(Write(text), Withdraw(text, "void"), Write("Right."), terminal=True)
    assert out == text + "\x1b[A" * 3 + "\r\x1b[J" + "Right.\n"


def test_terminal_says_so_when_the_text_has_left_the_screen() -> None:
    text = "line\n" * 12
    assert "withdrawn" in shown(Write(text), Withdraw(text, "void"), terminal=True)


def test_terminal_says_so_when_a_note_stands_between() -> None:
    assert "withdrawn" in shown(Write("a"), Note("tool"), Withdraw("a", "void"), terminal=True)


def test_work_under_way_gives_way_to_its_result() -> None:
    out = shown(Busy("tool ..."), Note("tool  0.1 s"), terminal=True)
    assert out == "  tool ...\r\x1b[2K  tool  0.1 s\n"


@pytest.mark.parametrize("width", [10, 20])
def test_work_under_way_takes_one_row(width: int) -> None:
    assert len(shown(Busy("x" * 100), terminal=True, width=width).partition("\r")[0]) <= width
