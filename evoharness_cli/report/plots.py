"""Plots as SVG elements that stand in the page, take its colours, light or dark, and hold their words as text."""

from __future__ import annotations

import importlib.util
import io
import re
import unicodedata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ..harness import OutsideFault
from .content import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT = "#123456", "#654321"
"""Stand for the page's colours of writing and of lines, which its style sheet puts in their place."""
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours that differ for the colour-blind as well (Okabe and Ito, 2008), legible on light and dark."""

Interval = tuple[float, float, float]
"""A value with the ends of its interval."""

_WIDTH, _ROW, _HEIGHT = 5.2, 0.34, 2.7
"""Inches. A phone is about as wide, so that the words can be read on it."""
_LONGEST = 34
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "evoharness",
    "text.parse_math": False,
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.4,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.4,
}
_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_SMOOTHED = 20
"""A long curve is drawn faintly, and above it its running mean over this part of its points."""


def needs_matplotlib() -> None:
    """Raise OutsideFault where what draws isn't installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise OutsideFault("A report needs matplotlib, which is not installed: pip install 'evoharness-cli[report]'")


def intervals(title: str, bars: Mapping[str, Interval], percent: bool = True) -> Plot:
    """Return a row for each name: its value, and its interval as a line."""
    names = [_short(name) for name in bars]
    with _figure(_ROW * len(bars) + 0.7) as (figure, axes):
        for row, (value, low, high) in enumerate(bars.values()):
            colour = SERIES[row % len(SERIES)]
            axes.plot([low, high], [row, row], color=colour, linewidth=2.2, solid_capstyle="round")
            axes.plot([value], [row], "o", color=colour, markersize=6)
        _rows(axes, names)
        if percent:
            _as_percent(axes)
        return _plot(figure, title, "; ".join(_said(name, *bars[name], percent) for name in bars))


def grouped(title: str, kinds: Sequence[str], bars: Mapping[str, Mapping[str, Interval]]) -> Plot:
    """Return for each kind a bar of each name with its interval, in shares; what a name lacks is left out."""
    thick = 0.8 / max(len(bars), 1)
    with _figure(max(_ROW, 0.16 * len(bars) + 0.1) * len(kinds) + 0.9) as (figure, axes):
        for place, (name, by_kind) in enumerate(bars.items()):
            rows = [row for row, kind in enumerate(kinds) if kind in by_kind]
            found = [by_kind[kinds[row]] for row in rows]
            axes.barh(
                [row - 0.4 + thick * (place + 0.5) for row in rows],
                [value for value, _, _ in found],
                height=thick,
                xerr=[[value - low for value, low, _ in found], [high - value for value, _, high in found]],
                color=SERIES[place % len(SERIES)],
                error_kw={"ecolor": INK, "elinewidth": 0.7},
                label=_short(name),
            )
        _rows(axes, [_short(kind) for kind in kinds])
        _as_percent(axes)
        _legend(axes)
        said = [
            f"{kind}: {name} {found[kind][0]:.0%}" for kind in kinds for name, found in bars.items() if kind in found
        ]
        return _plot(figure, title, "; ".join(said))


def stacked(title: str, bars: Mapping[str, Mapping[str, float]]) -> Plot:
    """Return a row for each name, made of its parts one after another."""
    parts = list(dict.fromkeys(part for each in bars.values() for part in each))
    with _figure(_ROW * len(bars) + 0.9) as (figure, axes):
        before = [0.0] * len(bars)
        for place, part in enumerate(parts):
            sizes = [each.get(part, 0.0) for each in bars.values()]
            axes.barh(range(len(bars)), sizes, left=before, color=SERIES[place % len(SERIES)], height=0.6, label=part)
            before = [start + size for start, size in zip(before, sizes, strict=True)]
        _rows(axes, [_short(name) for name in bars])
        _legend(axes)
        said = [f"{name}: " + ", ".join(f"{size:.2f} {part}" for part, size in bars[name].items()) for name in bars]
        return _plot(figure, title, "; ".join(said))


