"""The file of a database: connections, its format, its write-ahead log, copies of it; and what can go wrong."""
