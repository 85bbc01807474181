import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { pixelsOf } from '../support/image.ts';
import { type AnsweredInfo, type AnsweredResult, allResults, allScreenshots, oneResult } from './client.ts';

/** Number of concurrent checks; more of them would load the service. */
const TOGETHER = 16;

/**
 * Returns the problems in the stores of a service that has answered with these records: none when every record is there
 * with its whole image, and no file is left over. Call it when the service is idle.
 */
export async function problemsOf(
  serviceUrl: string,
  dataDir: string,
  answered: readonly AnsweredResult[],
): Promise<readonly string[]> {
  const records = await allResults(serviceUrl);
  const infos = await allScreenshots(serviceUrl);
  const byId = new Map(records.map((record) => [record.id, record]));
  return [
    ...(byId.size < records.length ? [`${records.length - byId.size} records are listed twice`] : []),
    ...(await inTurn(answered, (one) => problemsOfRecord(serviceUrl, one, byId))),
    ...(await inTurn(infos, (info) => problemsOfImage(serviceUrl, info, byId.get(info.id)))),
    ...withoutFiles(records, infos),
    ...(await strayFiles(dataDir, records, infos)),
  ];
}

async function problemsOfRecord(
  serviceUrl: string,
  answered: AnsweredResult,
  records: ReadonlyMap<number, AnsweredResult>,
): Promise<string[]> {
  const { id } = answered;
  if (!records.has(id)) return [`the record ${id} was answered and is not listed`];
  const record = await oneResult(serviceUrl, id);
  if (record === null) return [`the record ${id} is listed and cannot be read`];
  return isDeepStrictEqual(record, answered) ? [] : [`the record ${id} is not the one that was answered`];
}

/** Checks every image on disk, answered or not: none may be half-written. */
async function problemsOfImage(
  serviceUrl: string,
  info: AnsweredInfo,
  record: AnsweredResult | undefined,
): Promise<string[]> {
  const { id } = info;
  if (record === undefined) return [`the files of ${id} have no record`];
  const image = await bytesOf(`${serviceUrl}${record.screenshot}`);
  if (image === null) return [`the image of ${id} cannot be read`];
  const problems: string[] = [];
  if (image.byteLength !== info.bytes) problems.push(`the image of ${id} is cut`);
  if (createHash('sha256').update(image).digest('hex') !== info.sha256) problems.push(`the image of ${id} is another`);
  const size = await sizeOf(image);
  if (size === null) problems.push(`the image of ${id} cannot be decoded`);
  else if (size.width !== record.width || size.height !== record.height) {
    problems.push(`the image of ${id} is ${size.width}x${size.height}, its record says otherwise`);
  }
  if ((await bytesOf(`${serviceUrl}${record.screenshot}?view=html`)) === null) problems.push(`${id} has no HTML copy`);
  return problems;
}

function withoutFiles(records: readonly AnsweredResult[], infos: readonly AnsweredInfo[]): string[] {
  const there = new Set(infos.map(({ id }) => id));
  return records
    .filter(({ id, screenshot }) => screenshot !== '' && !there.has(id))
    .map(({ id }) => `the record ${id} names an image that is not there`);
}

/**
 * Finds files that belong to no capture. The data directory of an idle service contains one workspace, with nothing in
 * progress, and otherwise only captures: image, HTML, record and, where there was time for it, the element map of each
 * stored one, and the record of each failed one. The files themselves are checked above.
 */
async function strayFiles(
  dataDir: string,
  records: readonly AnsweredResult[],
  infos: readonly AnsweredInfo[],
): Promise<string[]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  const paths = files.map((entry) => relative(dataDir, join(entry.parentPath, entry.name)));
  const failed = new Set(records.filter(({ screenshot }) => screenshot === '').map(({ id }) => String(id)));
  const captures = new Set([...infos.map(({ id }) => String(id)), ...failed]);
  const workspaces = new Set(
    paths.map((path) => path.split('/')).flatMap(([top, name = '']) => (top === 'workspaces' ? [name] : [])),
  );
  const owned = (path: string) => {
    const [top, , , id = ''] = path.split('/');
    if (top === 'captures') return captures.has(id);
    if (top === 'store.json' || top === 'owner.lock') return true;
    // The log of events of a process with MongoDB.
    if (top?.startsWith('events.db')) return true;
    return top === 'workspaces' && path.endsWith('/lock');
  };
  const perCapture = Map.groupBy(
    paths.filter((path) => path.startsWith('captures/') && !path.endsWith('.elements.json')),
    (path) => path.split('/')[3] ?? '',
  );
  return [
    ...paths.filter((path) => !owned(path)).map((path) => `nobody owns ${path}`),
    ...[...perCapture].flatMap(([id, its]) =>
      its.length === (failed.has(id) ? 1 : 3) ? [] : [`${id} has ${its.join(', ')}`],
    ),
    ...(workspaces.size > 1 ? [`there are ${workspaces.size} workspaces`] : []),
  ];
}

async function bytesOf(url: string): Promise<Buffer | null> {
  const response = await fetch(url, { headers: { accept: '*/*' } });
  const body = Buffer.from(await response.arrayBuffer());
  return response.status === 200 ? body : null;
}

async function sizeOf(image: Buffer): Promise<{ readonly width: number; readonly height: number } | null> {
  try {
    return await pixelsOf(image);
  } catch {
    return null;
  }
}

async function inTurn<T>(items: readonly T[], look: (item: T) => Promise<string[]>): Promise<string[]> {
  const problems: string[] = [];
  for (let at = 0; at < items.length; at += TOGETHER) {
    problems.push(...(await Promise.all(items.slice(at, at + TOGETHER).map(look))).flat());
  }
  return problems;
}
