"""DynamoDB's published limits (AWS developer guide, "Quotas" and "Constraints"), and our own bounds."""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * 1024

# --- items and keys -----------------------------------------------------------
ITEM_BYTES_MAX: Final = 400 * KIB
PARTITION_KEY_BYTES_MAX: Final = 2048
SORT_KEY_BYTES_MAX: Final = 1024
ATTRIBUTE_NAME_BYTES_MAX: Final = 64 * KIB - 1
NESTING_LEVELS_MAX: Final = 32

# --- numbers --------------------------------------------------------------------
NUMBER_DIGITS_MAX: Final = 38
NUMBER_EXPONENT_MAX: Final = 125  # of the first digit: up to 9.99…E+125
NUMBER_EXPONENT_MIN: Final = -130

# --- expressions ------------------------------------------------------------------
EXPRESSION_BYTES_MAX: Final = 4 * KIB
EXPRESSION_OPERATORS_MAX: Final = 300
EXPRESSION_NESTING_MAX: Final = 32
IN_OPERANDS_MAX: Final = 100
SUBSTITUTION_BYTES_MAX: Final = 2 * MIB
PLACEHOLDER_BYTES_MAX: Final = 255
EXPRESSION_CACHE_ENTRIES_MAX: Final = 1024

# --- requests -----------------------------------------------------------------------
PAGE_BYTES_MAX: Final = MIB
BATCH_GET_ITEMS_MAX: Final = 100
BATCH_GET_BYTES_MAX: Final = 16 * MIB
BATCH_WRITE_ITEMS_MAX: Final = 25
TRANSACTION_BYTES_MAX: Final = 4 * MIB
TRANSACTION_TOKEN_S: Final = 10 * 60
LIST_TABLES_MAX: Final = 100
REQUEST_BYTES_MAX: Final = 16 * MIB

# --- tables ---------------------------------------------------------------------------
GLOBAL_INDEXES_MAX: Final = 20
LOCAL_INDEXES_MAX: Final = 5
INDEX_KEY_ATTRIBUTES_MAX: Final = 4  # partition attributes of a global index, and as many sort attributes
PROJECTED_ATTRIBUTES_MAX: Final = 100
TABLE_UNITS_MAX: Final = 40_000  # read or write units of one table or index; the default of an account
ACCOUNT_UNITS_MAX: Final = 80_000  # told, and not held: one database is not all that an account has
ON_DEMAND_READ_UNITS: Final = 12_000  # what a table that is paid per request can do from the beginning
ON_DEMAND_WRITE_UNITS: Final = 4_000
TAGS_MAX: Final = 50
TAG_KEY_LENGTH_MAX: Final = 128
TAG_VALUE_LENGTH_MAX: Final = 256
TAG_SET_BYTES_MAX: Final = 10 * KIB

# --- streams, time to live, recovery, backups -----------------------------------------------
STREAM_KEPT_S: Final = 24 * 3600  # of a record, and of a stream that has ended
SHARD_OPEN_S: Final = 4 * 3600  # then others follow it
STREAM_RECORDS_MAX: Final = 1_000  # that one GetRecords answers
LIST_STREAMS_MAX: Final = 100
DESCRIBE_SHARDS_MAX: Final = 100  # that one DescribeStream answers
STREAM_BYTES_MAX: Final = MIB
ITERATOR_KEPT_S: Final = 15 * 60
TTL_CHANGE_S: Final = 3600  # for which a table's time to live cannot be changed again
TTL_AGE_S_MAX: Final = 5 * 365 * 24 * 3600  # items that expired before that stay
RECOVERY_DAYS_MAX: Final = 35
LIST_BACKUPS_MAX: Final = 100
SYSTEM_BACKUP_S: Final = 35 * 24 * 3600  # for which the backup of a deleted table is kept

# --- our own bounds ---------------------------------------------------------------------
WRITE_GROUP_MAX: Final = 64  # requests that share one COMMIT
WRITE_PIECE_BYTES_MAX: Final = MIB  # of a large batch that are written in one transaction
SHORT_TRANSACTION_BYTES: Final = 256 * KIB  # of items that a group reads while the event loop waits for it
IDLE_READERS_MAX: Final = 8  # read connections kept open between requests
INDEX_DELAY_S_MAX: Final = 3600
TTL_SWEEP_S_MIN: Final = 0.01  # between two looks for items that have expired
TTL_SWEEP_S_MAX: Final = 48 * 3600  # "typically … within two days of expiration" (AWS guide, "TTL")
SCRUB_MIB_S_MAX: Final = 4096  # more than a disk gives
LAGGING_CHANGES_MAX: Final = 10_000  # that delayed indexes hold back
LAGGING_BYTES_MAX: Final = 64 * MIB  # of the items and keys of those changes
BACKGROUND_HOLD_US_MAX: Final = 50_000  # the longest a background piece may hold the writer
BACKGROUND_PIECE_US: Final = 4_000  # of what nobody waits for: sweeping and trimming
SHARD_RECORDS_MAX: Final = 10_000  # of a shard that others of its stream then follow
SMALL_BACKUP_BYTES: Final = 8 * MIB  # of items that are backed up before the request is answered
SMALL_BACKUP_FILE_BYTES: Final = 64 * MIB  # that are verified before the request to restore them is answered
BACKUPS_TOGETHER_MAX: Final = 100  # that are made of one moment: each has four files open
LOST_BACKUP_S: Final = 24 * 3600  # after which the file of a backup without a description is removed
HOLDER_WAIT_S: Final = 30.0  # for a process that holds the write lock and works
STOPPED_HOLDER_WAIT_S: Final = 2.0  # for one that holds it and was stopped: it may never go on
SHARDS_OPEN_MAX: Final = 8  # of one stream
CONSUMER_HOLD_S: Final = 7 * 24 * 3600  # for which a consumer that is behind holds back the log
CONSUMER_LEASE_S: Final = 10  # for which one process runs the handler of a consumer, until it is renewed
CONSUMER_LEASE_S_MAX: Final = 3600
CONSUMER_BATCH_MAX: Final = 10_000  # records that a handler is given at once, as of AWS Lambda
CONSUMER_BATCH_BYTES_MAX: Final = 6 * MIB  # of their images, as of an event of AWS Lambda
CONSUMER_NAME_LENGTH_MAX: Final = 255
