from tests.bot.handlers.conftest import ada

__all__ = ["ada"]
