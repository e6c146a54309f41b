/* The functions of libxsmm 2 that PyFR 3.1 calls, on libxsmm 1.17 (Debian's libxsmm-dev), where
   products of sparse and dense matrices have one name for each precision. */
#include <libxsmm.h>
#include <stdlib.h>

struct product { int is_double; void *of; };

void *libxsmm_fsspmdm_create(int type, int m, int n, int k, int lda, int ldb, int ldc,
                             const void *alpha, const void *beta, const void *a, int c_is_nt,
                             void *timer)
{
  struct product *made = malloc(sizeof *made);
  (void)timer; /* 1.17 does not choose between kernels by time */
  if (!made) return NULL;
  made->is_double = type == 0;
  if (made->is_double)
    made->of = libxsmm_dfsspmdm_create(m, n, k, lda, ldb, ldc, *(const double *)alpha,
                                       *(const double *)beta, c_is_nt, a);
  else
    made->of = libxsmm_sfsspmdm_create(m, n, k, lda, ldb, ldc, *(const float *)alpha,
                                       *(const float *)beta, c_is_nt, a);
  if (!made->of) { free(made); return NULL; }
  return made;
}

void libxsmm_fsspmdm_execute(const struct product *made, const void *b, void *c)
{
  if (made->is_double) libxsmm_dfsspmdm_execute(made->of, b, c);
  else libxsmm_sfsspmdm_execute(made->of, b, c);
}

void libxsmm_fsspmdm_destroy(struct product *made)
{
  if (made->is_double) libxsmm_dfsspmdm_destroy(made->of);
  else libxsmm_sfsspmdm_destroy(made->of);
  free(made);
}
