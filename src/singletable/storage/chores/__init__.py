"""Work that goes on behind the requests: the thread that does it, and a module for each chore."""
