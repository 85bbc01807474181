import { createServer } from 'node:http';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright';
import sharp from 'sharp';
import { z } from 'zod';
import {
  type Box,
  ComparisonSchema,
  MAX_COMPARED_PIXELS,
  type Region,
  type RegionKind,
} from '../../src/capture/comparison/comparison.ts';
import { listening } from '../../test/egress/listening.ts';
import { MARKED, MUTATE, MUTATIONS, type Mutation } from './mutations.ts';
import { servePages } from './serve-pages.ts';
import type { ServiceProcess } from './service-process.ts';
import { openShelf } from './shelf.ts';

/** Taller pages take longer without testing more. */
const MAX_HEIGHT = 9_000;
const MIN_HEIGHT = 400;
const SEEDS = 3;
const TIMEOUT_MS = 60_000;
/** Minimum difference of a colour channel by which two pixels differ, when a word was changed and nothing moved. */
const VISIBLE = 40;

const pages = z.object({ before: z.string(), after: z.string() }).nullable();
const marked = z.array(
  z.object({
    name: z.string(),
    text: z.string(),
    box: z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }),
  }),
);
const answer = z.object({ data: ComparisonSchema });
const captured = z.object({
  data: z.object({ id: z.number(), partial: z.boolean(), width: z.number(), height: z.number() }),
});

type Expected = Pick<Region, 'kind' | 'from' | 'to'>;

/** A page that was captured before and after one change. */
export interface ComparisonCase {
  readonly kind: Mutation;
  readonly source: string;
  /** Ids of both captures. */
  readonly a: number;
  readonly b: number;
  /** Lists of regions that a comparison may find. Each of them is correct. */
  readonly expected: readonly (readonly Expected[])[];
}

/** Pages to compare: half of them documentation of Debian, half of them of a folder (`html/<name>.html.gz`). */
export interface ComparedPages extends AsyncDisposable {
  /** One of each kind, in turn. */
  readonly urls: readonly string[];
  /** Those of Debian, which are complete: the others lack the files that they load. */
  readonly documentation: readonly string[];
}

/** `set`: the pages of one set are not in the other. */
export async function openPages(
  folder: string | undefined,
  { count, set }: { readonly count: number; readonly set: 0 | 1 },
): Promise<ComparedPages> {
  const shelf = await openShelf(set / 2);
  const served = folder === undefined ? undefined : await servePages(join(folder, 'html'), { scripts: false });
  const given = (served?.names ?? []).map((name) => served?.url(name) ?? '');
  const stride = Math.max(1, Math.floor(given.length / (2 * count)));
  const chosen = given.filter((_, at) => at % stride === Math.floor((set * stride) / 2));
  const urls = Array.from({ length: Math.max(chosen.length, shelf.urls.length) }, (_, at) => [
    shelf.urls[(at * 7) % shelf.urls.length],
    chosen[at],
  ]).flat();
  return {
    urls: [...new Set(urls)].filter((url) => url !== undefined),
    documentation: shelf.urls,
    async [Symbol.asyncDispose]() {
      await Promise.all([shelf, served].map((each) => each?.[Symbol.asyncDispose]()));
    },
  };
}

interface Wanted {
  readonly browserPath: string;
  readonly urls: readonly string[];
  readonly count: number;
  /** Index of the first one in `MUTATIONS`. */
  readonly from: number;
}

/** Changes `count` pages, each in one way, in turn, and captures them before and after. */
export async function makeCases(
  service: ServiceProcess,
  { browserPath, urls, count, from }: Wanted,
  report: (line: string) => void,
): Promise<readonly ComparisonCase[]> {
  await using stage = await openStage();
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const cases: ComparisonCase[] = [];
  for (const url of urls) {
    if (cases.length === count) break;
    const kind = MUTATIONS[(cases.length + from) % MUTATIONS.length] ?? 'banner';
    try {
      const made = await makeCase(service, page, stage, kind, url, cases.length + 1);
      if (made !== undefined) cases.push(made);
    } catch (error) {
      report(`comparison: ${kind} ${url}: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`);
    }
  }
  await browser.close();
  return cases;
}

async function makeCase(
  service: ServiceProcess,
  page: Page,
  stage: Stage,
  kind: Mutation,
  source: string,
  number: number,
): Promise<ComparisonCase | undefined> {
  await page.goto(source, { waitUntil: 'load', timeout: TIMEOUT_MS });
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
  if (height < MIN_HEIGHT || height > MAX_HEIGHT) return undefined;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    await page.goto(source, { waitUntil: 'load', timeout: TIMEOUT_MS });
    const made = pages.parse(await page.evaluate(`(${MUTATE})(${JSON.stringify(kind)}, ${seed * 97 + number})`));
    if (made === null) return undefined;
    const [urlA, urlB] = [stage.add(made.before), stage.add(made.after)];
    const [before, after] = [await boxesIn(page, urlA), await boxesIn(page, urlB)];
    const isStill =
      before[0] !== undefined &&
      JSON.stringify(before.map(({ box }) => box)) === JSON.stringify(after.map(({ box }) => box));
    if (kind === 'word' && !isStill) continue;
    const captures = [await capture(service, urlA), await capture(service, urlB)] as const;
    if (captures.some(({ width, height }) => width * height > MAX_COMPARED_PIXELS)) return undefined;
    const [{ id: a }, { id: b }] = captures;
    // An invisible change does not count.
    if ((await shaOf(service, a)) === (await shaOf(service, b))) continue;
    const found = { kind, source, a, b };
    if (kind === 'word') {
      const box = await differingBox(service, a, b, before[0]?.box);
      if (box === null) continue;
      return { ...found, expected: [[{ kind: 'edited', from: box, to: box }]] };
    }
    return { ...found, expected: expectedOf(kind, before, after) };
  }
  return undefined;
}

