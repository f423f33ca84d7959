/* SwiftPM requires a source file in a target; all code is in the header. */
#include "CPerchZlib.h"
