import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PAGE_KINDS } from '../test/fixtures/kinds/all.ts';
import { differenceOf, type PageKind, pathOf } from '../test/fixtures/kinds/kind.ts';
import { pixelsOf } from '../test/support/image.ts';
import type { BenchOptions } from './support/bench.ts';
import { startBenchSite } from './support/site.ts';
import { exactly, type Finding, formatTable } from './support/table.ts';
import { openTools, type Tool } from './support/tools.ts';

const SHOTS = ['window', 'fullPage'] as const;
type Shot = (typeof SHOTS)[number];
const RIGHT = 'right';

/**
 * Counts the kinds of pages that are captured as a visitor sees them, window and full page, and compares with
 * Playwright. With `BENCH_IMAGES`, keeps the images in that folder.
 */
export async function pages({ browserPath, print, report }: BenchOptions): Promise<readonly Finding[]> {
  await using site = await startBenchSite();
  await using opened = new AsyncDisposableStack();
  const tools = await openTools(browserPath, opened, { Playwright: 'playwright-loop.ts' });
  const rows: string[][] = [];
  const worse: string[] = [];
  for (const kind of PAGE_KINDS) {
    const row = [kind.name];
    for (const shot of SHOTS) {
      const [ours = '', theirs = ''] = await Promise.all(tools.map((tool) => look(tool, site.origin, kind, shot)));
      row.push(ours, theirs);
      if (ours !== RIGHT && theirs === RIGHT) worse.push(`${kind.name} (${shot})`);
    }
    rows.push(row);
    report(`pages: ${kind.name}`);
  }
  const head = ['page', ...SHOTS.flatMap((shot) => tools.map(({ name }) => `${shot}: ${name}`))];
  const sums = head.map((_, column) => `${rows.filter((row) => row[column] === RIGHT).length} of ${rows.length}`);
  print(formatTable(head, [...rows, [RIGHT, ...sums.slice(1)]]));
  const what = ['pages that only Playwright captures as a visitor sees them', ...worse].join(': ');
  return [exactly(what, worse.length, 0)];
}

/** Describes how a tool's image differs from what a visitor sees. */
async function look(tool: Tool, origin: string, kind: PageKind, shot: Shot): Promise<string> {
  const image = await tool.capture(origin + pathOf(kind), shot === 'fullPage').catch((error: unknown) => error);
  if (!(image instanceof Uint8Array)) return String(image).split('\n', 1)[0]?.slice(0, 40) ?? 'failed';
  const folder = process.env.BENCH_IMAGES;
  if (folder !== undefined) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${kind.name}-${shot}-${tool.name}.png`), image);
  }
  return differenceOf(await pixelsOf(image), kind[shot]) ?? RIGHT;
}
