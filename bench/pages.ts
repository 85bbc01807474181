import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PAGE_KINDS } from '../test/fixtures/kinds/all.ts';
import { differenceOf, type PageKind, pathOf } from '../test/fixtures/kinds/kind.ts';
import { pixelsOf } from '../test/support/image.ts';
import type { BenchOptions } from './support/bench.ts';
import { openPlaywright, openService, type Tool } from './support/full-page-tool.ts';
import { startBenchSite } from './support/site.ts';
import { type Finding, formatTable } from './support/table.ts';

const SHOTS = ['window', 'fullPage'] as const;
type Shot = (typeof SHOTS)[number];

/**
 * Counts the kinds of pages that are captured as a visitor sees them, window and full page, and compares with
 * Playwright. With `BENCH_IMAGES`, keeps the images in that folder.
 */
export async function pages({ browserPath, print, report }: BenchOptions): Promise<readonly Finding[]> {
  const site = await startBenchSite();
  const tools: Tool[] = [];
  try {
    tools.push(await openService(browserPath), await openPlaywright(browserPath));
    const rows: string[][] = [];
    const right = new Map(tools.map((tool) => [tool, { window: 0, fullPage: 0 }]));
    const worse: string[] = [];
    for (const kind of PAGE_KINDS) {
      const row = [kind.name];
      for (const shot of SHOTS) {
        const [ours, theirs] = await Promise.all(tools.map((tool) => look(tool, site.origin, kind, shot)));
        for (const [at, tool] of tools.entries()) {
          const difference = [ours, theirs][at] ?? null;
          const counts = right.get(tool);
          if (difference === null && counts !== undefined) counts[shot] += 1;
          row.push(difference ?? 'right');
        }
        if (ours !== null && theirs === null) worse.push(`${kind.name} (${shot})`);
      }
      rows.push(row);
      report(`pages: ${kind.name}`);
    }
    const sums = SHOTS.flatMap((shot) => tools.map((tool) => `${right.get(tool)?.[shot]} of ${PAGE_KINDS.length}`));
    rows.push(['right', ...sums]);
    const head = SHOTS.flatMap((shot) => tools.map(({ name }) => `${shot}: ${name}`));
    print(formatTable(['page', ...head], rows));
    return [
      {
        what: 'pages that only Playwright captures as a visitor sees them',
        figure: worse.join(', ') || 'none',
        target: 'none',
        met: worse.length === 0,
      },
    ];
  } finally {
    await Promise.allSettled(tools.map((tool) => tool.close()));
    await site.stop();
  }
}

/** Describes how a tool's image differs from what a visitor sees; null when it does not. */
async function look(tool: Tool, origin: string, kind: PageKind, shot: Shot): Promise<string | null> {
  const image = await tool.capture(origin + pathOf(kind), shot === 'fullPage').catch((error: unknown) => error);
  if (!(image instanceof Uint8Array)) return String(image).split('\n', 1)[0]?.slice(0, 40) ?? 'failed';
  const folder = process.env.BENCH_IMAGES;
  if (folder !== undefined) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${kind.name}-${shot}-${tool.name}.png`), image);
  }
  return differenceOf(await pixelsOf(image), kind[shot]);
}
