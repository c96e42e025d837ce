"""Bands: owners that count what they own, at once or by the stream, and fans who are found by another field."""

from __future__ import annotations

from typing import Annotated

from singletable.design import CountOf, Design, Entity, Key, Keys, SortKey, Table, Version


class BandTable(Table):
    name = "bands"


class BandPK(Key, template="BAND#{band_id}"):
    band_id: str


class BandSK(SortKey, template="BAND"):
    pass


class SongSK(SortKey, template="SONG#{song_id}"):
    song_id: str


class GigSK(SortKey, template="GIG#{gig_id}"):
    gig_id: str


class FanPK(Key, template="FANS#{fan_club}#{band_id}"):
    fan_club: str
    band_id: str


class FanSK(SortKey, template="FAN#{name}"):
    name: str


class Band(Entity, owns=("Song", "Gig", "Fan")):
    key = Keys(BandPK, BandSK)

    band_id: str
    fan_club: str | None = None
    songs: Annotated[int, CountOf("Song")] = 0
    gigs: Annotated[int, CountOf("Gig", by="stream")] = 0
    version: Version = 0


class Song(Entity):
    key = Keys(BandPK, SongSK)

    band_id: str
    song_id: str
    title: str = ""


class Gig(Entity):
    key = Keys(BandPK, GigSK)

    band_id: str
    gig_id: str


class Fan(Entity):
    key = Keys(FanPK, FanSK)

    fan_club: str
    band_id: str
    name: str


class Bands(Design):
    table = BandTable
    entities = (Band, Song, Gig, Fan)
