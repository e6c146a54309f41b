/* Preloaded into the ranks of an MPI program: the time that each rank spends inside MPI.

   Wraps the MPI calls that can wait, of C and of Fortran, by the profiling interface. Each rank maps
   a file, EVENER_TUNE/rank.N, so that what was measured is there however the program ends. Layout:
   struct header, struct peer[size], struct event[capacity]. Times are in nanoseconds since MPI_Init.
   Only calls of the thread that called MPI_Init are timed: others may overlap with it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CAPACITY (1 << 17)     /* the newest events */
#define TICK 10000000          /* ns between events where there are no collective calls */
#define DELAY_EVERY 20000000   /* ns between two looks at how long the process waited for a core */

struct header {
    char magic[8];
    int64_t rank, size, capacity, ended;
    int64_t events, marks;      /* events ever recorded, and those of them that are no ticks */
    int64_t calls, now;         /* now: end of the last call */
    int64_t exchanging, collective, delayed; /* ns in point-to-point and in collective calls; ns
                                                 that the process was ready and had no core */
    int64_t sent;               /* bytes */
};
struct peer { int64_t calls, bytes; };
/* When a call began, and the header's sums until then. kind: of a collective call of all ranks, see
   `kind_of`; 0: a tick. */
struct event { int64_t at, kind, exchanging, collective, delayed, sent; };

static struct header *head;
static struct peer *peers;
static struct event *events;
static int64_t began, last_tick, last_delay;
static int world, delay_file = -1;
static __thread int depth, is_timed;

static int64_t clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void look_at_delay(int64_t at) {
    char text[96];
    if (delay_file < 0 || at - last_delay < DELAY_EVERY) return;
    last_delay = at;
    ssize_t n = pread(delay_file, text, sizeof text - 1, 0);
    if (n <= 0) return;
    text[n] = 0;
    long long ran, waited;
    if (sscanf(text, "%lld %lld", &ran, &waited) == 2) head->delayed = waited;
}

static void start(void) {
    const char *folder = getenv("EVENER_TUNE");
    int rank;
    if (head || !folder) return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &world);
    size_t bytes = sizeof *head + world * sizeof *peers + CAPACITY * sizeof *events;
    char name[4096];
    snprintf(name, sizeof name, "%s/rank.%d", folder, rank);
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    void *map = MAP_FAILED;
    if (file >= 0 && !posix_fallocate(file, 0, bytes))  /* a full disk would end the program later */
        map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (map == MAP_FAILED) {
        fprintf(stderr, "evener tune: rank %d cannot write %s and is not measured\n", rank, name);
        return;
    }
    peers = (struct peer *)((struct header *)map + 1);
    events = (struct event *)(peers + world);
    delay_file = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    struct header *made = map;
    made->rank = rank, made->size = world, made->capacity = CAPACITY;
    memcpy(made->magic, "EVTUNE1", 8);
    PMPI_Barrier(MPI_COMM_WORLD);
    is_timed = 1;
    began = clock_now();
    head = made;
}

static void finish(void) {
    if (!head) return;
    head->now = clock_now() - began;
    head->ended = 1;
}

/* 1 where the call is timed: not inside another one, not before MPI_Init. */
static int enter(int64_t *at) {
    if (depth++ || !head || !is_timed || head->ended) return 0;
    *at = clock_now() - began;
    return 1;
}

static void note(int64_t at, int64_t kind) {
    struct event *e = events + head->events % CAPACITY;
    *e = (struct event){at, kind, head->exchanging, head->collective, head->delayed, head->sent};
    head->events++;
    head->marks += kind > 0;
    last_tick = at;
}

static void leave(int64_t at, int64_t kind, int64_t bytes, int peer) {
    int64_t now = clock_now() - began;
    if (kind || at - last_tick > TICK) {
        look_at_delay(at);
        note(at, kind > 0 ? kind : 0);
    }
    *(kind ? &head->collective : &head->exchanging) += now - at;
    head->calls++;
    head->sent += bytes;
    head->now = now;
    if (peer >= 0 && peer < world) peers[peer].calls++, peers[peer].bytes += bytes;
}

static int64_t bytes_of(int64_t count, MPI_Datatype type) {
    int size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
    PMPI_Type_size(type, &size);
    return (int64_t)size * count;
}

/* Of a collective call: its number and bytes where all ranks take part, else -1. */
static int64_t kind_of(int number, int64_t bytes, MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size == world ? (int64_t)number << 40 | (bytes & 0xffffffffff) : -1;
}

/* The number of another rank in the world; -1 where it is not known cheaply. */
static int peer_of(int rank, MPI_Comm comm) { return comm == MPI_COMM_WORLD ? rank : -1; }

