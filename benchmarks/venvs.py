"""The yardsticks' own virtual environments: git-ignored folders beside the project's.

The official SDK pins what it needs; it must not decide what memrpc is tested with.
"""

from __future__ import annotations

import compileall
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from .client import environment

ROOT = Path(__file__).parent.parent
SDK = "mcp==2.3.0"
SDK_FOLDER = ROOT / ".venv-bench-sdk"


def sdk_python() -> Path | None:
    """An interpreter that has the official SDK; None where it cannot be installed."""
    python = _interpreter(SDK_FOLDER)
    mark = SDK_FOLDER / f".has-{SDK}"
    if mark.exists():
        return python
    venv.create(SDK_FOLDER, with_pip=True, clear=True)
    done = subprocess.run(
        [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", SDK],
        env=environment(),
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        print(f"S is left out: {SDK} cannot be installed: {done.stderr[-500:]}")
        return None
    compile_folder(next(SDK_FOLDER.glob("lib*/python*/site-packages"), SDK_FOLDER))
    mark.touch()
    return python


def compile_ours() -> None:
    """No start may be measured that first has to compile something."""
    compile_folder(Path(sysconfig.get_paths()["purelib"]))
    compile_folder(ROOT / "memrpc")
    compile_folder(ROOT / "benchmarks" / "yardsticks")


def compile_folder(folder: Path) -> None:
    compileall.compile_dir(folder, quiet=2, workers=1)


def _interpreter(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
