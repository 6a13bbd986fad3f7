"""The licences of all dependencies."""

import pytest
from requirements.licences import check, is_allowed
from requirements.locks import Package, packages


def test_the_licence_of_every_package_is_known_and_allowed() -> None:
    lines, faults = check(packages())
    assert len(lines) > 500
    assert not faults


def test_a_package_of_another_licence_or_of_none_is_named() -> None:
    _, faults = check([Package("npm", "a", "1", "GPL-3.0"), Package("npm", "b", "1"), Package("npm", "c", "1", "MIT")])
    assert faults == ["npm   a 1: GPL-3.0", "npm   b 1: unknown"]


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("(MIT OR GPL-3.0-or-later)", True),
        ("MIT AND GPL-3.0-only", False),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("ISC License (ISCL)", True),
        ("MIT License; Other/Proprietary License", False),
        ("", False),
    ],
)
def test_of_a_choice_one_licence_is_enough_and_of_several_all_count(licence: str, allowed: bool) -> None:
    names = {"MIT", "Apache-2.0", "MPL-2.0", "MIT License", "ISC License (ISCL)"}
    assert is_allowed(licence, names) is allowed
