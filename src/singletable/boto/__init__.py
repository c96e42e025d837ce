"""Real boto3 clients, answered in the process. The only package here that needs boto3."""

from __future__ import annotations

try:
    import botocore as _botocore
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "boto3 is not installed; run: pip install 'singletable[boto3]'", name=missing.name
    ) from None

del _botocore
