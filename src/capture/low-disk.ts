/**
 * Free space under which a disk is low, in bytes: that of 1000 screenshots and the browsers' profiles. With less, an
 * hour of work may fill the disk.
 */
export const LOW_DISK_BYTES = 1024 ** 3;
