#ifndef CPERCHFAULTS_H
#define CPERCHFAULTS_H

#include <stdint.h>

// A disk in memory that fails as disks do, for tests: the file system "faulty" of SQLite. A path on it is "/DISK/NAME",
// where DISK is the number that `perch_disk_create` gave. One thread at a time uses a disk; disks do not share anything.
//
// It knows two contents of each file: what a reader sees, and what would survive a loss of power. A write goes from the
// first to the second with the next sync of its file; a name that was made or taken away, with the next sync of a file
// that is new, as ext4 and SQLite's own file system have it.

// What goes wrong with one operation.
enum {
    PERCH_FAULT_NONE = 0,
    // Nothing is written for want of room.
    PERCH_FAULT_FULL = 1,
    // Half of it is written, then there is no room.
    PERCH_FAULT_SHORT = 2,
    // An error of the device: of a read, a write, a sync, whatever the operation is. After a failed sync nobody can say
    // what of the writes before it will survive; it is drawn, and a later sync does not try them again.
    PERCH_FAULT_DEVICE = 3,
};

// Makes a disk; all that is drawn is drawn from its seed. The number is above 0.
int perch_disk_create(uint64_t seed);
void perch_disk_destroy(int disk);

// How many operations were asked of it: opening, reading, writing, cutting off, syncing and removing files.
int64_t perch_disk_operations(int disk);
// How many of them were syncs that succeeded.
int64_t perch_disk_syncs(int disk);

// Lets the operation fail that is so many ahead (0: the next), and all that follow if `stays`.
void perch_disk_fail(int disk, int64_t ahead, int fault, int stays);
// Lets the next sync fail, as `PERCH_FAULT_DEVICE`.
void perch_disk_fail_next_sync(int disk);
// No faults any more, and no death that was ordered.
void perch_disk_heal(int disk);
// Bytes that all files together may have; negative: as many as they like.
void perch_disk_set_room(int disk, int64_t bytes);
int64_t perch_disk_bytes(int disk);

// Lets the process die that uses the disk, during the operation that is so many ahead (0: the next) among those that
// change something; negative: now. From then on nothing it asks has any effect.
void perch_disk_die(int disk, int64_t ahead);
// The same in the sync that is so many ahead: everything is written, and nobody knows whether it lasts.
void perch_disk_die_in_sync(int disk, int64_t ahead);
int perch_disk_is_dead(int disk);
// Another process begins. `power_was_lost`: and all that was not synced is drawn, sector by sector: there as before, there
// as any of the writes to it left it, in any order; where a file only grew, zeros or anything.
void perch_disk_start(int disk, int power_was_lost);

#endif
