// The minimum of a durable purchase: the rows of Perch's schema, one commit a batch, one fsync a commit.
#ifndef PERCH_FLOOR_STORE_H
#define PERCH_FLOOR_STORE_H

#include "CPerchFloor.h"

// Creates `floor.db` in the settings' directory, which must not contain one. Returns 0 or an error number.
int floor_store_open(const struct perch_floor_settings *settings);
// Adds a purchase of an account to the current batch, or starts a batch.
void floor_store_add(uint32_t account, uint64_t revision);
// Returns when the batch is synced; a failure ends the process.
void floor_store_commit(void);

#endif
