/* Calls with counts, included by waits.c: COUNT and PLACE are the types of numbers of entries and of
   displacements, NAMED(f) is the name of function f. */
#define OUT const void *b, COUNT n, MPI_Datatype t, int d, int g, MPI_Comm c
#define IN void *b, COUNT n, MPI_Datatype t, int s, int g, MPI_Comm c
#define TWO const void *b, COUNT n, MPI_Datatype t, void *r, COUNT m, MPI_Datatype u

POINT(Send, (OUT), (b, n, t, d, g, c), n, t, d, c)
POINT(Bsend, (OUT), (b, n, t, d, g, c), n, t, d, c)
POINT(Ssend, (OUT), (b, n, t, d, g, c), n, t, d, c)
POINT(Rsend, (OUT), (b, n, t, d, g, c), n, t, d, c)
POINT(Isend, (OUT, MPI_Request *q), (b, n, t, d, g, c, q), n, t, d, c)
POINT(Issend, (OUT, MPI_Request *q), (b, n, t, d, g, c, q), n, t, d, c)
POINT(Irsend, (OUT, MPI_Request *q), (b, n, t, d, g, c, q), n, t, d, c)
POINT(Ibsend, (OUT, MPI_Request *q), (b, n, t, d, g, c, q), n, t, d, c)
POINT(Sendrecv, (const void *b, COUNT n, MPI_Datatype t, int d, int g, void *r, COUNT m, MPI_Datatype u,
      int s, int h, MPI_Comm c, MPI_Status *q), (b, n, t, d, g, r, m, u, s, h, c, q), n, t, d, c)
POINT(Sendrecv_replace, (void *b, COUNT n, MPI_Datatype t, int d, int g, int s, int h, MPI_Comm c,
      MPI_Status *q), (b, n, t, d, g, s, h, c, q), n, t, d, c)
WAITS(Recv, (IN, MPI_Status *q), (b, n, t, s, g, c, q))
WAITS(Irecv, (IN, MPI_Request *q), (b, n, t, s, g, c, q))
WAITS(Mrecv, (void *b, COUNT n, MPI_Datatype t, MPI_Message *m, MPI_Status *q), (b, n, t, m, q))
ALL(2, Bcast, (void *b, COUNT n, MPI_Datatype t, int r, MPI_Comm c), (b, n, t, r, c), n, t, c)
ALL(3, Reduce, (const void *b, void *r, COUNT n, MPI_Datatype t, MPI_Op o, int w, MPI_Comm c),
    (b, r, n, t, o, w, c), n, t, c)
ALL(4, Allreduce, (const void *b, void *r, COUNT n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
    (b, r, n, t, o, c), n, t, c)
ALL(5, Scan, (const void *b, void *r, COUNT n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
    (b, r, n, t, o, c), n, t, c)
ALL(6, Exscan, (const void *b, void *r, COUNT n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
    (b, r, n, t, o, c), n, t, c)
ALL(7, Reduce_scatter_block, (const void *b, void *r, COUNT n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
    (b, r, n, t, o, c), n, t, c)
ALL(8, Reduce_scatter, (const void *b, void *r, const COUNT *n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
    (b, r, n, t, o, c), 0, t, c)
ALL(9, Allgather, (TWO, MPI_Comm c), (b, n, t, r, m, u, c), m, u, c)
ALL(10, Gather, (TWO, int w, MPI_Comm c), (b, n, t, r, m, u, w, c), 0, MPI_DATATYPE_NULL, c)
ALL(11, Scatter, (TWO, int w, MPI_Comm c), (b, n, t, r, m, u, w, c), 0, MPI_DATATYPE_NULL, c)
ALL(12, Alltoall, (TWO, MPI_Comm c), (b, n, t, r, m, u, c), m, u, c)
ALL(13, Allgatherv, (const void *b, COUNT n, MPI_Datatype t, void *r, const COUNT *m, const PLACE *d,
    MPI_Datatype u, MPI_Comm c), (b, n, t, r, m, d, u, c), 0, t, c)
ALL(14, Gatherv, (const void *b, COUNT n, MPI_Datatype t, void *r, const COUNT *m, const PLACE *d,
    MPI_Datatype u, int w, MPI_Comm c), (b, n, t, r, m, d, u, w, c), 0, t, c)
ALL(15, Scatterv, (const void *b, const COUNT *n, const PLACE *d, MPI_Datatype t, void *r, COUNT m,
    MPI_Datatype u, int w, MPI_Comm c), (b, n, d, t, r, m, u, w, c), 0, t, c)
ALL(16, Alltoallv, (const void *b, const COUNT *n, const PLACE *d, MPI_Datatype t, void *r, const COUNT *m,
    const PLACE *e, MPI_Datatype u, MPI_Comm c), (b, n, d, t, r, m, e, u, c), 0, t, c)
ALL(17, Alltoallw, (const void *b, const COUNT *n, const PLACE *d, const MPI_Datatype *t, void *r,
    const COUNT *m, const PLACE *e, const MPI_Datatype *u, MPI_Comm c), (b, n, d, t, r, m, e, u, c), 0,
    MPI_DATATYPE_NULL, c)
ALL(19, Iallreduce, (const void *b, void *r, COUNT n, MPI_Datatype t, MPI_Op o, MPI_Comm c,
    MPI_Request *q), (b, r, n, t, o, c, q), n, t, c)
ALL(20, Ibcast, (void *b, COUNT n, MPI_Datatype t, int r, MPI_Comm c, MPI_Request *q),
    (b, n, t, r, c, q), n, t, c)
ALL(21, Neighbor_alltoall, (TWO, MPI_Comm c), (b, n, t, r, m, u, c), 0, t, c)
ALL(22, Neighbor_alltoallv, (const void *b, const COUNT *n, const PLACE *d, MPI_Datatype t, void *r,
    const COUNT *m, const PLACE *e, MPI_Datatype u, MPI_Comm c), (b, n, d, t, r, m, e, u, c), 0, t, c)
ALL(23, Neighbor_allgather, (TWO, MPI_Comm c), (b, n, t, r, m, u, c), 0, t, c)
ALL(24, Neighbor_allgatherv, (const void *b, COUNT n, MPI_Datatype t, void *r, const COUNT *m,
    const PLACE *d, MPI_Datatype u, MPI_Comm c), (b, n, t, r, m, d, u, c), 0, t, c)

#undef OUT
#undef IN
#undef TWO
