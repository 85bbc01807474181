import { REQUIRED_KINDS } from '../../capture/artifacts/artifacts.ts';
import { isOfKey } from '../../capture/client.ts';
import { CapstanError } from '../../capture/errors.ts';
import { optionsDigest } from '../../capture/options/options-digest.ts';
import type { StoredCapture } from '../../capture/outcome.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { Result } from '../../capture/result/result.ts';
import { overHttp } from '../../capture/target.ts';
import type { ArtifactStore } from '../../storage/ports/artifact-store.ts';
import { pagesOf, type ResultStore } from '../../storage/ports/result-store.ts';

/**
 * Number of records in a page, and maximum number of pages that are searched. A URL that was captured often, with
 * different options, may have more records than these pages.
 */
const PAGE = 20;
const MAX_PAGES = 10;

interface StoresAsked {
  readonly results: Pick<ResultStore, 'state' | 'page' | 'get' | 'wordsOf'>;
  readonly artifacts: Pick<ArtifactStore, 'id' | 'open'>;
}

export interface Wanted {
  readonly maxAgeMs: number;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** The API key whose captures alone may be the answer, as `visibleKey` returns it. */
  readonly ofKey: string | undefined;
}

/**
 * Returns the newest capture of exactly this URL with equal options that the client may see. It was stored at most
 * `maxAgeMs` before `now`, is neither partial nor failed and lacks no output, and its files are whole in this artifact
 * store. Returns undefined also when the database is unavailable.
 */
export async function findStored(
  { results, artifacts }: StoresAsked,
  request: CaptureRequest,
  { maxAgeMs, now, ofKey }: Wanted,
): Promise<StoredCapture | undefined> {
  if (results.state !== 'up') return undefined;
  const digest = optionsDigest(request);
  if (digest === '') return undefined;
  const { target, labels = [], note } = request;
  // A search by URL also returns captures that were redirected to it.
  const plainUrl = overHttp(target);
  const urls = [target.parsed.href, ...(plainUrl === undefined ? [] : [new URL(plainUrl).href])];
  const isAnswer = (result: Result): boolean =>
    isOfKey(result, ofKey) &&
    urls.includes(new URL(result.url).href) &&
    result.options_digest === digest &&
    note === undefined &&
    labels.every((label) => result.labels.includes(label)) &&
    !result.failed &&
    !result.partial &&
    result.outputs.every(({ bytes, partial }) => bytes > 0 || !partial) &&
    result.artifacts !== null;
  try {
    const own = await artifacts.id();
    const isHere = ({ artifacts: stored }: Result) => (stored?.store ?? own) === own;
    let pages = 0;
    // Stores cannot list the captures that no named key requested (`''`).
    const filter = { by: 'url', url: target.url, orUrl: plainUrl, ofKey: ofKey === '' ? undefined : ofKey } as const;
    for await (const records of pagesOf(results, filter, PAGE)) {
      const young = records.filter(({ probed_at }) => Date.parse(probed_at) >= now - maxAgeMs);
      for (const found of young) {
        if (!(isAnswer(found) && isHere(found) && (await isWhole(artifacts, found)))) continue;
        const [kept, words] = await Promise.all([results.get(found.id), results.wordsOf([found.id])]);
        return { state: 'stored', result: found, evidence: kept?.evidence ?? null, words: words.get(found.id) };
      }
      pages += 1;
      if (young.length < records.length || pages === MAX_PAGES) return undefined;
    }
    return undefined;
  } catch (error) {
    if (error instanceof CapstanError) return undefined;
    throw error;
  }
}

/** Whether all files of a capture can be read. Someone may have removed them from the disk or from GridFS. */
async function isWhole(artifacts: Pick<ArtifactStore, 'open'>, { id, outputs }: Result): Promise<boolean> {
  const named = outputs.filter(({ bytes }) => bytes > 0).map(({ name }) => name);
  for (const kind of [...REQUIRED_KINDS, ...named]) {
    const file = await artifacts.open(id, kind, { undelivered: true }).catch((error: unknown) => {
      if (error instanceof CapstanError) return undefined;
      throw error;
    });
    if (file === undefined) return false;
    await file.close();
  }
  return true;
}
