/* A layer below SQLite that gives every page of a database a checksum, and looks at it with every read.

   The last 8 bytes of a page of the file hold the sum of its other 4088 bytes and of its number, so a page that
   was changed, torn, zeroed or written to another place is not taken for the right one. A page is looked at once
   in a transaction, wherever it is read: copied (xRead), or where it lies in memory (xFetch). Pages in the
   write-ahead log have SQLite's own checksums, which SQLite looks at only after a crash; here they are compared
   with every read. What does not fit is SQLITE_IOERR_DATA, and never an answer.

   Another program may save the log into the file, as sqlite3 does when it closes a file of a process that was killed. Its
   pages have zeros for a sum, since those are in the log. They are taken as they are if their ends show that they are
   whole, or while page 2, of which every log has a version, has zeros too. They get their sums when the file is opened,
   by the scrub, and before page 2 gets its own.

   An encrypted file needs no sums: its cipher has a tag in every page. The layer of SQLite3 Multiple Ciphers loses read
   errors of the file below it, and goes on with what was in memory before: a log that could not be read would end there,
   and with it what was committed. So it stands between two layers of this module. The lower one keeps the error of a
   read, and spoils what was to be read, so that no tag fits it (`read_below_cipher`). The upper one returns the error
   of a log (`read_above_cipher`). It leaves the database itself to the cipher's layer, which must find its own object
   there: only then does it encrypt the log.

   docs/internals/integrity.md has the sum in words. The layer stands on any other one; it knows nothing of
   tables. A file without sums (an older format, or another program's) passes through it unchanged. */

#include <stdint.h>
#include <string.h>
#include <stdlib.h>

/* --- SQLite's interface, as far as it is used: https://www.sqlite.org/c3ref/vfs.html ---------------------- */

typedef int64_t sqlite3_int64;
typedef struct sqlite3_file sqlite3_file;
typedef struct sqlite3_vfs sqlite3_vfs;

typedef struct sqlite3_io_methods {
    int iVersion;
    int (*xClose)(sqlite3_file *);
    int (*xRead)(sqlite3_file *, void *, int, sqlite3_int64);
    int (*xWrite)(sqlite3_file *, const void *, int, sqlite3_int64);
    int (*xTruncate)(sqlite3_file *, sqlite3_int64);
    int (*xSync)(sqlite3_file *, int);
    int (*xFileSize)(sqlite3_file *, sqlite3_int64 *);
    int (*xLock)(sqlite3_file *, int);
    int (*xUnlock)(sqlite3_file *, int);
    int (*xCheckReservedLock)(sqlite3_file *, int *);
    int (*xFileControl)(sqlite3_file *, int, void *);
    int (*xSectorSize)(sqlite3_file *);
    int (*xDeviceCharacteristics)(sqlite3_file *);
    /* version 2 */
    int (*xShmMap)(sqlite3_file *, int, int, int, void volatile **);
    int (*xShmLock)(sqlite3_file *, int, int, int);
    void (*xShmBarrier)(sqlite3_file *);
    int (*xShmUnmap)(sqlite3_file *, int);
    /* version 3 */
    int (*xFetch)(sqlite3_file *, sqlite3_int64, int, void **);
    int (*xUnfetch)(sqlite3_file *, sqlite3_int64, void *);
} sqlite3_io_methods;

struct sqlite3_file {
    const sqlite3_io_methods *pMethods;
};

struct sqlite3_vfs {
    int iVersion;
    int szOsFile;
    int mxPathname;
    sqlite3_vfs *pNext;
    const char *zName;
    void *pAppData;
    int (*xOpen)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
    int (*xDelete)(sqlite3_vfs *, const char *, int);
    int (*xAccess)(sqlite3_vfs *, const char *, int, int *);
    int (*xFullPathname)(sqlite3_vfs *, const char *, int, char *);
    void *(*xDlOpen)(sqlite3_vfs *, const char *);
    void (*xDlError)(sqlite3_vfs *, int, char *);
    void (*(*xDlSym)(sqlite3_vfs *, void *, const char *))(void);
    void (*xDlClose)(sqlite3_vfs *, void *);
    int (*xRandomness)(sqlite3_vfs *, int, char *);
    int (*xSleep)(sqlite3_vfs *, int);
    int (*xCurrentTime)(sqlite3_vfs *, double *);
    int (*xGetLastError)(sqlite3_vfs *, int, char *);
    /* version 2 */
    int (*xCurrentTimeInt64)(sqlite3_vfs *, sqlite3_int64 *);
    /* version 3 */
    int (*xSetSystemCall)(sqlite3_vfs *, const char *, void (*)(void));
    void (*(*xGetSystemCall)(sqlite3_vfs *, const char *))(void);
    const char *(*xNextSystemCall)(sqlite3_vfs *, const char *);
};

/* The functions that SQLite hands to an extension. Their order is part of its interface: new ones come last. */
typedef struct sqlite3_api_routines {
    void (*before[141])(void);
    sqlite3_vfs *(*vfs_find)(const char *);
    int (*vfs_register)(sqlite3_vfs *, int);
} sqlite3_api_routines;

