"""How searching, storing and memory grow with the number of papers, with full-text search in the file and with tantivy."""
