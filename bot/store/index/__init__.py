"""The search index of tantivy, beside the database: a copy of what the items say that follows their changes."""
