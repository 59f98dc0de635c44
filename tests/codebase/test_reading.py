"""Reading the index: tracing, searching, files, the survey."""

from __future__ import annotations

import pytest

from memrpc.codebase import (
    architecture,
    files,
    filters,
    grepping,
    listing,
    naming,
    searching,
    tracing,
    words,
)
from memrpc.codebase.answers import Ambiguity
from memrpc.codebase.candidates import TraceRequest
from memrpc.store.errors import InvalidArguments, NotFound
from tests.codebase.conftest import write


def found(index, query, **more):
    """Ways and names of what a search finds, in order."""
    answer = index.read(
        lambda db, key: searching.search(db, searching.SearchRequest(query, (key,), **more))
    )
    return [(each.matched_by, each.name) for each in answer.symbols]


def names_of(index, query, **more):
    return [name for _, name in found(index, query, **more)]


@pytest.fixture
def handlers(index, repo):
    write(
        repo,
        {
            "a.py": """\
def handle(): pass
def handleClick(): pass
def handler(): pass
def on_handle_key(): pass
def mishandled(): pass
def other():
    \"\"\"They handle it all.\"\"\"
class HTTPServer: pass
def get_user_profile(): pass
def größe(): pass
def 変数(): pass
def データベース接続():
    \"\"\"データベースに接続する\"\"\"
""",
        },
    )
    index.run(repo)
    return index


def test_h23_prefix_hits_are_ranked_and_never_hidden_behind_a_comment(handlers):
    assert found(handlers, "handle") == [
        ("exact", "handle"),
        ("prefix", "handleClick"),
        ("prefix", "handler"),
        ("parts", "on_handle_key"),
        ("substring", "mishandled"),
        ("doc", "other"),
    ]


def test_a_better_way_of_matching_counts_more_than_several_worse_ones(index, repo):
    write(repo, {"a.py": 'def do_load():\n    """Load."""\ndef loader(): pass\n'})
    index.run(repo)
    assert found(index, "load") == [("prefix", "loader"), ("parts", "do_load")]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("getUserProfile", "get_user_profile"),
        ("user profile", "get_user_profile"),
        ("userprofile", "get_user_profile"),
        ("http server", "HTTPServer"),
        ("httpserver", "HTTPServer"),
        ("HANDLECLICK", "handleClick"),
        ("hanldeClick", "handleClick"),
        ("get_usr_profile", "get_user_profile"),
        ("größe", "größe"),
        ("変数", "変数"),
        ("接続", "データベース接続"),
    ],
)
def test_a_name_is_found_by_its_parts_its_spellings_and_with_slips(handlers, query, name):
    assert names_of(handlers, query)[0] == name


@pytest.mark.parametrize(
    "query", ['say "hi', "foo AND bar", "(x", "NEAR(", "*", "^a", "a'b", "--", "%_", "han\0dle"]
)
def test_no_text_of_a_question_is_syntax(handlers, query):
    assert isinstance(names_of(handlers, query), list)
    with pytest.raises(NotFound):
        handlers.read(tracing.trace, TraceRequest(f"no{query}"))


def test_nothing_alike_is_nothing_with_a_reason(handlers):
    answer = handlers.read(
        lambda db, key: searching.search(db, searching.SearchRequest("zzqqxx", (key,)))
    )
    assert (answer.symbols, answer.total, answer.reason) == ((), 0, "no_match")


def test_filters_hold_in_arguments_and_as_tags(index, repo):
    write(repo, {"a.py": "def go(): pass\nclass Go: pass\ndef _go(): pass\n",
                 "b/c.js": "function go() {}\n"})  # fmt: skip
    index.run(repo)
    assert names_of(index, "go", kinds=("class",)) == ["Go"]
    assert names_of(index, "kind:class go") == ["Go"]
    assert names_of(index, "go lang:javascript") == ["go"]
    assert names_of(index, "go", path="c.js") == ["go"]
    assert names_of(index, "go", path="b/") == ["go"]
    assert names_of(index, "go", path="_/") == []
    assert names_of(index, "go file:a.py") == ["go", "Go", "_go"]
    assert names_of(index, "go", exported_only=True) == ["go", "Go"]


def test_a_member_is_found_by_its_type_or_module_first(index, repo):
    code = 'class Cart:\n    def get(self): pass\ndef use():\n    """See Cart.get."""\n'
    write(repo, {"shop/a.py": code, "b.py": "def get(): pass\n"})
    index.run(repo)
    assert found(index, "Cart.get") == [("exact", "get"), ("doc", "use")]
    assert found(index, "shop.a.Cart.get")[0] == ("exact", "get")
    assert found(index, "Cart.get", kinds=("function",)) == [("doc", "use")]


