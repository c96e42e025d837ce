"""Updates reach who listens, as notifications are stored; who is slow loses the oldest, and is told."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Event, Thread

from singletable_systems.perfectit.model.entities import Notification
from singletable_systems.perfectit.model.keys import CardId, NotificationId, UserId
from singletable_systems.perfectit.reactions.updates import LocalUpdates, Missed, Subscription
from systems.perfectit_cards import ADA, BOB, comment, consuming, drain, follow, opened, publish, vote

WAIT_S = 20.0


def notification(name: str, user_id: UserId = ADA) -> Notification:
    return Notification(
        notification_id=NotificationId(name),
        user_id=user_id,
        type="vote",
        card_id=CardId("c1"),
        target_id="c1",
        created_at=datetime(2025, 1, 1, tzinfo=UTC),
    )


def waiting(subscription: Subscription) -> list[str | int]:
    """Take everything that waits: the ids of notifications, and how many were missed."""
    taken: list[str | int] = []
    while (update := subscription.next(0)) is not None:
        taken.append(update.count if isinstance(update, Missed) else update.notification_id)
    return taken


def test_update_reaches_all_subscriptions_of_its_user_and_no_other() -> None:
    updates = LocalUpdates()
    with updates.subscribe(ADA) as phone, updates.subscribe(ADA) as laptop, updates.subscribe(BOB) as other:
        updates.publish(ADA, notification("n1"))
        updates.publish(UserId("nobody"), notification("n2"))
        assert waiting(phone) == waiting(laptop) == ["n1"]
        assert waiting(other) == []


def test_updates_come_in_their_order() -> None:
    updates = LocalUpdates()
    with updates.subscribe(ADA) as subscription:
        for number in range(5):
            updates.publish(ADA, notification(f"n{number}"))
        assert waiting(subscription) == ["n0", "n1", "n2", "n3", "n4"]


def test_slow_subscriber_loses_the_oldest_and_is_told_how_many() -> None:
    updates = LocalUpdates(waiting_max=3)
    with updates.subscribe(ADA) as slow, updates.subscribe(ADA) as quick:
        for number in range(7):
            updates.publish(ADA, notification(f"n{number}"))
            assert waiting(quick) == [f"n{number}"]
        assert waiting(slow) == [4, "n4", "n5", "n6"]
        updates.publish(ADA, notification("n7"))
        assert waiting(slow) == ["n7"]


def test_nothing_waits_for_who_has_left() -> None:
    updates = LocalUpdates()
    first, second = updates.subscribe(ADA), updates.subscribe(ADA)
    updates.publish(ADA, notification("n1"))
    first.close()
    first.close()
    updates.publish(ADA, notification("n2"))
    assert waiting(first) == ["n1"]
    assert list(first) == []
    assert waiting(second) == ["n1", "n2"]
    second.close()
    updates.publish(ADA, notification("n3"))
    assert waiting(second) == []


def test_iterator_waits_for_updates_and_ends_when_it_is_closed_elsewhere() -> None:
    updates = LocalUpdates()
    subscription = updates.subscribe(ADA)
    taken: list[str] = []
    has_taken = Event()

    def listen() -> None:
        for update in subscription:
            assert isinstance(update, Notification)
            taken.append(update.notification_id)
            has_taken.set()

    thread = Thread(target=listen)
    thread.start()
    updates.publish(ADA, notification("n1"))
    assert has_taken.wait(WAIT_S)
    subscription.close()
    thread.join(WAIT_S)
    assert not thread.is_alive()
    assert taken == ["n1"]


def test_who_publishes_from_many_threads_loses_nothing() -> None:
    updates = LocalUpdates(waiting_max=1000)
    with updates.subscribe(ADA) as subscription:

        def publish_many(number: int) -> None:
            for each in range(100):
                updates.publish(ADA, notification(f"n{number}-{each}"))

        threads = [Thread(target=publish_many, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(waiting(subscription))) == 400


# --- fed by the dispatcher ------------------------------------------------------------------------------------


def test_author_who_listens_is_told_when_something_happens() -> None:
    with opened() as db:
        updates = db.updates
        assert isinstance(updates, LocalUpdates)
        with updates.subscribe(ADA) as ada, updates.subscribe(BOB) as bob, consuming(db) as consumer:
            publish(db)
            said = comment(db, "k1")
            drain(consumer)
            assert waiting(ada) == ["comment-k1"]
            vote(db, by=ADA, on=said)
            drain(consumer)
            assert waiting(bob) == ["vote-ada-k1"]
            assert waiting(ada) == []


def test_notification_that_is_read_or_taken_back_is_no_update() -> None:
    with opened() as db:
        updates = db.updates
        assert isinstance(updates, LocalUpdates)
        publish(db)
        comment(db, "k1")
        vote(db)
        follow(db)
        with updates.subscribe(ADA) as ada:
            for each in list(db.unread(ADA).all()):
                db.update(db.notification(ADA, each.created_at, each.notification_id), is_read=True)
            db.delete(db.vote(BOB, CardId("c1")))
            follow(db)
            assert waiting(ada) == []


def test_update_of_a_record_that_comes_again_has_the_same_id() -> None:
    with opened() as db:
        updates = db.updates
        assert isinstance(updates, LocalUpdates)
        with updates.subscribe(ADA) as ada:
            publish(db)
            comment(db, "k1")
            follow(db)
            follow(db, name="again")
            assert set(waiting(ada)) == {"comment-k1"}


def test_designs_have_updates_of_their_own() -> None:
    with opened() as first, opened() as second:
        assert first.updates is not second.updates
