"""start_session: the resumed context and how to use the tools, in one message.

The tools have other names in the toolset ``all``, so there is one for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memrpc.server.context import Context
from memrpc.surface.desk import Desk
from memrpc.surface.instructions import ARCHIVE
from memrpc.surface.merged_reads import by_merged_name
from memrpc.surface.prompt_book import Argument, Prompt
from memrpc.surface.views.archive import complete_persona, complete_project


def _start_session(guide: str) -> Prompt:
    async def render(_: Context | None, desk: Desk, arguments: Mapping[str, str]) -> str:
        from memrpc.archive.resuming import ResumeInput
        from memrpc.surface.tools.archive.scope import scope_of
        from memrpc.surface.tools.archive.session_resume import resume

        scope = scope_of(desk, arguments)
        answer = await resume(desk, ResumeInput(scope=scope), None)
        chosen = f"This session is persona_id {scope.persona_id}, project_id {scope.project_id}."
        notes = [f"Left out: {len(answer.omitted)} parts."] if answer.omitted else []
        notes += [f"Warning: {warning}" for warning in answer.warnings]
        return "\n\n".join([guide.strip(), chosen, answer.context, *notes])

    return Prompt(
        name="start_session",
        title="Start a session with memory",
        description="What is remembered so far, and how to use the memory tools.",
        render=render,
        arguments=(
            Argument("persona_id", "Whose memory; default: default", complete=complete_persona),
            Argument("project_id", "Which project; default: default", complete=complete_project),
        ),
    )


PROMPTS: Final = (_start_session(ARCHIVE),)
MERGED_PROMPTS: Final = (_start_session(by_merged_name(ARCHIVE)),)
