import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import pLimit from 'p-limit';
import { groupByLook } from '../capture/finding/looks.ts';
import type { Evidence } from '../capture/result/evidence.ts';
import type { Result } from '../capture/result/result.ts';
import { renderThumbnail } from '../imaging/render-thumbnail.ts';
import type { Exported } from './export-html.ts';
import { MAX_AT_ONCE, THUMBNAIL } from './export-html.ts';
import { type Card, failuresPage, galleryPage, pageName, STYLE } from './gallery-page.ts';

/** A capture of a scan. */
export interface ScannedPage {
  readonly result: Omit<Result, 'artifacts' | 'outputs'>;
  /** Id of the capture that shows the page to which this one was redirected. */
  readonly sameAs: number | undefined;
}

/** A target that was not captured. */
export interface ScannedFailure {
  readonly url: string;
  readonly code: string;
  readonly reason: string;
  /** Id of its record, which may have a certificate: the target may speak TLS and no HTTP. */
  readonly capture: number | undefined;
}

/** Reads what the report shows of a capture. */
interface ScannedCaptures {
  readonly evidenceOf: (id: number) => Promise<Evidence | null>;
  readonly openImage: (id: number) => Promise<Readable>;
}

/** Maximum number of captures on a page, folded ones included, or of failures. The page's filter looks through them. */
const MAX_ITEMS_PER_PAGE = 5_000;
/** Number of captures that are read, and whose thumbnails are made, together. */
const READ_TOGETHER = 100;

/**
 * Writes the outcomes of a scan to a folder of pages: captures that look alike are folded into one, and targets without
 * a capture are in a table. A browser can open the pages without a running service.
 */
export async function exportScan(
  outcomes: AsyncIterable<ScannedPage | ScannedFailure>,
  { evidenceOf, openImage }: ScannedCaptures,
  directory: string,
): Promise<Exported> {
  const limit = pLimit(MAX_AT_ONCE);
  const cards: (Card & { readonly perception_hash: string | null })[] = [];
  let failures: (ScannedFailure & { certificate?: string | undefined })[] = [];
  let thumbnails = 0;
  let failurePages = 0;
  await mkdir(join(directory, 'thumbnails'), { recursive: true });
  await writeFile(join(directory, 'style.css'), STYLE);

  async function thumbnailOf({ id, format }: ScannedPage['result']): Promise<string | undefined> {
    if (format === 'pdf') return undefined;
    try {
      const image = await renderThumbnail(await buffer(await openImage(id)), THUMBNAIL);
      const path = `thumbnails/${id}.webp`;
      await writeFile(join(directory, path), image);
      thumbnails += 1;
      return path;
    } catch {
      // A file that is gone or damaged must not prevent the export of the others.
      return undefined;
    }
  }

  const writeFailures = async (hasNext: boolean): Promise<void> => {
    failurePages += 1;
    const page = failuresPage({ failures, number: failurePages, hasNext });
    await writeFile(join(directory, pageName(failurePages, 'failures')), page);
    failures = [];
  };

  const readCertificate = async (failure: (typeof failures)[number], capture: number): Promise<void> => {
    failure.certificate = certificateOf(await evidenceOf(capture).catch(() => null));
  };
  const readCard = async (scanned: ScannedPage): Promise<void> => {
    const { result } = scanned;
    const [thumbnail, evidence] = await Promise.all([thumbnailOf(result), evidenceOf(result.id)]);
    cards.push({ ...cardOf(scanned, evidence), thumbnail, perception_hash: result.perception_hash });
  };

  let unread: (() => Promise<void>)[] = [];
  const readAll = async (): Promise<void> => {
    const reads = unread;
    unread = [];
    await Promise.all(reads.map((read) => limit(read)));
  };
  for await (const outcome of outcomes) {
    if ('code' in outcome) {
      if (failures.length === MAX_ITEMS_PER_PAGE) {
        await readAll();
        await writeFailures(true);
      }
      const failure: (typeof failures)[number] = { ...outcome };
      failures.push(failure);
      const { url, capture } = outcome;
      if (capture === undefined || !url.startsWith('https:')) continue;
      unread.push(() => readCertificate(failure, capture));
    } else unread.push(() => readCard(outcome));
    if (unread.length >= READ_TOGETHER) await readAll();
  }
  await readAll();
  if (failures.length > 0) await writeFailures(false);

  const inOrder = cards.toSorted((a, b) => a.result.id - b.result.id);
  const unlike = inOrder.filter(({ perception_hash: hash }) => hash === null).map((card) => [card]);
  const pages = pagesOf([...groupByLook(inOrder), ...unlike]);
  for (const [index, shown] of pages.entries()) {
    const page = galleryPage({
      cards: shown,
      number: index + 1,
      hasNext: index + 1 < pages.length,
      hasFailures: failurePages > 0,
    });
    await writeFile(join(directory, pageName(index + 1)), page);
  }
  return { captures: cards.length, thumbnails, pages: pages.length };
}

/** Divides groups into pages. A group is one card, and a very large one several. */
function pagesOf(groups: readonly (readonly Card[])[]): readonly (readonly Card[])[] {
  const pages: Card[][] = [[]];
  let shown = 0;
  for (const group of groups) {
    for (let from = 0; from < group.length; from += MAX_ITEMS_PER_PAGE) {
      const [first, ...alike] = group.slice(from, from + MAX_ITEMS_PER_PAGE);
      if (first === undefined) continue;
      if (shown > 0 && shown + 1 + alike.length > MAX_ITEMS_PER_PAGE) {
        pages.push([]);
        shown = 0;
      }
      pages.at(-1)?.push({ ...first, alike });
      shown += 1 + alike.length;
    }
  }
  return pages;
}

/** Keeps what a card shows: there may be very many. */
function cardOf({ result, sameAs }: ScannedPage, evidence: Evidence | null): Omit<Card, 'thumbnail'> {
  const { id, title, url, probed_at, response_code, failed, failed_code, failed_reason, options } = result;
  const { options_withheld, final_url: finalUrl, remote_ip: address } = result;
  const server = evidence?.headers?.items.find(({ name }) => name.toLowerCase() === 'server')?.value;
  const certificate = certificateOf(evidence);
  return {
    result: { id, title, url, probed_at, response_code, failed, failed_code, failed_reason, options, options_withheld },
    facts: [
      ...(finalUrl === url ? [] : [`moved to ${finalUrl}`]),
      ...(sameAs === undefined ? [] : [`same page as capture ${sameAs}`]),
      ...(address === null ? [] : [`address ${address}`]),
      ...(server === undefined ? [] : [`server ${server}`]),
      ...(certificate === undefined ? [] : [`certificate ${certificate}`]),
    ],
  };
}

function certificateOf(evidence: Evidence | null): string | undefined {
  const { subject, issuer, valid_to: validTo } = evidence?.tls ?? {};
  return subject === undefined ? undefined : `${subject}, issued by ${issuer}, until ${validTo?.slice(0, 10)}`;
}
