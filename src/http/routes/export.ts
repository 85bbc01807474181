import { Readable } from 'node:stream';
import { z } from 'zod';
import { sentResult } from '../../capture/artifacts/artifact-paths.ts';
import type { Result } from '../../capture/result/result.ts';
import { overHttp, type Target } from '../../capture/target.ts';
import { refusal } from '../../capture/validate.ts';
import { LISTED_TOGETHER, pagesOf, type ResultFilter } from '../../storage/ports/result-store.ts';
import { inTurn, textsOf } from '../answer/long-answers.ts';
import { ResultSchema } from '../answer/schemas.ts';
import { callerOf } from '../keys/callers.ts';
import { csvLine } from '../lines/csv.ts';
import { HOST_COLUMNS, hostColumnsOf } from '../lines/host-columns.ts';
import { lines, text } from '../openapi/content.ts';
import { preferredLinesType } from '../request/negotiation.ts';
import { conditionParameters, hostPrefix, targetUrl } from '../request/parameters.ts';
import { route } from '../route.ts';
import type { HttpContext } from '../state.ts';

const FORMATS = ['jsonl', 'csv'] as const;
/** Tells Excel that a CSV file is UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';
const COLUMNS = Object.keys(ResultSchema.shape).flatMap((name) => (name === 'host_facts' ? HOST_COLUMNS : [name]));

/** Sends every result that meets the conditions, newest first, as it is read. */
export const exportResults = route({
  method: 'GET',
  path: '/results/export',
  operationId: 'exportResults',
  summary: 'Every result that meets conditions, as CSV or lines of JSON.',
  description:
    'Newest first, streamed. In CSV, objects are JSON, each of `host_facts` has a column of its own, and a text that a spreadsheet would take for a formula begins with an apostrophe. When the database fails midway, the response is aborted.',
  tag: 'results',
  needsDatabase: true,
  parameters: {
    format: z
      .enum(FORMATS, { error: 'must be csv or jsonl' })
      .optional()
      .meta({ description: 'Lines of JSON, or CSV.', default: 'jsonl' }),
    bom: z.enum(['true', 'false'], { error: 'must be true or false' }).optional().meta({
      description:
        'Begin CSV with a byte order mark, by which Excel knows that it is UTF-8; true for a browser that follows a link.',
    }),
    host: hostPrefix.optional(),
    url: targetUrl.optional(),
    ...conditionParameters,
  },
  answers: {
    200: {
      description: 'One result on each line; in CSV after a line of names.',
      content: { ...lines(ResultSchema), ...text('text/csv') },
      headers: ['Content-Disposition'],
    },
  },
  handle: async (ctx, { format = 'jsonl', bom, host, url, ...where }, { service: { results } }) => {
    const filter: ResultFilter = { ...chosen(host, url), where };
    // Read before the head is sent, so that an unreachable database is a 503.
    const { owner } = callerOf(ctx);
    const first = await inTurn(owner, () => results.page(filter, LISTED_TOGETHER));
    ctx.status = 200;
    ctx.type = format === 'csv' ? 'text/csv; charset=utf-8' : preferredLinesType(ctx.get('Accept'));
    ctx.set('Content-Disposition', `attachment; filename="results.${format}"`);
    if (ctx.method === 'HEAD') return;
    const pages = pagesOf(results, filter, LISTED_TOGETHER, { first });
    const isMarked = bom === undefined ? isNavigation(ctx) : bom === 'true';
    const head = format === 'csv' ? (isMarked ? BYTE_ORDER_MARK : '') + csvLine(COLUMNS) : '';
    const texts = textsOf(owner, pages, format === 'csv' ? csv : jsonLines);
    ctx.body = Readable.from(following(head, texts), { objectMode: false });
  },
});

function chosen(host: string | undefined, url: Target | undefined): Pick<ResultFilter, 'by'> & ResultFilter {
  if (host !== undefined && url !== undefined)
    throw refusal([{ path: 'url', message: 'cannot be combined with host' }]);
  if (url !== undefined) return { by: 'url', url: url.url, orUrl: overHttp(url) };
  return host === undefined ? { by: 'all' } : { by: 'host', host };
}

async function* following(head: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  if (head !== '') yield head;
  yield* texts;
}

function jsonLines(page: readonly Result[]): string {
  return page.map((each) => `${JSON.stringify(sentResult(each))}\n`).join('');
}

/** Browsers ask for HTML whatever a link leads to; programs do not. */
function isNavigation(ctx: HttpContext): boolean {
  return /\btext\/html\b/.test(ctx.get('Accept'));
}

function csv(page: readonly Result[]): string {
  const sent = page.map(sentResult);
  return sent.map((result) => csvLine(COLUMNS.map(cellOf({ ...result, ...hostColumnsOf(result) })))).join('');
}

function cellOf(row: object): (column: string) => unknown {
  return (column) => Reflect.get(row, column);
}