enum {
    SQLITE_OK = 0,
    SQLITE_NOMEM = 7,
    SQLITE_NOTFOUND = 12,
    SQLITE_OK_LOAD_PERMANENTLY = 256,
    SQLITE_IOERR_SHORT_READ = 10 | (2 << 8),
    SQLITE_IOERR_DATA = 10 | (32 << 8),
    SQLITE_OPEN_MAIN_DB = 0x100,
    SQLITE_OPEN_MAIN_JOURNAL = 0x800,
    SQLITE_OPEN_WAL = 0x80000,
    SQLITE_IOCAP_SUBPAGE_READ = 0x8000,
    SQLITE_SHM_LOCK = 2,
    SQLITE_SHM_SHARED = 4,
    SQLITE_SHM_UNLOCK = 1,
    SQLITE_SHM_EXCLUSIVE = 8,
    SQLITE_LOCK_SHARED = 1,
    SQLITE_SYNC_FULL = 3,
    CHECKPOINT_LOCK = 1 /* which of the locks of the shared memory who saves the log holds */
};

/* --- the sum of a page ------------------------------------------------------------------------------------ */

enum {
    PAGE_BYTES = 4096,
    SUM_BYTES = 8,
    LANES = 8,
    ROUNDS = PAGE_BYTES / 8 / LANES,
    HEADER_BYTES = 100,
    LOG_HEADER_BYTES = 32,
    FRAME_HEADER_BYTES = 24,
    ZEROS_MAX = 16,    /* that a page of a table or index ends with, before its sum */
    SEEN_PAGES = 4096, /* a power of two */
    FIRST_FORMAT = 4,  /* of singletable, with sums */
    LAST_FORMAT = 4
};
#define LOCK_PAGE ((1 << 30) / PAGE_BYTES + 1) /* SQLite locks its bytes, and never writes it */
#define MARKED_OFFSET PAGE_BYTES           /* of page 2, which every log has a version of */
#define FRAME_BYTES ((sqlite3_int64)FRAME_HEADER_BYTES + PAGE_BYTES)

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define IS_BIG_ENDIAN 1
#define LITTLE(x) __builtin_bswap64(x)
#else
#define IS_BIG_ENDIAN 0
#define LITTLE(x) (x)
#endif

/* Eight running sums of the page's words, and eight sums of those sums, in the manner of Fletcher: an order that
   processors add up eight at a time. The page's number stands in the place of the sum. */
static uint64_t page_sum(const unsigned char *page, uint64_t number) {
    uint64_t a[LANES] = {0}, b[LANES] = {0}, w[LANES], sum = 0x5354423153756D73u;
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(w, page + round * LANES * 8, sizeof w);
        if (round == ROUNDS - 1) w[LANES - 1] = LITTLE(number);
        for (int lane = 0; lane < LANES; lane++) {
            a[lane] += LITTLE(w[lane]);
            b[lane] += a[lane];
        }
    }
    for (int lane = 0; lane < LANES; lane++) {
        sum = (sum ^ a[lane]) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 29;
        sum = (sum ^ b[lane]) * 0xBF58476D1CE4E5B9u;
        sum ^= sum >> 32;
    }
    return sum == 0 ? 1 : sum; /* zero is no sum */
}

static uint64_t stored_sum(const unsigned char *page) {
    uint64_t sum;
    memcpy(&sum, page + PAGE_BYTES - SUM_BYTES, SUM_BYTES);
    return LITTLE(sum);
}

