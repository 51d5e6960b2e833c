"""The ledger's protocol: claim, send, record, reconcile. docs/delivery.md explains it.

A delivery is claimed in a transaction of its own before a platform hears of it, sent once, and recorded only by who holds
its latest token. What may have been posted is never sent again before that is known: by a nonce that the platform
remembers, or by looking for the message in the channel. Everything here may be called any number of times, by any process,
at any moment.
"""

from bot.delivery.courier import Courier
from bot.delivery.doubt import notice_restored
from bot.delivery.owed import Refusal
from bot.delivery.printing import Printer
from bot.delivery.quiet import after_quiet
from bot.delivery.schedule import Scheduler
from bot.delivery.terms import Office, Values, delivery_id, sealed
from bot.delivery.trouble import Trouble

__all__ = [
    "Courier",
    "Office",
    "Printer",
    "Refusal",
    "Scheduler",
    "Trouble",
    "Values",
    "after_quiet",
    "delivery_id",
    "notice_restored",
    "sealed",
]
