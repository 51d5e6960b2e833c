"""Pages that are read in a browser: those behind the links in e-mails."""
