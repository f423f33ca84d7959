/* SwiftPM wants a source file in a target; everything is in the header. */
#include "CPerchZlib.h"