def opposed(title: str, pairs: Mapping[tuple[str, str], tuple[int, int]]) -> Plot:
    """Return for each pair of names how much only the second has, to the left, and only the first, to the right."""
    with _figure(_ROW * len(pairs) + 0.9) as (figure, axes):
        rows = range(len(pairs))
        axes.barh(rows, [first for first, _ in pairs.values()], color=SERIES[0], height=0.6, label="only the first")
        axes.barh(rows, [-second for _, second in pairs.values()], color=SERIES[1], height=0.6, label="only the second")
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
        _rows(axes, [_short(f"{first} | {second}") for first, second in pairs])
        _legend(axes)
        said = [f"{one} {first}, {other} {second}" for (one, other), (first, second) in pairs.items()]
        return _plot(figure, title, "; ".join(said))


def curves(
    title: str, along: str, lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, smooth: bool = True
) -> Plot:
    """Return a curve for each name, of its points' places and values; long ones with their running mean."""
    with _figure(_HEIGHT) as (figure, axes):
        for place, (name, (at, values)) in enumerate(lines.items()):
            colour, window, label = SERIES[place % len(SERIES)], len(values) // _SMOOTHED, _short(name)
            if smooth and window > 1:
                axes.plot(at, values, color=colour, alpha=0.25, linewidth=0.8)
                axes.plot(at, running_mean(values, window), color=colour, label=label)
            else:
                axes.plot(at, values, color=colour, label=label, marker="o" if len(values) == 1 else "")
        axes.set_xlabel(along)
        axes.locator_params(axis="x", integer=True)
        _legend(axes)
        said = [f"{name} from {values[0]:.4g} to {values[-1]:.4g}" for name, (_, values) in lines.items() if values]
        return _plot(figure, title, "; ".join(said))


def running_mean(values: Sequence[float], window: int) -> list[float]:
    """Return at each place the mean of the last `window` values, or of as many as there are."""
    means, total = [], 0.0
    for place, value in enumerate(values):
        total += value - (values[place - window] if place >= window else 0.0)
        means.append(total / min(place + 1, window))
    return means


@contextmanager
def _figure(height: float) -> Iterator[tuple[Figure, Axes]]:
    """Yield an empty figure, `height` inches high, to be drawn and written within the block."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # the browser has a font for it
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        yield figure, figure.add_subplot()


def _rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), list(names))
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def _as_percent(axes: Axes) -> None:
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")


def _legend(axes: Axes) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2, handlelength=1.2)


def _said(name: str, value: float, low: float, high: float, percent: bool) -> str:
    form = ".1%" if percent else ".3g"
    return f"{name} {value:{form}} ({low:{form}} to {high:{form}})"


def _short(name: str) -> str:
    """Return a name that fits beside its row, without what XML can't hold."""
    kept = "".join(" " if unicodedata.category(char) in ("Cc", "Cs", "Cn", "Co") else char for char in name)
    return kept if len(kept) <= _LONGEST else f"{kept[: _LONGEST - 1]}…"


def _plot(figure: Figure, title: str, says: str) -> Plot:
    written = io.StringIO()
    figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return Plot(title, _inline(written.getvalue()), says)


def _inline(svg: str) -> str:
    """Return what matplotlib wrote as an element that a strict page can hold.

    A page whose policy forbids styles obeys no `style` attribute, but the attributes of the same names that SVG has.
    """
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{_SVG}style", f"{_SVG}metadata"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        for declared in filter(None, (part.strip() for part in element.attrib.pop("style", "").split(";"))):
            name, _, value = declared.partition(":")
            element.attrib |= _presented(name.strip(), value.strip())
        if element.tag == "g":
            element.attrib.pop("id", None)
        if target := element.attrib.pop(f"{_XLINK}href", None):
            element.set("href", target)
    root.attrib = {"viewBox": root.attrib["viewBox"], "aria-hidden": "true"}
    return ElementTree.tostring(root, encoding="unicode")


def _presented(name: str, value: str) -> dict[str, str]:
    """Return a declaration as attributes; the fonts are the page's."""
    if name == "font":
        size = re.search(r"[\d.]+px", value)
        return {"font-size": size[0]} if size else {}
    return {} if name == "font-family" else {name: value}
