"""Draws the charts of the benchmarks as SVG: bars to compare, and lines with logarithmic axes for what grows. They have
no background, and their colours are told apart on light and dark pages."""

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH = 760
LABEL = 190
BAR = 26
HEIGHT = 380
LEFT, RIGHT, TOP, BOTTOM = 64, 230, 44, 48
COLOURS = ("#7d8590", "#9a6fd8", "#1f8f5f", "#59b68a", "#d9822b", "#d1495b", "#3b7dd8")

_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#3d444d}.t{font-weight:600;font-size:15px}.g{stroke:#8b949e55}"
    "@media(prefers-color-scheme:dark){text{fill:#c9d1d9}}"
)


def bars(title: str, unit: str, values: Mapping[str, float]) -> str:
    """Horizontal bars, one for each name, in the order given."""
    most = max(values.values(), default=0.0) or 1.0
    room = WIDTH - LABEL - 90
    parts = []
    for number, (name, value) in enumerate(values.items()):
        y = TOP + number * BAR
        length = room * value / most
        parts.append(_text(LABEL - 8, y + 15, name, "end"))
        parts.append(f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR - 8}" fill="{_colour(number)}"/>')
        parts.append(_text(LABEL + length + 6, y + 15, f"{_number(value)} {unit}"))
    return _drawing(title, TOP + len(values) * BAR + 8, parts)


def lines(title: str, across: str, unit: str, series: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """A line for each name through its points, on axes of which each step is ten times the one before."""
    drawn = {name: [(x, y) for x, y in points if x > 0 and y > 0] for name, points in series.items()}
    points = [point for some in drawn.values() for point in some]
    if not points:
        return _drawing(title, HEIGHT, [])
    left, right = _decades([x for x, _ in points], whole=False)
    low, high = _decades([y for _, y in points])

    def x_of(value: float) -> float:
        return LEFT + (math.log10(value) - left) / ((right - left) or 1) * (WIDTH - LEFT - RIGHT)

    def y_of(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - low) / ((high - low) or 1) * (HEIGHT - BOTTOM - TOP)

    parts = []
    for power in range(math.ceil(low), math.floor(high) + 1):
        y = y_of(10**power)
        parts.append(f'<line class="g" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{_number(10**power)} {unit}", "end"))
    ticks = sorted({x for x, _ in points})
    parts += [_text(x_of(x), HEIGHT - BOTTOM + 20, _number(x), "middle") for x in ticks]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, across, "middle"))
    for number, some in enumerate(drawn.values()):
        if some:
            path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in some)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{_colour(number)}" stroke-width="2.5"/>')
            parts += [
                f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="4" fill="{_colour(number)}"/>' for x, y in some
            ]
    beside = _apart({name: y_of(some[-1][1]) for name, some in drawn.items() if some})
    for number, name in enumerate(drawn):
        if name in beside:
            y = beside[name]
            parts.append(
                f'<rect x="{WIDTH - RIGHT + 16}" y="{y - 9:.1f}" width="10" height="10" fill="{_colour(number)}"/>'
            )
            parts.append(_text(WIDTH - RIGHT + 32, y, f"{name}: {_number(drawn[name][-1][1])} {unit}"))
    return _drawing(title, HEIGHT, parts)


def _apart(places: Mapping[str, float], least: float = 18.0) -> dict[str, float]:
    """Moves labels down so that none lies upon another, and all up again where the last would leave the drawing."""
    moved: dict[str, float] = {}
    last = -least
    for name, y in sorted(places.items(), key=lambda place: place[1]):
        last = moved[name] = max(y + 4, last + least)
    over = max(0.0, last - (HEIGHT - BOTTOM))
    return {name: y - over for name, y in moved.items()}


def _decades(values: Sequence[float], *, whole: bool = True) -> tuple[float, float]:
    low, high = math.log10(min(values)), math.log10(max(values))
    return (math.floor(low), max(math.ceil(high), math.floor(low) + 1)) if whole else (low, high)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _number(value: float) -> str:
    if value >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _drawing(title: str, height: int, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
    named = f'<title>{escape(title)}</title><style>{_STYLE}</style><text class="t" x="8" y="22">{escape(title)}</text>'
    return "\n".join((head, named, *parts, "</svg>", ""))
