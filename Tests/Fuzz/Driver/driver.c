#include "CPerchFuzzDriver.h"
