"""The figures of a benchmark as a chart of bars: SVG from here, PNG if matplotlib is installed.

One group of bars per operation, one bar per engine, as long as its ratio to the baseline on a logarithmic scale.
"""

from collections.abc import Iterator
from html import escape
from importlib import import_module
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

from vectors.bench.throughput import OPERATIONS, BenchResult, BenchResults
from wire.errors import WireError
from wire.files import write_file, written_whole

WIDTH, LEFT, RIGHT, TOP = 860, 250, 150, 56
ROW, BAR, GAP, FOOT = 24, 16, 34, 34

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 15px; }
  .operation { font-weight: 600; }
  .faint { fill: #59636e; }
  .grid { stroke: #d1d9e0; }
  .bar { fill: #0969da; }
  .own { fill: #1a7f37; }
  .spread { stroke: #1f2328; stroke-width: 1.5; }
  .ground { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .faint { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .bar { fill: #4493f8; }
    .own { fill: #3fb950; }
    .spread { stroke: #f0f6fc; }
    .ground { fill: #0d1117; }
  }
"""
TIMES = "\u00d7"
OWN = ("python", "native", "columnar")


class NotDrawn(WireError):
    """A chart that cannot be drawn; the message says what to do."""


def draw(results: BenchResults, file: Path) -> None:
    """Draw the figures to a file that ends in ``.svg`` or ``.png``; ``NotDrawn`` for others, or without matplotlib."""
    if not results.results:
        raise NotDrawn("nothing was measured, so there is nothing to draw")
    match file.suffix.lower():
        case ".svg":
            write_file(file, svg(results))
        case ".png":
            _png(results, file)
        case _:
            raise NotDrawn(f"{file}: write .svg or .png")


def svg(results: BenchResults) -> str:
    """Return the chart as a page of SVG that follows the reader's light or dark."""
    return "\n".join([*_lines(results), ""])


def groups(results: BenchResults) -> list[tuple[str, list[BenchResult]]]:
    """Return the figures by operation, those that there are."""
    found = [(name, [each for each in results.results if each.operation == name]) for name in OPERATIONS]
    return [(name, each) for name, each in found if each]


def _lines(results: BenchResults) -> Iterator[str]:
    by_operation = groups(results)
    rows = sum(len(each) for _, each in by_operation)
    height = TOP + rows * ROW + len(by_operation) * GAP + FOOT
    # Whole powers of ten, and always the baseline itself, so that charts can be compared at a glance.
    low = floor(log10(min(1.0, *(each.ratio for each in results.results))))
    high = max(low + 1, ceil(log10(max(each.ratio for each in results.results))))
    scale = (WIDTH - LEFT - RIGHT) / (high - low)

    def x(ratio: float) -> float:
        return LEFT + (log10(max(ratio, 10**low)) - low) * scale

    title = f"{results.layout}, corpus {results.corpus}: times the rate of {results.baseline}"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{escape(title)}">'
    )
    yield f"<style>{STYLE}</style>"
    yield f'<rect class="ground" width="{WIDTH}" height="{height}"/>'
    yield f'<text class="title" x="16" y="26">{escape(title)}</text>'
    for power in range(low, high + 1):
        at = x(10.0**power)
        yield f'<line class="grid" x1="{at:.1f}" y1="{TOP - 8}" x2="{at:.1f}" y2="{height - FOOT}"/>'
        mark = f"{10.0**power:g}{TIMES}"
        yield f'<text class="faint" x="{at:.1f}" y="{height - FOOT + 18}" text-anchor="middle">{mark}</text>'
    top = TOP
    for operation, figures in by_operation:
        yield f'<text class="operation" x="16" y="{top + 16}">{escape(operation)}</text>'
        top += GAP - 10
        for each in figures:
            kind = "own" if each.engine in OWN else "bar"
            start, end, middle = x(10.0**low), x(each.ratio), top + ROW / 2
            part = (each.spread or 0.0) / 200
            yield f'<text class="faint" x="{LEFT - 8}" y="{middle + 4}" text-anchor="end">{escape(each.engine)}</text>'
            yield (
                f'<rect class="{kind}" x="{start:.1f}" y="{middle - BAR / 2}" width="{max(end - start, 1):.1f}" '
                f'height="{BAR}" rx="2"><title>{each.per_second:,.0f} a second</title></rect>'
            )
            first, last = x(each.ratio * (1 - part)), x(each.ratio * (1 + part))
            yield f'<line class="spread" x1="{first:.1f}" y1="{middle}" x2="{last:.1f}" y2="{middle}"/>'
            rate = f'<tspan class="faint">{_rate(each)}</tspan>'
            yield f'<text x="{last + 6:.1f}" y="{middle + 4}">{each.ratio:,.1f}{TIMES} {rate}</text>'
            top += ROW
        top += 10
    yield "</svg>"


def _rate(result: BenchResult) -> str:
    rate = result.per_second
    return f"{rate / 1e6:.1f} M/s" if rate >= 1e6 else f"{rate / 1e3:.0f} k/s"


def _png(results: BenchResults, file: Path) -> None:
    rows = [(operation, each) for operation, figures in groups(results) for each in figures]
    try:
        figure: Any = import_module("matplotlib.figure").Figure(figsize=(9, 1 + 0.3 * len(rows)), layout="constrained")
    except ImportError:
        raise NotDrawn("a PNG needs matplotlib: pip install matplotlib, or write an .svg") from None
    axes = figure.subplots()
    ratios = [each.ratio for _, each in rows]
    errors = [each.ratio * (each.spread or 0.0) / 200 for _, each in rows]
    colours = ["#1a7f37" if each.engine in OWN else "#0969da" for _, each in rows]
    bars = axes.barh(range(len(rows)), ratios, xerr=errors, color=colours)
    axes.bar_label(bars, [f"{each.ratio:,.1f}{TIMES}  {_rate(each)}" for _, each in rows], padding=4)
    axes.set_yticks(range(len(rows)), [f"{operation}: {each.engine}" for operation, each in rows])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(right=max(ratios) * 6)
    axes.set_title(f"{results.layout}, corpus {results.corpus}: times the rate of {results.baseline}")
    with written_whole(file) as draft:
        figure.savefig(draft, dpi=150)