static uint32_t big32(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* SQLite's checksum of the log: https://www.sqlite.org/fileformat2.html#checksum_algorithm */
static void log_sum(const unsigned char *data, int bytes, int is_big_endian, uint32_t sum[2]) {
    uint32_t s0 = sum[0], s1 = sum[1], x[2];
    int is_swapped = is_big_endian != IS_BIG_ENDIAN;
    for (const unsigned char *end = data + bytes; data < end; data += 8) {
        memcpy(x, data, 8);
        if (is_swapped) {
            x[0] = __builtin_bswap32(x[0]);
            x[1] = __builtin_bswap32(x[1]);
        }
        s0 += x[0] + s1;
        s1 += x[1] + s0;
    }
    sum[0] = s0;
    sum[1] = s1;
}

/* --- files ------------------------------------------------------------------------------------------------ */

enum { SUMS, BELOW_CIPHER, ABOVE_CIPHER }; /* what a layer does */

typedef struct {
    sqlite3_file file;
    int kind;                 /* of its layer */
    int is_log, is_database;  /* or neither: a journal */
    int has_sums;             /* of a database: its pages end with sums */
    int is_log_big_endian;    /* of a log: how its words are read; -1: not known yet */
    sqlite3_int64 rewritten;  /* of a log: from this frame on, sums are behind; -1: none */
    sqlite3_int64 headed;     /* of a log: the frame whose header was written last */
    uint32_t transaction;     /* of a database: grows with every transaction */
    sqlite3_int64 mapped_bytes; /* of a database: its size when it was mapped */
    sqlite3_int64 begun_bytes;  /* of a database: its size when a transaction began last */
    uint64_t *seen;           /* of a database: pages that were looked at, each with the transaction */
} SummedFile;

typedef struct {
    sqlite3_int64 first, pages;          /* asked: which pages */
    sqlite3_int64 looked_at, found;      /* answered: how many pages there were, and how many are damaged */
    sqlite3_int64 without_sums;          /* how many another program has saved */
    sqlite3_int64 damaged[64];           /* the first of them */
} Scrub;

enum {
    FCNTL_SCRUB = 0x53544231,
    FCNTL_HAS_SUMS = 0x53544232,
    FCNTL_GIVE_SUMS = 0x53544233,
    FCNTL_GIVE_MISSING_SUMS = 0x53544234
};

static const sqlite3_api_routines *api;
static __thread int lost_error; /* of this thread's reads below a cipher */
static __thread sqlite3_int64 last_page; /* of a database, that was read there; 0: of a plain one */
static __thread sqlite3_int64 damaged_page; /* the page of this thread's last error; below zero in the log */

static sqlite3_file *under(sqlite3_file *file) {
    return (sqlite3_file *)((SummedFile *)file + 1);
}

static int damaged(sqlite3_int64 page) {
    damaged_page = page;
    return SQLITE_IOERR_DATA;
}

/* What the header of the file says: whether 8 bytes are kept free in each page, and for whom. */
static void learn(SummedFile *file, const unsigned char *header) {
    uint32_t format = big32(header + 60); /* of a newer one, nothing is known, and nothing more is read */
    int is_ours = big32(header + 68) == 0x53544231 && format >= FIRST_FORMAT && format <= LAST_FORMAT;
    if (is_ours && header[20] == SUM_BYTES) file->has_sums = 1; /* for good: a damaged header takes no sums away */
}

static int fits(const unsigned char *page, sqlite3_int64 number) {
    return number == LOCK_PAGE || stored_sum(page) == page_sum(page, (uint64_t)number);
}

static const unsigned char blank[PAGE_BYTES];

/* Whether a page is one that another program has saved: without a sum, and whole. A table or index is packed to the
   end of its pages, so zeros there are those of a page whose end was lost; unless it has no rows. */
static int is_saved_whole(const unsigned char *page, sqlite3_int64 number) {
    const unsigned char *header = page + (number == 1 ? HEADER_BYTES : 0);
    if (stored_sum(page) != 0) return 0;
    if (header[0] != 2 && header[0] != 5 && header[0] != 10 && header[0] != 13) return 0;
    if (header[3] == 0 && header[4] == 0) return 1;
    return memcmp(page + PAGE_BYTES - SUM_BYTES - ZEROS_MAX, blank, ZEROS_MAX) != 0;
}

/* Whether another program has saved a log into the file, and page 2 with it. */
static int is_saved_by_others(sqlite3_file *pFile) {
    unsigned char page[PAGE_BYTES];
    int rc = under(pFile)->pMethods->xRead(under(pFile), page, PAGE_BYTES, MARKED_OFFSET);
    return rc == SQLITE_OK && is_saved_whole(page, 2);
}

static int is_right(sqlite3_file *pFile, const unsigned char *page, sqlite3_int64 number) {
    unsigned char again[PAGE_BYTES];
    if (!((SummedFile *)pFile)->has_sums || fits(page, number) || is_saved_whole(page, number)) return 1;
    if (stored_sum(page) != 0) return 0;
    if (is_saved_by_others(pFile)) return 1; /* of a large item, or a free page: both may end with zeros */
    /* Another process may have given both their sums since this one was read. */
    return under(pFile)->pMethods->xRead(under(pFile), again, PAGE_BYTES, (number - 1) * PAGE_BYTES) == SQLITE_OK &&
           fits(again, number) && memcmp(again, page, PAGE_BYTES - SUM_BYTES) == 0;
}

/* Give sums to the pages that another program has saved, page 2 last: until then, this can begin again. */
static int give_missing_sums(sqlite3_file *pFile) {
    unsigned char page[PAGE_BYTES];
    sqlite3_int64 bytes, number;
    uint64_t sum;
    int is_all = is_saved_by_others(pFile);
    int rc = under(pFile)->pMethods->xFileSize(under(pFile), &bytes);
    for (number = bytes / PAGE_BYTES; rc == SQLITE_OK && number > 0; number--) {
        sqlite3_int64 turn = number > 2 ? number : 3 - number; /* ..., 4, 3, 1, 2 */
        sqlite3_int64 start = (turn - 1) * PAGE_BYTES;
        if (turn == LOCK_PAGE) continue;
        if (turn == 2) rc = under(pFile)->pMethods->xSync(under(pFile), SQLITE_SYNC_FULL);
        if (rc == SQLITE_OK) rc = under(pFile)->pMethods->xRead(under(pFile), page, PAGE_BYTES, start);
        if (rc != SQLITE_OK || stored_sum(page) != 0 || memcmp(page, blank, PAGE_BYTES) == 0) continue;
        if (!is_all && !is_saved_whole(page, turn)) continue;
        sum = page_sum(page, (uint64_t)turn);
        sum = LITTLE(sum);
        rc = under(pFile)->pMethods->xWrite(under(pFile), &sum, SUM_BYTES, start + PAGE_BYTES - SUM_BYTES);
    }
    return rc;
}

/* Look at the header of a file that had no sums: another connection may have given it some. */
static void learn_again(sqlite3_file *pFile) {
    unsigned char header[HEADER_BYTES];
    if (under(pFile)->pMethods->xRead(under(pFile), header, sizeof header, 0) == SQLITE_OK) {
        learn((SummedFile *)pFile, header);
    }
}

static int read_database(sqlite3_file *pFile, void *into, int bytes, sqlite3_int64 offset) {
    SummedFile *file = (SummedFile *)pFile;
    unsigned char page[PAGE_BYTES], *whole = into;
    sqlite3_int64 number = offset / PAGE_BYTES + 1, start = (number - 1) * PAGE_BYTES;
    int rc;
    last_page = 0;
    if (!file->has_sums || offset + bytes <= HEADER_BYTES) {
        rc = under(pFile)->pMethods->xRead(under(pFile), into, bytes, offset);
        if (rc != SQLITE_OK || offset != 0 || bytes < HEADER_BYTES) return rc;
        learn(file, into);
        if (!file->has_sums || bytes != PAGE_BYTES) return rc;
    } else if (offset == start && bytes == PAGE_BYTES) {
        rc = under(pFile)->pMethods->xRead(under(pFile), into, bytes, offset);
    } else { /* a part of a page */
        if (offset + bytes > start + PAGE_BYTES) return damaged(number);
        whole = page;
        rc = under(pFile)->pMethods->xRead(under(pFile), page, PAGE_BYTES, start);
    }
    if (rc == SQLITE_IOERR_SHORT_READ && number > 1) return damaged(number); /* the end of the file is missing */
    if (rc != SQLITE_OK) return rc;
    if (!is_right(pFile, whole, number)) return damaged(number);
    memset(whole + PAGE_BYTES - SUM_BYTES, 0, SUM_BYTES); /* so that the log has zeros */
    if (whole == page) memcpy(into, page + (offset - start), (size_t)bytes);
    return SQLITE_OK;
}

static int write_database(sqlite3_file *pFile, const void *from, int bytes, sqlite3_int64 offset) {
    SummedFile *file = (SummedFile *)pFile;
    unsigned char page[PAGE_BYTES];
    uint64_t sum;
    if (offset == 0 && bytes >= HEADER_BYTES) {
        learn(file, from);
    } else if (!file->has_sums) {
        learn_again(pFile);
    }
    if (!file->has_sums || bytes != PAGE_BYTES) {
        return under(pFile)->pMethods->xWrite(under(pFile), from, bytes, offset);
    }
    if (offset == MARKED_OFFSET && is_saved_by_others(pFile)) {
        int rc = give_missing_sums(pFile);
        if (rc != SQLITE_OK) return rc;
    }
    memcpy(page, from, PAGE_BYTES - SUM_BYTES);
    sum = page_sum(page, (uint64_t)(offset / PAGE_BYTES + 1));
    sum = LITTLE(sum);
    memcpy(page + PAGE_BYTES - SUM_BYTES, &sum, SUM_BYTES);
    return under(pFile)->pMethods->xWrite(under(pFile), page, bytes, offset);
}

static int fetch(sqlite3_file *pFile, sqlite3_int64 offset, int bytes, void **found) {
    SummedFile *file = (SummedFile *)pFile;
    sqlite3_int64 number = offset / PAGE_BYTES + 1;
    uint64_t mark = (uint64_t)file->transaction << 32 | (uint64_t)number, *seen;
    int rc = under(pFile)->pMethods->xFetch(under(pFile), offset, bytes, found);
    last_page = 0;
    if (rc != SQLITE_OK || *found == 0 || !file->has_sums) return rc;
    seen = file->seen + (number & (SEEN_PAGES - 1));
    if (*seen == mark) return SQLITE_OK;
    if (bytes != PAGE_BYTES || !is_right(pFile, *found, number)) {
        under(pFile)->pMethods->xUnfetch(under(pFile), offset, *found);
        *found = 0;
        return damaged(number);
    }
    *seen = mark;
    return SQLITE_OK;
}

/* SQLite asks for all of the mapping to go when another connection has committed. The memory of a mapped file shows
   what is in the file, so it may stay while the file keeps its size: mapping it again costs more than a read. */
static int unfetch(sqlite3_file *pFile, sqlite3_int64 offset, void *page) {
    SummedFile *file = (SummedFile *)pFile;
    sqlite3_int64 bytes;
    if (page == 0 && file->kind == SUMS) {
        if (under(pFile)->pMethods->xFileSize(under(pFile), &bytes) != SQLITE_OK) bytes = -1;
        if (bytes >= 0 && bytes == file->mapped_bytes) return SQLITE_OK;
        file->mapped_bytes = bytes;
    }
    return under(pFile)->pMethods->xUnfetch(under(pFile), offset, page);
}

/* Read a page of the log. The sum of a frame goes on from that of the frame before it. */
static int read_log(sqlite3_file *pFile, void *into, int bytes, sqlite3_int64 offset) {
    SummedFile *file = (SummedFile *)pFile;
    int (*xRead)(sqlite3_file *, void *, int, sqlite3_int64) = under(pFile)->pMethods->xRead;
    sqlite3_int64 frame = (offset - LOG_HEADER_BYTES) / FRAME_BYTES;
    sqlite3_int64 start = LOG_HEADER_BYTES + frame * FRAME_BYTES;
    unsigned char whole[FRAME_HEADER_BYTES + PAGE_BYTES], before[8], header[LOG_HEADER_BYTES];
    uint32_t sum[2];
    int rc;
    if (bytes != PAGE_BYTES || offset != start + FRAME_HEADER_BYTES ||
        (file->rewritten >= 0 && frame >= file->rewritten)) {
        return xRead(under(pFile), into, bytes, offset);
    }
    rc = xRead(under(pFile), whole, sizeof whole, start);
    if (rc != SQLITE_OK) return rc;
    if (file->is_log_big_endian < 0 || frame == 0) {
        rc = xRead(under(pFile), header, sizeof header, 0);
        if (rc != SQLITE_OK) return rc;
        file->is_log_big_endian = header[3] & 1;
        memcpy(before, header + 24, 8);
    }
    if (frame > 0) {
        rc = xRead(under(pFile), before, 8, start - FRAME_BYTES + 16);
        if (rc != SQLITE_OK) return rc;
    }
    sum[0] = big32(before);
    sum[1] = big32(before + 4);
    log_sum(whole, 8, file->is_log_big_endian, sum);
    log_sum(whole + FRAME_HEADER_BYTES, PAGE_BYTES, file->is_log_big_endian, sum);
    if (sum[0] != big32(whole + 16) || sum[1] != big32(whole + 20)) return damaged(-(sqlite3_int64)big32(whole));
    memcpy(into, whole + FRAME_HEADER_BYTES, PAGE_BYTES);
    return SQLITE_OK;
}

/* A transaction that is larger than its memory may write a page of its own again where it stands. The sums from
   there on are made anew with its COMMIT, which begins with the header of that frame. */
static int write_log(sqlite3_file *pFile, const void *from, int bytes, sqlite3_int64 offset) {
    SummedFile *file = (SummedFile *)pFile;
    sqlite3_int64 frame = (offset - LOG_HEADER_BYTES) / FRAME_BYTES;
    sqlite3_int64 within = (offset - LOG_HEADER_BYTES) % FRAME_BYTES;
    if (offset == 0) {
        file->is_log_big_endian = -1;
        file->rewritten = -1;
    } else if (within == 0 && bytes == FRAME_HEADER_BYTES) {
        file->headed = frame;
        if (file->rewritten >= frame) file->rewritten = -1;
    } else if (within == FRAME_HEADER_BYTES && bytes == PAGE_BYTES && file->headed != frame) {
        if (file->rewritten < 0 || frame < file->rewritten) file->rewritten = frame;
    }
    return under(pFile)->pMethods->xWrite(under(pFile), from, bytes, offset);
}

static int read_below_cipher(sqlite3_file *pFile, void *into, int bytes, sqlite3_int64 offset) {
    int rc = under(pFile)->pMethods->xRead(under(pFile), into, bytes, offset);
    if (((SummedFile *)pFile)->is_database) last_page = offset / PAGE_BYTES + 1;
    if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ) {
        lost_error = rc;
        memset(into, bytes < PAGE_BYTES ? 0 : 0xA5, (size_t)bytes);
    }
    return rc;
}

