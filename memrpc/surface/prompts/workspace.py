"""The workspace's prompts: what an agent is to do at each turn of a project's life.

Each is whole in itself and names only tools that exist.  ``{argument}`` stands for an argument;
``{scope}`` for the owner and repository that the server stands in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from memrpc.server.context import Context
from memrpc.surface.desk import Desk
from memrpc.surface.prompt_book import Argument, Prompt
from memrpc.surface.prompts import workspace_texts as texts
from memrpc.surface.views import workspace_completions as complete

STACK: Final = Argument(
    "tech_stack", "Languages and frameworks at hand", required=True, complete=complete.languages
)
BUG: Final = Argument("bug_description", "What goes wrong", required=True)
_NOT_GIVEN: Final = "(not given)"
SCOPE: Final = "scope"
PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


def filled_in(
    name: str, title: str, description: str, text: str, arguments: Sequence[Argument] = ()
) -> Prompt:
    """A prompt whose text has its arguments filled in."""

    async def render(_: Context | None, desk: Desk, given: Mapping[str, str]) -> str:
        from memrpc.surface import projects

        place = projects.local(desk.places)
        scope = f"{place.owner}/{place.name}" if place else "the repository that you name"
        filled = {SCOPE: scope} | {a.name: given.get(a.name) or _NOT_GIVEN for a in arguments}
        return PLACEHOLDER.sub(lambda found: filled[found[1]], text)

    return Prompt(name, title, description, render, arguments)


PROMPTS: Final = (
    filled_in(
        "memory-agent-core",
        "Work with the project's memory",
        "The contract of an agent that treats stored memory as the truth about the project.",
        texts.MEMORY_AGENT_CORE,
    ),
    filled_in(
        "project-briefing",
        "Start a session in a project",
        "Load what is being done, handed over and agreed on, and propose what to do next.",
        texts.PROJECT_BRIEFING,
    ),
    filled_in(
        "task-management-guidelines",
        "Manage tasks",
        "The life of a task, and how agents share them without stepping on each other.",
        texts.TASK_MANAGEMENT,
    ),
    filled_in(
        "senior-code-review",
        "Review code for production",
        "A strict review over six dimensions against the project's own patterns and standards.",
        texts.CODE_REVIEW,
        (STACK, Argument("context", "What the change is for")),
    ),
    filled_in(
        "root-cause-analysis",
        "Find a bug's root cause",
        "From the symptom down to the cause, by five whys, with a fix and a prevention.",
        texts.ROOT_CAUSE,
        (STACK, BUG, Argument("symptoms", "What was observed")),
    ),
    filled_in(
        "create-task",
        "Create tasks from an instruction",
        "Look for duplicates first, then write small tasks of three parts.",
        texts.CREATE_TASK,
        (Argument("instruction", "What is wanted", required=True),),
    ),
    filled_in(
        "memory-guided-review",
        "Review a file against memory",
        "Hold one file against stored decisions, patterns and standards.",
        texts.GUIDED_REVIEW,
        (Argument("file_path", "The file", required=True, complete=complete.paths),),
    ),
    filled_in(
        "learning-retrospective",
        "Harvest what a task taught",
        "Turn a finished task into mistakes, decisions and patterns worth keeping.",
        texts.RETROSPECTIVE,
        (Argument("task_id", "The task", complete=complete.task_ids),),
    ),
    filled_in(
        "session-planner",
        "Plan a session",
        "Three to seven tasks with their order, for one objective.",
        texts.SESSION_PLANNER,
        (Argument("objective", "What is to be reached", required=True),),
    ),
    filled_in(
        "task-memory-executor",
        "Work through the queue of tasks",
        "Claim, do, verify and close tasks one after the other.",
        texts.TASK_EXECUTOR,
        (Argument("agent_identity", "Your name as an agent", complete=complete.agents),),
    ),
)
