"""Everything that is remembered, in one place for who wires it up."""

from typing import Protocol

from bot.ports.chats import Chats
from bot.ports.digests import Archive, Digests
from bot.ports.facts import Facts
from bot.ports.items import Items, SearchIndex
from bot.ports.ledger import Ledger
from bot.ports.mail import Recipients
from bot.ports.outbox import Outbox
from bot.ports.shared.processes import Budgets, Leases, Processes
from bot.ports.source import SourceStates
from bot.ports.summaries import Summaries
from bot.ports.vectors import Vectors
from bot.ports.workspaces import Assistants, People, Workspaces


class Store(Protocol):
    """The ports of one store. Every method of theirs may raise StoreError; each write is one transaction.

    Contract tests in tests/contract/ run on every implementation. What needs one or two of them asks for these.
    """

    @property
    def items(self) -> Items: ...

    @property
    def index(self) -> SearchIndex: ...

    @property
    def vectors(self) -> Vectors: ...

    @property
    def source_states(self) -> SourceStates: ...

    @property
    def digests(self) -> Digests: ...

    @property
    def archive(self) -> Archive: ...

    @property
    def workspaces(self) -> Workspaces: ...

    @property
    def people(self) -> People: ...

    @property
    def summaries(self) -> Summaries: ...

    @property
    def facts(self) -> Facts: ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def outbox(self) -> Outbox: ...

    @property
    def chats(self) -> Chats: ...

    @property
    def recipients(self) -> Recipients: ...

    @property
    def assistants(self) -> Assistants: ...

    @property
    def leases(self) -> Leases: ...

    @property
    def budgets(self) -> Budgets: ...

    @property
    def processes(self) -> Processes: ...
