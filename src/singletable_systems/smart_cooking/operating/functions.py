"""Smart Cooking on AWS Lambda: what its handlers use there."""

from __future__ import annotations

import os
from typing import Final

from singletable.systems import Worker
from singletable_systems.smart_cooking.reactions.archive import S3Archive
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.trending import Trending

ARCHIVE_BUCKET: Final = "SMART_COOKING_ARCHIVE_BUCKET"


def prepare(db: SmartCooking) -> None:
    """Give an open design its archive, in the bucket that the environment names; without one, archiving fails."""
    bucket = os.environ.get(ARCHIVE_BUCKET)
    if bucket:
        import boto3  # of Lambda's runtime

        db.archive = S3Archive(boto3.client("s3"), bucket)


def trending(db: SmartCooking) -> Worker:
    """Return the worker that counts the ranking, as a schedule runs it."""
    return Trending(db).worker()
