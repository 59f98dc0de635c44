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
OBJECTIVE: Final = Argument("objective", "What is to be reached", required=True)
BUG: Final = Argument("bug_description", "What goes wrong", required=True)
_NOT_GIVEN: Final = "(not given)"
SCOPE: Final = "scope"
AGENT: Final = "agent_identity"
PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


def filled_in(
    name: str, title: str, description: str, text: str, arguments: Sequence[Argument] = ()
) -> Prompt:
    """A prompt whose text has its arguments filled in."""

    async def render(ctx: Context | None, desk: Desk, given: Mapping[str, str]) -> str:
        from memrpc.surface import projects

        place = await projects.at_hand(ctx, desk.places) if ctx else projects.local(desk.places)
        scope = f"{place.owner}/{place.name}" if place else "the repository that you name"
        known = {AGENT: ctx.client_name} if ctx else {}
        filled = {a.name: given.get(a.name) or known.get(a.name) or _NOT_GIVEN for a in arguments}
        filled[SCOPE] = scope
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
        (OBJECTIVE,),
    ),
    filled_in(
        "task-memory-executor",
        "Work through the queue of tasks",
        "Claim, do, verify and close tasks one after the other.",
        texts.TASK_EXECUTOR,
        (Argument(AGENT, "Your name as an agent", complete=complete.agents),),
    ),
    filled_in(
        "fix-suggestion",
        "Fix a bug whose cause is known",
        "A test that fails, the smallest change at the cause, and the same mistake elsewhere.",
        texts.FIX_SUGGESTION,
        (STACK, BUG, Argument("root_cause", "Why it goes wrong", required=True)),
    ),
    filled_in(
        "technical-planning",
        "Plan a larger objective",
        "From the stack down to interfaces and risks, kept as decisions and ordered tasks.",
        texts.TECHNICAL_PLANNING,
        (OBJECTIVE,),
    ),
    filled_in(
        "codebase-index",
        "Get to know a code base",
        "The order in which the code index answers, before any file is opened.",
        texts.CODEBASE_TOUR,
        (Argument("question", "What you want to know"),),
    ),
    filled_in(
        "documentation-sync",
        "Bring documents up to date",
        "Hold each claim of the documents against decisions and code, and correct what is wrong.",
        texts.DOCUMENTATION_SYNC,
        (Argument("path", "Which documents; all, if not given", complete=complete.paths),),
    ),
    filled_in(
        "review-and-audit",
        "Audit promises against code",
        "Find what was promised and is not there, and write it as tasks.",
        texts.REVIEW_AND_AUDIT,
        (Argument("target", "A feature, folder or document", complete=complete.paths),),
    ),
    filled_in(
        "csl-from-docs",
        "Make standards of a document",
        "Turn a style guide into single rules that can be checked.",
        texts.STANDARDS_FROM_DOCUMENT,
        (Argument("path", "A file or an address", required=True, complete=complete.paths),),
    ),
    filled_in(
        "import-github-issues",
        "Import issues as tasks",
        "Bring open issues into the tasks, each once.",
        texts.IMPORT_ISSUES,
        (Argument("source", "owner/name of the tracker; this repository's, if not given"),),
    ),
    filled_in(
        "tech-affinity-scout",
        "Learn from other repositories",
        "Find practices of repositories with the same tags, and say what speaks against them.",
        texts.AFFINITY_SCOUT,
        (Argument("tags", "Such as a framework", required=True, complete=complete.tags),),
    ),
)