#define POINT(name, params, args, count, type, rank, comm) \
    int NAMED(name) params { \
        int64_t at; \
        int timed = enter(&at), result = PROFILED(name) args; \
        if (timed) leave(at, 0, bytes_of(count, type), peer_of(rank, comm)); \
        depth--; \
        return result; \
    }
#define WAITS(name, params, args) \
    int NAMED(name) params { \
        int64_t at; \
        int timed = enter(&at), result = PROFILED(name) args; \
        if (timed) leave(at, 0, 0, -1); \
        depth--; \
        return result; \
    }
#define ALL(number, name, params, args, count, type, comm) \
    int NAMED(name) params { \
        int64_t at; \
        int timed = enter(&at), result = PROFILED(name) args; \
        if (timed) { \
            int64_t bytes = bytes_of(count, type); \
            leave(at, kind_of(number, bytes, comm), bytes, -1); \
        } \
        depth--; \
        return result; \
    }
#define NAMED(name) MPI_##name
#define PROFILED(name) PMPI_##name
WAITS(Wait, (MPI_Request *q, MPI_Status *s), (q, s))
WAITS(Waitall, (int n, MPI_Request *q, MPI_Status *s), (n, q, s))
WAITS(Waitany, (int n, MPI_Request *q, int *i, MPI_Status *s), (n, q, i, s))
WAITS(Waitsome, (int n, MPI_Request *q, int *o, int *i, MPI_Status *s), (n, q, o, i, s))
WAITS(Test, (MPI_Request *q, int *f, MPI_Status *s), (q, f, s))
WAITS(Testall, (int n, MPI_Request *q, int *f, MPI_Status *s), (n, q, f, s))
WAITS(Testany, (int n, MPI_Request *q, int *i, int *f, MPI_Status *s), (n, q, i, f, s))
WAITS(Testsome, (int n, MPI_Request *q, int *o, int *i, MPI_Status *s), (n, q, o, i, s))
WAITS(Probe, (int s, int g, MPI_Comm c, MPI_Status *q), (s, g, c, q))
WAITS(Iprobe, (int s, int g, MPI_Comm c, int *f, MPI_Status *q), (s, g, c, f, q))
WAITS(Mprobe, (int s, int g, MPI_Comm c, MPI_Message *m, MPI_Status *q), (s, g, c, m, q))
WAITS(Start, (MPI_Request *q), (q))
WAITS(Startall, (int n, MPI_Request *q), (n, q))
WAITS(Win_fence, (int a, MPI_Win w), (a, w))
WAITS(Win_flush, (int r, MPI_Win w), (r, w))
WAITS(Win_flush_all, (MPI_Win w), (w))
WAITS(Win_lock, (int k, int r, int a, MPI_Win w), (k, r, a, w))
WAITS(Win_lock_all, (int a, MPI_Win w), (a, w))
WAITS(Win_unlock, (int r, MPI_Win w), (r, w))
WAITS(Win_unlock_all, (MPI_Win w), (w))
WAITS(Win_start, (MPI_Group g, int a, MPI_Win w), (g, a, w))
WAITS(Win_complete, (MPI_Win w), (w))
WAITS(Win_wait, (MPI_Win w), (w))
ALL(1, Barrier, (MPI_Comm c), (c), 0, MPI_DATATYPE_NULL, c)
ALL(18, Ibarrier, (MPI_Comm c, MPI_Request *q), (c, q), 0, MPI_DATATYPE_NULL, c)

#define COUNT int
#define PLACE int
#include "counted_calls.h"
#undef COUNT
#undef PLACE
#if MPI_VERSION >= 4 /* functions for counts of 64 bits */
#undef NAMED
#undef PROFILED
#define NAMED(name) MPI_##name##_c
#define PROFILED(name) PMPI_##name##_c
#define COUNT MPI_Count
#define PLACE MPI_Aint
#include "counted_calls.h"
#endif

int MPI_Init(int *c, char ***v) {
    int result = PMPI_Init(c, v);
    start();
    return result;
}
int MPI_Init_thread(int *c, char ***v, int asked, int *given) {
    int result = PMPI_Init_thread(c, v, asked, given);
    start();
    return result;
}
int MPI_Finalize(void) {
    finish();
    return PMPI_Finalize();
}

