"""All rules. Each takes the contract and yields what breaks whom, in words."""

from collections.abc import Callable, Iterator
from typing import Final

from tests.contract_guard import generated, kinds, naming
from tests.contract_guard.elements import Contract

Rule = Callable[[Contract], Iterator[str]]

RULES: Final[tuple[Rule, ...]] = (
    kinds.proto3_only,
    kinds.no_groups,
    kinds.no_long_integers,
    kinds.no_foreign_types,
    kinds.no_foreign_files,
    kinds.maps_have_string_keys,
    kinds.no_deep_nesting,
    naming.names_come_out_the_same,
    naming.json_names_are_derived,
    naming.no_reserved_words,
    naming.members_are_distinct,
    naming.enums_are_prefixed,
    generated.one_package,
    generated.no_package_options,
    generated.types_have_names_of_their_own,
    generated.go_identifiers_are_distinct,
    generated.typescript_identifiers_are_distinct,
    generated.everything_is_explained,
)
