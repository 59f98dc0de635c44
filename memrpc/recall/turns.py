"""Turns: what a short text does in a talk, as far as a question mark tells.

Who ends with a question hands the word over: what is sought is seldom in that turn and often in the
next one, whose words may then all be in the question ("Where to?" "Lisbon, in May.").  A long text
says much besides what it asks for in the end, so it is not counted as asking.
"""

from __future__ import annotations

import re
from typing import Final

ASKING_CHARS: Final = 300
_ENDS_ASKING: Final = re.compile(r"[?\uff1f\u061f]\W*\Z")


def asks(text: str) -> bool:
    """Whether the turn hands the word over."""
    return len(text) <= ASKING_CHARS and _ENDS_ASKING.search(text) is not None
