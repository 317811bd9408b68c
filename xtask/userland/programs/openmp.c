// OpenMP: loops with reductions, tasks, sections, critical regions. The argument is the number of threads.

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static long fibonacci(int n) {
    long a, b;
    if (n < 10)
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(int argc, char **argv) {
    omp_set_num_threads(argc > 1 ? atoi(argv[1]) : 4);
    enum { N = 20000 };
    static double values[N];
    long sum = 0, inside = 0, members = 0, largest = 0, tasks = 0;
    int parts[3] = {0};
#pragma omp parallel for schedule(static)
    for (int n = 0; n < N; n++)
        values[n] = n * 0.5;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 64)
    for (int n = 0; n < N; n++)
        sum += (long)(values[n] * 2);
#pragma omp parallel for reduction(max : largest) schedule(guided)
    for (int n = 0; n < N; n++) {
        long hash = n * 2654435761L % 1000003;
        largest = hash > largest ? hash : largest;
    }
#pragma omp parallel
    {
#pragma omp atomic
        members++;
#pragma omp barrier
        for (int n = 0; n < 100; n++) {
#pragma omp critical
            inside += n;
        }
    }
#pragma omp parallel sections
    {
#pragma omp section
        parts[0] = 1;
#pragma omp section
        parts[1] = 2;
#pragma omp section
        parts[2] = 3;
    }
#pragma omp parallel
#pragma omp single
    tasks = fibonacci(18);
    printf("sum %ld, largest %ld, members %ld, inside %ld, sections %d, tasks %ld\n", sum, largest, members, inside,
           parts[0] + parts[1] + parts[2], tasks);
    return 0;
}