/* Fortran: the bindings of some MPIs do not call the functions above. All arguments are pointers. */
typedef void fortran(void *, ...);
static fortran *found(const char *name) {
    fortran *there = (fortran *)dlsym(RTLD_NEXT, name);
    if (!there) {
        fprintf(stderr, "evener tune: this MPI has no %s\n", name);
        abort();
    }
    return there;
}
/* count, type, rank, comm: places of these arguments, from 1; 0: it has none. */
static void leave_fortran(int64_t at, int number, void **a, int count, int type, int rank, int comm) {
    MPI_Datatype t = type ? PMPI_Type_f2c(*(MPI_Fint *)a[type - 1]) : MPI_DATATYPE_NULL;
    MPI_Comm c = comm ? PMPI_Comm_f2c(*(MPI_Fint *)a[comm - 1]) : MPI_COMM_NULL;
    int64_t bytes = count ? bytes_of(*(MPI_Fint *)a[count - 1], t) : 0;
    if (number) leave(at, kind_of(number, bytes, c), bytes, -1);
    else leave(at, 0, rank ? bytes : 0, rank ? peer_of(*(MPI_Fint *)a[rank - 1], c) : -1);
}
#define V(i) void *a##i
#define L1 V(1)
#define L2 L1, V(2)
#define L3 L2, V(3)
#define L4 L3, V(4)
#define L5 L4, V(5)
#define L6 L5, V(6)
#define L7 L6, V(7)
#define L8 L7, V(8)
#define L9 L8, V(9)
#define L10 L9, V(10)
#define L11 L10, V(11)
#define L12 L11, V(12)
#define L13 L12, V(13)
#define G1 a1
#define G2 G1, a2
#define G3 G2, a3
#define G4 G3, a4
#define G5 G4, a5
#define G6 G5, a6
#define G7 G6, a7
#define G8 G7, a8
#define G9 G8, a9
#define G10 G9, a10
#define G11 G10, a11
#define G12 G11, a12
#define G13 G12, a13
#define FORTRAN_NAMED(name, text, arity, number, count, type, rank, comm) \
    void name(L##arity) { \
        static fortran *real; \
        void *a[] = {G##arity}; \
        int64_t at; \
        if (!real) real = found(text); \
        int timed = enter(&at); \
        ((void (*)(L##arity))real)(G##arity); \
        if (timed) leave_fortran(at, number, a, count, type, rank, comm); \
        depth--; \
    }
#define FORTRAN(low, ...) \
    FORTRAN_NAMED(mpi_##low##_, "mpi_" #low "_", __VA_ARGS__) \
    FORTRAN_NAMED(mpi_##low##_f08_, "mpi_" #low "_f08_", __VA_ARGS__)

FORTRAN(send, 7, 0, 2, 3, 4, 6)
FORTRAN(ssend, 7, 0, 2, 3, 4, 6)
FORTRAN(isend, 8, 0, 2, 3, 4, 6)
FORTRAN(issend, 8, 0, 2, 3, 4, 6)
FORTRAN(recv, 8, 0, 0, 0, 0, 0)
FORTRAN(irecv, 8, 0, 0, 0, 0, 0)
FORTRAN(sendrecv, 13, 0, 2, 3, 4, 11)
FORTRAN(sendrecv_replace, 10, 0, 2, 3, 4, 8)
FORTRAN(wait, 3, 0, 0, 0, 0, 0)
FORTRAN(waitall, 4, 0, 0, 0, 0, 0)
FORTRAN(waitany, 5, 0, 0, 0, 0, 0)
FORTRAN(test, 4, 0, 0, 0, 0, 0)
FORTRAN(testall, 5, 0, 0, 0, 0, 0)
FORTRAN(probe, 5, 0, 0, 0, 0, 0)
FORTRAN(startall, 3, 0, 0, 0, 0, 0)
FORTRAN(barrier, 2, 1, 0, 0, 0, 1)
FORTRAN(bcast, 6, 2, 2, 3, 0, 5)
FORTRAN(reduce, 8, 3, 3, 4, 0, 7)
FORTRAN(allreduce, 7, 4, 3, 4, 0, 6)
FORTRAN(scan, 7, 5, 3, 4, 0, 6)
FORTRAN(allgather, 8, 9, 5, 6, 0, 7)
FORTRAN(gather, 9, 10, 0, 0, 0, 8)
FORTRAN(scatter, 9, 11, 0, 0, 0, 8)
FORTRAN(alltoall, 8, 12, 5, 6, 0, 7)
FORTRAN(allgatherv, 9, 13, 0, 0, 0, 8)
FORTRAN(gatherv, 10, 14, 0, 0, 0, 9)
FORTRAN(alltoallv, 10, 16, 0, 0, 0, 9)

#define FORTRAN_START(low, arity) \
    void mpi_##low(L##arity) { \
        static fortran *real; \
        if (!real) real = found("mpi_" #low); \
        ((void (*)(L##arity))real)(G##arity); \
        start(); \
    }
FORTRAN_START(init_, 1)
FORTRAN_START(init_f08_, 1)
FORTRAN_START(init_thread_, 3)
FORTRAN_START(init_thread_f08_, 3)
#define FORTRAN_END(low) \
    void mpi_##low(L1) { \
        static fortran *real; \
        if (!real) real = found("mpi_" #low); \
        finish(); \
        ((void (*)(L1))real)(a1); \
    }
FORTRAN_END(finalize_)
FORTRAN_END(finalize_f08_)
