/**
 * Why standard output cannot be written: its reader has gone, as with `| head -1`, or a failure such as a full disk.
 */
type OutputEnd = 'SIGPIPE' | 'failed';

/**
 * Acts once on a standard output that cannot be written; replaces what was to be done before. A failure is told in one
 * line. Messages on standard error that nobody reads have no effect.
 */
export function whenOutputEnds(act: (end: OutputEnd) => void): void {
  process.stderr.removeAllListeners('error').on('error', () => {});
  process.stdout.removeAllListeners('error').once('error', (error: NodeJS.ErrnoException) => {
    // Further writes fail too.
    process.stdout.on('error', () => {});
    if (error.code === 'EPIPE') return act('SIGPIPE');
    process.stderr.write(`capstan: standard output cannot be written: ${error.message}\n`);
    act('failed');
  });
}
