import type { BatchLine, DetailedCaptureResult, Job } from '../../client/mod.ts';
import { csvLine } from '../../http/lines/csv.ts';
import { oneLine, printableJson } from '../../log/printable.ts';

/** Form of the outcomes on standard output. */
export type OutputForm = 'text' | 'json' | 'csv';

/** Interval of progress lines where there is no terminal, in milliseconds. */
const PLAIN_INTERVAL_MS = 10_000;

/** Failures of targets that gave no answer. */
const DEAD: ReadonlySet<string> = new Set(['target_unreachable', 'capture_timeout', 'target_forbidden']);

/** Columns of the CSV output. */
const COLUMNS = {
  // Of a scheme that was a guess, the one that answered.
  url: ({ url, code, result }) => (code === null && result !== null ? result.url : url),
  status: ({ result }) => result?.response_code,
  title: ({ result }) => result?.title,
  server: (_, details) => details?.evidence?.headers?.items.find(({ name }) => name.toLowerCase() === 'server')?.value,
  address: ({ result }) => result?.remote_ip,
  final_url: ({ result }) => result?.final_url,
  certificate_subject: (_, details) => details?.evidence?.tls?.subject,
  certificate_issuer: (_, details) => details?.evidence?.tls?.issuer,
  certificate_valid_to: (_, details) => details?.evidence?.tls?.valid_to,
  verdict: ({ result }) => result?.verdict,
  code: ({ code }) => code,
  error: ({ error }) => error,
  same_as: ({ same_as }) => same_as,
  id: ({ result }) => result?.id,
} as const satisfies Readonly<Record<string, (line: BatchLine, details: DetailedCaptureResult | undefined) => unknown>>;

/** Returns what is written before the outcomes. */
export function outputHead(form: OutputForm): string {
  return form === 'csv' ? csvLine(Object.keys(COLUMNS)) : '';
}

/** Returns the line of an outcome. `details`: its result with evidence, which CSV shows. */
export function outputLine(line: BatchLine, form: OutputForm, details: DetailedCaptureResult | undefined): string {
  if (form === 'json') return `${printableJson(line)}\n`;
  if (form === 'csv') {
    const cells = Object.values(COLUMNS).map((column) => column(line, details));
    return csvLine(cells.map((cell) => (typeof cell === 'string' ? oneLine(cell) : cell)));
  }
  return `${oneLine(textLine(line))}\n`;
}

function textLine({ url, result, code, error, same_as: sameAs }: BatchLine): string {
  if (code !== null || result === null) return `failed ${url}: ${code} ${error}`;
  const moved = result.final_url === result.url ? '' : ` -> ${result.final_url}`;
  const same = sameAs === undefined ? '' : ` (same as ${sameAs})`;
  return `${result.response_code} ${result.url}${moved}${same}  ${result.title}`;
}

/** Returns how far a scan is. `rate`: outcomes a second. */
function progressText({ progress: { done, total, failed, failed_by: failedBy } }: Job, rate: number): string {
  const dead = Object.entries(failedBy).filter(([code]) => DEAD.has(code));
  const deadCount = dead.reduce((sum, [, count]) => sum + count, 0);
  const reasons = dead.map(([code, count]) => `${count} ${code}`).join(', ');
  const left = total - done;
  const remaining = rate > 0 && left > 0 ? `, about ${durationText(left / rate)} remaining` : '';
  return `${done - deadCount} reached, ${deadCount} dead${reasons === '' ? '' : ` (${reasons})`}, ${done - failed} captured, ${left} left, ${rate.toFixed(1)}/s${remaining}`;
}

function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.ceil(whole / 60)} min` : `${(whole / 3600).toFixed(1)} h`;
}

/** Writes progress to standard error: one line that is renewed on a terminal, else a line now and then. */
export function startProgress() {
  const isTerminal = process.stderr.isTTY;
  const startedAt = performance.now();
  let firstDone: number | undefined;
  let writtenAt = startedAt;
  let last = '';
  const clear = (): void => {
    if (isTerminal && last !== '') process.stderr.write('\r\x1b[K');
  };
  return {
    /** Removes the line of a terminal, so that another one can be written. */
    clear,
    update: (job: Job): void => {
      const now = performance.now();
      firstDone ??= job.progress.done;
      const rate = (job.progress.done - firstDone) / Math.max(0.001, (now - startedAt) / 1000);
      last = progressText(job, rate);
      // A terminal that does not know its width has 0 columns.
      if (isTerminal) process.stderr.write(`\r\x1b[K${last.slice(0, (process.stderr.columns || 80) - 1)}`);
      else if (now - writtenAt >= PLAIN_INTERVAL_MS) {
        writtenAt = now;
        process.stderr.write(`${last}\n`);
      }
    },
    end: (): void => {
      clear();
      if (last !== '') process.stderr.write(`${last}\n`);
    },
  };
}
