"""The official Python SDK's high-level server with the content that the official suite wants.

The SDK's own everything server is not in its package; this one has the same tools, resources and
prompts, in the SDK's own words and by its newest means (resolvers), so that the transcripts of
``conformance`` can be replayed against it.
"""

import base64
from typing import Annotated

import anyio
import mcp_types as types
from mcp.server import MCPServer, NotificationOptions
from mcp.server.mcpserver import (
    Context,
    Elicit,
    ElicitationResult,
    ListRoots,
    Message,
    Resolve,
    Sample,
    UserMessage,
)
from mcp.server.stdio import stdio_server
from pydantic import BaseModel

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
IMAGE = types.ImageContent(type="image", data=PNG, mime_type="image/png")
server = MCPServer("sdk-everything", version="1.0.0")


def embedded(uri: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


# Content


@server.tool(structured_output=False)
def test_simple_text() -> str:
    """Returns one text block."""
    return "This is a simple text response for testing."


@server.tool(structured_output=False)
def test_image_content() -> types.ImageContent:
    """Returns an image."""
    return IMAGE


@server.tool(structured_output=False)
def test_audio_content() -> types.AudioContent:
    """Returns a sound."""
    return types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")


@server.tool(structured_output=False)
def test_embedded_resource() -> types.EmbeddedResource:
    """Returns an embedded resource."""
    return embedded("test://embedded-resource", "This is an embedded resource content.")


@server.tool(structured_output=False)
def test_multiple_content_types() -> list:
    """Returns three kinds of content."""
    text = types.TextContent(type="text", text="Multiple content types test:")
    return [text, IMAGE, embedded("test://mixed-content-resource", "{}")]


@server.tool(structured_output=False)
def test_error_handling() -> str:
    """Always fails."""
    raise RuntimeError("This tool intentionally returns an error for testing")


# Work


LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
levels = {"session": "debug"}


async def log_thrice(ctx: Context) -> str:
    """The SDK leaves it to the application to keep to the level that a session has set."""
    for line in ("started", "processing", "completed"):
        if LEVELS.index("info") >= LEVELS.index(levels["session"]):
            await ctx.info(line)
        await anyio.sleep(0.05)
    return "Three messages were logged"


@server.tool(structured_output=False)
async def test_tool_with_logging(ctx: Context) -> str:
    """Logs three messages."""
    return await log_thrice(ctx)


@server.tool(structured_output=False)
async def test_logging_tool(ctx: Context) -> str:
    """Logs three messages."""
    return await log_thrice(ctx)


@server.tool(structured_output=False)
async def test_tool_with_progress(ctx: Context) -> str:
    """Reports 0, 50 and 100 of 100."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await anyio.sleep(0.05)
    return "Progress was reported"


# Changes


def present() -> str:
    """Comes and goes."""
    return "present"


@server.tool(structured_output=False)
async def test_trigger_tool_change(ctx: Context) -> str:
    """Adds a tool."""
    server.add_tool(present, name="test_dynamic_tool")
    await ctx.session.send_tool_list_changed()
    await ctx.notify_tools_changed()
    return "changed"


@server.tool(structured_output=False)
async def test_trigger_prompt_change(ctx: Context) -> str:
    """Says that the prompts have changed."""
    await ctx.session.send_prompt_list_changed()
    await ctx.notify_prompts_changed()
    return "changed"


# Questions


class User(BaseModel):
    username: str
    email: str


class Name(BaseModel):
    name: str


class Color(BaseModel):
    color: str


class Confirmation(BaseModel):
    ok: bool


class Topic(BaseModel):
    context: str


def sample(prompt: str) -> Sample:
    content = types.TextContent(type="text", text=prompt)
    return Sample([types.SamplingMessage(role="user", content=content)], max_tokens=100)


def ask_user(message: str) -> Elicit[User]:
    return Elicit(message, User)


def ask_name() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


def ask_color(name: Annotated[Name, Resolve(ask_name)]) -> Elicit[Color]:
    return Elicit(f"What is your favorite color, {name.name}?", Color)


def ask_confirmation() -> Elicit[Confirmation]:
    return Elicit("Please confirm", Confirmation)


def ask_capital() -> Sample:
    return sample("What is the capital of France?")


def ask_roots() -> ListRoots:
    return ListRoots()


Answer = Annotated[types.CreateMessageResult, Resolve(sample)]
Capital = Annotated[types.CreateMessageResult, Resolve(ask_capital)]
Roots = Annotated[types.ListRootsResult, Resolve(ask_roots)]
NameGiven = Annotated[ElicitationResult[Name], Resolve(ask_name)]


@server.tool(structured_output=False)
def test_sampling(prompt: str, answer: Answer) -> str:
    """Asks the client's model."""
    return f"LLM response to {prompt}: {answer.content.text}"


@server.tool(structured_output=False)
def test_missing_capability(answer: Capital) -> str:
    """Cannot work without sampling."""
    return answer.content.text


@server.tool(structured_output=False)
def test_elicitation(
    message: str, answer: Annotated[ElicitationResult[User], Resolve(ask_user)]
) -> str:
    """Asks the user."""
    data = getattr(answer, "data", None)
    return f"User response to {message}: {answer.action} {data.email if data else ''}"


def hello(answer: ElicitationResult[Name]) -> str:
    data = getattr(answer, "data", None)
    return f"Hello, {data.name if data else 'stranger'}!"


@server.tool(structured_output=False)
def test_streaming_elicitation(answer: NameGiven) -> str:
    """Asks for a name."""
    return hello(answer)


@server.tool(structured_output=False)
def test_input_required_result_elicitation(answer: NameGiven) -> str:
    """Asks for a name."""
    return hello(answer)


@server.tool(structured_output=False)
def test_input_required_result_multiple_inputs(
    answer: NameGiven, capital: Capital, roots: Roots
) -> str:
    """Asks for everything at once."""
    return f"{hello(answer)} {capital.content.text} {len(roots.roots)}"


@server.tool(structured_output=False)
def test_input_required_result_multi_round(
    name: Annotated[Name, Resolve(ask_name)], color: Annotated[Color, Resolve(ask_color)]
) -> str:
    """Asks twice."""
    return f"{name.name} likes {color.color}"


@server.tool(structured_output=False)
def test_input_required_result_tampered_state(
    answer: Annotated[Confirmation, Resolve(ask_confirmation)],
) -> str:
    """Refuses a state that it did not issue."""
    return f"confirmed: {answer.ok}"


# Resources, prompts, completions


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """Some text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """An image."""
    return base64.b64decode(PNG)


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """Watched."""
    return "Version 0"


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:  # noqa: A002 -- the template's variable
    """JSON that repeats the id."""
    return f'{{"id":"{id}","templateTest":true}}'


@server.prompt()
def test_simple_prompt() -> str:
    """Simple."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Has two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_image() -> list[Message]:
    """Shows an image."""
    return [UserMessage(IMAGE), UserMessage("Please analyze the image above.")]


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803 -- the suite's
    """Shows a resource."""
    return [UserMessage(embedded(resourceUri, "Embedded")), UserMessage("Please process it.")]


@server.completion()
async def complete(_ref, _argument, _context) -> types.Completion:
    """Knows nothing to complete."""
    return types.Completion(values=[], total=0, has_more=False)


async def set_level(_context, params) -> types.EmptyResult:
    levels["session"] = params.level
    return types.EmptyResult()


async def subscribe(_context, _params) -> types.EmptyResult:
    return types.EmptyResult()


async def main() -> None:
    low = server._lowlevel_server  # noqa: SLF001 -- the high-level class has no way to add these
    low.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    low.add_request_handler("resources/subscribe", types.SubscribeRequestParams, subscribe)
    low.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, subscribe)
    options = low.create_initialization_options(NotificationOptions(True, True, True))
    async with stdio_server() as (reader, writer):
        await low.run(reader, writer, options)


anyio.run(main)
