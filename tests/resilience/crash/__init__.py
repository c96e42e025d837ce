"""Everything that breaks a database on purpose: kills, power cuts, failing disks, damaged files.

    workload        what the writers do: an operation for every (seed, writer, number)
    tables          the tables they write to
    perform         carry out an operation through the public API
    model           what the tables must hold after a number of operations
    logged_work     steps on a table with a log: writes, expiry, trimming, a consumer
    verify          compare a database with the model, its indexes with its tables, and check the file
    faulty_disk     writes and truncates that fail, or end the process, at a chosen call
    faulty_sync_vfs a VFS on which the sync of a commit fails
    almost_full_log a database in which the next checkpoint is near
    powercut_vfs    a disk that keeps only what was synced
    children        start, read, drive and kill other processes

and the programs that run as processes of their own:

    writer          several threads that report each acknowledged write
    kill_points     a workload that is killed at a chosen write, for many of them
    backfill        a writer beside an index that is being filled
    sweep           a writer beside a sweep of expired items
    trim            a writer beside a log that is trimmed
    restore         a writer beside tables that are being restored
    mixture         writers, consumers, expiry, views of the past and backups at once
    stepper         does one request at a time, as told over a pipe
    forking         what is tried around a fork
    unprivileged    opens a file without the powers of root
"""

from support import (
    encrypted_files as encrypted_files,
)  # a program that a test with encrypted files has started
