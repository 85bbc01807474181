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
import { pixelsOf, placeOf } from '../../test/support/image.ts';
import type { BenchOptions } from './bench.ts';
import { VIEWPORT } from './driver.ts';
import { MARKED, MUTATE, MUTATIONS, type Mutation } from './mutations.ts';
import { serveContent } from './serve-content.ts';
import type { ServiceProcess } from './service-process.ts';

/** Taller pages take longer without testing more. */
const MAX_HEIGHT = 9_000;
const MIN_HEIGHT = 400;
const SEEDS = 3;
const TIMEOUT_MS = 60_000;
/** Minimum difference of brightness by which two pixels differ, when a word was changed and nothing moved. */
const VISIBLE = 20;

const pages = z.object({ before: z.string(), after: z.string() }).nullable();
const marked = z.array(
  z.object({
    name: z.string(),
    text: z.string(),
    box: z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }),
  }),
);
type Marked = z.output<typeof marked>;
const answer = z.object({ data: ComparisonSchema });

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

/** Changes pages, each in one way, in turn, from this one of `MUTATIONS`, and captures them before and after. */
export async function makeCases(
  service: ServiceProcess,
  urls: readonly string[],
  from: number,
  { browserPath, captures: count, report }: BenchOptions,
): Promise<readonly ComparisonCase[]> {
  const shown: string[] = [];
  await using stage = await serveContent(async (path) => shown[Number(path)] ?? Promise.reject(), { scripts: false });
  const show = (html: string) => stage.url(String(shown.push(html) - 1));
  await using browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: VIEWPORT });
  const cases: ComparisonCase[] = [];
  for (const url of urls) {
    if (cases.length === count) break;
    const kind = MUTATIONS[(cases.length + from) % MUTATIONS.length] ?? 'banner';
    try {
      const made = await makeCase(service, page, show, kind, url, cases.length + 1);
      if (made !== undefined) cases.push(made);
    } catch (error) {
      report(`comparison: ${kind} ${url}: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`);
    }
  }
  return cases;
}

async function makeCase(
  service: ServiceProcess,
  page: Page,
  show: (html: string) => string,
  kind: Mutation,
  source: string,
  number: number,
): Promise<ComparisonCase | undefined> {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    await page.goto(source, { waitUntil: 'load', timeout: TIMEOUT_MS });
    const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
    if (height < MIN_HEIGHT || height > MAX_HEIGHT) return undefined;
    const made = pages.parse(await page.evaluate(`(${MUTATE})(${JSON.stringify(kind)}, ${seed * 97 + number})`));
    if (made === null) return undefined;
    const [urlA, urlB] = [show(made.before), show(made.after)];
    const [before, after] = [await boxesIn(page, urlA), await boxesIn(page, urlB)];
    const isStill = JSON.stringify(before.map(({ box }) => box)) === JSON.stringify(after.map(({ box }) => box));
    if (kind === 'word' && !isStill) continue;
    const [one, other] = [await capture(service, urlA), await capture(service, urlB)];
    if (one.area > MAX_COMPARED_PIXELS || other.area > MAX_COMPARED_PIXELS) return undefined;
    // An invisible change does not count.
    if (one.image.equals(other.image)) continue;
    const found = { kind, source, a: one.id, b: other.id };
    if (kind !== 'word') return { ...found, expected: expectedOf(kind, before, after) };
    const box = await differingBox(one.image, other.image, before[0]?.box);
    if (box !== null) return { ...found, expected: [[{ kind: 'edited', from: box, to: box }]] };
  }
  return undefined;
}

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

/** Captures a page whole, or rejects. */
export async function capture(service: ServiceProcess, url: string) {
  const fields = { fullPage: true, timeoutMs: TIMEOUT_MS };
  const { id, partial, width, height, screenshot } = await service.capture(url, fields);
  if (partial) throw new Error('the capture is partial');
  const response = await fetch(service.origin + screenshot);
  return { id, area: width * height, image: Buffer.from(await response.arrayBuffer()) };
}

/** Asks the service for a comparison. */
export async function compared(service: ServiceProcess, a: number, b: number) {
  const response = await fetch(`${service.origin}/compare?a=${a}&b=${b}`);
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${body.slice(0, 300)}`);
  return answer.parse(JSON.parse(body)).data;
}

/** Returns the box around the pixels that differ within an element that stayed where it was. */
async function differingBox(one: Buffer, other: Buffer, place: Box | undefined): Promise<Box | null> {
  const { width, height } = await sharp(one).metadata();
  const second = await sharp(other).metadata();
  if (place === undefined || width !== second.width || height !== second.height) return null;
  const top = Math.max(0, place.y - 4);
  const part = { left: 0, top, width, height: Math.min(height, place.y + place.height + 4) - top };
  const [a, b] = await Promise.all([one, other].map((image) => sharp(image).extract(part).removeAlpha().toBuffer()));
  const difference = await sharp(a)
    .composite([{ input: b ?? other, blend: 'difference' }])
    .toBuffer();
  const box = placeOf(await pixelsOf(await sharp(difference).threshold(VISIBLE).toBuffer()), [255, 255, 255], 0);
  return box && { ...box, y: box.y + top };
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
