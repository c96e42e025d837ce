"""Files whose key is wrapped by AWS KMS, as moto has it."""

from __future__ import annotations

from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from singletable import Database
from singletable.boto.kms import KmsKeys
from singletable.encryption import KeySource, rewrap_key
from singletable.errors import FileKeyError


@mock_aws
def test_key_of_a_file_is_wrapped_by_kms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    client = boto3.client("kms", region_name="eu-north-1")
    first, second = (client.create_key()["KeyMetadata"]["Arn"] for _ in range(2))
    keys = KmsKeys(first, client)
    assert isinstance(keys, KeySource)
    path = tmp_path / "app.db"
    Database.open(path, key=keys).close()
    assert first in Path(f"{path}.key").read_text()
    Database.open(path, key=keys).close()
    rewrap_key(str(path), keys, KmsKeys(second, client))
    assert second in Path(f"{path}.key").read_text()
    client.disable_key(KeyId=first.rpartition("/")[2])
    Database.open(path, key=KmsKeys(second, client)).close()
    elsewhere = boto3.client("kms", region_name="us-east-1")  # has no such key
    with pytest.raises(FileKeyError, match="AWS KMS did not decrypt the key of the file") as caught:
        Database.open(path, key=KmsKeys(second, elsewhere))
    assert caught.value.hint
