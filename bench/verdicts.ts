import { join } from 'node:path';
import { z } from 'zod';
import { VERDICTS, type VerdictName } from '../src/capture/verdict.ts';
import { startSite } from '../test/fixtures/site.ts';
import { VERDICT_PAGES } from '../test/fixtures/verdicts/all.ts';
import type { BenchOptions } from './support/bench.ts';
import { servePages } from './support/serve-pages.ts';
import { startServiceProcess } from './support/service-process.ts';
import { type Finding, formatTable } from './support/table.ts';

const AT_ONCE = 3;
const GIVEN = 'given pages';

const answer = z.object({
  data: z.object({ verdict: z.enum(VERDICTS).nullable(), verdict_reasons: z.array(z.string()) }),
});

/**
 * Captures pages whose verdict is known: pages after real products, and with `--pages` a folder of pages with content,
 * `html/<name>.html.gz`, which are served without the files that they load, with their scripts and without.
 */
export async function verdicts({ browserPath, pagesFolder, print, report }: BenchOptions): Promise<readonly Finding[]> {
  const site = await startSite();
  const folders =
    pagesFolder === undefined
      ? []
      : await Promise.all(
          [true, false].map(async (scripts) => ({
            set: scripts ? GIVEN : `${GIVEN}, scripts off`,
            served: await servePages(join(pagesFolder, 'html'), { scripts }),
          })),
        );
  const service = await startServiceProcess({ browserPath });
  try {
    const known = Object.entries(VERDICT_PAGES).flatMap(([verdict, pages]) =>
      pages.map(({ name }) => ({
        set: verdict,
        verdict,
        url: site.url(`/verdict?${new URLSearchParams({ page: name })}`),
      })),
    );
    const given = folders.flatMap(({ set, served }) =>
      served.names.map((name) => ({ set, verdict: 'content', url: served.url(name) })),
    );
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
      const wanted = set.startsWith(GIVEN) ? 'content' : set;
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
      const target = set.startsWith(GIVEN) ? 0.995 : 0.9;
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
    for (const { served } of folders) served.close();
  }
}
