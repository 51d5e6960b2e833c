"""Whether Slack can be heard with the settings at all; what is said names the setting to mend."""

from adapters.slack.install.encryption import TokenCipher
from adapters.slack.install.manifest import is_public
from bot.errors import SettingsError
from bot.settings.chat import SlackSettings


def require_slack_settings(settings: SlackSettings) -> None:
    """Raise SettingsError for settings with which Slack could never be heard."""
    if settings.mode == "socket" and not settings.app_token.get_secret_value().startswith("xapp-"):
        raise SettingsError(
            "`app_token` in [slack] must be the app-level token, which begins with xapp-; or set `mode` to http."
        )
    if settings.mode == "http" and not settings.signing_secret.get_secret_value():
        raise SettingsError("`signing_secret` in [slack] is empty: without it nobody knows what comes from Slack.")
    token = settings.bot_token.get_secret_value()
    if token and not token.startswith(("xoxb-", "xoxe.xoxb-")):
        raise SettingsError("`bot_token` in [slack] must be the bot's token, which begins with xoxb-.")
    if settings.client_id:
        _demand_installable(settings)


def _demand_installable(settings: SlackSettings) -> None:
    if not settings.client_secret.get_secret_value():
        raise SettingsError(
            "`client_secret` in [slack] is empty: with `client_id` the app is installed by OAuth, which needs it."
        )
    if not is_public(settings.public_url):
        raise SettingsError(
            "`public_url` in [slack] must be the address at which browsers reach `host` and `port`, beginning with https://:"
            " with `client_id` the app is installed there."
        )
    TokenCipher(settings.encryption_keys.get_secret_value())
