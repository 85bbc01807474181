import { closeSync, openSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into the service with `--import`. At SIGUSR2 it takes every free file descriptor of the process, and at the
 * next SIGUSR2 it returns them.
 */

const taken: number[] = [];

function takeOrReturn(): void {
  if (taken.length > 0) {
    for (const fd of taken.splice(0)) closeSync(fd);
    return;
  }
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    // No descriptor is free.
  }
}

if (isMainThread) process.on('SIGUSR2', takeOrReturn);
