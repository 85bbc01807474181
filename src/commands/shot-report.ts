import { stripVTControlCharacters } from 'node:util';
import { SingleBar } from 'cli-progress';

/** How one capture ended, for people. */
export type Shot =
  | { readonly saved: true; readonly file: string; readonly status: number; readonly title: string }
  | { readonly saved: false; readonly url: string; readonly code: string; readonly reason: string };

/** A line for each capture on standard output, and on a terminal a bar on standard error below them. */
export function startReport(total: number): { done(shot: Shot): void; end(): void } {
  const bar = process.stderr.isTTY
    ? new SingleBar({
        format: '{bar} {value}/{total}  {eta_formatted} left',
        stream: process.stderr,
        clearOnComplete: true,
        hideCursor: true,
      })
    : null;
  bar?.start(total, 0);
  return {
    done(shot) {
      if (bar !== null) process.stderr.write('\r\x1b[K');
      process.stdout.write(`${shotLine(shot)}\n`);
      bar?.increment();
    },
    end: () => bar?.stop(),
  };
}

/** What pages say of themselves cannot break the line, nor give orders to the terminal. */
export function shotLine(shot: Shot): string {
  const line = shot.saved
    ? `saved ${shot.file}  ${shot.status} ${shot.title}`
    : `failed ${shot.url}: ${shot.code} ${shot.reason}`;
  return stripVTControlCharacters(line)
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trimEnd();
}
