"""The one query language of search, filters and topics: text to tree, and tree against item."""
