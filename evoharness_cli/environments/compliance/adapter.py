"""Compliance cases as an environment of evoharness: where they are, and how one is opened."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from ...harness import WrongUsage
from ...samples import sample_folder
from .. import Finding
from .case import CASE, read_case
from .environment import ComplianceEnvironment
from .reading import CaseError
from .report import report_folder


class ComplianceNeeds(BaseModel):
    """What a task file says of a compliance case."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    case: Path
    """The folder of the case; relative to the task file."""


class ComplianceAdapter:
    """Opens cases, which share nothing."""

    needs = ComplianceNeeds

    def locate(self, place: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the case in a folder, or those in the folders below it: `compliance:FOLDER`."""
        if found := self.recognise(Path(place).resolve()):
            return found
        raise WrongUsage(f"expected compliance:FOLDER with a {CASE} in it or below it; found none in {place or '.'}")

    def recognise(self, path: Path) -> list[tuple[str, dict[str, Any]]]:
        """Return the case of a folder, or those of the folders in it, each named by its folder."""
        folders = [path] if (path / CASE).is_file() else sorted(each.parent for each in path.glob(f"*/{CASE}"))
        return [(folder.name, {"case": str(folder)}) for folder in folders]

    def open(self, needs: BaseModel, goal: str | None) -> ComplianceEnvironment:
        """Return the environment of one case. Raises OutsideFault where the case can't be used."""
        assert isinstance(needs, ComplianceNeeds)
        return ComplianceEnvironment(read_case(needs.case), goal, report_folder(), needs.case.name)

    def examine(self) -> Iterator[Finding]:
        """Look for the library that reads PDF files, and read the sample cases."""
        try:
            yield Finding("PDF text", f"pypdf {version('pypdf')}")
        except PackageNotFoundError:
            yield Finding("PDF text", "pypdf is not installed", "pip install pypdf")
        samples = self.recognise(sample_folder() / "compliance" / "cases")
        try:
            checks = sum(len(read_case(Path(needs["case"])).about.checks) for _, needs in samples)
            yield Finding("compliance cases", f"{len(samples)} samples with {checks} checks")
        except CaseError as error:
            yield Finding("compliance cases", str(error), "pip install --force-reinstall evoharness-cli")

    def close(self) -> None:
        """Hold nothing that has to be freed."""
