import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { VERDICTS, type VerdictName } from '../src/capture/verdict.ts';
import { startSite } from '../test/fixtures/site.ts';
import { VERDICT_PAGES } from '../test/fixtures/verdicts/all.ts';
import type { BenchOptions } from './support/bench.ts';
import { startServiceProcess } from './support/service-process.ts';
import { type Finding, formatTable } from './support/table.ts';

const AT_ONCE = 3;

const answer = z.object({
  data: z.object({ verdict: z.enum(VERDICTS).nullable(), verdict_reasons: z.array(z.string()) }),
});

/**
 * Captures pages whose verdict is known: pages after real products, and with `--pages` a folder of pages with content,
 * `html/<name>.html.gz`, which are served without the files that they load.
 */
export async function verdicts({ browserPath, pagesFolder, print, report }: BenchOptions): Promise<readonly Finding[]> {
  const site = await startSite();
  const folder = pagesFolder === undefined ? undefined : await serveFolder(join(pagesFolder, 'html'));
  const service = await startServiceProcess({ browserPath });
  try {
    const known = Object.entries(VERDICT_PAGES).flatMap(([verdict, pages]) =>
      pages.map(({ name }) => ({
        set: verdict,
        verdict,
        url: site.url(`/verdict?${new URLSearchParams({ page: name })}`),
      })),
    );
    const given = (folder?.urls ?? []).map((url) => ({ set: 'given pages', verdict: 'content', url }));
    const found = new Map<string, (VerdictName | null)[]>();
    const waiting = [...known, ...given];
    const capture = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { status, body } = await service.capture(next.url, { timeoutMs: 20_000 });
        const seen = status === 200 ? answer.parse(JSON.parse(body)).data : { verdict: null, verdict_reasons: [body] };
        found.set(next.set, [...(found.get(next.set) ?? []), seen.verdict]);
        if (seen.verdict !== next.verdict)
          report(`verdicts: ${next.url} is ${seen.verdict} (${seen.verdict_reasons.join(', ')}), not ${next.verdict}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, capture));
    const rows = [...found].map(([set, all]) => {
      const wanted = set === 'given pages' ? 'content' : set;
      const right = all.filter((verdict) => verdict === wanted).length;
      return { set, pages: all.length, right, share: right / all.length };
    });
    print(
      formatTable(
        ['pages', 'number', 'right'],
        rows.map(({ set, pages, right }) => [set, String(pages), String(right)]),
      ),
    );
    return rows.map(({ set, pages, share }) => {
      const target = set === 'given pages' ? 0.995 : 0.9;
      return {
        what: `verdicts on ${pages} pages: ${set}`,
        figure: share.toFixed(3),
        target: String(target),
        met: share >= target,
      };
    });
  } finally {
    await service.stop();
    await site.close();
    folder?.close();
  }
}

/** Serves the pages of a folder; whatever else they ask for is not found. */
async function serveFolder(folder: string): Promise<{ readonly urls: readonly string[]; close(): void }> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.html.gz')).toSorted();
  const server = createServer((request, response) => {
    const name = `${(request.url ?? '').slice(1)}.html.gz`;
    if (!names.includes(name)) {
      response.writeHead(404).end();
      return;
    }
    readFile(join(folder, name)).then(
      (packed) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(gunzipSync(packed)),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the folder has no port');
  return {
    urls: names.map((name) => `http://127.0.0.1:${address.port}/${name.replace('.html.gz', '')}`),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
