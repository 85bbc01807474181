import { Readable } from 'node:stream';
import { sentResult } from '../../capture/artifacts/artifact-paths.ts';
import type { Result } from '../../capture/result/result.ts';
import { STORED_LIMITS } from '../../capture/stored-limits.ts';
import {
  endsList,
  type Keyset,
  keysetOf,
  LISTED_TOGETHER,
  pagesOf,
  type ResultFilter,
  type ResultStore,
  recordsOf,
} from '../../storage/ports/result-store.ts';
import { callerOf } from '../keys/callers.ts';
import { keysetCursor } from '../request/cursor.ts';
import type { HttpContext } from '../state.ts';
import { answer, envelopeAround } from './envelope.ts';
import { inTurn, textsOf } from './long-answers.ts';
import { linkedPage } from './paging.ts';
import { withSnippets } from './snippets.ts';

/* Lists of results: a page, or all as they are read. */

type Results = Pick<ResultStore, 'page' | 'wordsOf'>;

/** Answers with a page of `limit` results; with all of them when it is undefined. */
export function answerList(
  ctx: HttpContext,
  results: Results,
  filter: ResultFilter,
  limit: number | undefined,
  after: Keyset | undefined,
): Promise<void> {
  return limit === undefined ? answerAll(ctx, results, filter, after) : answerPage(ctx, results, filter, limit, after);
}

async function answerPage(
  ctx: HttpContext,
  results: Results,
  filter: ResultFilter,
  limit: number,
  after: Keyset | undefined,
): Promise<void> {
  const page = await pageWithin(results, filter, limit, after, callerOf(ctx).owner);
  const items = linkedPage(ctx, page, (last) => keysetCursor(keysetOf(last)));
  answer(ctx, (await withSnippets(results, filter.where?.words, items)).map(sentResult));
}

/** Reads a page in parts, and ends it when it is large, so that it holds up no other request. */
async function pageWithin(
  results: Results,
  filter: ResultFilter,
  limit: number,
  after: Keyset | undefined,
  owner: string | null,
): Promise<{ readonly items: readonly Result[]; readonly isCut: boolean }> {
  const items: Result[] = [];
  let characters = 0;
  for (let last = after; ; ) {
    const wanted = Math.min(LISTED_TOGETHER, limit + 1 - items.length);
    const from = last;
    const read = () => results.page(filter, wanted, from);
    const found = await (items.length === 0 ? read() : inTurn(owner, read));
    for (const result of found) {
      if (items.length === limit || characters >= STORED_LIMITS.results.bytes) return { items, isCut: true };
      items.push(result);
      characters += JSON.stringify(result).length;
    }
    const lastRead = found.at(-1);
    if (lastRead === undefined || endsList(found, wanted)) return { items, isCut: false };
    last = keysetOf(lastRead);
  }
}

/** Reads the records of these ids, and ends with the one by which they are large. */
export async function recordsWithin(
  results: Pick<ResultStore, 'records'>,
  ids: readonly number[],
): Promise<readonly Result[]> {
  const found: Result[] = [];
  let characters = 0;
  for await (const [, result] of recordsOf(results, ids)) {
    if (characters >= STORED_LIMITS.results.bytes) break;
    if (result === undefined) continue;
    found.push(result);
    characters += JSON.stringify(result).length;
  }
  return found;
}

/**
 * Reads the first page and its snippets before the head is sent, so that an unreachable database is a 503 and not an
 * aborted answer.
 */
async function answerAll(
  ctx: HttpContext,
  results: Results,
  filter: ResultFilter,
  after: Keyset | undefined,
): Promise<void> {
  const sent = async (page: readonly Result[]) =>
    (await withSnippets(results, filter.where?.words, page)).map(sentResult);
  const { owner } = callerOf(ctx);
  const first = await inTurn(owner, () => results.page(filter, LISTED_TOGETHER, after));
  if (endsList(first, LISTED_TOGETHER)) {
    answer(ctx, await sent(first));
    return;
  }
  const isHead = ctx.method === 'HEAD';
  const sentFirst = isHead ? [] : await sent(first);
  ctx.status = 200;
  ctx.type = 'json';
  if (isHead) return;
  const pages = pagesOf(results, filter, LISTED_TOGETHER, { first });
  const itemsOf = async (page: readonly Result[]) =>
    (page === first ? sentFirst : await sent(page)).map((item) => JSON.stringify(item)).join(',');
  const texts = textsOf(owner, pages, itemsOf);
  ctx.body = Readable.from(jsonArray(texts, envelopeAround(ctx)), { objectMode: false });
}

/** Generates the text of a JSON array between `head` and `tail` from its parts, of which there is at least one. */
async function* jsonArray(
  parts: AsyncIterable<string>,
  { head, tail }: ReturnType<typeof envelopeAround>,
): AsyncGenerator<string> {
  let before = `${head}[`;
  for await (const part of parts) {
    yield before + part;
    before = ',';
  }
  yield `]${tail}`;
}
