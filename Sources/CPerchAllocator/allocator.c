#include "CPerchAllocator.h"

/* Read by jemalloc when it begins, before MALLOC_CONF of the environment, which counts more. Free pages go back to the kernel
   at once, and not after ten seconds: an idle connection with a watch is 430 bytes so, and 550 otherwise (`perch bench idle
   --watchers 10000`), and what a change takes is found again in the cache of its thread. */
extern const char *malloc_conf;
const char *malloc_conf = "dirty_decay_ms:0";
