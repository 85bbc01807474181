import { SingleBar } from 'cli-progress';
import type { Evidence } from '../../capture/result/evidence.ts';
import type { Result } from '../../capture/result/result.ts';
import type { TruncatedBy } from '../../capture/result/truncation.ts';
import type { CapstanFailure } from '../../client/mod.ts';
import { oneLine, printableJson } from '../../log/printable.ts';

/** The outcome of one capture. */
export type Shot =
  | {
      readonly saved: true;
      readonly url: string;
      readonly file: string;
      readonly status: number;
      readonly title: string;
      readonly result: Omit<Result, 'artifacts'>;
      readonly evidence: Evidence | null;
    }
  | {
      readonly saved: false;
      readonly url: string;
      /** File and line number of a line that is not a URL: `urls.txt:3`. */
      readonly line?: string;
      readonly code: CapstanFailure['code'] | 'file_exists';
      readonly reason: string;
    };

/** The part of a shot that its line in the report shows. */
type ShotFacts =
  | Pick<Extract<Shot, { saved: true }>, 'saved' | 'file' | 'status' | 'title'>
  | Extract<Shot, { saved: false }>;

export interface Report {
  done(shot: Shot): void;
  /** Prints the summary. */
  end(): void;
}

/**
 * Prints a line for each capture to standard output. Prints a line for each partial or truncated capture and the
 * summary to standard error, with a progress bar on a terminal.
 */
export function startReport(total: number, json: boolean): Report {
  const startedAt = performance.now();
  const counts = { saved: 0, failed: 0, partial: 0 };
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
      counts[shot.saved ? 'saved' : 'failed'] += 1;
      if (bar !== null) process.stderr.write('\r\x1b[K');
      process.stdout.write(`${json ? printableJson(jsonShot(shot)) : shotLine(shot)}\n`);
      if (shot.saved && shot.result.partial) {
        counts.partial += 1;
        process.stderr.write(`${partialLine(shot)}\n`);
      } else if (shot.saved && shot.result.truncated) process.stderr.write(`${truncatedLine(shot)}\n`);
      if (shot.saved && isOdd(shot.result.verdict)) process.stderr.write(`${verdictLine(shot)}\n`);
      bar?.increment();
    },
    end() {
      bar?.stop();
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      const left = total - counts.saved - counts.failed;
      const undone = left > 0 ? `, ${left} not captured` : '';
      const partial = counts.partial > 0 ? ` (${counts.partial} partial)` : '';
      process.stderr.write(`${counts.saved} saved${partial}, ${counts.failed} failed${undone}, in ${seconds} s\n`);
    },
  };
}

function jsonShot(shot: Shot): object {
  const { url } = shot;
  return shot.saved
    ? { url, file: shot.file, line: null, result: shot.result, evidence: shot.evidence, error: null, code: null }
    : { url, file: null, line: shot.line ?? null, result: null, evidence: null, error: shot.reason, code: shot.code };
}

/** Ways to an image that shows more. */
const REMEDIES: Readonly<Record<TruncatedBy, string>> = {
  '': '',
  format: ': the format holds no more; --format png does',
  maxHeight: ', as --max-height asks for',
  limit: ', which is the limit of an image',
  growth: ': it grew while it was scrolled; --max-height follows it further',
  container: ': what is around the element cuts it off',
  time: ': the time was over; --timeout-ms gives the page more',
};

/** Returns the warning that an image does not show the whole page. */
function truncatedLine({ file, result }: Extract<Shot, { saved: true }>): string {
  const { height, full_height: fullHeight, truncated_by: by } = result;
  const shown = fullHeight > height ? `shows ${height} of ${fullHeight} px` : 'shows less than requested';
  return oneLine(`truncated ${file}: ${shown}${REMEDIES[by]}`);
}

/** Whether the page is probably not what was wanted. An error is told by its status already. */
function isOdd(verdict: Result['verdict']): boolean {
  return verdict !== null && verdict !== 'content' && verdict !== 'error';
}

/** Returns the warning that the page shows something other than its content. */
function verdictLine({ file, result }: Extract<Shot, { saved: true }>): string {
  return oneLine(`${result.verdict} ${file}: ${result.verdict_reasons.join(', ')}`);
}

/** Returns the warning that an image may lack a part of its page. */
function partialLine({ file, result, evidence }: Extract<Shot, { saved: true }>): string {
  const exceeded = evidence?.exceeded?.map(({ limit, max }) => `${max} ${limit}`).join(' and ');
  const cause =
    exceeded === undefined
      ? `the time was over in the phase ${result.partial_phase}; --timeout-ms gives the page more`
      : `the page exceeded ${exceeded}`;
  return oneLine(`partial ${file}: ${cause}`);
}

/** Returns the line of a capture. */
export function shotLine(shot: ShotFacts): string {
  const line = shot.saved
    ? `saved ${shot.file}  ${shot.status} ${shot.title}`
    : `failed ${shot.line ?? shot.url}: ${shot.code} ${shot.reason}`;
  return oneLine(line);
}
