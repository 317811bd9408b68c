// What guests for Linux have in common.
#include "linux.h"

u64 length(const char *text)
{
    u64 count = 0;
    while (text[count])
        count++;
    return count;
}

int same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

void put(const char *text)
{
    CALL(WRITE, 1, text, length(text));
}

void put_number(const char *name, i64 value)
{
    char digits[24];
    char *at = digits + sizeof digits - 1;
    u64 left = value < 0 ? -(u64)value : (u64)value;
    *at = 0;
    do
        *--at = '0' + left % 10;
    while (left /= 10);
    if (value < 0)
        *--at = '-';
    put_text(name, at);
}

void put_text(const char *name, const char *text)
{
    put(name);
    put("=");
    put(text);
    put("\n");
}

void *memset(void *to, int byte, u64 count)
{
    u8 *at = to;
    while (count--)
        *at++ = byte;
    return to;
}

void *memcpy(void *to, const void *from, u64 count)
{
    u8 *at = to;
    const u8 *source = from;
    while (count--)
        *at++ = *source++;
    return to;
}

__attribute__((noreturn)) void start(u64 *stack)
{
    int argc = (int)stack[0];
    char **argv = (char **)(stack + 1);
    char **envp = argv + argc + 1;
    char **end = envp;
    while (*end)
        end++;
    int status = program(argc, argv, envp, (u64 *)(end + 1));
    for (;;)
        CALL(EXIT_GROUP, status);
}
