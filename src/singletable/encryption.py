"""Keys of encrypted files, and giving a file another one. `docs/guides/encryption.md` is the guide.

`KmsKeys`, whose master key is in AWS KMS, is in `singletable.boto.kms`, since it needs boto3.
"""

from __future__ import annotations

from singletable.storage.file.given_keys import GivenKey, KeySource, LocalKeys
from singletable.storage.file.rekeying import decrypt_file, encrypt_file, rekey_file, rewrap_key

__all__ = [
    "GivenKey",
    "KeySource",
    "LocalKeys",
    "decrypt_file",
    "encrypt_file",
    "rekey_file",
    "rewrap_key",
]
