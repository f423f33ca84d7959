#include "CPerchAllocator.h"

/* Read by jemalloc when it begins, before MALLOC_CONF of the environment, which counts more. Free pages go back to the kernel
   at once, and not after ten seconds: an idle connection with a watch is 430 bytes so, and 550 otherwise (`perch bench idle
   --watchers 10000`), and what a change takes is found again in the cache of its thread. That keeps up to 2,048 free pieces of
   a size instead of 200: a turn of some hundred changes lets go of more than those at once, and takes them again in the next.
   (Both names are of jemalloc 5.3; an older one says at the start that it does not know them, and goes on without.) */
extern const char *malloc_conf;
const char *malloc_conf = "dirty_decay_ms:0,lg_tcache_nslots_mul:5,tcache_nslots_small_max:2048";
