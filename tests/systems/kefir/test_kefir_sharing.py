"""Sharing: everybody sees what is shared while it is shared, and never whose it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable_systems.kefir.errors import BatchNotFoundError
from singletable_systems.kefir.model.keys import BatchId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.shared_batches import SharedBatch, Sharing
from support.targets import TARGETS
from systems.kefir_users import ADA, BO, opened_kefir, sign_up, start


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Kefir]:
    with opened_kefir(request.param, ManualClock()) as db:
        sign_up(db, ADA)
        yield db


def test_shared_batch_is_seen_with_its_note(db: Kefir) -> None:
    batch = start(db, ADA, fruits="plum")
    sharing = Sharing(db)
    assert sharing.share(ADA, batch.batch_id, "Sour, and good").is_public
    seen = sharing.shared(batch.batch_id)
    assert (seen.name, seen.fruits, seen.public_note) == ("Apricot", "plum", "Sour, and good")
    assert (seen.sugar_grams, seen.start_time) == (batch.sugar_grams, batch.start_time)


def test_view_of_everybody_does_not_say_whose_it_is(db: Kefir) -> None:
    batch = start(db, ADA)
    Sharing(db).share(ADA, batch.batch_id)
    shown = Sharing(db).shared(batch.batch_id).model_dump_json()
    assert ADA not in shown.replace(batch.batch_id, "")  # which is random, and may hold these letters
    private = {"user_id", "is_public", "created_at", "updated_at", "archived_at", "version"}
    assert set(SharedBatch.model_fields) == set(type(batch).model_fields) - private


def test_sharing_again_replaces_the_note(db: Kefir) -> None:
    batch = start(db, ADA)
    sharing = Sharing(db)
    sharing.share(ADA, batch.batch_id, "one")
    sharing.share(ADA, batch.batch_id, "two")
    assert sharing.shared(batch.batch_id).public_note == "two"
    sharing.share(ADA, batch.batch_id)
    assert sharing.shared(batch.batch_id).public_note is None


def test_batch_that_is_not_shared_is_not_there(db: Kefir) -> None:
    batch = start(db, ADA)
    sharing = Sharing(db)
    for batch_id in (batch.batch_id, BatchId("no such batch")):
        with pytest.raises(BatchNotFoundError, match=f"there is no batch {batch_id}"):
            sharing.shared(batch_id)
    sharing.share(ADA, batch.batch_id, "note")
    for _ in range(2):
        sharing.unshare(ADA, batch.batch_id)
    with pytest.raises(BatchNotFoundError):
        sharing.shared(batch.batch_id)
    stored = db.own_batch(ADA, batch.batch_id).one()
    assert (stored.is_public, stored.public_note) == (False, None)


def test_only_the_owner_shares(db: Kefir) -> None:
    sign_up(db, BO)
    batch = start(db, ADA)
    with pytest.raises(BatchNotFoundError):
        Sharing(db).share(BO, batch.batch_id)
    Sharing(db).share(ADA, batch.batch_id)
    with pytest.raises(BatchNotFoundError):
        Sharing(db).unshare(BO, batch.batch_id)
    assert Sharing(db).shared(batch.batch_id).name == batch.name


def test_what_is_taken_back_is_gone_at_once_though_the_index_lags() -> None:
    clock = ManualClock()
    with Database.open(":memory:", clock=clock, index_delay_s=5) as database:
        db = Kefir.open(database, clock=clock)
        sign_up(db, ADA)
        batch = start(db, ADA)
        sharing = Sharing(db)
        sharing.share(ADA, batch.batch_id)
        clock.advance(10)
        assert sharing.shared(batch.batch_id).name == batch.name
        sharing.unshare(ADA, batch.batch_id)
        assert db.public_batch(batch.batch_id).maybe() is not None
        with pytest.raises(BatchNotFoundError):
            sharing.shared(batch.batch_id)
