"""Clients that people use, each with its pinned versions, and a program that proves it against the server."""
