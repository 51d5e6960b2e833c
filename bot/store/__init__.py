"""What is remembered: `memory` for tests and trials, `sqlite` for service. Both answer to bot.ports.store.Store."""