static int read_above_cipher(sqlite3_file *pFile, void *into, int bytes, sqlite3_int64 offset) {
    int rc, before = lost_error;
    lost_error = SQLITE_OK;
    rc = under(pFile)->pMethods->xRead(under(pFile), into, bytes, offset);
    if (lost_error != SQLITE_OK) return lost_error;
    lost_error = before; /* it is told to whoever asks */
    if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ && bytes == PAGE_BYTES && ((SummedFile *)pFile)->is_log) {
        unsigned char number[4];
        int of_number = under(pFile)->pMethods->xRead(under(pFile), number, sizeof number, offset - FRAME_HEADER_BYTES);
        if (of_number == SQLITE_OK) return damaged(-(sqlite3_int64)big32(number));
    }
    return rc;
}

static int read_file(sqlite3_file *pFile, void *into, int bytes, sqlite3_int64 offset) {
    if (((SummedFile *)pFile)->kind == BELOW_CIPHER) return read_below_cipher(pFile, into, bytes, offset);
    if (((SummedFile *)pFile)->kind == ABOVE_CIPHER) return read_above_cipher(pFile, into, bytes, offset);
    return (((SummedFile *)pFile)->is_log ? read_log : read_database)(pFile, into, bytes, offset);
}

static int write_file(sqlite3_file *pFile, const void *from, int bytes, sqlite3_int64 offset) {
    if (((SummedFile *)pFile)->kind != SUMS) return under(pFile)->pMethods->xWrite(under(pFile), from, bytes, offset);
    return (((SummedFile *)pFile)->is_log ? write_log : write_database)(pFile, from, bytes, offset);
}

