"""Backups of tables: their folder and files, making them, and restoring tables from them."""