type Marked = z.output<typeof marked>;

function expectedOf(kind: Mutation, before: Marked, after: Marked): readonly (readonly Expected[])[] {
  const target = (some: Marked) => some.find(({ name }) => name === 'target')?.box ?? null;
  const [from, to] = [target(before), target(after)];
  switch (kind) {
    case 'banner':
      return [[{ kind: 'inserted', from: null, to }]];
    case 'remove':
      return [[{ kind: 'removed', from, to: null }]];
    case 'move':
    case 'swap': {
      const moves = before.map(({ name, text, box }) => ({
        name,
        region: { kind: 'moved' as RegionKind, from: box, to: after.find((each) => each.text === text)?.box ?? null },
      }));
      const all = moves.map(({ region }) => region);
      // One element that passes one other: either of them has moved.
      return moves.some(({ name }) => name === 'other') ? all.map((region) => [region]) : [all];
    }
    default:
      return [[{ kind: 'edited', from, to }]];
  }
}

async function boxesIn(page: Page, url: string): Promise<Marked> {
  await page.goto(url, { waitUntil: 'load', timeout: TIMEOUT_MS });
  return marked.parse(await page.evaluate(MARKED));
}

export async function capture(service: ServiceProcess, url: string) {
  const { status, body } = await service.capture(url, { fullPage: true, timeoutMs: TIMEOUT_MS });
  if (status !== 200) throw new Error(`${status} ${body.slice(0, 200)}`);
  const { data } = captured.parse(JSON.parse(body));
  if (data.partial) throw new Error('the capture is partial');
  return data;
}

/** Asks the service for a comparison. */
export async function compared(service: ServiceProcess, a: number, b: number) {
  const query = new URLSearchParams({ a: `${a}`, b: `${b}` });
  const response = await fetch(`${service.origin}/compare?${query}`);
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${body.slice(0, 300)}`);
  return answer.parse(JSON.parse(body)).data;
}

/** Returns the box around the pixels that differ within an element that stayed where it was. */
async function differingBox(
  service: ServiceProcess,
  a: number,
  b: number,
  place: Box | undefined,
): Promise<Box | null> {
  const [one, other] = [await pixelsOf(service, a), await pixelsOf(service, b)];
  if (place === undefined || one.info.width !== other.info.width || one.info.height !== other.info.height) return null;
  const sides = { left: Number.POSITIVE_INFINITY, top: Number.POSITIVE_INFINITY, right: -1, bottom: -1 };
  const { width } = one.info;
  for (let y = Math.max(0, place.y - 4); y < Math.min(one.info.height, place.y + place.height + 4); y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 3;
      if (
        ![0, 1, 2].some(
          (channel) => Math.abs((one.data[at + channel] ?? 0) - (other.data[at + channel] ?? 0)) > VISIBLE,
        )
      )
        continue;
      sides.left = Math.min(sides.left, x);
      sides.right = Math.max(sides.right, x + 1);
      sides.top = Math.min(sides.top, y);
      sides.bottom = Math.max(sides.bottom, y + 1);
    }
  }
  if (sides.right < 0) return null;
  return { x: sides.left, y: sides.top, width: sides.right - sides.left, height: sides.bottom - sides.top };
}

async function shaOf(service: ServiceProcess, id: number): Promise<string | null> {
  return (await fetch(`${service.origin}/screenshot/${id}`, { method: 'HEAD' })).headers.get('etag');
}

async function pixelsOf(service: ServiceProcess, id: number) {
  const response = await fetch(`${service.origin}/screenshot/${id}`);
  const image = Buffer.from(await response.arrayBuffer());
  return sharp(image, { limitInputPixels: false }).removeAlpha().raw().toBuffer({ resolveWithObject: true });
}

interface Stage extends AsyncDisposable {
  /** Serves HTML without scripts, and returns its URL. */
  add(html: string): string;
}

async function openStage(): Promise<Stage> {
  const shown: string[] = [];
  const server = createServer((request, response) => {
    const html = shown[Number((request.url ?? '').slice(1))];
    if (html === undefined) return response.writeHead(404).end();
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "script-src 'none'" })
      .end(html);
  });
  const served = await listening(server);
  return { ...served, add: (html) => `http://127.0.0.1:${served.port}/${shown.push(html) - 1}` };
}

/** Whether regions are the expected ones: the same number, kinds and places. */
export function isAsExpected(
  regions: readonly Region[],
  expected: readonly (readonly Expected[])[],
  least: number,
): boolean {
  return expected.some((wanted) => {
    if (wanted.length !== regions.length) return false;
    const left = [...regions];
    return wanted.every((each) => {
      const at = left.findIndex((region) => region.kind === each.kind && overlap(region, each) >= least);
      if (at >= 0) left.splice(at, 1);
      return at >= 0;
    });
  });
}

/** The lower intersection over union of the two places. */
function overlap(region: Expected, wanted: Expected): number {
  const of = (one: Box | null, other: Box | null): number => {
    if (one === null || other === null) return 1;
    const width = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
    const height = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
    const shared = Math.max(0, width) * Math.max(0, height);
    return shared / (one.width * one.height + other.width * other.height - shared);
  };
  return Math.min(of(region.from, wanted.from), of(region.to, wanted.to));
}
