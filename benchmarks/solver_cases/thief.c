/* Makes a core slower: thief CORE BUSY PERIOD. At real-time priority, it is busy for BUSY of every
   PERIOD microseconds on the core CORE, until it is killed. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int count, char **words) {
    if (count != 4) return 2;
    long long busy = atoll(words[2]) * 1000, period = atoll(words[3]) * 1000, next = now();
    struct sched_param priority = {.sched_priority = 50};
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(atoi(words[1]), &cores);
    if (sched_setaffinity(0, sizeof cores, &cores) || sched_setscheduler(0, SCHED_FIFO, &priority)) {
        perror("thief");
        return 1;
    }
    prctl(PR_SET_TIMERSLACK, 1);
    for (;;) {
        long long began = now();
        while (now() - began < busy) {}
        next = next + period > began ? next + period : began + period;
        struct timespec until = {next / 1000000000LL, next % 1000000000LL};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
}