@pytest.mark.parametrize("module", ["path", "kind", "lang"])
def test_a_module_that_is_called_like_a_tag_is_none(index, repo, module):
    write(repo, {f"src/{module}.rs": "pub fn join() {}\n", "src/b.rs": "pub fn join() {}\n"})
    index.run(repo)
    assert found(index, f"{module}::join")[0] == ("exact", "join")


def test_what_is_called_like_a_file_finds_what_stands_in_it(index, repo):
    write(repo, {"web/routes.py": "def go(): pass\n", "my_routes.py": "def stay(): pass\n"})
    index.run(repo)
    assert found(index, "routes.py") == [("path", "go")]
    assert found(index, "web/rou") == [("path", "go")]
    assert found(index, "routes", path="my_routes.py") == []


def test_a_file_is_not_taken_for_what_is_called_like_its_ending(index, repo):
    write(repo, {"src/main.c": "int c;\nint go(void) { return c; }\n"})
    index.run(repo)
    assert ("path", "go") in found(index, "src/main.c")
    with pytest.raises(NotFound):
        index.read(tracing.trace, TraceRequest("main.c"))
    assert index.read(tracing.trace, TraceRequest("main.go")).definition.line == 2


def test_a_kind_or_language_that_is_none_is_refused_and_other_names_are_known(index, repo):
    write(repo, {"a.rs": "pub struct Go;\n", "a.py": "class Go: pass\n"})
    index.run(repo)
    assert found(index, "kind:struct lang:rs go") == [("exact", "Go")]
    assert filters.language("C++") == "cpp"
    for query, field in (("kind:klass go", "kind"), ("lang:klingon go", "language")):
        with pytest.raises(InvalidArguments) as refusal:
            found(index, query)
        assert refusal.value.details["field"] == field


@pytest.mark.parametrize("text", ["a" * 1_001, "a." * 501])
def test_a_name_or_query_without_an_end_is_refused(handlers, text):
    with pytest.raises(InvalidArguments):
        found(handlers, text)
    with pytest.raises(InvalidArguments):
        handlers.read(tracing.trace, TraceRequest(text))


def test_pages_of_a_search_join_without_gap_or_repeat(index, repo):
    write(repo, {"a.py": "".join(f"def item_{n:03}(): pass\n" for n in range(95))})
    index.run(repo)
    pages = [names_of(index, "item", limit=30, offset=at) for at in (0, 30, 60, 90)]
    assert [name for page in pages for name in page] == [f"item_{n:03}" for n in range(95)]


