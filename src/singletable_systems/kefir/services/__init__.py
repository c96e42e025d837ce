"""Kefir: what users do, and the dispatcher that reminds them."""
