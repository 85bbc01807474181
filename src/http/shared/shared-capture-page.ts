import type { ScreenshotInfo } from '../../capture/artifacts/screenshot-info.ts';
import { escapedHtml, linkedUrl } from '../../capture/basics/html-text.ts';
import { optionLabels } from '../../capture/options/option-labels.ts';
import type { Evidence } from '../../capture/result/evidence.ts';
import type { DetailedResult, Result } from '../../capture/result/result.ts';
import { type Cell, facts, image, table, timeOf } from './page.ts';

/** Rows of a table of evidence. A capture may have thousands of requests. */
const MAX_ROWS = 500;
/** Response headers whose values are credentials. */
const WITHHELD_HEADERS = /^(set-cookie|authorization|proxy-authorization)$/i;

export interface ShownCapture {
  readonly result: DetailedResult;
  readonly info: ScreenshotInfo;
  /** Path of the image. */
  readonly path: string;
}

export function titleOf({ title, url }: Pick<Result, 'title' | 'url'>): string {
  return title === '' ? url : title;
}

/** Returns the image of a capture, how it was made, and its evidence, as HTML. */
export function captureBody({ result, info, path }: ShownCapture): string {
  return `${imageOf({ result, info, path })}
<h2>How it was made</h2>
${captureFacts(result, info)}
${result.evidence === null ? '' : evidenceOf(result.evidence)}`;
}

/** A PDF cannot be shown as an image. */
export function imageOf({ result, path }: ShownCapture): string {
  if (result.format === 'pdf') return `<p><a href="${escapedHtml(path)}">Open the PDF</a></p>`;
  return image(path, `Screenshot of ${titleOf(result)}`);
}

export function captureFacts(result: Result, info: ScreenshotInfo): string {
  const { verdict, truncated_by: truncatedBy, partial_phase: phase } = result;
  return facts([
    ['URL', { html: linkedUrl(result.url) }],
    ['Final URL', result.final_url === result.url ? undefined : { html: linkedUrl(result.final_url) }],
    ['Captured', { html: timeOf(result.probed_at) }],
    ['HTTP status', `${result.response_code} ${result.response_reason}`.trim()],
    ['Address', result.remote_ip ?? undefined],
    ['Verdict', verdict ?? undefined],
    ['Options', optionLabels(result).join(', ')],
    ['Duration', `${(result.duration_ms / 1000).toFixed(1)} s`],
    ['Image', `${result.format.toUpperCase()}, ${result.width} × ${result.height}, ${info.bytes} bytes`],
    ['Truncated', result.truncated ? `by ${truncatedBy}` : undefined],
    ['Partial', result.partial ? `the ${phase} phase was cut` : undefined],
    ['SHA-256', info.sha256],
    ['Capture', String(result.id)],
  ]);
}

/** Values of cookies are left out: with them, the reader could use the session of the capture. */
function evidenceOf(evidence: Evidence): string {
  const { redirects, tls, headers, console, network, cookies, dialogs, popups } = evidence;
  const sections = [
    tls == null
      ? ''
      : `<details><summary>TLS</summary>${facts([
          ['Version', tls.version],
          ['Cipher', tls.cipher],
          ['Subject', tls.subject],
          ['Names', tls.names.join(', ')],
          ['Issuer', tls.issuer],
          ['Valid from', { html: timeOf(tls.valid_from) }],
          ['Valid to', { html: timeOf(tls.valid_to) }],
          ['SHA-256', tls.fingerprint],
        ])}</details>`,
    rows('Redirects', ['Status', 'From', 'To'], redirects, (one) => [String(one.status), one.url, one.location]),
    rows('Response headers', ['Name', 'Value'], headers, ({ name, value }) => [
      name,
      WITHHELD_HEADERS.test(name) ? 'left out' : value,
    ]),
    rows('Requests', ['Method', 'Status', 'Type', 'Bytes', 'Duration', 'URL'], network, (one) => [
      one.method,
      one.failure === '' ? String(one.status) : one.failure,
      one.type,
      String(one.bytes),
      one.time_ms === null ? '' : `${one.time_ms} ms`,
      one.url,
    ]),
    rows('Console', ['Level', 'Message'], console, ({ level, text }) => [level, text]),
    rows('Cookies', ['Name', 'Domain'], cookies, ({ name, domain }) => [name, domain]),
    rows('Dialogs', ['Type', 'Message'], dialogs, ({ type, message }) => [type, message]),
    rows('Popups', ['URL'], popups, (url) => [url]),
  ].filter((section) => section !== '');
  return sections.length === 0 ? '' : `<h2>Evidence</h2>\n${sections.join('\n')}`;
}

function rows<T>(
  heading: string,
  columns: readonly string[],
  list: { readonly items: readonly T[]; readonly omitted: number } | undefined,
  rowOf: (item: T) => readonly Cell[],
): string {
  if (list === undefined) return '';
  const { items, omitted } = list;
  return table(heading, columns, items.slice(0, MAX_ROWS).map(rowOf), omitted + Math.max(0, items.length - MAX_ROWS));
}
