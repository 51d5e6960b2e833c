"""The one query language: for search, filters and topics."""
