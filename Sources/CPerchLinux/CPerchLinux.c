// SwiftPM requires a source file; all functions are static inline in include/shim.h, so that Swift can inline them.
#include "shim.h"
