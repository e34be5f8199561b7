/* SQLite, and the calls of it that Swift cannot name because they are variadic or macros with casts. */
#pragma once
#include <sqlite3.h>

/* Sets SQLite up for a small board: no allocation statistics (they cost a lock per allocation), 16 KiB of lookaside memory
   a connection instead of 48 KiB, and pages of the cache one by one, not 20 with the first. Only before the first
   connection of the process; SQLITE_MISUSE after. */
static inline int latchkey_sqlite_configure(void) {
    int status = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (status != SQLITE_OK) return status;
    status = sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
    if (status != SQLITE_OK) return status;
    return sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 512, 32);
}

/* Forbids SQL that writes to the schema table or to pages directly (SQLITE_DBCONFIG_DEFENSIVE). */
static inline int latchkey_sqlite_defend(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/* Keeps closing from copying the write-ahead log into the database (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE). */
static inline int latchkey_sqlite_leave_log(sqlite3 *database, int leave) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leave, (int *)0);
}

/* Bind with SQLITE_TRANSIENT: SQLite copies before the call returns. A null pointer, as Swift has it for no bytes at
   all, would bind NULL, so it becomes the empty value. */
static inline int latchkey_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int latchkey_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}
