"""URI templates, cursors and the state that travels through the client."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrpc.protocol.asks import StateError, call_of, open_state, seal_state
from memrpc.protocol.cursors import CursorError, seal, unseal
from memrpc.protocol.uri_template import UriTemplate

VALUE = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
TEMPLATE = UriTemplate.parse("repo://{owner}/files/{+path}{?at,view}")


@given(owner=VALUE, path=VALUE, at=VALUE | st.none(), view=st.just("") | VALUE | st.none())
def test_what_a_template_expands_it_matches(owner, path, at, view):
    values = {"owner": owner, "path": path, "at": at, "view": view}
    given_ = {name: value for name, value in values.items() if value is not None}
    assert TEMPLATE.match(TEMPLATE.expand(given_)) == given_


@given(st.text(max_size=40))
def test_no_uri_makes_a_template_raise(uri):
    found = TEMPLATE.match(uri)
    assert found is None or found.keys() <= set(TEMPLATE.names)


@pytest.mark.parametrize(
    "uri",
    ["repo://a/b/files/x", "repo://a/files/", "repo:///files/x", "x", "repo://a/files/x?nope=1"],
)
def test_another_shape_does_not_match(uri: str):
    assert TEMPLATE.match(uri) is None


def test_an_encoded_slash_stays_inside_its_segment():
    found = TEMPLATE.match("repo://a%2Fb/files/c/d%20e?view=x")
    assert found == {"owner": "a/b", "path": "c/d e", "view": "x"}


def test_a_template_without_query_refuses_one():
    assert UriTemplate.parse("a://{b}").match("a://x?y=1") is None


LISTS = st.sampled_from(["tools/list", "resources/list", "prompts/list"])


@given(LISTS, LISTS, st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_a_cursor_gives_back_its_position_to_its_own_list_alone(name, other, position):
    cursor = seal(name, position)
    assert unseal(name, cursor) == position
    if other != name:
        with pytest.raises(CursorError):
            unseal(other, cursor)


@given(st.text(max_size=40))
def test_text_that_is_no_cursor_is_refused(text):
    with pytest.raises(CursorError):
        unseal("tools/list", text)


KEY = b"k" * 32
CALL = call_of("tools/call", {"name": "t", "arguments": {"a": 1, "b": 2}, "_meta": {"x": 1}})
ANSWERS = {"who": {"action": "accept", "content": {"name": "★"}}}
STATE = seal_state(KEY, CALL, ANSWERS, expires_s=100.0)


def test_a_state_gives_back_its_answers():
    assert open_state(KEY, CALL, STATE, now_s=100.0) == ANSWERS
    assert ANSWERS["who"]["content"]["name"] not in STATE


def test_a_state_is_bound_to_method_and_parameters_but_not_to_their_order_or_metadata():
    same = call_of(
        "tools/call",
        {"arguments": {"b": 2, "a": 1}, "name": "t", "inputResponses": {}, "requestState": "s"},
    )
    assert open_state(KEY, same, STATE, now_s=0) == ANSWERS
    for other in (
        call_of("prompts/get", {"name": "t", "arguments": {"a": 1, "b": 2}}),
        call_of("tools/call", {"name": "u", "arguments": {"a": 1, "b": 2}}),
        call_of("tools/call", {"name": "t", "arguments": {"a": 1, "b": 3}}),
        call_of("tools/call", {"name": "t", "arguments": {"a": "1", "b": 2}}),
        call_of("tools/call", {"name": "t"}),
    ):
        with pytest.raises(StateError):
            open_state(KEY, other, STATE, now_s=0)


def test_a_state_expires_and_needs_its_key():
    with pytest.raises(StateError, match="expired"):
        open_state(KEY, CALL, STATE, now_s=100.5)
    with pytest.raises(StateError, match="not issued"):
        open_state(b"j" * 32, CALL, STATE, now_s=0)


@given(st.integers(0, len(STATE) - 1), st.characters(codec="ascii"))
def test_a_state_with_any_character_changed_is_refused(at, character):
    changed = STATE[:at] + character + STATE[at + 1 :]
    if changed != STATE:
        with pytest.raises(StateError):
            open_state(KEY, CALL, changed, now_s=0)


@given(st.integers(0, len(STATE) - 1))
def test_a_state_cut_anywhere_is_refused(length):
    with pytest.raises(StateError):
        open_state(KEY, CALL, STATE[:length], now_s=0)


@given(st.text(max_size=60))
def test_text_that_is_no_state_is_refused(text):
    with pytest.raises(StateError):
        open_state(KEY, CALL, text, now_s=0)
