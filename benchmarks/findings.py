"""What a benchmark found, in the three forms it leaves: a page of text, JSON, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class Verdict:
    """One promise and what became of it; without a gate it is a goal that nothing fails for."""

    promise: str
    value: float
    gate: float | None
    aim: float
    is_ceiling: bool = True

    @property
    def holds(self) -> bool:
        return self.gate is None or self._is_within(self.gate)

    @property
    def reaches_aim(self) -> bool:
        return self._is_within(self.aim)

    def _is_within(self, limit: float) -> bool:
        return self.value <= limit if self.is_ceiling else self.value >= limit

    def cells(self) -> list[str]:
        sign = "<=" if self.is_ceiling else ">="
        word = "aim" if self.reaches_aim else "yes" if self.holds else "NO"
        gate = "" if self.gate is None else f"{sign} {self.gate:g}"
        return [self.promise, shown(self.value), gate, f"{sign} {self.aim:g}", word]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def as_text(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        lines = [_line(self.header, widths), _line(["-" * width for width in widths], widths)]
        lines += [_line(row, widths) for row in self.rows]
        note = f"\n{self.note}\n" if self.note else ""
        return f"### {self.title}\n{note}\n" + "\n".join(lines) + "\n"


def _line(cells: Sequence[str], widths: Iterable[int]) -> str:
    return "| " + " | ".join(map(str.ljust, cells, widths)) + " |"


@dataclass(frozen=True, slots=True)
class Findings:
    """``data`` is everything measured, for whoever wants to reckon again."""

    name: str
    title: str
    grids: Sequence[Grid]
    verdicts: Sequence[Verdict]
    data: object = field(default_factory=dict)

    def as_text(self) -> str:
        header = ("promise", "measured", "gate", "aim", "holds")
        promises = Grid("Promises", header, [verdict.cells() for verdict in self.verdicts])
        return "\n".join(
            [f"## {self.title}\n", *(grid.as_text() for grid in (*self.grids, promises))]
        )

    def as_json(self, machine: object) -> dict[str, object]:
        return {
            "benchmark": self.name,
            "title": self.title,
            "machine": machine,
            "promises": [
                {**asdict(verdict), "holds": verdict.holds, "reaches_aim": verdict.reaches_aim}
                for verdict in self.verdicts
            ],
            "page": self.as_text(),
            "data": self.data,
        }


def shown(value: float | None) -> str:
    """Three significant digits; figures of four and more stay whole."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
