#ifndef CPERCHFAULTS_H
#define CPERCHFAULTS_H

#include <stdint.h>

// A simulated disk with faults, for tests: SQLite's file system "faulty". A path on it is "/DISK/NAME", where DISK is
// the number returned by `perch_disk_create`. One thread at a time may use a disk; disks share nothing.
//
// It stores two contents of each file: the one that readers see, and the one that survives a power loss. The next sync
// of the file makes a write survive. A created or removed name survives the next sync of a new file, as in ext4 and
// SQLite's own file system.

// Faults of one operation.
enum {
    PERCH_FAULT_NONE = 0,
    // Nothing is written, because the disk is full.
    PERCH_FAULT_FULL = 1,
    // Half is written, then the disk is full.
    PERCH_FAULT_SHORT = 2,
    // A device error of any operation. After a failed sync, each earlier write survives at random, and a later sync
    // does not retry it.
    PERCH_FAULT_DEVICE = 3,
};

// Creates a disk whose random choices follow from the seed. Its number is above 0.
int perch_disk_create(uint64_t seed);
void perch_disk_destroy(int disk);

// Number of operations: opening, reading, writing, truncating, syncing and removing files.
int64_t perch_disk_operations(int disk);
// Number of successful syncs.
int64_t perch_disk_syncs(int disk);

// Makes the operation that is `ahead` operations away fail (0: the next), and all later ones if `stays`.
void perch_disk_fail(int disk, int64_t ahead, int fault, int stays);
// Makes the next sync fail with `PERCH_FAULT_DEVICE`.
void perch_disk_fail_next_sync(int disk);
// Cancels all planned faults and deaths.
void perch_disk_heal(int disk);
// Limits the bytes of all files together; negative means unlimited.
void perch_disk_set_room(int disk, int64_t bytes);
int64_t perch_disk_bytes(int disk);

// Kills the process that uses the disk during a changing operation `ahead` changes away (0: the next); negative: now.
// Its later operations have no effect.
void perch_disk_die(int disk, int64_t ahead);
// Kills the process in a sync `ahead` syncs away: everything is written, but may be lost.
void perch_disk_die_in_sync(int disk, int64_t ahead);
int perch_disk_is_dead(int disk);
// Starts another process. After a power loss the state of each unsynced sector is random: as before, or as any of its
// writes left it, in any order. Where a file only grew, the sector holds zeros or arbitrary bytes.
void perch_disk_start(int disk, int power_was_lost);

#endif
