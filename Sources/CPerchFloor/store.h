// What a durable purchase cannot leave out: the rows of Perch's schema, one commit a batch, one fsync a commit.
#ifndef PERCH_FLOOR_STORE_H
#define PERCH_FLOOR_STORE_H

#include "CPerchFloor.h"

// Makes `floor.db` in the directory of the settings, which has none. An error number, or 0.
int floor_store_open(const struct perch_floor_settings *settings);
// A purchase of an account, as part of the batch under way, which it begins if there is none.
void floor_store_add(uint32_t account, uint64_t revision);
// Returns when the batch is synced. Ends the process where that fails.
void floor_store_commit(void);

#endif
