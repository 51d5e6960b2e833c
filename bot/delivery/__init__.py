"""The ledger's protocol: claim, send, record, reconcile. docs/delivery.md explains it.

A delivery is claimed in a transaction of its own before a platform hears of it, sent once, and recorded only by who holds
its latest token. What may have been posted is never sent again before that is known: by a nonce that the platform
remembers, or by looking for the message in the channel. Everything here may be called any number of times, by any process,
at any moment.
"""

from bot.delivery.context import DeliveryContext, DeliverySettings, delivery_id, sealed
from bot.delivery.deliver import Deliverer
from bot.delivery.pausing import SubscriptionPauser
from bot.delivery.prepare import Preparer
from bot.delivery.restored import notice_put_back, notice_restored
from bot.delivery.resuming import SubscriptionResumer
from bot.delivery.schedule import Scheduler

__all__ = [
    "Deliverer",
    "DeliveryContext",
    "DeliverySettings",
    "Preparer",
    "Scheduler",
    "SubscriptionPauser",
    "SubscriptionResumer",
    "delivery_id",
    "notice_put_back",
    "notice_restored",
    "sealed",
]
