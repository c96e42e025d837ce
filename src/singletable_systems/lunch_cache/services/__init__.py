"""Lunch Cache: menus, statistics, the health check."""
