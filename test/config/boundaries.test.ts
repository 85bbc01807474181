import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const ROOT = join(import.meta.dirname, '../..');

/** Who may not import what. */
const FORBIDDEN: readonly (readonly [file: string, imported: string])[] = [
  ['src/capture/domain.ts', './service.ts'],
  ['src/capture/domain.ts', './storage/result-store.ts'],
  ['src/capture/errors.ts', './domain.ts'],
  ['src/streams/capture-pipeline.ts', '../http/app.ts'],
  ['src/streams/capture-pipeline.ts', '../actors/slots.ts'],
  ['src/streams/capture-pipeline.ts', '../storage/result-store.ts'],
  ['src/streams/capture-pipeline.ts', '../config.ts'],
  ['src/actors/slots.ts', '../http/app.ts'],
  ['src/actors/slots.ts', '../service.ts'],
  ['src/actors/slots.ts', '../storage/result-store.ts'],
  ['src/actors/direct/navigate.ts', '../../streams/events.ts'],
  ['src/actors/slots.ts', '../egress/lane.ts'],
  ['src/storage/sqlite/store.ts', '../../http/app.ts'],
  ['src/storage/sqlite/store.ts', '../../actors/slots.ts'],
  ['src/storage/ids.ts', '../streams/events.ts'],
  ['src/storage/ids.ts', '../config/options.ts'],
  ['src/egress/egress-proxy.ts', '../http/app.ts'],
  ['src/egress/egress-proxy.ts', '../actors/slots.ts'],
  ['src/pressure/monitor.ts', '../streams/admission.ts'],
  ['src/pressure/monitor.ts', '../config.ts'],
  ['src/streams/admission.ts', '../pressure/overload.ts'],
  ['src/http/app.ts', '../pressure/monitor.ts'],
  ['src/feed/event-feed.ts', '../storage/sqlite/store.ts'],
  ['src/feed/event-feed.ts', '../streams/events.ts'],
  ['src/feed/event-feed.ts', '../http/app.ts'],
  ['src/http/live/fan-out.ts', '../../storage/event-log.ts'],
  ['src/ipinfo/mod.ts', '../errors.ts'],
  ['src/ipinfo/mod.ts', '../egress/address-policy.ts'],
  ['src/ipinfo/wire/json.ts', '../../domain.ts'],
  ['src/http/app.ts', '../storage/sqlite/store.ts'],
  ['src/http/app.ts', '../streams/capture-pipeline.ts'],
  ['src/http/routes/results.ts', '../../actors/slots.ts'],
  ['src/http/app.ts', '../config.ts'],
  ['src/http/app.ts', '../commands/serve.ts'],
  ['src/http/app.ts', '../main.ts'],
  ['src/service/create-service.ts', './http/app.ts'],
  ['src/service/create-service.ts', './commands/serve.ts'],
  ['src/config/options.ts', '../service.ts'],
  ['src/log.ts', './http/app.ts'],
  ['src/commands/serve.ts', '../storage/sqlite/store.ts'],
  ['src/commands/serve.ts', '../actors/slots.ts'],
  ['src/main.ts', './streams/events.ts'],
  ['src/mod.ts', './streams/events.ts'],
  ['src/webhooks/webhooks.ts', '../streams/events.ts'],
  ['src/webhooks/webhooks.ts', '../http/app.ts'],
  ['src/webhooks/deliver.ts', '../egress/dial.ts'],
  ['src/streams/capture-pipeline.ts', '../webhooks/webhooks.ts'],
  ['src/http/app.ts', '../webhooks/webhooks.ts'],
  ['src/jobs/jobs.ts', '../http/app.ts'],
  ['src/jobs/run-job.ts', '../streams/batch.ts'],
  ['src/jobs/run-job.ts', '../storage/sqlite/jobs.ts'],
  ['src/actors/browser-actor.ts', 'playwright-core'],
  ['src/actors/direct/open-page.ts', 'playwright-core'],
  ['src/service/create-service.ts', 'playwright-core'],
  ['src/http/app.ts', 'playwright-core'],
  ['src/actors/playwright/interaction.ts', '../../http/app.ts'],
  ['src/service/create-service.ts', '../test/fixtures/site.ts'],
  ['src/http/app.ts', '../../bench/run.ts'],
  ['src/actors/slots.ts', '../../test/fixtures/site.ts'],
];