static int close_file(sqlite3_file *pFile) {
    free(((SummedFile *)pFile)->seen);
    return under(pFile)->pMethods->xClose(under(pFile));
}

/* Look at pages as they stand in the file. One that a checkpoint is writing at that moment may be found damaged:
   who asks asks again. */
static int scrub(sqlite3_file *pFile, Scrub *asked) {
    unsigned char page[PAGE_BYTES];
    sqlite3_int64 bytes;
    int rc = under(pFile)->pMethods->xFileSize(under(pFile), &bytes);
    if (rc != SQLITE_OK) return rc;
    asked->looked_at = asked->found = asked->without_sums = 0;
    for (sqlite3_int64 number = asked->first; number < asked->first + asked->pages; number++) {
        if (number * PAGE_BYTES > bytes) break;
        rc = under(pFile)->pMethods->xRead(under(pFile), page, PAGE_BYTES, (number - 1) * PAGE_BYTES);
        if (rc == SQLITE_IOERR_SHORT_READ) break;
        if (rc != SQLITE_OK || !is_right(pFile, page, number)) {
            if (asked->found < 64) asked->damaged[asked->found] = number;
            asked->found++;
        } else if (((SummedFile *)pFile)->has_sums && stored_sum(page) == 0 && number != LOCK_PAGE) {
            asked->without_sums++;
        }
        asked->looked_at++;
    }
    return SQLITE_OK;
}

