"""What the elements of a web page are to a reader, and the styles that change it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

BLOCKS = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "details",
        "dialog",
        "div",
        "fieldset",
        "figcaption",
    }
    | {
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "legend",
        "main",
        "nav",
    }
    | {
        "p",
        "section",
        "summary",
        "dd",
        "dl",
        "dt",
        "dir",
        "li",
        "menu",
        "ol",
        "ul",
        "listing",
        "plaintext",
        "pre",
        "xmp",
    }
    | {"caption", "table", "tbody", "td", "tfoot", "th", "thead", "tr"}
)
NOT_SHOWN = frozenset(
    {"area", "base", "colgroup", "head", "link", "map", "meta", "noframes", "noscript", "script", "style", "template"}
    | {"audio", "canvas", "embed", "iframe", "noembed", "object", "param", "svg", "video", "title", "rp", "rt"}
    | {"datalist", "select", "textarea", "ix:header", "ix:hidden"}
)
HEADINGS: Mapping[str, int] = {f"h{level}": level for level in range(1, 7)}
KEPT_SPACE = frozenset({"pre", "xmp", "listing", "plaintext"})
BOLD = frozenset({"b", "strong", "th", *HEADINGS})
UNDERLINED = frozenset({"u", "ins"})
NAVIGATION = "nav"
CHANGING_LOOK = BOLD | UNDERLINED | KEPT_SPACE | {"center", NAVIGATION}
LISTS = frozenset({"ol", "ul", "menu", "dir"})
CELLS = frozenset({"td", "th"})
PAGE_BREAK = "page"
"""An element of old filings: one page ends here."""

_DECLARATION = re.compile(
    r"(?:\A|;)\s*(display|visibility|font-weight|font|text-align|text-decoration(?:-line)?|white-space"
    r"|list-style(?:-type)?|(?:page-)?break-(?:before|after))\s*:\s*([^;!]+)"
)
_BOLD_WEIGHTS = ("bold", "bolder", "600", "700", "800", "900")
_PAGE_VALUES = frozenset({"always", "page", "left", "right"})


@dataclass(frozen=True, slots=True)
class Style:
    """What the `style` attribute of an element sets; None where it sets nothing."""

    display: str | None = None
    shown: bool = True
    bold: bool | None = None
    underlined: bool = False
    centred: bool | None = None
    keeps_space: bool | None = None
    list_type: str | None = None
    page_before: bool = False
    page_after: bool = False


PLAIN = Style()


def style_of(declarations: str) -> Style:
    found = {name: value.strip() for name, value in _DECLARATION.findall(declarations.lower())}
    if not found:
        return PLAIN
    weight = found.get("font-weight")
    align = found.get("text-align")
    space = found.get("white-space")
    display = found.get("display")
    bold_font = any(word in _BOLD_WEIGHTS for word in found.get("font", "").split())
    return Style(
        display=display,
        shown=display != "none" and found.get("visibility") not in ("hidden", "collapse"),
        bold=weight in _BOLD_WEIGHTS if weight else (bold_font or None),
        underlined="underline" in (found.get("text-decoration") or found.get("text-decoration-line", "")),
        centred=align in ("center", "-webkit-center") if align else None,
        keeps_space=space.startswith(("pre", "break-spaces")) and space != "pre-line" if space else None,
        list_type=found.get("list-style-type") or found.get("list-style"),
        page_before=(found.get("page-break-before") or found.get("break-before")) in _PAGE_VALUES,
        page_after=(found.get("page-break-after") or found.get("break-after")) in _PAGE_VALUES,
    )
