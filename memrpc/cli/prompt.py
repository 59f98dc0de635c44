"""prompt: print a prompt, for hosts that show none; without a name, list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrpc.cli.terminal import show
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse

    from memrpc.app import Application
    from memrpc.surface.prompt_book import PromptBook


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="which one")
    parser.add_argument("arguments", nargs="*", metavar="NAME=VALUE", help="its arguments")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from memrpc.cli.opening import opened

    with opened(settings, makes=True) as application:
        book = application.prompts
        if parsed.name is None:
            show(_listed(book))
            return 0
        show(_rendered(application, book, parsed.name, parsed.arguments))
    return 0


def _listed(book: PromptBook) -> str:
    lines = [f"{prompt.name:28} {prompt.description}" for prompt in book.prompts.values()]
    return "\n".join(lines)


def _rendered(application: Application, book: PromptBook, name: str, words: list[str]) -> str:
    import anyio

    from memrpc.store.errors import InvalidArguments, NotFound

    prompt = book.prompts.get(name)
    if prompt is None:
        raise NotFound(f"There is no prompt {name}; `memrpc prompt` lists them.", name=name)
    given = dict(word.partition("=")[::2] for word in words)
    known = [a.name for a in prompt.arguments]
    unknown = [n for n in given if n not in known]
    if unknown:
        taken = ", ".join(known) or "none"
        raise InvalidArguments(f"{name} has no argument {unknown[0]}; it takes {taken}.")
    missing = [a.name for a in prompt.arguments if a.required and not given.get(a.name)]
    if missing:
        wanted = " ".join(f"{each}=…" for each in missing)
        raise InvalidArguments(f"{name} needs {', '.join(missing)}: add {wanted}", field=missing[0])
    text: str = anyio.run(prompt.render, None, application.desk, given)
    return text