/* The same for a file that is opened or scrubbed, while nobody saves its log. */
static int look_for_missing_sums(sqlite3_file *pFile, int are_known) {
    const sqlite3_io_methods *below = under(pFile)->pMethods;
    int rc;
    if (!((SummedFile *)pFile)->has_sums || !(are_known || is_saved_by_others(pFile))) return SQLITE_OK;
    rc = below->xShmLock(under(pFile), CHECKPOINT_LOCK, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
    if (rc != SQLITE_OK) return SQLITE_OK; /* who saves it does so */
    rc = give_missing_sums(pFile);
    below->xShmLock(under(pFile), CHECKPOINT_LOCK, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
    return rc;
}

static int control_file(sqlite3_file *pFile, int op, void *argument) {
    SummedFile *file = (SummedFile *)pFile;
    if (!file->is_log && op == FCNTL_SCRUB) return scrub(pFile, argument);
    if (!file->is_log && op == FCNTL_HAS_SUMS) {
        *(int *)argument = file->has_sums;
        return SQLITE_OK;
    }
    if (!file->is_log && op == FCNTL_GIVE_SUMS) {
        file->has_sums = 1;
        return SQLITE_OK;
    }
    if (!file->is_log && op == FCNTL_GIVE_MISSING_SUMS) return look_for_missing_sums(pFile, argument != 0);
    return under(pFile)->pMethods->xFileControl(under(pFile), op, argument);
}

static int device(sqlite3_file *pFile) {
    /* Parts of pages are not to be read past the sums. */
    return under(pFile)->pMethods->xDeviceCharacteristics(under(pFile)) & ~SQLITE_IOCAP_SUBPAGE_READ;
}

static void begin_transaction(sqlite3_file *pFile) {
    SummedFile *file = (SummedFile *)pFile;
    sqlite3_int64 bytes;
    file->transaction++;
    /* To touch memory behind the end of its file ends the process. Without the memory, pages are read. */
    if (under(pFile)->pMethods->iVersion >= 3 && under(pFile)->pMethods->xFileSize(under(pFile), &bytes) == SQLITE_OK) {
        if (bytes < file->begun_bytes) under(pFile)->pMethods->xUnfetch(under(pFile), 0, 0);
        file->begun_bytes = bytes;
    }
    if (!file->has_sums && file->kind == SUMS) learn_again(pFile);
}

static int lock_file(sqlite3_file *pFile, int level) {
    if (level == SQLITE_LOCK_SHARED) begin_transaction(pFile);
    return under(pFile)->pMethods->xLock(under(pFile), level);
}

static int lock_memory(sqlite3_file *pFile, int offset, int n, int flags) {
    if (flags == (SQLITE_SHM_LOCK | SQLITE_SHM_SHARED)) begin_transaction(pFile);
    return under(pFile)->pMethods->xShmLock(under(pFile), offset, n, flags);
}

static int truncate_file(sqlite3_file *pFile, sqlite3_int64 bytes) {
    return under(pFile)->pMethods->xTruncate(under(pFile), bytes);
}

static int sync_file(sqlite3_file *pFile, int flags) {
    return under(pFile)->pMethods->xSync(under(pFile), flags);
}

static int size_of_file(sqlite3_file *pFile, sqlite3_int64 *bytes) {
    return under(pFile)->pMethods->xFileSize(under(pFile), bytes);
}

static int unlock_file(sqlite3_file *pFile, int level) {
    return under(pFile)->pMethods->xUnlock(under(pFile), level);
}

static int is_reserved(sqlite3_file *pFile, int *answer) {
    return under(pFile)->pMethods->xCheckReservedLock(under(pFile), answer);
}

static int sector(sqlite3_file *pFile) {
    return under(pFile)->pMethods->xSectorSize(under(pFile));
}

static int map_memory(sqlite3_file *pFile, int region, int bytes, int extend, void volatile **found) {
    return under(pFile)->pMethods->xShmMap(under(pFile), region, bytes, extend, found);
}

static void order_memory(sqlite3_file *pFile) {
    under(pFile)->pMethods->xShmBarrier(under(pFile));
}

static int unmap_memory(sqlite3_file *pFile, int is_deleted) {
    return under(pFile)->pMethods->xShmUnmap(under(pFile), is_deleted);
}

#define METHODS(version)                                                                                        \
    {version, close_file, read_file, write_file, truncate_file, sync_file, size_of_file, lock_file, unlock_file, \
     is_reserved, control_file, sector, device, map_memory, lock_memory, order_memory, unmap_memory, fetch,      \
     unfetch}

static const sqlite3_io_methods methods[3] = {METHODS(1), METHODS(2), METHODS(3)};

/* --- the layer -------------------------------------------------------------------------------------------- */

typedef struct {
    sqlite3_vfs vfs;
    int kind;
} Layer;

#define BELOW(vfs) ((sqlite3_vfs *)(vfs)->pAppData)

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *pFile, int flags, int *given) {
    SummedFile *file = (SummedFile *)pFile;
    int rc, version;
    int kind = ((Layer *)vfs)->kind, wrapped = SQLITE_OPEN_WAL;
    if (kind != ABOVE_CIPHER) wrapped |= SQLITE_OPEN_MAIN_DB;
    if (kind != SUMS) wrapped |= SQLITE_OPEN_MAIN_JOURNAL;
    if (!(flags & wrapped)) {
        return BELOW(vfs)->xOpen(BELOW(vfs), name, pFile, flags, given);
    }
    memset(file, 0, sizeof *file);
    under(pFile)->pMethods = 0;
    rc = BELOW(vfs)->xOpen(BELOW(vfs), name, under(pFile), flags, given);
    if (under(pFile)->pMethods == 0) return rc;
    version = under(pFile)->pMethods->iVersion;
    pFile->pMethods = &methods[(version > 3 ? 3 : version) - 1]; /* so that SQLite closes it, also after an error */
    file->kind = kind;
    file->is_log = (flags & SQLITE_OPEN_WAL) != 0;
    file->is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    file->is_log_big_endian = -1;
    file->rewritten = -1;
    file->headed = -1;
    file->transaction = 1;
    if (rc != SQLITE_OK || !file->is_database || file->kind != SUMS) return rc;
    file->seen = calloc(SEEN_PAGES, sizeof *file->seen);
    if (file->seen == 0) return SQLITE_NOMEM;
    learn_again(pFile);
    return SQLITE_OK; /* what cannot be read is found where it is wanted */
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync) {
    return BELOW(vfs)->xDelete(BELOW(vfs), name, sync);
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *answer) {
    return BELOW(vfs)->xAccess(BELOW(vfs), name, flags, answer);
}

static int full_name(sqlite3_vfs *vfs, const char *name, int bytes, char *found) {
    return BELOW(vfs)->xFullPathname(BELOW(vfs), name, bytes, found);
}

static void *open_library(sqlite3_vfs *vfs, const char *name) {
    return BELOW(vfs)->xDlOpen(BELOW(vfs), name);
}

static void library_error(sqlite3_vfs *vfs, int bytes, char *message) {
    BELOW(vfs)->xDlError(BELOW(vfs), bytes, message);
}

static void (*library_symbol(sqlite3_vfs *vfs, void *library, const char *name))(void) {
    return BELOW(vfs)->xDlSym(BELOW(vfs), library, name);
}

static void close_library(sqlite3_vfs *vfs, void *library) {
    BELOW(vfs)->xDlClose(BELOW(vfs), library);
}

static int randomness(sqlite3_vfs *vfs, int bytes, char *into) {
    return BELOW(vfs)->xRandomness(BELOW(vfs), bytes, into);
}

static int sleep_for(sqlite3_vfs *vfs, int us) {
    return BELOW(vfs)->xSleep(BELOW(vfs), us);
}

static int current_time(sqlite3_vfs *vfs, double *now) {
    return BELOW(vfs)->xCurrentTime(BELOW(vfs), now);
}

static int last_error(sqlite3_vfs *vfs, int bytes, char *message) {
    return BELOW(vfs)->xGetLastError(BELOW(vfs), bytes, message);
}

static int current_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *now) {
    return BELOW(vfs)->xCurrentTimeInt64(BELOW(vfs), now);
}

