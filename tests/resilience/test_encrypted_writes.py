"""Writes that fail below the cipher: what the tests of plain files ask, asked of encrypted ones."""

# ruff: noqa: F401
from __future__ import annotations

from resilience.test_encrypted_files import encrypted
from resilience.test_faults_disk import (
    FAULTS,
    template,
    test_checkpoint_that_finds_no_room_fails_no_request,
    test_database_goes_on_after_twenty_failures,
    test_fault_anywhere_while_a_database_is_made_leaves_one_that_opens,
    test_fault_at_every_write_is_survived,
    test_full_disk_is_said_to_be_full,
)