@pytest.mark.parametrize(
    ("left", "right", "slips"),
    [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abd", 1), ("abc", "ab", 1), ("abc", "xyz", 3)],
)
def test_slips_are_counted(left, right, slips):
    assert searching.distance(left, right, 5) == slips
    assert searching.distance(left, right, 0) >= min(slips, 1)


def test_names_become_words():
    assert words.name_words("getHTTPResponse2xx").split() == [
        *("get", "http", "response", "2", "xx"),
        *("gethttpresponse2xx", "httpresponse2xx", "response2xx", "2xx"),
    ]
    assert words.text_words("Say it: getName") == "Say it: getName"
    assert words.text_words("名前 getName").split() == ["名前", "前", "get", "name", "getname"]


# Tracing


@pytest.fixture
def twins(index, repo):
    write(
        repo,
        {
            "a.py": "class A:\n    def go(self): pass\nclass B:\n    def go(self): pass\n",
            "b.py": "def go(): pass\n",
            "lib/b.py": "class Deep:\n    class In:\n        def only(self): pass\n",
        },
    )
    index.run(repo)
    return index


def test_h24_an_ambiguous_name_is_resolved_by_kind_file_or_owner(twins):
    def trace(name, **more):
        return twins.read(tracing.trace, TraceRequest(name, **more))

    ambiguous = trace("go")
    assert isinstance(ambiguous, Ambiguity)
    assert [(each.owner, each.file_path) for each in ambiguous.disambiguation] == [
        ("A", "a.py"), ("B", "a.py"), (None, "b.py"),
    ]  # fmt: skip
    assert trace("go", kinds=("function",)).definition.file == "b.py"
    assert trace("go", file_path="./b.py").definition.file == "b.py"
    assert trace("A.go").definition.line == 2
    assert trace("B::go").definition.line == 4
    assert trace("In.only").symbol.owner == "Deep.In"
    assert trace("only", file_path="lib/").symbol.owner == "Deep.In"
    assert trace("Deep.In.only").symbol.owner == "Deep.In"


def test_one_of_many_that_share_a_name_is_told_apart_wherever_it_stands(index, repo):
    classes = (f"class C{n}:\n    def __init__(self): pass\n" for n in range(150))
    code = "".join(classes)
    write(repo, {"a.py": code, "b.py": code, "z.py": "def __init__(): pass\n"})
    index.run(repo)

    def trace(name, **more):
        return index.read(tracing.trace, TraceRequest(name, **more))

    assert trace("C149.__init__", file_path="b.py").definition.file == "b.py"
    assert trace("__init__", file_path="z.py").definition.file == "z.py"
    assert trace("__init__", kinds=("function",)).definition.file == "z.py"
    pages = [trace("__init__", limit=120, offset=offset) for offset in (0, 120, 240)]
    assert [len(each.disambiguation) for each in pages] == [120, 120, 61]
    assert {each.total for each in pages} == {301}


@pytest.mark.parametrize(
    ("name", "file", "line"),
    [
        ("shop.cart.Cart.add", "shop/cart/models.py", 2),
        ("shop.cart.models.Cart", "shop/cart/models.py", 1),
        ("models.Cart.add", "shop/cart/models.py", 2),
        ("cart.add", "shop/cart/models.py", 2),
        ("widgets.shop.total", "shop/__init__.py", 1),
        ("shop.total", "shop/__init__.py", 1),
        ("bag.total", "shop/bag.py", 1),
        ("shop.keep", "shop/near/far/b.py", 1),
        ("shop/cart/models.py::Cart::add", "shop/cart/models.py", 2),
        ("user.service.load", "web/user.service.ts", 1),
    ],
)
def test_a_name_is_traced_by_the_modules_that_lead_to_it(index, repo, name, file, line):
    write(
        repo,
        {
            "shop/__init__.py": "def total(): pass\n",
            "shop/bag.py": "def total(): pass\n",
            "shop/cart/models.py": "class Cart:\n    def add(self): pass\n",
            "web/user.service.ts": "export function load() {}\n",
            "web/user.ts": "export function load() {}\n",
            "shop/a.py": "class A:\n    def keep(self): pass\n",
            "shop/near/far/b.py": "def keep(): pass\n",
            "other/models.py": "class Basket:\n    def add(self): pass\n",
        },
    )
    index.run(repo)
    answer = index.read(tracing.trace, TraceRequest(name))
    assert (answer.definition.file, answer.definition.line) == (file, line)


def test_a_module_that_does_not_lead_to_a_name_is_not_passed_over(twins):
    with pytest.raises(NotFound):
        twins.read(tracing.trace, TraceRequest("elsewhere.A.go"))


def test_a_name_that_is_spelt_otherwise_is_found_and_says_so(handlers):
    answer = handlers.read(tracing.trace, TraceRequest("get-user-profile"))
    assert (answer.symbol.name, answer.original_name) == ("get_user_profile", "get-user-profile")
    answer = handlers.read(tracing.trace, TraceRequest("httpserver"))
    assert (answer.symbol.name, answer.original_name) == ("HTTPServer", "httpserver")


def test_a_missing_name_says_what_is_near(twins, handlers):
    with pytest.raises(NotFound) as refusal:
        handlers.read(tracing.trace, TraceRequest("handleClikc"))
    assert refusal.value.details["reason"] == "SYMBOL_NOT_FOUND"
    assert "handleClick" in refusal.value.message


def test_a_name_whose_hints_do_not_fit_says_where_it_is(twins):
    with pytest.raises(NotFound) as refusal:
        twins.read(tracing.trace, TraceRequest("go", file_path="lib/b.py"))
    assert "a.py:2 method A.go" in refusal.value.message
    with pytest.raises(NotFound) as refusal:
        twins.read(tracing.trace, TraceRequest("Heir.only"))
    assert "lib/b.py:3 method Deep.In.only" in refusal.value.message


def test_parent_children_and_overloads_are_told(index, repo):
    write(
        repo,
        {
            "a.py": "class A:\n    x = 1\n    @property\n    def p(self): ...\n"
            "    @p.setter\n    def p(self, v): ...\n",
        },
    )
    index.run(repo)
    answer = index.read(tracing.trace, TraceRequest("A"))
    assert [(each.kind, each.name) for each in answer.children] == [
        ("property", "x"), ("method", "p"), ("method", "p"),
    ]  # fmt: skip
    answer = index.read(tracing.trace, TraceRequest("A.p"))
    assert answer.parent.name == "A"
    assert answer.other_definitions == (6,)


def test_a_class_tells_how_many_members_it_has_and_shows_the_first(index, repo):
    members = "".join(f"    def m{n}(self): ...\n" for n in range(60))
    write(repo, {"a.py": f"class A:\n{members}"})
    index.run(repo)
    answer = index.read(tracing.trace, TraceRequest("A"))
    assert (len(answer.children), answer.children_total) == (50, 60)


@pytest.mark.parametrize("name", ["größe", "変数"])
def test_b101_names_in_any_script_are_traced(handlers, name):
    assert handlers.read(tracing.trace, TraceRequest(name)).symbol.name == name


def test_references_come_in_pages(index, repo):
    write(repo, {"a.py": "def f(): pass\n" + "f()\n" * 25})
    index.run(repo)
    lines = []
    for offset in (0, 10, 20):
        request = TraceRequest("f", limit=10, offset=offset)
        answer = index.read(tracing.trace, request)
        assert (answer.total, answer.resolved) == (25, 25)
        lines += [each.line for each in answer.references]
    assert lines == list(range(2, 27))


# Files


def test_a_file_tells_its_facts_and_symbols(index, repo):
    write(repo, {"src/a.py": "class A:\n    def go(self): pass\n"})
    index.run(repo)
    for spelling in ("src/a.py", "./src/a.py", "src\\a.py", "a.py"):
        answer = index.read(files.describe, files.FileRequest(spelling))
        assert (answer.file.path, answer.file.lines, answer.file.language) == (
            "src/a.py",
            2,
            "python",
        )
        assert [each.name for each in answer.symbols] == ["A", "go"]


def test_b101_a_path_out_of_the_repository_is_refused(index, repo):
    write(repo, {"a.py": ""})
    index.run(repo)
    for path in ("../../etc/passwd", "/etc/passwd", "a/../../x", "~/x"):
        with pytest.raises(InvalidArguments):
            index.read(files.describe, files.FileRequest(path))
    with pytest.raises(NotFound) as refusal:
        index.read(files.describe, files.FileRequest("none.py"))
    assert refusal.value.details["reason"] == "FILE_NOT_INDEXED"


# The survey


def test_the_survey_counts_folders_and_finds_what_is_unused(index, repo):
    write(
        repo,
        {
            "app/main.py": "from app.core import used\ndef _main(): used(_callback)\n"
            "def _callback(): pass\n_main()\n",
            "app/core.py": "def used(f): pass\ndef _dead(): pass\ndef public(): pass\n",
            "app/deep/er/x.py": "def _also_dead(): pass\n",
            "tests/test_a.py": "def _helper(): pass\n",
            "run.sh": "unused() { true; }\nused_one() { x; }\n",
        },
    )
    index.run(repo)
    suspects = index.read(architecture.suspects)
    listed = index.read(files.sources, language=None, path=None)
    names = [each.name for each in suspects.scanned]
    counts = grepping.count_words(str(repo), listed, names, checkpoint=lambda: None)
    answer = index.read(architecture.survey, depth=2, suspects=suspects, counts=counts)
    dead = answer.dead_code
    assert [each.name for each in dead.unreferenced] == ["_dead", "_also_dead"]
    assert dead.excluded["mentioned_in_text"] == 1
    assert dead.excluded["test"] == 1
    assert dead.excluded["public_api"] >= 1
    assert dead.excluded["language_not_covered"] == 2
    assert (dead.reliable, dead.unreliable) == (("python",), ("bash",))
    assert answer.languages == {"python": 4, "bash": 1}
    assert [each.name for each in answer.hotspots[:1]] == ["used"]
    tree = answer.root
    assert (tree.path, tree.files) == (".", 5)
    assert [(each.path, each.files) for each in tree.children] == [("app", 3), ("tests", 1)]
    assert [each.path for each in tree.children[0].children] == ["app/deep"]


def test_records_names_and_paths_are_listed(index, repo):
    write(repo, {"a.py": "def f(): pass\nclass A: pass\n", "b.py": ""})
    index.run(repo)
    records, total = index.read(listing.records, kinds=("class",), limit=5, offset=0)
    assert ([each.name for each in records], total) == (["A"], 1)
    assert index.read(listing.paths) == ["a.py", "b.py"]
    assert set(index.read(listing.names)) == {"f", "A"}


def test_names_in_prose_mean_files_and_symbols(index, repo):
    write(repo, {"src/a.py": "class Cart:\n    def total(self): pass\n", "b.py": "def f(): pass\n"})
    index.run(repo)
    spoken = ["Cart.total", "src/a.py", "f", "nothing", "Other.total"]
    found_ = index.read(naming.named, spoken)
    assert [(each.kind, each.name, each.line) for each in found_] == [
        ("file", "src/a.py", None),
        ("function", "f", 1),
        ("method", "total", 2),
    ]
