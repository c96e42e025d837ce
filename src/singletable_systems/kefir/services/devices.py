"""Devices: the phones and browsers that are told of reminders. A push token is of one device."""

from __future__ import annotations

from typing import Final

from singletable import Check, Delete, Eq, Put, Update
from singletable.errors import ConditionNotMetError, DuplicateError, NotFoundError
from singletable.systems import decide_again
from singletable_systems.kefir.errors import DeviceNotFoundError, UserNotFoundError
from singletable_systems.kefir.model.entities import Device, DeviceInfo, Platform
from singletable_systems.kefir.model.keys import DeviceId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir

_RACES: Final = (ConditionNotMetError, DuplicateError, NotFoundError)


class Devices:
    """The things that the app does with the device it runs on."""

    def __init__(self, db: Kefir) -> None:
        self._db = db

    def register(
        self,
        user_id: UserId,
        device_id: DeviceId,
        *,
        platform: Platform,
        push_token: str,
        device_info: DeviceInfo | None = None,
    ) -> Device:
        """Register a device, or bring it up to date. To do so at every start of the app is right.

        A push token belongs to one device. If another device, or another user of this device, has the token,
        their item is deleted in the same transaction, so that nobody reads the reminders of others. Without a
        `device_info`, the stored one is kept.
        """
        device = Device(
            device_id=device_id,
            user_id=user_id,
            platform=platform,
            push_token=push_token,
            device_info=device_info,
            last_seen_at=self._db.now(),
        )
        # Somebody else may be faster, with this device or this token.
        return decide_again(lambda: self._write(device), after=_RACES)

    def _write(self, device: Device) -> Device:
        """Write a device, decided by the stored one; refused if that changes meanwhile."""
        user = Check(self._db.user(device.user_id))
        stored = self._db.device(device.user_id, device.device_id).consistent().maybe()
        writes = [*self._others_with(device.push_token, device), _put_or_update(stored, device)]
        try:
            *_, written = self._db.transaction(user, *writes).entity
        except _RACES as error:
            if self._db.user(device.user_id).maybe() is None:
                raise UserNotFoundError(device.user_id) from error
            raise
        assert isinstance(written, Device)
        return written

    def _others_with(self, push_token: str, device: Device) -> list[Delete[Device]]:
        holder = self._db.device_by_push_token(push_token).maybe()
        if holder is None or (holder.user_id, holder.device_id) == (device.user_id, device.device_id):
            return []
        return [Delete(holder, when=Eq("push_token", push_token))]

    def seen(self, user_id: UserId, device_id: DeviceId) -> Device:
        """Note that a device is in use; one that is silent for too long is deleted."""
        try:
            return self._db.update(self._db.device(user_id, device_id), last_seen_at=self._db.now()).entity
        except NotFoundError as error:
            raise DeviceNotFoundError(device_id) from error

    def forget(self, user_id: UserId, device_id: DeviceId) -> None:
        """Delete a device, as when somebody signs out. One that is gone already is no error."""
        self._db.delete(self._db.device(user_id, device_id))


def _put_or_update(stored: Device | None, device: Device) -> Put[Device] | Update[Device]:
    if stored is None:
        # A create would meet a device that has expired and is not swept yet.
        return Put(device)
    return Update(
        stored,
        platform=device.platform,
        push_token=device.push_token,
        device_info=device.device_info or stored.device_info,
        last_seen_at=device.last_seen_at,
    )
