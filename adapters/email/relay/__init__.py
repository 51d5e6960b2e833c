"""The mail server that takes our mails and sends them on, by SMTP."""
