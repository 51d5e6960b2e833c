"""E-mail's Messenger: each delivery is one mail to one address, given once to the relay, with its identifier as Message-ID.

Nothing can be found again in a mailbox and nothing in it be changed: a mail whose text had gone out when the connection was
lost may be there or not, and the ledger says so. What the relay knows of an address is kept with the recipient.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime

from adapters.email.message import OutgoingMail, Unsubscribing, as_bytes, list_id
from adapters.email.relay.relay import CONNECTIONS, Relay
from adapters.email.relay.replies import AddressRefused
from adapters.email.render.links import MailLinks
from adapters.email.render.mail import render
from bot.errors import Delayed, Refused, StoreError
from bot.handlers.links import LinkAction, LinkSigner, SignedLink, letter_link
from bot.models import EMAIL, Abilities, Delivery, Digest, Layout, Look, Presses, Recipient, Suppression
from bot.models.mail import address_hash
from bot.ports.mail import Recipients
from bot.settings.mail import MailSettings

log = logging.getLogger(__name__)

GONE = "The address was taken away."
SUPPRESSED: Mapping[Suppression, str] = {
    Suppression.UNSUBSCRIBED: "Who reads it unsubscribed by a mail or its link.",
    Suppression.FORGOTTEN: "The address was forgotten.",
    Suppression.BOUNCED: "Mails to the address came back.",
    Suppression.COMPLAINED: "Who reads it marked a mail as spam.",
}
_UNKEPT = "It was not sent: that it is begun could not be kept."
_ELSEWHERE = "Somebody else sends it by now."
_MAILBOX = "Nobody can look into a mailbox."


class EmailMessenger:
    """bot.ports.messenger.Messenger for what is subscribed by e-mail, and bot.ports.mail.Mailer."""

    platform = EMAIL

    def __init__(
        self,
        relay: Relay,
        recipients: Recipients,
        settings: MailSettings,
        links: LinkSigner,
        begin: Callable[[Delivery], Awaitable[bool]],
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`begin` is the ledger's: it keeps that a delivery is begun to be sent."""
        self._relay = relay
        self._recipients = recipients
        self._settings = settings
        self._links = links
        self._begin = begin
        self._clock = clock
        # To the ledger the addresses of one domain are a workspace.
        self.abilities = Abilities(per_workspace_minute=settings.domain_minute, at_once=CONNECTIONS, notes_begin=True)

    def render(self, digest: Digest, *, layout: Layout, late: bool) -> Sequence[str]:
        """Return the digest as the one payload of a mail, as JSON. The first call reads files: not on the event loop."""
        links = MailLinks(signed=self._signed(digest.subscription), is_list=digest.is_for_list)
        mail = render(digest, layout=layout, late=late, links=links)
        said = {"subject": mail.subject, "html": mail.html, "text": mail.text, "keys": mail.keys, "listed": mail.listed}
        return [json.dumps(said)]

    def _signed(self, subscription: str) -> Callable[[LinkAction, str], str]:
        def url(action: LinkAction, key: str) -> str:
            return self._links.url(SignedLink(action, subscription, key)) if subscription else ""

        return url

    async def send(self, delivery: Delivery) -> str:
        """Give it to the relay, and return its Message-ID. Raises Refused, Rejected, Delayed and Uncertain."""
        recipient = await self._reader(delivery.workspace, delivery.channel)
        said = json.loads(delivery.payload)
        mail = OutgoingMail(
            number=delivery.id,
            sender=(self._settings.name, self._settings.address),
            recipient=recipient.address,
            subject=said["subject"],
            text=said["text"],
            html=said["html"],
            list_id=list_id(delivery.topic, delivery.workspace, self._settings.domain),
            unsubscribing=Unsubscribing() if recipient.is_list else self._unsubscribing(delivery.occurrence[0]),
        )
        whole = await asyncio.to_thread(as_bytes, mail, self._clock())
        try:
            await self._relay.send(recipient.address, whole, begin=lambda: self._note_begun(delivery))
        except AddressRefused as error:
            await self._recipients.bounced(recipient.channel, str(error), self._clock(), hard=True)
            raise
        return mail.message_id

    async def _note_begun(self, delivery: Delivery) -> None:
        """Have the ledger keep that the text goes out now. Raises Delayed where it does not, and nothing is to be sent."""
        try:
            ours = await self._begin(delivery)
        except StoreError as error:
            raise Delayed(_UNKEPT) from error
        if not ours:
            raise Delayed(_ELSEWHERE)

    def _unsubscribing(self, subscription: str) -> Unsubscribing:
        link = SignedLink(LinkAction.UNSUBSCRIBE, subscription)
        token = f"{subscription}.{self._links.signature(link)}"
        return Unsubscribing(self._links.url(link), self._settings.inbox, token)

    async def _reader(self, workspace: str, channel: str) -> Recipient:
        """Return who reads what is sent there; raises Refused where nothing is to be sent."""
        recipient = await self._recipients.named(channel)
        if recipient is None or recipient.workspace != workspace:
            raise Refused(GONE)
        if recipient.stopped:
            raise Refused(recipient.stopped)
        if (why := await self._recipients.suppression(workspace, recipient.address)) is not None:
            raise Refused(SUPPRESSED[why])
        return recipient

    async def write(self, address: str, subject: str, text: str) -> None:
        """Send one message of plain text, whoever reads it."""
        mail = OutgoingMail(
            number=secrets.token_hex(16),
            sender=(self._settings.name, self._settings.address),
            recipient=address,
            subject=subject,
            text=text,
            unsubscribing=await self._ending_letters(address),
        )
        whole = await asyncio.to_thread(as_bytes, mail, self._clock())
        # Somebody waits for it, and nothing tries again.
        await self._relay.send(address, whole, patience=self._settings.timeout)

    async def _ending_letters(self, address: str) -> Unsubscribing:
        """Return how whoever never asked for codes ends them; by it a bounce or complaint of one is believed, too."""
        link = letter_link(address_hash(await self._recipients.key(), address))
        token = f"{link.subscription}.{self._links.signature(link)}"
        return Unsubscribing(self._links.url(link), self._settings.inbox, token)

    async def obstacle(self, workspace: str, channel: str) -> str:
        """Return why nothing is sent to a recipient; of a whole workspace nothing can be seen."""
        if not channel:
            return ""
        try:
            await self._reader(workspace, channel)
        except Refused as error:
            return str(error)
        return ""

    async def find(self, delivery: Delivery) -> Look:
        """Raise Refused: there is no history that could be read."""
        raise Refused(_MAILBOX)

    async def publish(self, posted: Delivery) -> None:
        """Do nothing: a mail has no followers."""

    async def edit(self, posted: Delivery, presses: Presses, number: int) -> None:
        """Raise Refused: a mail stays as it was sent."""
        raise Refused("A mail stays as it was sent.")

    def link(self, delivery: Delivery) -> str:
        """Return "": a mail has no address."""
        return ""

    async def tell(self, workspace: str, person: str, text: str) -> None:
        """Raise Refused: people are told where they subscribed."""
        raise Refused("People are told in the chat in which they subscribed.")

    async def announce(self, workspace: str, channel: str, text: str) -> None:
        """Raise Refused: what is for a channel is said in the chat."""
        raise Refused("What is for a channel is said in the chat.")
