"""What the transcripts say to each tool: every mode, and a refusal.

A third part is found in the answer's text; later lines send its named group back by a ``$ref``.
"""

from __future__ import annotations

TASK = ("task-write", {"phase": "execution", "title": "Add a cache", "description": "With Redis."})
FACT = (
    "memory-write",
    {
        "type": "code_fact",
        "title": "Cache keys",
        "content": "Keys end with the name of the tenant.",
        "importance": 3,
        "tags": ["cache"],
    },
)
RULE = (
    "standard-write",
    {
        "name": "Ruff",
        "content": "All Python code passes ruff.",
        "tags": ["lint"],
        "metadata": {"by": "team"},
        "language": "python",
    },
)
OFFER = (
    "handoff-write",
    {
        "from_agent": "ann",
        "to_agent": "bob",
        "summary": "Finish the cache",
        "task_code": "TASK-001",
        "context": {"next_steps": ["measure"]},
    },
)

HANDOFF = r"Handoff: (?P<handoff>[\w-]+)"

CONVERSATIONS: dict[str, list[tuple]] = {
    "memory-write": [
        FACT,
        (
            "memory-write",
            {
                "type": "decision",
                "title": "Use Redis",
                "context": "Sessions were lost at restart.",
                "rationale": "Redis survives a deploy.",
                "alternatives": ["memcached"],
            },
        ),
        ("memory-write", {"id": "MEM-001", "importance": 5}),
        ("memory-write", {"code": "MEM-001", "acknowledge": "used"}),
        ("memory-write", {"memories": [{"code": "MEM-001", "tags": ["a"]}, {"title": "No"}]}),
        FACT,
    ],
    "memory-read": [
        FACT,
        ("memory-read", {"query": "cache tenant"}),
        ("memory-read", {"query": "zzzz"}),
        ("memory-read", {"id": "MEM-001"}),
        ("memory-read", {"codes": ["MEM-001", "MEM-404"]}),
        ("memory-read", {}),
        ("memory-read", {"id": "MEM-404"}),
    ],
    "memory-delete": [
        FACT,
        ("memory-delete", {"id": "MEM-001"}),
        ("memory-delete", {"ids": ["MEM-001", "MEM-404"]}),
        ("memory-delete", {}),
    ],
    "repo-summarize": [
        ("repo-summarize", {"signals": ["Python", "SQLite"]}),
        ("repo-summarize", {"signals": []}),
    ],
    "synthesize": [FACT, ("synthesize", {"objective": "How do cache keys end?"})],
    "task-write": [
        TASK,
        (
            "task-write",
            {
                "tasks": [
                    {
                        "phase": "p",
                        "title": "Measure",
                        "description": "x",
                        "depends_on": "TASK-001",
                    },
                    {"code": "TASK-001", "status": "in_progress", "comment": "begun"},
                    {"code": "TASK-404", "priority": 1},
                ]
            },
        ),
        ("task-write", {"ids": ["TASK-001", "TASK-002"], "priority": 4}),
        ("task-write", {"code": "TASK-001", "status": "completed", "comment": "done"}),
        ("task-write", {"code": "TASK-002", "status": "completed", "comment": "too soon"}),
        ("task-write", {"interactive": True}),
        ("task-write", {}),
    ],
    "task-read": [
        TASK,
        ("task-read", {}),
        ("task-read", {"query": "redis cache"}),
        ("task-read", {"code": "TASK-001"}),
        ("task-read", {"codes": ["TASK-001"]}),
        ("task-read", {"id": "TASK-404"}),
    ],
    "task-delete": [
        TASK,
        ("task-delete", {"code": "TASK-001"}),
        ("task-delete", {"ids": ["TASK-001", "TASK-404"]}),
    ],
    "handoff-write": [
        TASK,
        (*OFFER, HANDOFF),
        ("handoff-write", {"from_agent": "ann", "summary": "Nothing in particular"}),
        ("handoff-write", {"id": {"$ref": "handoff"}, "status": "accepted", "agent": "bob"}),
        ("handoff-write", {"id": {"$ref": "handoff"}, "status": "rejected", "agent": "bob"}),
        ("handoff-write", {"id": "nobody", "status": "accepted"}),
    ],
    "handoff-read": [
        TASK,
        (*OFFER, HANDOFF),
        ("handoff-read", {"id": {"$ref": "handoff"}}),
        ("handoff-read", {}),
        ("handoff-read", {"query": "cache"}),
        ("handoff-read", {"claim": True}),
        ("handoff-read", {"id": "nobody"}),
    ],
    "claim-manage": [
        TASK,
        (
            "claim-manage",
            {"task_code": "TASK-001", "agent": "ann", "role": "coder"},
            r"claim_token (?P<token>[\w-]+)",
        ),
        (
            "claim-manage",
            {"task_code": "TASK-001", "agent": "ann", "claim_token": {"$ref": "token"}},
        ),
        ("claim-manage", {"task_code": "TASK-001", "agent": "bob"}),
        ("claim-manage", {}),
        ("claim-manage", {"task_code": "TASK-001", "agent": "ann", "release": True}),
        ("claim-manage", {"task_code": "TASK-001", "agent": "ann", "release": True}),
    ],
    "standard-write": [
        RULE,
        ("standard-write", {"id": "STD-001", "version": "2.0.0"}),
        ("standard-write", {"standards": [{"name": "Types"}, {**RULE[1], "name": "Ruff again"}]}),
        ("standard-write", {"name": "Bare"}),
    ],
    "standard-read": [
        RULE,
        ("standard-read", {}),
        ("standard-read", {"query": "python ruff"}),
        ("standard-read", {"id": "STD-001"}),
        ("standard-read", {"ids": ["STD-001"]}),
    ],
    "standard-delete": [
        RULE,
        ("standard-delete", {"id": "STD-001"}),
        ("standard-delete", {"id": "STD-001"}),
    ],
    "agent-context": [FACT, TASK, RULE, ("agent-context", {"query": "How do cache keys end?"})],
}
