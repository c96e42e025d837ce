"""Kefir: what follows from changes: schedules."""
