/**
 * Why standard output cannot be written: its reader has gone, as with `| head -1`, or a failure such as a full disk.
 */
type OutputEnd = 'SIGPIPE' | 'failed';

let end: OutputEnd | undefined;

/** Returns why standard output could not be written; undefined as long as it could, or when that does not matter. */
export function outputEnd(): OutputEnd | undefined {
  return end;
}

/**
 * Calls `act` once when standard output cannot be written. A later call replaces the function of an earlier one. A
 * failure is reported in one line. Messages on standard error that nobody reads have no effect.
 */
export function whenOutputEnds(act: (reason: OutputEnd) => void): void {
  onOutputEnd((reason) => {
    end = reason;
    act(reason);
  });
}

/** Continues when standard output cannot be written, which is no failure of the command from now on. */
export function ignoreOutputEnd(): void {
  onOutputEnd(() => {});
}

function onOutputEnd(act: (reason: OutputEnd) => void): void {
  process.stderr.removeAllListeners('error').on('error', () => {});
  process.stdout.removeAllListeners('error').once('error', (error: NodeJS.ErrnoException) => {
    // Further writes fail too.
    process.stdout.on('error', () => {});
    const reason = error.code === 'EPIPE' ? 'SIGPIPE' : 'failed';
    if (reason === 'failed') process.stderr.write(`capstan: standard output cannot be written: ${error.message}\n`);
    act(reason);
  });
}
