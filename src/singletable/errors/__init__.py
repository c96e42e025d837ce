"""Every error that this package raises on purpose. Those with a number have a page docs/errors/STnnn.md each.

SingleTableError
├── ApiError                               what DynamoDB itself would answer, by its code (docs/errors/api.md)
│   ├── ValidationError
│   ├── SerializationError
│   ├── UnknownOperationError
│   ├── AccessDeniedError
│   ├── ConditionFailedError
│   ├── TransactionCanceledError
│   ├── IdempotentParameterMismatchError
│   ├── ResourceNotFoundError
│   ├── ResourceInUseError
│   ├── LimitExceededError
│   ├── TableAlreadyExistsError
│   ├── TableNotFoundError
│   ├── TableInUseError
│   ├── BackupNotFoundError
│   ├── BackupInUseError
│   ├── InvalidRestoreTimeError
│   ├── RecoveryUnavailableError
│   ├── ContinuousBackupsUnavailableError
│   ├── ExpiredIteratorError
│   ├── TrimmedDataAccessError
│   ├── ThrottledError                     only where throttling was asked for
│   │   ├── ThroughputExceededError
│   │   └── ThrottlingError
│   ├── InternalServerError
│   └── OtherApiError                      a code that only other services answer
├── TargetError                     ST504  the way to the service, not the request
│   ├── UnknownTargetError          ST505  what was to be opened is no target
│   ├── TargetUnreachableError      ST506  nobody answers
│   ├── NotDynamoDbError            ST507  what answers does not speak DynamoDB's protocol
│   ├── CredentialsMissingError     ST508  there are no credentials
│   ├── CredentialsInvalidError     ST509  the service does not know the credentials
│   │   └── CredentialsExpiredError ST510  they were good for a while
│   ├── SignatureError              ST511  the service does not take the signature
│   ├── Boto3MissingError           ST512  boto3 is not installed
│   └── TargetThrottledError        ST513  throttling that does not end; a ThrottledError too
├── ConsumerError                   ST701  a consumer of changes, not a request
│   ├── NotLoggedError              ST702  the changes of the table are not logged
│   ├── ConsumerBusyError           ST703  another one runs its handler
│   └── ConsumerEndedError          ST704  it was stopped, or what it reads is gone
├── DatabaseError                   ST801  the file or the process, not the request
│   ├── NotADatabaseError           ST802  the file is no database
│   ├── NewerFormatError            ST803  a newer release wrote the file
│   ├── CorruptDatabaseError        ST804  the file is damaged
│   ├── ReadOnlyDatabaseError       ST805  the file cannot be written
│   ├── DiskFullError               ST806  no room on the disk
│   ├── StorageFailedError          ST807  the operating system reported an error
│   ├── DatabaseBusyError           ST808  another process held the write lock
│   ├── DatabaseClosedError         ST809  the database was closed
│   ├── ForkedDatabaseError         ST810  a database in memory, in a forked child
│   ├── FileMovedError              ST811  the file was moved or overwritten while it was open
│   ├── ForeignLogError             ST812  the write-ahead log beside the file belongs to another one
│   ├── DamagedDataError            ST813  a page of the file is damaged; the rest of it is served
│   └── FileKeyError                ST814  the key of an encrypted file is missing, or another one
└── DesignError                            a design, or its use
    ├── DeclarationError            ST101  a class that cannot mean what it says; raised when it is created
    ├── UnknownFieldError           ST201  a field that the entity does not have
    ├── MissingKeyPartError         ST202  a key cannot be built whole
    ├── SeparatorError              ST203  a value holds the separator of its key's template
    ├── KeyValueError               ST204  a value that a key cannot hold
    ├── ItemTooLargeError           ST205  an item over 400 KB
    ├── InvalidItemError            ST207  a stored item that is not what the entity says
    ├── InvalidWriteError           ST208  writes that cannot be carried out together
    ├── NotProjectedError           ST209  what an index does not hold of an item
    ├── ConditionValueError         ST210  a condition on a value that the field can never have
    ├── AlreadyExistsError          ST301  `create` of what is there
    ├── NotFoundError               ST302  nothing has this key
    ├── VersionConflictError        ST303  somebody else has changed the item
    ├── DuplicateError              ST304  a value that must be unique is taken
    ├── ConditionNotMetError        ST305  a condition of the caller does not hold
    ├── CursorError                 ST401  no cursor of ours, or one that was changed
    ├── CursorMismatchError         ST402  a cursor of another query
    ├── ConsistencyError            ST403  a consistent read of an index
    ├── SeveralFoundError           ST404  more than the one that was asked for
    ├── TableMissingError           ST501  the design's table is not there
    ├── IndexMissingError           ST514  the table does not have the index, or not yet
    ├── TableDiffersError           ST502  the table is not as the design says
    ├── CapabilityError             ST503  the target cannot do this
    ├── MigrationError              ST601  a migration cannot go on
    │   ├── PlanBlockedError        ST602  a change of a design that no step can decide
    │   └── StrangeItemsError       ST603  items of no entity
    └── StackError                  ST901  no stack can be made of a design
        └── ReplacementError        ST902  a new version would replace a table or drop an index

LargeItemWarning                    ST206  an item over 100 KB
"""

from __future__ import annotations

