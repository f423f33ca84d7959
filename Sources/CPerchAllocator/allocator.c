#include "CPerchAllocator.h"

/* jemalloc reads this at start; MALLOC_CONF in the environment overrides it. The option names are those of jemalloc
   5.3; an older version logs at start that it does not know them, and continues.

   dirty_decay_ms:0 returns free pages to the kernel at once instead of after ten seconds. An idle connection with a
   watch takes 430 bytes this way, and 550 otherwise (`perch bench idle --watchers 10000`).

   The tcache options keep up to 2,048 free pieces of a size in the thread's cache instead of 200. A loop iteration
   with hundreds of changes frees more than 200, and allocates them again in the next. */
extern const char *malloc_conf;
const char *malloc_conf = "dirty_decay_ms:0,lg_tcache_nslots_mul:5,tcache_nslots_small_max:2048";
