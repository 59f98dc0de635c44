"""Every newest-shape result, projected to each revision, validates against its closed schema."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrpc.protocol import asks, projection
from memrpc.protocol.revisions import REVISIONS, Era, negotiate, versions
from tests import official
from tests.fixture_server import IDENTITY

TEXT = st.text(max_size=8)
URI = st.sampled_from(["test://a", "https://example.com/x?y=1"])
META = st.dictionaries(st.sampled_from(["example.com/a", "b"]), st.integers(), max_size=2)
ICON = st.fixed_dictionaries({"src": URI}, optional={"mimeType": TEXT, "sizes": st.lists(TEXT)})
ICONS = st.lists(ICON, max_size=2)
ANNOTATIONS = st.fixed_dictionaries(
    {},
    optional={
        "audience": st.lists(st.sampled_from(["user", "assistant"]), max_size=2),
        "priority": st.floats(0, 1),
        "lastModified": st.just("2026-01-01T00:00:00Z"),
    },
)
COMMON = {"annotations": ANNOTATIONS, "_meta": META}
RESOURCE = {"uri": URI, "name": TEXT}
RESOURCE_MORE = {
    **COMMON,
    "title": TEXT,
    "description": TEXT,
    "mimeType": TEXT,
    "size": st.integers(0, 9),
    "icons": ICONS,
}
TEMPLATE_MORE = {k: v for k, v in RESOURCE_MORE.items() if k != "size"}
CONTENTS = st.fixed_dictionaries(
    {"uri": URI, "text": TEXT}, optional={"mimeType": TEXT, "_meta": META}
) | st.fixed_dictionaries({"uri": URI, "blob": st.just("aGk=")}, optional={"mimeType": TEXT})
MEDIA = {"data": st.just("aGk="), "mimeType": TEXT}
BLOCK = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": TEXT}, optional=COMMON),
    st.fixed_dictionaries({"type": st.just("image"), **MEDIA}, optional=COMMON),
    st.fixed_dictionaries({"type": st.just("audio"), **MEDIA}, optional=COMMON),
    st.fixed_dictionaries({"type": st.just("resource"), "resource": CONTENTS}, optional=COMMON),
    st.fixed_dictionaries({"type": st.just("resource_link"), **RESOURCE}, optional=RESOURCE_MORE),
)
SCHEMA = st.just({"type": "object", "properties": {"a": {"type": "string"}}})
OUTPUT = SCHEMA | st.sampled_from([{"type": "array"}, {"anyOf": [{"type": "object"}]}, {}])
TOOL = st.fixed_dictionaries(
    {"name": TEXT, "inputSchema": SCHEMA},
    optional={
        "title": TEXT,
        "description": TEXT,
        "outputSchema": OUTPUT,
        "annotations": st.fixed_dictionaries(
            {}, optional={"title": TEXT, "readOnlyHint": st.booleans()}
        ),
        "icons": ICONS,
        "execution": st.just({"taskSupport": "optional"}),
        "_meta": META,
    },
)
ARGUMENT = st.fixed_dictionaries(
    {"name": TEXT}, optional={"title": TEXT, "description": TEXT, "required": st.booleans()}
)
PROMPT = st.fixed_dictionaries(
    {"name": TEXT},
    optional={
        "title": TEXT,
        "arguments": st.lists(ARGUMENT, max_size=2),
        "icons": ICONS,
        "_meta": META,
    },
)
MESSAGE = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": BLOCK})
JSON = st.none() | st.integers(0, 9) | st.lists(st.integers()) | st.dictionaries(TEXT, TEXT)
CAPABILITIES = st.fixed_dictionaries(
    {"tools": st.just({"listChanged": True})},
    optional={
        "completions": st.just({}),
        "logging": st.just({}),
        "extensions": st.just({"example.com/x": {}}),
        "experimental": st.just({"x": {}}),
    },
)
CURSOR = {"nextCursor": TEXT}


def listed(member: str, item: st.SearchStrategy) -> st.SearchStrategy:
    return st.fixed_dictionaries({member: st.lists(item, max_size=3)}, optional=CURSOR)


RESULTS = {
    "tools/list": listed("tools", TOOL),
    "prompts/list": listed("prompts", PROMPT),
    "resources/list": listed("resources", st.fixed_dictionaries(RESOURCE, optional=RESOURCE_MORE)),
    "resources/templates/list": listed(
        "resourceTemplates",
        st.fixed_dictionaries({"uriTemplate": URI, "name": TEXT}, optional=TEMPLATE_MORE),
    ),
    "resources/read": st.fixed_dictionaries({"contents": st.lists(CONTENTS, max_size=3)}),
    "prompts/get": st.fixed_dictionaries(
        {"messages": st.lists(MESSAGE, max_size=3)}, optional={"description": TEXT, "_meta": META}
    ),
    "tools/call": st.fixed_dictionaries(
        {"content": st.lists(BLOCK, max_size=4), "isError": st.booleans()},
        optional={"structuredContent": JSON, "_meta": META},
    ),
    "completion/complete": st.fixed_dictionaries(
        {"completion": st.fixed_dictionaries({"values": st.lists(TEXT), "total": st.just(1)})}
    ),
}


@official.needs_schemas
@pytest.mark.parametrize("version", official.REVISIONS)
@pytest.mark.parametrize("method", RESULTS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_projected_result_has_the_shape_of_its_revision(version: str, method: str, data):
    result = data.draw(RESULTS[method])
    shaped = projection.project(result, method, REVISIONS[version], IDENTITY)
    assert official.result_fault(version, method, shaped) is None


@official.needs_schemas
@pytest.mark.parametrize("version", official.REVISIONS)
@given(declared=CAPABILITIES)
def test_projected_capabilities_and_identity_have_the_shape_of_their_revision(version, declared):
    revision = REVISIONS[version]
    method = "initialize" if revision.era is Era.HANDSHAKE else "server/discover"
    result = {"capabilities": declared, "instructions": "x"}
    if revision.era is Era.HANDSHAKE:
        result |= {"protocolVersion": version, "serverInfo": IDENTITY}
    else:
        result |= {"supportedVersions": [version]}
    shaped = projection.project(result, method, revision, IDENTITY)
    assert official.result_fault(version, method, shaped) is None


FIELDS = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "title": TEXT,
            "default": TEXT,
            "format": st.just("email"),
            "maxLength": st.just(9),
        },
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["number", "integer"])},
        optional={"minimum": st.integers(0, 3), "default": st.integers(3, 9), "description": TEXT},
    ),
    st.fixed_dictionaries({"type": st.just("boolean")}, optional={"default": st.booleans()}),
    st.fixed_dictionaries(
        {"type": st.just("string"), "enum": st.just(["a", "b"])}, optional={"default": st.just("a")}
    ),
    st.just({"type": "string", "enum": ["a"], "enumNames": ["A"]}),
    st.just({"type": "string", "oneOf": [{"const": "a", "title": "A"}], "default": "a"}),
    st.just({"type": "array", "items": {"type": "string", "enum": ["a"]}, "default": ["a"]}),
    st.just({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
)


@official.needs_schemas
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
@given(fields=st.dictionaries(st.sampled_from(["a", "b", "c"]), FIELDS), required=st.booleans())
def test_a_form_is_asked_in_the_shape_of_its_revision(version, fields, required):
    schema = {"type": "object", "properties": fields}
    if required:
        schema["required"] = list(fields)
    params = asks.ask_params(asks.elicit_form("Who?", schema), REVISIONS[version])
    message = {"jsonrpc": "2.0", "id": "srv-1", "method": "elicitation/create", "params": params}
    assert official.request_fault(version, message) is None


def test_a_form_of_2025_06_18_keeps_titled_choices_as_names():
    titled = {"type": "string", "oneOf": [{"const": "r", "title": "Red"}], "default": "r"}
    form = asks.elicit_form("?", {"type": "object", "properties": {"c": titled}})
    plain = asks.ask_params(form, REVISIONS["2025-06-18"])["requestedSchema"]["properties"]["c"]
    assert plain == {"type": "string", "enum": ["r"], "enumNames": ["Red"]}


FORM = asks.elicit_form("?", {"type": "object", "properties": {}})
URL = asks.elicit_url("?", "https://example.com/", "e1")


@pytest.mark.parametrize(
    ("ask", "declared", "since"),
    [
        (FORM, {"elicitation": {}}, "2025-06-18"),
        (FORM, {"elicitation": {"applyDefaults": True}}, "2025-06-18"),
        (FORM, {"elicitation": {"form": {}}}, "2025-06-18"),
        (FORM, {"elicitation": {"url": {}}}, "never"),
        (FORM, {"elicitation": None}, "never"),
        (URL, {"elicitation": {}}, "never"),
        (URL, {"elicitation": {"url": {}}}, "2025-11-25"),
        (asks.sample({}), {"sampling": {}}, "2024-11-05"),
        (asks.sample({}, with_tools=True), {"sampling": {}}, "never"),
        (asks.sample({}, with_tools=True), {"sampling": {"tools": {}}}, "2025-11-25"),
    ],
)
def test_a_kind_of_ask_needs_its_revision_and_its_declaration(ask, declared, since):
    for version, revision in REVISIONS.items():
        assert asks.may_ask(ask, revision, declared) == (version >= since), version


ASKED = {
    **{version: version for version in official.HANDSHAKE},
    "2026-07-28": "2025-11-25",
    "2099-01-01": "2025-11-25",
    "2024-11-04": "2025-11-25",
    "": "2025-11-25",
}


@pytest.mark.parametrize("asked", ASKED)
def test_negotiation_echoes_what_has_a_handshake_and_else_offers_the_newest(asked: str):
    assert negotiate(asked).version == ASKED[asked]


def test_the_revisions_are_the_published_ones_newest_first():
    assert versions(Era.HANDSHAKE) == sorted(official.HANDSHAKE, reverse=True)
    assert versions(Era.ENVELOPE) == ["2026-07-28"]
    assert [v for v, r in REVISIONS.items() if r.accepts_batches] == ["2025-03-26"]
