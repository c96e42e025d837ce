"""Archive: a table with every setting that a design can declare, and indexes of all kinds."""

from __future__ import annotations

from datetime import datetime
from typing import NewType

from singletable.design import Design, Entity, Index, Key, Keys, SortKey, Table, Ttl, expires

DocumentId = NewType("DocumentId", str)


class ArchiveTable(Table):
    name = "archive-{stage}"
    billing = "PROVISIONED"
    capacity = (5, 4)
    encryption = "AWS_MANAGED"
    stream = "NEW_IMAGE"
    pitr_days = 7
    deletion_protection = True
    tags = {"team": "archive", "cost-centre": "42"}
    owners = Index("by-owner", pk="GSI1PK", sk="GSI1SK", projection="KEYS_ONLY", capacity=(2, 3))
    titles = Index("by-title", pk="GSI2PK", projection=("title", "size_bytes", "ownerId"))
    years = Index("by-year", pk=("shelf", "year"), sk=("title",))


class DocumentPK(Key, template="DOC#{document_id}"):
    document_id: DocumentId


class HeadSK(SortKey, template="HEAD"):
    pass


class OwnerPK(Key, template="OWNER#{owner_id}"):
    owner_id: str


class StoredSK(SortKey, template="STORED#{stored_at}"):
    stored_at: datetime


class TitlePK(Key, template="TITLE#{title}"):
    title: str


class ShelfYear(Key):
    shelf: str
    year: int


class Title(SortKey):
    title: str


class Document(Entity):
    key = Keys(DocumentPK, HeadSK)
    by_owner = ArchiveTable.owners.keys(OwnerPK, StoredSK, fetch=True)
    by_title = ArchiveTable.titles.keys(TitlePK)
    by_year = ArchiveTable.years.keys(ShelfYear, Title)

    document_id: DocumentId
    owner_id: str
    title: str
    shelf: str
    year: int
    size_bytes: int
    stored_at: datetime
    gone_at: Ttl = expires(days=90)


class Archive(Design):
    table = ArchiveTable
    entities = (Document,)
