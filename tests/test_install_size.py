"""What an installation takes on the disk: memrpc with all that it depends on, no caches."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
MOST_MB = 220
LARGE_MB = 10


def installed(name: str, seen: dict[str, metadata.Distribution]) -> None:
    """Add the distribution and what it requires, without extras."""
    found = metadata.distribution(name)
    if found.name.lower() in seen:
        return
    seen[found.name.lower()] = found
    for line in found.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            installed(requirement.name, seen)


def size_mb(distribution: metadata.Distribution) -> float:
    paths = [Path(distribution.locate_file(file)) for file in distribution.files or ()]
    sizes = [path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc"]
    return sum(sizes) / 1_000_000


def test_the_whole_install_is_at_most_220_mb_and_the_readme_explains_its_large_parts(capsys):
    found: dict[str, metadata.Distribution] = {}
    installed("memrpc", found)
    sizes = {name: size_mb(each) for name, each in found.items() if name != "memrpc"}
    own = [path for path in (ROOT / "memrpc").rglob("*") if path.suffix in {".py", ".sql"}]
    sizes["memrpc"] = sum(path.stat().st_size for path in own) / 1_000_000
    total = sum(sizes.values())
    lines = [f"\nthe whole install: {total:.0f} MB in {len(sizes)} packages\n"]
    for name, size in sorted(sizes.items(), key=lambda each: -each[1])[:12]:
        lines.append(f"  {size:6.1f} MB {name}\n")
    with capsys.disabled():
        sys.stdout.write("".join(lines))
    assert total <= MOST_MB
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    large = {name for name, size in sizes.items() if size >= LARGE_MB}
    assert {name for name in large if f"`{name}`" not in readme} == set()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_fresh_environment_with_no_cache_is_at_most_220_mb(tmp_path, capsys):
    where = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(where)], check=True)
    target = next(where.glob("lib/python*/site-packages"))
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    options = ["--no-cache-dir", "--no-compile", "--target", str(target)]
    done = subprocess.run([*pip, *options, str(ROOT)], capture_output=True, text=True, check=False)
    if "No matching distribution" in done.stderr or "connection" in done.stderr.lower():
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    sizes = [path.stat().st_size for path in target.rglob("*") if path.is_file()]
    total = sum(sizes) / 1_000_000
    with capsys.disabled():
        sys.stdout.write(f"\na fresh environment, no cache: {total:.0f} MB\n")
    assert total <= MOST_MB
