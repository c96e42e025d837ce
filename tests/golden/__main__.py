"""Write down anew what users rely on: `PYTHONPATH=tests .venv/bin/python -m golden`. Read the diff afterwards."""

from __future__ import annotations

from golden.files import write_all

for name in write_all():
    print(f"tests/golden/{name}")
