"""PerfectIt: pure decisions: who is notified, what is counted."""
