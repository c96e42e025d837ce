"""Kefir as it is opened: the design, with the handler of its changes."""

from __future__ import annotations

from collections.abc import Iterator

from singletable import Change, Update, on
from singletable_systems.kefir.model.design import KefirDesign
from singletable_systems.kefir.model.entities import Reminder
from singletable_systems.kefir.reactions.schedules import LocalScheduler, Scheduler, schedule_name


class Kefir(KefirDesign):
    """Batches of water kefir, their timelines, reminders and devices."""

    def __init__(self) -> None:
        self.scheduler: Scheduler = LocalScheduler()

    @on(Reminder, "status", "due_at", sends=("eventbridge-scheduler",))
    def keep_schedule(self, change: Change[Reminder]) -> Iterator[Update[Reminder]]:
        """Give a pending reminder its schedule, and take that of every other one away. Repairs KF-26, KF-19.

        A stream is late, and may deliver a record twice. So the handler reads the reminder as it is now: after
        the last record, the schedule is right. It stores an ARN, which is not among the fields that it watches.

        A moment that is over gets no schedule: AWS does not say whether an at() in the past is refused or never
        runs. The dispatcher finds the reminder in its queue, like every reminder that a scheduler misses.
        """
        batch_id, reminder_id = change.entity.batch_id, change.entity.reminder_id
        name = schedule_name(batch_id, reminder_id)
        stored = self.reminder(batch_id, reminder_id)
        reminder = stored.maybe()
        arn: str | None = None
        if reminder is not None and reminder.status == "pending" and reminder.due_at > self.now():
            payload = {"batchId": batch_id, "reminderId": reminder_id}
            arn = self.scheduler.schedule(name, reminder.due_at, payload) or None
        else:
            self.scheduler.cancel(name)
        if reminder is not None and reminder.scheduler_arn != arn:
            yield Update(stored, scheduler_arn=arn)
