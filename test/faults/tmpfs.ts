import { execFile } from 'node:child_process';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const FILLER = 'filler';
const BLOCK = Buffer.alloc(4096);

/** Returns why no small file system can be mounted here, or undefined when one can. */
export const whyNoTmpfs =
  process.platform === 'linux' && process.getuid?.() === 0 ? undefined : 'only root on Linux mounts a tmpfs';

/** A small file system. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** Fills it to the last byte. */
  fill(): Promise<void>;
  /** Removes what `fill` wrote. */
  free(): Promise<void>;
}

/** Mounts an empty file system of this many KiB on a directory, until it is disposed of. */
export async function mountSmallDisk(path: string, kib: number): Promise<SmallDisk> {
  await run('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'capstan-test', path]);
  const filler = join(path, FILLER);
  return {
    path,
    fill: async () => {
      const file = await open(filler, 'a');
      try {
        for (;;) await file.write(BLOCK);
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      } finally {
        await file.close();
      }
    },
    free: () => rm(filler),
    [Symbol.asyncDispose]: async () => {
      await run('umount', ['--lazy', path]);
    },
  };
}