/** What the rules must not hit. */
const ALLOWED: readonly (readonly [file: string, imported: string])[] = [
  ['src/capture/domain.ts', './errors.ts'],
  ['src/streams/capture-pipeline.ts', '../domain.ts'],
  ['src/streams/capture-pipeline.ts', 'rxjs'],
  ['src/actors/slots.ts', '../egress/egress.ts'],
  ['src/actors/direct/navigate.ts', '../cdp/connection.ts'],
  ['src/actors/playwright/interaction.ts', 'playwright-core'],
  ['src/actors/playwright/interaction.ts', '../browser-host.ts'],
  ['src/storage/sqlite/store.ts', '../result-store.ts'],
  ['src/pressure/monitor.ts', '../domain.ts'],
  ['src/webhooks/deliver.ts', '../egress/egress.ts'],
  ['src/service/create-service.ts', './webhooks/webhooks.ts'],
  ['src/jobs/run-job.ts', '../storage/job-store.ts'],
  ['src/jobs/run-job.ts', '../streams/outcome.ts'],
  ['src/ipinfo/mod.ts', './errors.ts'],
  ['src/ipinfo/wire/json.ts', '../errors.ts'],
  ['src/feed/event-feed.ts', '../storage/event-log.ts'],
  ['src/http/live/fan-out.ts', '../../feed/event-feed.ts'],
  ['src/http/app.ts', '../service.ts'],
  ['src/http/app.ts', 'node:http'],
  ['src/http/routes/results.ts', '../../storage/result-store.ts'],
  ['src/service/create-service.ts', './storage/sqlite/store.ts'],
  ['src/commands/serve.ts', '../http/server.ts'],
  ['src/mod.ts', './service.ts'],
  ['src/commands/ip.ts', '../ipinfo/mod.ts'],
];

const lintReport = z.object({
  diagnostics: z.array(
    z.object({
      category: z.string(),
      location: z.object({ path: z.string(), start: z.object({ line: z.number() }) }),
    }),
  ),
});

describe('borders between the parts', () => {
  let dir: string;
  let refused: ReadonlySet<string>;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'capstan-borders-'));
    await copyFile(join(ROOT, 'biome.json'), join(dir, 'biome.json'));
    refused = await refusedImports(dir, [...FORBIDDEN, ...ALLOWED]);
  });

  afterAll(() => rm(dir, { recursive: true, force: true }));

  it.each(FORBIDDEN)('%s may not import %s', (file, imported) => {
    expect(refused).toContain(`${file} ${imported}`);
  });

  it.each(ALLOWED)('%s may import %s', (file, imported) => {
    expect(refused).not.toContain(`${file} ${imported}`);
  });
});

/** Writes files with these imports, a line each, and gives back those that the linter refuses, as `file import`. */
async function refusedImports(dir: string, imports: typeof FORBIDDEN): Promise<ReadonlySet<string>> {
  const files = Map.groupBy(imports, ([file]) => file);
  for (const [file, lines] of files) {
    await mkdir(join(dir, dirname(file)), { recursive: true });
    await writeFile(join(dir, file), lines.map(([, imported]) => `export type * from '${imported}';\n`).join(''));
  }
  const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
  const output = await new Promise<string>((resolve) => {
    const args = [biome, 'lint', '--reporter=json', '--vcs-enabled=false', '--max-diagnostics=none', '.'];
    execFile(process.execPath, args, { cwd: dir }, (_failed, stdout) => resolve(stdout));
  });
  return new Set(
    lintReport
      .parse(JSON.parse(output))
      .diagnostics.filter(({ category }) => category === 'lint/style/noRestrictedImports')
      .map(({ location }) => `${location.path} ${files.get(location.path)?.[location.start.line - 1]?.[1]}`),
  );
}
