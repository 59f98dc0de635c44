"""The composition root: settings become a database, handlers, a worker and a server.

Nothing here does work of its own.  The database is opened by the first call that needs it, and
what is heavy to import is imported by whoever needs it first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from memrpc import __version__
from memrpc.log import Log
from memrpc.server.connection import Connection
from memrpc.server.ports import Ports
from memrpc.server.service import Publish, Service
from memrpc.settings import Settings
from memrpc.surface import toolsets
from memrpc.surface.catalogue import Catalogue
from memrpc.surface.completing import CompletionDesk
from memrpc.surface.desk import Desk
from memrpc.surface.instructions import BY_TOOLSET
from memrpc.surface.prompt_book import Prompt, PromptBook
from memrpc.surface.refusals import explain
from memrpc.surface.stored_tasks import StoredTasks
from memrpc.surface.views import archive, codebase, workspace
from memrpc.warm_up import WARM_UP

if TYPE_CHECKING:
    from memrpc.archive.model import Method
    from memrpc.recall.meaning import Embedders
    from memrpc.server.context import Context
    from memrpc.server.stdio import Wire
    from memrpc.store.database import Database
    from memrpc.store.jobs import Lease
    from memrpc.surface.client_model import ClientModel
    from memrpc.surface.projects import Places
    from memrpc.wire.messages import JSON
    from memrpc.workers.embedding import Watch
    from memrpc.workers.extraction import Model
    from memrpc.workers.freshness import Freshness
    from memrpc.workers.indexing import Indexing, IndexOrder
    from memrpc.workers.purging import Eraser
    from memrpc.workers.runner import Runner, Work

IDENTITY: Final = {
    "name": "memrpc",
    "title": "memrpc",
    "version": __version__,
    "description": "Long-term memory for AI agents, local first",
}


def now_us() -> int:
    """The time in microseconds since the epoch, UTC."""
    return time.time_ns() // 1_000


def new_id() -> str:
    """A random id that sorts by the time it was made (RFC 9562, version 7)."""
    milliseconds = time.time_ns() // 1_000_000
    noise = int.from_bytes(os.urandom(10))
    bits = milliseconds << 80 | 0x7 << 76 | (noise >> 68) << 64
    bits |= 0b10 << 62 | noise & (1 << 62) - 1
    text = f"{bits:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


class Application:
    """One running memrpc."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.log = Log(settings["log_level"])
        self.owner = f"{os.getpid()}-{os.urandom(4).hex()}"

    @cached_property
    def database(self) -> Database:
        """Raises DomainError where the path cannot be told."""
        import random

        from memrpc.store.database import Database

        path = self.settings.database_path()
        self.work_is_due()  # A process that died may have left something.
        self.watch.stir()
        return Database(
            path,
            jitter=random.random,
            durable=self.settings["durable"],
            committed=self.watch.stir,
        )

    @property
    def has_database(self) -> bool:
        """True once something has opened it."""
        return "database" in self.__dict__

    @cached_property
    def runner(self) -> Runner:
        from memrpc.store import purge
        from memrpc.workers import embedding, purging
        from memrpc.workspace import upkeep_due

        kinds = {
            embedding.JOB_KIND: lambda lease: embedding.embed(
                lease, self.database, self.embedders, now_us
            ),
            purge.JOB_KIND: lambda lease: purging.run_purge(lease, self.database, now_us),
            upkeep_due.JOB_KIND: self._keep_up,
        }
        return self._runner(kinds)

    @cached_property
    def eraser(self) -> Eraser:
        from memrpc.workers import purging

        ports = purging.Ports(now_us, self.work_is_due, self.log)
        return purging.Eraser(lambda: self.database, self.owner, ports)

    async def _keep_up(self, lease: Lease) -> None:
        from memrpc.workers import keeping_up

        days = self.settings["action_log_days"]
        await keeping_up.keep_up(lease, self.database, now_us, new_id, days)

    @cached_property
    def extracting(self) -> Runner:
        """A queue of its own, because a model may take half a minute for one event."""
        from memrpc.archive.recording import EXTRACT

        return self._runner({EXTRACT: self._extract})

    async def _extract(self, lease: Lease) -> None:
        """Draw memories from an event; what that needs is imported by the first that waits."""
        from memrpc.workers import extraction

        ports = extraction.Ports(now_us, new_id, self.models)
        await extraction.extract(lease, self.database, ports)

    def _runner(self, kinds: Mapping[str, Work]) -> Runner:
        import random

        from memrpc.workers import runner

        ports = runner.Ports(now_us, random.random, self.log)
        return runner.Runner(lambda: self.database, kinds, self.owner, ports)

    @property
    def models(self) -> Mapping[Method, Model]:
        """Who is asked by the extractors that ask a model."""
        from memrpc.archive.model import Method
        from memrpc.recall.chat_endpoint import ChatEndpoint
        from memrpc.recall.endpoint import Endpoint

        models: dict[Method, Model] = {Method.CLIENT: self.client_model.ask}
        if self.settings["extractor_url"]:
            key = self.settings.secret("extractor_key_variable")
            limit_s = self.settings["extractor_timeout_s"]
            endpoint = Endpoint(self.settings["extractor_url"].rstrip("/"), key, limit_s)
            models[Method.LLM] = ChatEndpoint(endpoint, self.settings["extractor_model"]).ask
        return models

    def _meet(self, ctx: Context) -> None:
        """The extractor may need this call's client."""
        self.client_model.meet(ctx)

    @cached_property
    def client_model(self) -> ClientModel:
        from memrpc.surface.client_model import ClientModel

        return ClientModel()

    @cached_property
    def embedders(self) -> Embedders:
        """What the settings chose; models and numpy are loaded when a vector is needed."""
        from memrpc.recall import choosing
        from memrpc.settings import calm_numpy

        calm_numpy()
        chosen = choosing.Choice(
            embedder=self.settings["embedder"],
            url=self.settings["embedder_url"],
            model=self.settings["embedder_model"],
            key=self.settings.secret("embedder_key_variable"),
            query_prefix=self.settings["embedder_query_prefix"],
            document_prefix=self.settings["embedder_document_prefix"],
            timeout_s=self.settings["embedder_timeout_s"],
            recent=self.settings["recent_vectors"],
        )
        return choosing.embedders(chosen)

    @cached_property
    def watch(self) -> Watch:
        from memrpc.workers.embedding import Watch

        return Watch(lambda: self.database, lambda: self.embedders, now_us, self.work_is_due)

    async def index(
        self, order: IndexOrder, progress: Callable[[int, int], None]
    ) -> Mapping[str, JSON]:
        """Run an index; what that needs is imported by the first run."""
        report = await self.indexing.run(order, progress)
        if self.settings["code_index"] == "watch":
            self.freshness.note(order)
        return report

    @cached_property
    def freshness(self) -> Freshness:
        """What indexes code without being asked, as the setting wants it."""
        from memrpc.workers.freshness import Freshness, order_of

        places, wish = self.places, self.settings["code_index"]
        order = order_of((places.project_folder, places.folder), places.home, places.checkout)
        return Freshness(self.indexing.run, self.log, at_start=order, watches=wish == "watch")

    @cached_property
    def indexing(self) -> Indexing:
        """What starts index runs, each in processes of its own."""
        from memrpc.workers.indexing import Indexing

        return Indexing(lambda: self.database, self.settings["index_workers"])

    @cached_property
    def places(self) -> Places:
        """Where the process was started, and which project its host says it is for."""
        from memrpc.settings import started_in
        from memrpc.surface.projects import Places

        return Places(*started_in())

    @property
    def desk(self) -> Desk:
        return Desk(
            open_database=lambda: self.database,
            now_us=now_us,
            new_id=new_id,
            work_is_due=self.work_is_due,
            erase=lambda: self.eraser.erase(),  # noqa: PLW0108 -- made when first asked
            open_places=lambda: self.places,
            open_embedders=lambda: self.embedders,
            meet=self._meet,
            extractor=self.settings["extractor"],
            project=self.settings["project"],
            answer_chars=self.settings["answer_chars"],
            instance=self.owner,
            claim_minutes=self.settings["claim_minutes"],
            index=self.index,
        )

    @property
    def prompts(self) -> PromptBook:
        built_in = toolsets.prompts(self.settings["toolset"])
        return PromptBook(built_in, self.desk, self._own_prompts)

    def _own_prompts(self) -> Iterable[Prompt]:
        from memrpc.surface.prompts import own

        return own.load(self.settings.database_path)

    def service(self, *, checks_output: bool = False) -> Service:
        desk = self.desk
        tools = toolsets.build(self.settings["toolset"], desk)
        catalogue = Catalogue((*archive.VIEWS, *workspace.VIEWS, *codebase.VIEWS), desk)
        prompts = self.prompts
        return Service(
            identity=IDENTITY,
            instructions=BY_TOOLSET[self.settings["toolset"]],
            tools=tools,
            secrets=self,
            resources=catalogue,
            prompts=prompts,
            completions=CompletionDesk(catalogue, prompts, desk),
            tasks=StoredTasks(lambda: self.database),
            aliases=toolsets.aliases(tools),
            explain=explain,
            list_changes=True,
            watch=self._watch,
            background=self._work,
            checks_output=checks_output,
        )

    def work_is_due(self) -> None:
        """A job was enqueued; the worker is made when there is one."""
        self.runner.work_is_due()
        self.extracting.work_is_due()

    async def _work(self, _: Publish) -> None:
        """Run the queue, from the first call that used the database on."""
        import anyio

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.watch.run)
            tasks.start_soon(self.extracting.run)
            tasks.start_soon(self.eraser.run)
            if self.settings["code_index"] != "asked":
                tasks.start_soon(self.freshness.serve)
            await self.runner.run()

    async def _watch(self, publish: Publish) -> None:
        """Tell subscribers of every change in the file, whoever made it."""
        from memrpc.surface.news import teller
        from memrpc.workers.watching import watch

        await watch(lambda: self.database, now_us, teller(publish))

    async def signing_key(self) -> bytes:
        """The database's key: a restart and a sibling process can read what this one signed."""
        from memrpc.store.meta import signing_key

        return await self.database.read(signing_key)

    def ports(self) -> Ports:
        return Ports(self.log, time.monotonic, time.time, new_id, traces=self.log.hears("debug"))

    def connection(self, *, checks_output: bool = False) -> Connection:
        return Connection(self.service(checks_output=checks_output), self.ports())

    def serve(self, wire: Wire) -> int:
        """Serve one client until it leaves.  Returns the exit code."""
        from memrpc.server.stdio import run

        try:
            return run(self.connection(), wire, WARM_UP)
        finally:
            self.close()

    def close(self) -> None:
        """Give back leases, purge if it is quick, close the file."""
        if self.has_database:
            from memrpc.store.errors import DomainError
            from memrpc.workers.purging import purge_at_exit

            try:
                self.runner.release_blocking()
                purge_at_exit(self.database, self.owner, now_us)
            except DomainError as error:
                self.log("warning", "left_undone", reason=error.message)
            self.database.close()
        self.log.flush()

    def close_quickly(self) -> None:
        """Close the file and leave everything that is owed to somebody else."""
        if self.has_database:
            self.database.close()
