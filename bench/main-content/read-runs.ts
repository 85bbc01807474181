import { join } from 'node:path';
import { build } from 'esbuild';
import { chromium } from 'playwright';
import { z } from 'zod';
import { servePages } from '../support/serve-pages.ts';

const AT_ONCE = 2;
const LIMITS = { nodes: 500_000, characters: 4_000_000, hidden: 0, ms: 30_000 };

const Runs = z.array(
  z.object({
    text: z.string(),
    level: z.number(),
    signs: z.array(z.number()),
    described: z.boolean().optional(),
    /** Number of the path of elements around it; undefined of code and of cells, whose copies are kept. */
    path: z.number().optional(),
  }),
);
export const PagesOfRuns = z.record(z.string(), Runs);
export type PagesOfRuns = z.output<typeof PagesOfRuns>;

/** Reads the runs of text that the pages of a folder paint with scripts off, and their signs. */
export async function readRuns(folder: string, browserPath: string): Promise<PagesOfRuns> {
  const pages = await servePages(join(folder, 'html'), { scripts: false });
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'signs-in-page.ts')],
    bundle: true,
    format: 'iife',
    globalName: 'script',
    write: false,
  });
  const expression = `(() => {${outputFiles[0]?.text}; return script.signsInPage(${JSON.stringify(LIMITS)})})()`;
  const all: PagesOfRuns = {};
  const waiting = [...pages.names];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
      await page.route(
        ({ hostname }) => hostname !== '127.0.0.1',
        (route) => route.abort(),
      );
      await page.goto(pages.url(name));
      all[name] = Runs.parse(await page.evaluate(expression));
      await page.close();
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    await browser.close();
    pages.close();
  }
  return all;
}
