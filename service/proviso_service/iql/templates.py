"""Templates as data: the 27 of the language, those of other usual clauses, and those that an operator adds in a file
of the same form.

A file is TOML with one `[[template]]` table each:

    [[template]]
    name = "clause favouring"                    # words of letters, digits and -'/.&
    aliases = ["pro-party"]                      # may be left out; other names, without "clause" and in any hyphenation
    arguments = ["PARTY"]                        # may be left out; they follow the name in a query, in this order
    statement = "This clause favours <PARTY>."   # what a classifier scores; <PARTY> is where the argument goes
    meaning = "More to the party's advantage."   # for people

A full stop at the end of an argument is dropped where the statement has one itself.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from proviso_service.iql.problems import TemplateFileError
from proviso_service.iql.syntax import NOWHERE, QuerySpan, Template, template_in_braces
from proviso_service.spelling import near_misses

_MAX_FILE_BYTES = 1_000_000
_MAX_TEMPLATES = 500
_MAX_NAME_CHARS = 100
_MAX_STATEMENT_CHARS = 1_000
_MIN_LIKENESS = 0.5
"""Names of templates that are less alike share endings, such as "-ability", rather than subjects."""
_KEYS = frozenset({"name", "aliases", "arguments", "statement", "meaning"})
_NAME = re.compile(r"[^\W_](?:[^\W_]|[-'/.&](?! |$)| (?! |$))*")
_ARGUMENT = re.compile(r"[A-Z][A-Z0-9_]*")
_PLACEHOLDER = re.compile(rf"<({_ARGUMENT.pattern})>(\.?)")


@dataclass(frozen=True, slots=True)
class TemplateDefinition:
    """A template. `name` is in lower case with single spaces; `arguments` are the names of its arguments, such as
    PARTY; `aliases` are other names that people have for it."""

    name: str
    arguments: tuple[str, ...]
    statement: str
    meaning: str
    aliases: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """A call as documentation shows it, such as `{IS clause obligating "PARTY"}`."""
        return template_in_braces(self.name, self.arguments)

    def in_words(self, arguments: Sequence[str]) -> str:
        """Returns the statement with the arguments in their places."""
        values = dict(zip(self.arguments, arguments, strict=True))
        return _PLACEHOLDER.sub(lambda found: _fitted(values[found[1]], found[2]), self.statement)


def _fitted(argument: str, full_stop: str) -> str:
    return argument.removesuffix(full_stop) + full_stop if full_stop else argument


class TemplateCatalog:
    """The templates that a query may call. A catalog never changes."""

    def __init__(self, definitions: Sequence[TemplateDefinition]) -> None:
        self._by_name = {definition.name: definition for definition in definitions}
        self._by_alias = {_alias(alias): one for one in reversed(definitions) for alias in one.aliases}
        named = [*self._by_alias.items(), *self._by_name.items()]  # A name counts more than an alias.
        self._by_subject = {_subject(name): definition for name, definition in named}
        self._longest_name_words = max((len(name.split()) for name in self._by_name), default=0)

    @classmethod
    def load(cls, extra: Path | None = None) -> "TemplateCatalog":
        """Returns the packaged templates and those of the file `extra`, which may not redefine a name.

        Raises TemplateFileError with everything that is wrong with the file."""
        packaged = resources.files(__package__).joinpath("templates.toml").read_text(encoding="utf-8")
        built_in = [_definition(entry) for entry in tomllib.loads(packaged)["template"]]
        return cls([*built_in, *(_read(extra, built_in) if extra else ())])

    def __iter__(self) -> Iterator[TemplateDefinition]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: str) -> TemplateDefinition | None:
        """Returns the template of this name, whatever its case and spacing, or else of this alias, with or without
        "clause"; None when there is none."""
        return self._by_name.get(normalised(name)) or self._by_alias.get(_alias(name))

    def call(self, name: str, *arguments: str, span: QuerySpan = NOWHERE) -> Template:
        """Makes a node of the syntax tree. Raises ValueError for an unknown name or a wrong number of arguments."""
        definition = self.get(name)
        if definition is None or len(arguments) != len(definition.arguments):
            raise ValueError(f"no template {name!r} with {len(arguments)} arguments")
        return Template(definition.name, arguments, definition.in_words(arguments), span=span)

    def longest_prefix(self, words: Sequence[str]) -> tuple[TemplateDefinition, int] | None:
        """Returns the template with arguments whose name the words begin with, the longest of several, and its length
        in words; None when there is none."""
        for count in range(min(len(words), self._longest_name_words), 0, -1):
            definition = self.get(" ".join(words[:count]))
            if definition and definition.arguments:
                return definition, count
        return None

    def nearest(self, name: str, most: int = 3) -> tuple[TemplateDefinition, ...]:
        """Returns templates with a name like this one, the most similar first. Those that share nothing of note are
        left out."""
        near = near_misses(_subject(normalised(name)[:_MAX_NAME_CHARS]), self._by_subject, 3 * most, _MIN_LIKENESS)
        return tuple(dict.fromkeys(self._by_subject[subject] for subject in near))[:most]


def normalised(name: str) -> str:
    """Returns a name in lower case with single spaces, which is how templates are known."""
    return " ".join(name.casefold().split())


def _read(path: Path, built_in: Sequence[TemplateDefinition]) -> list[TemplateDefinition]:
    entries = _entries(path)
    faults: list[str] = []
    taken = {definition.name: "one of the language's own" for definition in built_in}
    for number, entry in enumerate(entries, start=1):
        name = normalised(entry["name"]) if isinstance(entry.get("name"), str) else ""
        where = f"template {number} ({name})" if name else f"template {number}"
        found = [*_faults_of(entry), *([f"the name is taken, by {taken[name]}"] if name in taken else [])]
        faults.extend(f"{where}: {fault}" for fault in found)
        taken.setdefault(name, where)
    if faults:
        raise TemplateFileError(path, faults)
    return [_definition(entry) for entry in entries]


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
        if len(content) > _MAX_FILE_BYTES:
            raise TemplateFileError(path, [f"the file is larger than {_MAX_FILE_BYTES:,} bytes"])
        table = tomllib.loads(content.decode())
    except OSError as error:
        raise TemplateFileError(path, [f"the file cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise TemplateFileError(path, [f"the file is not UTF-8: byte {error.start}"]) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TemplateFileError(path, [f"the file is not TOML: {error}"]) from error
    entries = table.get("template", [])
    if set(table) - {"template"} or not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise TemplateFileError(path, ["the file holds [[template]] tables and nothing else"])
    if len(entries) > _MAX_TEMPLATES:
        raise TemplateFileError(path, [f"the file has more than {_MAX_TEMPLATES} templates"])
    return entries


def _faults_of(entry: dict[str, Any]) -> Iterator[str]:
    yield from (f"unknown key {key!r}" for key in entry if key not in _KEYS)
    for key, most in (
        ("name", _MAX_NAME_CHARS),
        ("statement", _MAX_STATEMENT_CHARS),
        ("meaning", _MAX_STATEMENT_CHARS),
    ):
        value = entry.get(key)
        if not isinstance(value, str) or not value.strip():
            yield f"{key} is missing or not text"
        elif len(value) > most:
            yield f"{key} is longer than {most:,} characters"
    if isinstance(entry.get("name"), str) and not _NAME.fullmatch(normalised(entry["name"])):
        yield "the name is not words of letters, digits and -'/.&"
    aliases = entry.get("aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(a, str) and _NAME.fullmatch(normalised(a)) for a in aliases):
        yield "aliases is a list of names"
    arguments = entry.get("arguments", [])
    if not isinstance(arguments, list) or not all(isinstance(a, str) and _ARGUMENT.fullmatch(a) for a in arguments):
        yield "arguments is a list of names in capitals, such as PARTY"
    elif isinstance(entry.get("statement"), str):
        yield from _faults_of_placeholders(arguments, entry["statement"])


def _faults_of_placeholders(arguments: list[str], statement: str) -> Iterator[str]:
    placed = {found[1] for found in _PLACEHOLDER.finditer(statement)}
    if len(set(arguments)) < len(arguments):
        yield "two arguments have the same name"
    yield from (f"the statement has no place for <{name}>" for name in dict.fromkeys(arguments) if name not in placed)
    yield from (f"the statement mentions <{name}>, which is no argument" for name in sorted(placed - set(arguments)))


def _definition(entry: dict[str, Any]) -> TemplateDefinition:
    return TemplateDefinition(
        normalised(entry["name"]),
        tuple(entry.get("arguments", ())),
        entry["statement"].strip(),
        entry["meaning"].strip(),
        tuple(map(_alias, entry.get("aliases", ()))),
    )


def _alias(name: str) -> str:
    """Returns a name as aliases are compared: without hyphens and without the word "clause" at its end."""
    return normalised(name.replace("-", " ")).removesuffix(" clause")


_COMMON_WORDS = frozenset({"a", "an", "and", "clause", "clauses", "for", "from", "is", "of", "or", "that", "the", "to"})
"""Words that say nothing about the subject of a template; names are compared without them."""


def _subject(name: str) -> str:
    """Returns a name in lower case without the words that say nothing about its subject."""
    words = name.replace("-", " ").split()
    return " ".join([word for word in words if word not in _COMMON_WORDS] or words)
