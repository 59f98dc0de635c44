"""The one tool of every yardstick: ``text``, ``times`` times."""

NAME = "echo"
DESCRIPTION = "Repeat a text."
INPUT = {
    "type": "object",
    "properties": {
        "text": {
            "type": "string",
            "description": "What to repeat.",
            "minLength": 1,
            "maxLength": 2_000,
        },
        "times": {
            "type": "integer",
            "description": "How often.",
            "minimum": 1,
            "maximum": 2_000,
            "default": 1,
        },
        "tags": {
            "type": "array",
            "description": "Ignored; here to be validated.",
            "items": {"type": "string", "maxLength": 40},
            "maxItems": 10,
        },
    },
    "required": ["text"],
    "additionalProperties": False,
}