from singletable.errors.api import (
    INVALID,
    ONE_ERROR,
    AccessDeniedError,
    ApiError,
    BackupInUseError,
    BackupNotFoundError,
    CancellationReason,
    ConditionFailedError,
    ContinuousBackupsUnavailableError,
    ExpiredIteratorError,
    IdempotentParameterMismatchError,
    InternalServerError,
    InvalidRestoreTimeError,
    Item,
    LimitExceededError,
    OtherApiError,
    RecoveryUnavailableError,
    ResourceInUseError,
    ResourceNotFoundError,
    SerializationError,
    TableAlreadyExistsError,
    TableInUseError,
    TableNotFoundError,
    ThrottledError,
    ThrottlingError,
    ThrottlingReason,
    ThroughputExceededError,
    TransactionCanceledError,
    TrimmedDataAccessError,
    UnknownOperationError,
    ValidationError,
)
from singletable.errors.base import (
    SingleTableError,
)
from singletable.errors.consumers import (
    ConsumerBusyError,
    ConsumerEndedError,
    ConsumerError,
    NotLoggedError,
)
from singletable.errors.databases import (
    CorruptDatabaseError,
    DamagedDataError,
    DatabaseBusyError,
    DatabaseClosedError,
    DatabaseError,
    DiskFullError,
    FileKeyError,
    FileMovedError,
    ForeignLogError,
    ForkedDatabaseError,
    NewerFormatError,
    NotADatabaseError,
    ReadOnlyDatabaseError,
    StorageFailedError,
)
from singletable.errors.designs import (
    AlreadyExistsError,
    CapabilityError,
    ConditionNotMetError,
    ConditionValueError,
    ConsistencyError,
    CursorError,
    CursorMismatchError,
    DeclarationError,
    DesignError,
    DuplicateError,
    IndexMissingError,
    InvalidItemError,
    InvalidWriteError,
    ItemTooLargeError,
    KeyValueError,
    LargeItemWarning,
    MigrationError,
    MissingKeyPartError,
    NotFoundError,
    NotProjectedError,
    PlanBlockedError,
    ReplacementError,
    SeparatorError,
    SeveralFoundError,
    StackError,
    StrangeItemsError,
    TableDiffersError,
    TableMissingError,
    UnknownFieldError,
    VersionConflictError,
)
from singletable.errors.targets import (
    Boto3MissingError,
    CredentialsExpiredError,
    CredentialsInvalidError,
    CredentialsMissingError,
    NotDynamoDbError,
    SignatureError,
    TargetError,
    TargetThrottledError,
    TargetUnreachableError,
    UnknownTargetError,
)

__all__ = [
    "INVALID",
    "ONE_ERROR",
    "AccessDeniedError",
    "AlreadyExistsError",
    "ApiError",
    "BackupInUseError",
    "BackupNotFoundError",
    "Boto3MissingError",
    "CancellationReason",
    "CapabilityError",
    "ConditionFailedError",
    "ConditionNotMetError",
    "ConditionValueError",
    "ConsistencyError",
    "ConsumerBusyError",
    "ConsumerEndedError",
    "ConsumerError",
    "ContinuousBackupsUnavailableError",
    "CorruptDatabaseError",
    "CredentialsExpiredError",
    "CredentialsInvalidError",
    "CredentialsMissingError",
    "CursorError",
    "CursorMismatchError",
    "DamagedDataError",
    "DatabaseBusyError",
    "DatabaseClosedError",
    "DatabaseError",
    "DeclarationError",
    "DesignError",
    "DiskFullError",
    "DuplicateError",
    "ExpiredIteratorError",
    "FileKeyError",
    "FileMovedError",
    "ForeignLogError",
    "ForkedDatabaseError",
    "IdempotentParameterMismatchError",
    "IndexMissingError",
    "InternalServerError",
    "InvalidItemError",
    "InvalidRestoreTimeError",
    "InvalidWriteError",
    "Item",
    "ItemTooLargeError",
    "KeyValueError",
    "LargeItemWarning",
    "LimitExceededError",
    "MigrationError",
    "MissingKeyPartError",
    "NewerFormatError",
    "NotADatabaseError",
    "NotDynamoDbError",
    "NotFoundError",
    "NotLoggedError",
    "NotProjectedError",
    "OtherApiError",
    "PlanBlockedError",
    "ReadOnlyDatabaseError",
    "RecoveryUnavailableError",
    "ReplacementError",
    "ResourceInUseError",
    "ResourceNotFoundError",
    "SeparatorError",
    "SerializationError",
    "SeveralFoundError",
    "SignatureError",
    "SingleTableError",
    "StackError",
    "StorageFailedError",
    "StrangeItemsError",
    "TableAlreadyExistsError",
    "TableDiffersError",
    "TableInUseError",
    "TableMissingError",
    "TableNotFoundError",
    "TargetError",
    "TargetThrottledError",
    "TargetUnreachableError",
    "ThrottledError",
    "ThrottlingError",
    "ThrottlingReason",
    "ThroughputExceededError",
    "TransactionCanceledError",
    "TrimmedDataAccessError",
    "UnknownFieldError",
    "UnknownOperationError",
    "UnknownTargetError",
    "ValidationError",
    "VersionConflictError",
]

# Users know them by where they import them from, and so do tracebacks.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
