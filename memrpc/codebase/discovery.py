"""Which files of a folder belong into the index, and why the others do not.

Inside a git repository git itself is asked, so that every rule holds as git means it: nested files,
negation, ``info/exclude``, the user's global excludes, files that are tracked although ignored, and
submodules.  Elsewhere a walk applies ``.gitignore`` files through ``pathspec``, and leaves out the
folders that hold no sources by custom.  Links are not followed.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.codebase import languages
from memrpc.codebase.model import Skip
from memrpc.codebase.parsing import Stamp
from memrpc.codebase.source import MAX_FILE_BYTES
from memrpc.store.errors import InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pathspec import GitIgnoreSpec

MAX_DEPTH: Final = 64
GIT_TIMEOUT_S: Final = 60
MAX_EXAMPLES: Final = 20
_NEVER: Final = frozenset(
    {
        *(".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".tox", ".nox"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".next", ".nuxt", ".svelte-kit"),
        *(".gradle", ".terraform", ".idea", ".DS_Store"),
    }
)
_BY_CUSTOM: Final = _NEVER | {"dist", "build", "coverage", "target", "vendor", "venv"}
"""Outside of git nothing tells generated folders from others but their names."""
_GIT: Final = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false")
"""Configuration of the repository must not start a program of its choice."""
_LIST: Final = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
_IS_IGNORED: Final = ("check-ignore", "-q", ".")
_LIST_IGNORED: Final = (*_LIST[:2], "--others", "--ignored", "--exclude-standard", "--directory")


class Candidate(NamedTuple):
    """A file that may be indexed."""

    path: str
    language: str
    stamp: Stamp


@dataclass(slots=True)
class Discovery:
    """What was found.  ``examples`` names a few of the skipped files with their reasons."""

    candidates: list[Candidate] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[str, str]] = field(default_factory=list)
    is_git: bool = False
    _behind_links: dict[str, bool] = field(default_factory=dict)

    def is_behind_link(self, root: str, path: str) -> bool:
        """Whether a link took the place of a folder on the way to a path that git still lists."""
        folder = path.rpartition("/")[0]
        if not folder:
            return False
        if folder not in self._behind_links:
            is_link = stat.S_ISLNK(os.lstat(f"{root}/{folder}").st_mode)
            self._behind_links[folder] = is_link or self.is_behind_link(root, folder)
        return self._behind_links[folder]

    def skip(self, path: str, reason: Skip, count: int = 1) -> None:
        self.skipped[reason.value] += count
        if len(self.examples) < MAX_EXAMPLES and reason is not Skip.GITIGNORED:
            self.examples.append((path, reason.value))


def discover(root: str, *, includes: Sequence[str] = (), excludes: Sequence[str] = ()) -> Discovery:
    """The files below ``root``; globs as in a ``.gitignore`` narrow them down."""
    found = Discovery()
    is_wanted = matcher(includes, excludes)
    names = _from_git(root, found)
    found.is_git = names is not None
    waiting = deque(names if names is not None else _walk(root, found))
    while waiting:
        name = waiting.popleft()
        path = _text(name)
        if path is None:
            found.skip(repr(name), Skip.ODD_NAME)
        elif is_wanted(path) and (folder := _consider(root, path, found)):
            nested = _from_git(f"{root}/{folder}", found) or []
            waiting.extend(f"{folder}/{inner}" for inner in nested)
    return found


def matcher(includes: Sequence[str], excludes: Sequence[str]) -> Callable[[str], bool]:
    """Whether a run with these globs is about a path.

    Raises InvalidArguments for one that is no pattern.
    """
    if not includes and not excludes:
        return lambda _: True
    for glob in (*includes, *excludes):
        if not is_pattern(glob):
            raise InvalidArguments(f"{glob!r} is no pattern as in a .gitignore; leave it out.")
    included, excluded = _spec(includes), _spec(excludes)
    return lambda path: (
        (included is None or included.match_file(path))
        and not (excluded is not None and excluded.match_file(path))
    )


def _spec(globs: Sequence[str]) -> GitIgnoreSpec | None:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(globs) if globs else None


def is_pattern(line: str) -> bool:
    """Whether a line of a ``.gitignore`` can be read; git passes over what cannot."""
    import re2
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error, re2.error):
        return False
    return True


def _text(name: str) -> str | None:
    try:
        name.encode()
    except UnicodeEncodeError:
        return None
    return name


def _consider(root: str, path: str, found: Discovery) -> str | None:
    """Put a file where it belongs.  Returns a folder that is a repository of its own, if it is."""
    path = path.rstrip("/")
    try:
        about = os.lstat(f"{root}/{path}")
        if found.is_behind_link(root, path):
            found.skip(path, Skip.SYMLINK)
            return None
    except OSError:
        return None  # Tracked and deleted: nothing that was skipped.
    if stat.S_ISDIR(about.st_mode):
        is_nested = path.count("/") < MAX_DEPTH and os.path.exists(f"{root}/{path}/.git")  # noqa: PTH110 -- beside lstat
        return path if is_nested else None
    reason = _refusal(path, about)
    language = languages.of_path(path)
    if reason is not None or language is None:
        found.skip(path, reason or Skip.BINARY)
        return None
    stamp = Stamp(about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    found.candidates.append(Candidate(path, language, stamp))
    return None


def _refusal(path: str, about: os.stat_result) -> Skip | None:
    if stat.S_ISLNK(about.st_mode):
        return Skip.SYMLINK
    if not stat.S_ISREG(about.st_mode):
        return Skip.SPECIAL
    if about.st_size > MAX_FILE_BYTES:
        return Skip.OVERSIZED
    return None if _NEVER.isdisjoint(path.split("/")) else Skip.EXCLUDED


def _from_git(root: str, found: Discovery) -> list[str] | None:
    """What git lists below ``root``, folders of their own repositories among it; None without."""
    both = [_git(root, arguments) for arguments in (_LIST, _LIST_IGNORED)]
    listed, ignored = (_names(process) for process in both)
    if listed is None or (not listed and _names(_git(root, _IS_IGNORED)) is not None):
        return None  # No repository, or one that wants to know nothing of this folder.
    if ignored:
        found.skipped[Skip.GITIGNORED.value] += len(ignored)
    return list(dict.fromkeys(listed))


def _git(root: str, arguments: Sequence[str]) -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(  # noqa: S603 -- a fixed command
            [*_GIT, "-C", root, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def _names(process: subprocess.Popen[bytes] | None) -> list[str] | None:
    if process is None:
        return None
    try:
        output, _ = process.communicate(timeout=GIT_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    if process.returncode != 0:
        return None
    return [os.fsdecode(name) for name in output.split(b"\0") if name]


def _walk(root: str, found: Discovery) -> Iterator[str]:
    """Every file that no ``.gitignore`` on the way to it excludes, in a fixed order."""
    rules: list[tuple[str, GitIgnoreSpec]] = []
    yield from _walk_folder(root, "", rules, found)


def _walk_folder(
    root: str, prefix: str, rules: list[tuple[str, GitIgnoreSpec]], found: Discovery
) -> Iterator[str]:
    try:
        with os.scandir(f"{root}/{prefix}") as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        found.skip(prefix, Skip.UNREADABLE)
        return
    rules = _with_own(root, prefix, rules, (entry.name for entry in listed))
    for entry in listed:
        path = prefix + entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and entry.name in _BY_CUSTOM:
            found.skip(path, Skip.EXCLUDED)
        elif _is_ignored(path + "/" * is_folder, rules):
            found.skip(path, Skip.GITIGNORED)
        elif not is_folder:
            yield path
        elif prefix.count("/") < MAX_DEPTH:
            yield from _walk_folder(root, path + "/", rules, found)


def _with_own(
    root: str, prefix: str, rules: list[tuple[str, GitIgnoreSpec]], names: Iterable[str]
) -> list[tuple[str, GitIgnoreSpec]]:
    if ".gitignore" not in names:
        return rules
    from pathspec import GitIgnoreSpec

    try:
        with open(f"{root}/{prefix}.gitignore", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 -- beside scandir
            lines = [line for line in file if is_pattern(line)]
            return [*rules, (prefix, GitIgnoreSpec.from_lines(lines))]
    except OSError:
        return rules


def _is_ignored(path: str, rules: list[tuple[str, GitIgnoreSpec]]) -> bool:
    """The deepest file that says anything about the path decides."""
    for prefix, spec in reversed(rules):
        below = path.removeprefix(prefix).encode(errors="replace").decode()  # RE2 reads UTF-8.
        verdict = spec.check_file(below).include
        if verdict is not None:
            return verdict
    return False
