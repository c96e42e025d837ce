"""PerfectIt: what follows from changes: counts, notifications, the search index."""
