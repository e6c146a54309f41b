/* Prints how many vertices each device has, from what `evener export X.plan --to binary -o X.bin`
   writes:  cc -O2 read_plan.c -o read_plan && ./read_plan X.bin  (C99 or C++, any byte order). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(int is_so, const char *otherwise)
{
    if (is_so) return;
    fprintf(stderr, "read_plan: %s\n", otherwise);
    exit(1);
}

static uint64_t number(FILE *file, int size) /* of so many bytes, little-endian */
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++) {
        int byte = getc(file);
        need(byte != EOF, "the file ends early");
        value |= (uint64_t)byte << 8 * i;
    }
    return value;
}

int main(int argc, char **argv)
{
    char magic[8] = "";
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    need(file != NULL, "usage: read_plan FILE, which can be read");
    need(fread(magic, 1, 8, file) == 8 && !memcmp(magic, "EVNRPART", 8), "not a binary partition");
    need(number(file, 4) == 1, "of a version other than 1");
    uint64_t k = number(file, 4), n = number(file, 8);
    uint64_t *sizes = (uint64_t *)calloc(k + 1, sizeof *sizes);
    int32_t *part = n < SIZE_MAX / 4 ? (int32_t *)malloc(4 * n + 1) : NULL;
    need(sizes && part, "too large for this computer's memory");
    for (uint64_t v = 0; v < n; v++) {
        part[v] = (int32_t)number(file, 4);
        need(part[v] >= 0 && (uint64_t)part[v] < k, "a block that is not one of k");
        sizes[part[v]]++;
    }
    for (uint64_t b = 0; b < k; b++) {
        printf("%llu\t", (unsigned long long)sizes[b]);
        for (uint64_t left = number(file, 4); left > 0; left--) putchar((int)number(file, 1));
        putchar('\n');
    }
    need(getc(file) == EOF, "the file goes on after its names");
    return 0;
}
