// Makes JSON documents from a seed with yyjson, writes them, reads them again, and adds up what they contain.
#include <stdio.h>
#include <stdlib.h>
#include <yyjson.h>

#include "text.h"

static uint64_t state;

static uint32_t next(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

static yyjson_mut_val *make(yyjson_mut_doc *document, int depth)
{
    static const char *const keys[] = {"id", "name", "price", "tags", "address", "\u00e9t\u00e9", "a\"b", "items"};
    switch (next(depth ? 8 : 5)) {
    case 0: return yyjson_mut_sint(document, (int64_t)next(1u << 31) - (1 << 30));
    case 1: return yyjson_mut_real(document, next(1000000) / 64.0 + 1.0 / (1 + next(99)));
    case 2: return yyjson_mut_bool(document, next(2));
    case 3: return yyjson_mut_null(document);
    case 4: {
        char text[32];
        size_t bytes = next(sizeof text);
        for (size_t i = 0; i < bytes; i++)
            text[i] = (char)(next(20) ? 32 + next(95) : 1 + next(31));
        return yyjson_mut_strncpy(document, text, bytes);
    }
    case 5: {
        yyjson_mut_val *array = yyjson_mut_arr(document);
        for (uint32_t i = next(9); i; i--)
            yyjson_mut_arr_append(array, make(document, depth - 1));
        return array;
    }
    default: {
        yyjson_mut_val *object = yyjson_mut_obj(document);
        for (uint32_t i = next(9); i; i--)
            yyjson_mut_obj_add_val(document, object, keys[next(8)], make(document, depth - 1));
        return object;
    }
    }
}

static double sum(yyjson_val *value)
{
    double total = yyjson_get_len(value);
    yyjson_val *key, *child;
    size_t index, count;
    if (yyjson_is_arr(value)) {
        yyjson_arr_foreach(value, index, count, child) total += sum(child);
    } else if (yyjson_is_obj(value)) {
        yyjson_obj_foreach(value, index, count, key, child) total += yyjson_get_len(key) + sum(child);
    } else if (yyjson_is_num(value)) {
        total += yyjson_get_num(value);
    }
    return total;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return fprintf(stderr, "usage: json SEED ROUNDS\n"), 2;
    state = strtoull(argv[1], NULL, 0);
    unsigned long rounds = strtoul(argv[2], NULL, 0), total = 0;
    uint32_t check = 0;
    double content = 0;
    for (unsigned long i = 0; i < rounds; i++) {
        yyjson_mut_doc *made = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *list = yyjson_mut_arr(made);
        yyjson_mut_doc_set_root(made, list);
        for (int j = 0; j < 8; j++)
            yyjson_mut_arr_append(list, make(made, 4));
        size_t bytes = 0, again_bytes = 0;
        char *text = yyjson_mut_write(made, i % 2 ? YYJSON_WRITE_PRETTY : 0, &bytes);
        yyjson_doc *read = yyjson_read(text, bytes, 0);
        char *again = read ? yyjson_write(read, i % 2 ? YYJSON_WRITE_PRETTY : 0, &again_bytes) : NULL;
        if (!again || again_bytes != bytes || memcmp(again, text, bytes))
            return fprintf(stderr, "round %lu: not the same again\n", i), 1;
        content += sum(yyjson_doc_get_root(read));
        check = check * 31 + hash((unsigned char *)text, bytes), total += bytes;
        free(text), free(again), yyjson_doc_free(read), yyjson_mut_doc_free(made);
    }
    printf("%lu rounds: %lu bytes, hash %08lx, sum %.6f\n", rounds, total, (unsigned long)check, content);
    return 0;
}
