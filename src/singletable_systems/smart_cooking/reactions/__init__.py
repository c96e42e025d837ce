"""Smart Cooking: what follows from changes: feeds, notifications, activity, the archive."""
