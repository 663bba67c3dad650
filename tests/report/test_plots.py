"""Plots are elements of the page that obey its policy, and what names say stays text."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from evoharness_cli.report import plots

HOSTILE = "<script>alert(1)</script> $x_1$ \x00\x1b\ud800 日本"


def texts(svg: str) -> list[str]:
    """Return what a plot says."""
    return ["".join(each.itertext()) for each in ElementTree.fromstring(svg).iter("text")]


def test_no_element_has_a_style_a_script_or_a_link_out() -> None:
    drawn = [
        plots.intervals("rates", {HOSTILE: (0.5, 0.25, 0.75)}),
        plots.grouped("types", ["a", "b"], {HOSTILE: {"a": (0.5, 0.2, 0.8)}, "other": {"b": (1.0, 0.5, 1.0)}}),
        plots.stacked("steps", {HOSTILE: {"actions": 3.0, "recall": 1.0}}),
        plots.opposed("pairs", {("a", HOSTILE): (3, 1)}),
        plots.curves("curve", "update", {HOSTILE: ([1, 2], [0.5, 0.25])}),
    ]
    for plot in drawn:
        root = ElementTree.fromstring(plot.svg)
        assert root.tag == "svg"
        assert {each.tag for each in root.iter()} <= {
            "svg",
            "g",
            "path",
            "defs",
            "use",
            "text",
            "tspan",
            "clipPath",
            "rect",
        }
        for element in root.iter():
            assert not {"style", "onload", "{http://www.w3.org/1999/xlink}href"} & set(element.attrib)
            assert element.get("href", "#").startswith("#")
        assert any("<script>alert(1)</script> $x_1$" in text for text in texts(plot.svg)) or "pairs" in plot.title


def test_names_are_drawn_as_they_are_but_for_what_xml_lacks_and_what_is_too_long() -> None:
    plot = plots.intervals("rates", {"a_b^{c}": (0.5, 0.25, 0.75), "x" * 99: (0.0, 0.0, 0.5)})
    assert {"a_b^{c}", "x" * 33 + "…", "0%"} <= set(texts(plot.svg))
    assert plot.says == f"a_b^{{c}} 50.0% (25.0% to 75.0%); {'x' * 99} 0.0% (0.0% to 50.0%)"


def test_the_page_can_put_its_colours_in() -> None:
    svg = plots.curves("curve", "update", {"loss": ([1, 2], [0.5, 0.25])}).svg
    assert f'fill="{plots.INK}"' in svg
    assert f'stroke="{plots.FAINT}"' in svg


@pytest.mark.parametrize(
    ("values", "window", "means"),
    [([2.0, 4.0, 6.0, 8.0], 2, [2.0, 3.0, 5.0, 7.0]), ([3.0], 5, [3.0]), ([], 3, [])],
)
def test_the_running_mean_is_of_the_values_so_far(values: list[float], window: int, means: list[float]) -> None:
    assert plots.running_mean(values, window) == means