/* Make a layer over another one. It lives as long as the process; the other one may be made anew under its name. */
static int make_layer(const char *base, const char *name, int kind) {
    sqlite3_vfs *below = api->vfs_find(base), *vfs = api->vfs_find(name);
    int is_known = vfs != 0;
    if (below == 0) return SQLITE_NOTFOUND;
    if (!is_known) {
        vfs = calloc(1, sizeof(Layer));
        if (vfs == 0) return SQLITE_NOMEM;
        ((Layer *)vfs)->kind = kind;
    }
    vfs->iVersion = below->iVersion < 2 ? below->iVersion : 2;
    vfs->szOsFile = (int)sizeof(SummedFile) + below->szOsFile;
    vfs->mxPathname = below->mxPathname;
    if (!is_known) vfs->zName = strdup(name);
    vfs->pAppData = below;
    vfs->xOpen = open_file;
    vfs->xDelete = delete_file;
    vfs->xAccess = access_file;
    vfs->xFullPathname = full_name;
    vfs->xDlOpen = open_library;
    vfs->xDlError = library_error;
    vfs->xDlSym = library_symbol;
    vfs->xDlClose = close_library;
    vfs->xRandomness = randomness;
    vfs->xSleep = sleep_for;
    vfs->xCurrentTime = current_time;
    vfs->xGetLastError = last_error;
    vfs->xCurrentTimeInt64 = current_time_ms;
    return is_known ? SQLITE_OK : api->vfs_register(vfs, 0);
}

