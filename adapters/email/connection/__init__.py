"""Opening what sends mails."""
