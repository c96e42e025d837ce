"""Real-time updates: notifications are published to subscribers as they are stored.

Code in the process of the dispatcher subscribes to `LocalUpdates`. Another channel, such as web sockets, is
another class with the one method. An update may come twice, with the same notification id.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Condition, Lock
from types import TracebackType
from typing import Final, Protocol, Self

from singletable_systems.perfectit.model.entities import Notification
from singletable_systems.perfectit.model.keys import UserId

WAITING_MAX: Final = 100


class Updates(Protocol):
    """Publishes notifications to users. A call that raises is retried, and holds up other changes meanwhile."""

    def publish(self, user_id: UserId, notification: Notification) -> None:
        """Hand a notification on to the devices of a user, if any listens."""
        ...


@dataclass(frozen=True, slots=True)
class Missed:
    """So many updates were dropped, because nobody took them: they can be read from the table."""

    count: int


class Subscription:
    """The updates of one user, as an iterator that waits. Close it, from any thread, and it comes to its end."""

    def __init__(self, updates: LocalUpdates, user_id: UserId, waiting_max: int) -> None:
        self.user_id = user_id
        self._updates = updates
        self._waiting_max = waiting_max
        self._waiting: deque[Notification] = deque()
        self._missed = 0
        self._is_closed = False
        self._changed = Condition()

    def next(self, timeout_s: float | None = None) -> Notification | Missed | None:
        """Return the next update; None if there is none within so many seconds, or never one again."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed, timeout_s)
            if self._missed:
                missed, self._missed = Missed(self._missed), 0
                return missed
            return self._waiting.popleft() if self._waiting else None

    def __iter__(self) -> Iterator[Notification | Missed]:
        while (update := self.next()) is not None:
            yield update

    def close(self) -> None:
        """Listen no longer. Updates that are waiting can still be taken."""
        self._updates.forget(self)
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def put(self, notification: Notification) -> None:
        """Queue an update. A subscriber that is too slow loses the oldest ones, and gets their number."""
        with self._changed:
            if len(self._waiting) == self._waiting_max:
                self._waiting.popleft()
                self._missed += 1
            self._waiting.append(notification)
            self._changed.notify()


class LocalUpdates:
    """Publishes updates inside this process. Publishing never waits for subscribers."""

    def __init__(self, *, waiting_max: int = WAITING_MAX) -> None:
        self._waiting_max = waiting_max
        self._lock = Lock()
        self._subscriptions: dict[UserId, list[Subscription]] = {}

    def subscribe(self, user_id: UserId) -> Subscription:
        """Listen to the updates of a user from now on, until the subscription is closed."""
        subscription = Subscription(self, user_id, self._waiting_max)
        with self._lock:
            self._subscriptions.setdefault(user_id, []).append(subscription)
        return subscription

    def publish(self, user_id: UserId, notification: Notification) -> None:
        """Hand a notification on to all subscriptions of a user."""
        with self._lock:
            listening = list(self._subscriptions.get(user_id, ()))
        for each in listening:
            each.put(notification)

    def forget(self, subscription: Subscription) -> None:
        """Hand nothing on to a subscription any longer."""
        with self._lock:
            others = [
                each for each in self._subscriptions.get(subscription.user_id, ()) if each is not subscription
            ]
            if others:
                self._subscriptions[subscription.user_id] = others
            else:
                self._subscriptions.pop(subscription.user_id, None)
