"""Master keys in AWS KMS: a file has a key of its own, which KMS wraps, and which no one reads without KMS."""

from __future__ import annotations

from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from singletable.errors import FileKeyError

# What is wrapped for a file is not unwrapped for anything else; CloudTrail shows it.
_CONTEXT: Final = {"singletable": "the key of a file"}


class KmsKeys:
    """A master key of AWS KMS: `Database.open(path, key=KmsKeys("alias/app"))`.

    It needs kms:Encrypt to make a file, and kms:Decrypt to open one. KMS rotates the key itself, and unwraps what
    older versions of it have wrapped.
    """

    def __init__(self, key_id: str, client: Any = None) -> None:
        """Take the id, the ARN or an alias of a symmetric key; `client` is boto3's for "kms"."""
        self.master = key_id
        self._client = Session().create_client("kms") if client is None else client

    def wrap(self, key: bytes) -> bytes:
        """Encrypt the key of a file."""
        answer = self._ask("encrypt", KeyId=self.master, Plaintext=key)
        return bytes(answer["CiphertextBlob"])

    def unwrap(self, wrapped: bytes) -> bytes:
        """Decrypt the key of a file. KMS knows by which key it was encrypted."""
        return bytes(self._ask("decrypt", CiphertextBlob=wrapped)["Plaintext"])

    def _ask(self, operation: str, **params: Any) -> Any:
        try:
            return getattr(self._client, operation)(EncryptionContext=_CONTEXT, **params)
        except (BotoCoreError, ClientError) as error:
            raise FileKeyError(
                f"AWS KMS did not {operation} the key of the file with {self.master}: {error}",
                hint="check the region, the credentials, and that they may use the key",
            ) from None

    def __repr__(self) -> str:
        return f"KmsKeys({self.master!r})"
