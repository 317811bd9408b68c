#include <math.h>
#include <stdio.h>
#include <string.h>

struct point { double x, y; };

static double length(struct point p) { return sqrt(p.x * p.x + p.y * p.y); }

int main(int argc, char **argv) {
    struct point p = {3, 4};
    printf("hello %s, %d arguments, length %g, %zu\n", argc > 1 ? argv[1] : "world", argc, length(p), strlen(argv[0]));
    for (int n = 0; n < 5; n++)
        printf("%d! = %.0f\n", n * 4, tgamma(n * 4 + 1));
    return argc;
}
