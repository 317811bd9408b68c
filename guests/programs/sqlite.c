// Runs the SQL that it reads on a database, in memory or in the file that it is given, and prints what comes out: a
// line a row, columns between bars.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static int print_row(void *unused, int columns, char **values, char **names)
{
    (void)unused, (void)names;
    for (int i = 0; i < columns; i++)
        printf("%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
    putchar('\n');
    return 0;
}

int main(int argc, char **argv)
{
    static char sql[1 << 20];
    size_t bytes = fread(sql, 1, sizeof sql - 1, stdin);
    sql[bytes] = 0;
    sqlite3 *database;
    char *message = NULL;
    if (sqlite3_open(argc > 1 ? argv[1] : ":memory:", &database) != SQLITE_OK)
        return fprintf(stderr, "cannot open: %s\n", sqlite3_errmsg(database)), 1;
    int status = sqlite3_exec(database, sql, print_row, NULL, &message);
    if (status != SQLITE_OK)
        fprintf(stderr, "%s\n", message);
    sqlite3_free(message);
    printf("changes: %d\n", sqlite3_total_changes(database));
    sqlite3_close(database);
    return status != SQLITE_OK;
}