int singletable_sum_pages(const char *base, const char *name) {
    return make_layer(base, name, SUMS);
}

int singletable_keep_errors(const char *base, const char *name) {
    return make_layer(base, name, BELOW_CIPHER);
}

int singletable_return_errors(const char *base, const char *name) {
    return make_layer(base, name, ABOVE_CIPHER);
}

/* The page of this thread's last error, below zero in the log, or zero; it is forgotten with that. */
sqlite3_int64 singletable_damaged_page(void) {
    sqlite3_int64 page = damaged_page;
    damaged_page = 0;
    return page;
}

int singletable_is_saved_whole(const unsigned char *page, uint64_t number) {
    return is_saved_whole(page, (sqlite3_int64)number);
}

/* The error of this thread's reads below a cipher since it was last taken, or zero; and the page of an encrypted
   database that was read last. */
int singletable_take_lost_error(sqlite3_int64 *page) {
    int rc = last_page == 0 ? SQLITE_OK : lost_error;
    *page = last_page;
    lost_error = SQLITE_OK;
    return rc;
}

uint64_t singletable_page_sum(const unsigned char *page, uint64_t number) {
    return page_sum(page, number);
}

static int is_frame_after(const unsigned char *frame, const uint32_t before[2], int is_big_endian, uint32_t sum[2]) {
    sum[0] = before[0];
    sum[1] = before[1];
    log_sum(frame, 8, is_big_endian, sum);
    log_sum(frame + FRAME_HEADER_BYTES, PAGE_BYTES, is_big_endian, sum);
    return sum[0] == big32(frame + 16) && sum[1] == big32(frame + 20);
}

/* Count the transactions of a log that SQLite would leave out after a crash, since something before them does not fit,
   and tell the first frame that it would leave out. A power cut may spoil the last transaction, of which nobody was
   told: that is none of them. A frame that goes on from a commit was written when that was on the disk. */
sqlite3_int64 singletable_lost_transactions(const unsigned char *log, sqlite3_int64 bytes, sqlite3_int64 *first) {
    sqlite3_int64 frames = (bytes - LOG_HEADER_BYTES) / FRAME_BYTES, lost = 0, commits = 0;
    int is_big_endian = log[3] & 1, is_behind_commit = 0;
    const unsigned char *salts = log + 16, *frame = log + LOG_HEADER_BYTES;
    uint32_t stored[2] = {big32(log + 24), big32(log + 28)}, computed[2] = {0, 0}, sum[2];
    *first = -1;
    log_sum(log, 24, is_big_endian, computed);
    if (frames > 0 && (computed[0] != stored[0] || computed[1] != stored[1])) {
        int follows = is_frame_after(frame, stored, is_big_endian, sum);
        if (!follows && memcmp(frame + 8, salts, 8) != 0) return 0; /* frames of an older log */
        if (follows) salts = frame + 8;
        *first = 0;
    }
    for (sqlite3_int64 number = 0; number < frames; number++, frame += FRAME_BYTES) {
        int is_ours = memcmp(frame + 8, salts, 8) == 0;
        int follows = (*first >= 0 && number == *first + 1 && is_frame_after(frame, computed, is_big_endian, sum)) ||
                      is_frame_after(frame, stored, is_big_endian, sum);
        if (*first < 0 && !(is_ours && follows)) *first = number;
        if (*first >= 0 && is_ours && follows && is_behind_commit) {
            lost += commits;
            commits = 0;
        }
        is_behind_commit = *first >= 0 && big32(frame + 4) != 0 && (is_ours || number == *first);
        commits += is_behind_commit;
        memcpy(computed, sum, sizeof sum);
        stored[0] = big32(frame + 16);
        stored[1] = big32(frame + 20);
    }
    return lost;
}

int singletable_page_sums_init(void *connection, char **message, const sqlite3_api_routines *routines) {
    (void)connection;
    (void)message;
    api = routines;
    return SQLITE_OK_LOAD_PERMANENTLY;
}
