import { execFile } from 'node:child_process';
import { cp, glob, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeDirectory } from '../support/temporary-directory.ts';

const ROOT = join(import.meta.dirname, '../..');

const FORBIDDEN: readonly (readonly [file: string, imported: string])[] = [
  ['src/capture/errors.ts', 'src/storage/ports/result-store.ts'],
  ['src/capture/errors.ts', 'src/http/app.ts'],
  ['src/streams/capture-pipeline.ts', 'src/http/app.ts'],
  ['src/streams/capture-pipeline.ts', 'src/actors/actor-pool.ts'],
  ['src/streams/capture-pipeline.ts', 'src/storage/ports/result-store.ts'],
  ['src/streams/capture-pipeline.ts', 'src/receivers/dispatcher.ts'],
  ['src/streams/capture-pipeline.ts', 'src/config/mod.ts'],
  ['src/streams/admission.ts', 'src/pressure/overload.ts'],
  ['src/actors/actor-pool.ts', 'src/http/app.ts'],
  ['src/actors/actor-pool.ts', 'src/service/create-service.ts'],
  ['src/actors/actor-pool.ts', 'src/storage/ports/result-store.ts'],
  ['src/actors/actor-pool.ts', 'src/egress/egress-proxy.ts'],
  ['src/actors/direct/open-page.ts', 'src/streams/events.ts'],
  ['src/page/observe-document.ts', 'src/reading/verdict/judge.ts'],
  ['src/page/observe-document.ts', 'src/actors/browser-host.ts'],
  ['src/reading/verdict/judge.ts', 'src/actors/browser-host.ts'],
  ['src/cdp/connection.ts', 'src/page/frames/main-frame.ts'],
  ['src/actors/direct/open-page.ts', 'playwright'],
  ['src/storage/sqlite/results.ts', 'src/http/app.ts'],
  ['src/storage/sqlite/results.ts', 'src/actors/actor-pool.ts'],
  ['src/storage/records/ids.ts', 'src/streams/events.ts'],
  ['src/storage/records/ids.ts', 'src/config/options.ts'],
  ['src/egress/egress-proxy.ts', 'src/http/app.ts'],
  ['src/egress/egress-proxy.ts', 'src/actors/actor-pool.ts'],
  ['src/pressure/monitor.ts', 'src/streams/admission.ts'],
  ['src/feed/event-feed.ts', 'src/storage/sqlite/results.ts'],
  ['src/feed/event-feed.ts', 'src/streams/events.ts'],
  ['src/imaging/thumbnails.ts', 'src/http/app.ts'],
  ['src/imaging/thumbnails.ts', 'src/storage/files/file-thumbnail-store.ts'],
  ['src/ipinfo/mod.ts', 'src/capture/errors.ts'],
  ['src/ipinfo/mod.ts', 'src/egress/address-policy.ts'],
  ['src/http/app.ts', 'src/storage/sqlite/results.ts'],
  ['src/http/app.ts', 'src/streams/capture-pipeline.ts'],
  ['src/http/app.ts', 'src/pressure/monitor.ts'],
  ['src/http/app.ts', 'src/receivers/dispatcher.ts'],
  ['src/http/app.ts', 'src/config/mod.ts'],
  ['src/http/app.ts', 'src/commands/serve/serve.ts'],
  ['src/http/app.ts', 'src/service/create-service.ts'],
  ['src/http/routes/results.ts', 'src/actors/actor-pool.ts'],
  ['src/http/app.ts', 'playwright'],
  ['src/service/create-service.ts', 'src/http/app.ts'],
  ['src/service/create-service.ts', 'src/commands/serve/serve.ts'],
  ['src/service/create-service.ts', 'playwright'],
  ['src/service/create-service.ts', 'test/fixtures/site.ts'],
  ['src/service/create-service.ts', 'bench/run.ts'],
  ['src/service/create-service.ts', 'vitest'],
  ['src/config/options.ts', 'src/service/create-service.ts'],
  ['src/commands/serve/serve.ts', 'src/storage/sqlite/results.ts'],
  ['src/commands/serve/serve.ts', 'src/actors/actor-pool.ts'],
  ['src/receivers/dispatcher.ts', 'src/streams/events.ts'],
  ['src/receivers/transports/webhook.ts', 'src/egress/dial.ts'],
  ['src/jobs/run-job.ts', 'src/http/app.ts'],
  ['src/jobs/run-job.ts', 'src/streams/batch.ts'],
  ['src/jobs/run-job.ts', 'src/storage/documents/jobs.ts'],
  ['src/words/comparable.ts', 'src/capture/errors.ts'],
  ['src/words/comparable.ts', 'src/cdp/connection.ts'],
  ['src/page-scripts/dom/dom.ts', 'src/capture/errors.ts'],
  ['src/new-room/new-file.ts', 'src/capture/errors.ts'],
];

const ALLOWED: readonly (readonly [file: string, imported: string])[] = [
  ['src/imaging/thumbnails.ts', 'src/storage/ports/thumbnail-store.ts'],
  ['src/streams/capture-pipeline.ts', 'src/capture/errors.ts'],
  ['src/streams/capture-pipeline.ts', 'rxjs'],
  ['src/actors/actor-pool.ts', 'src/egress/egress.ts'],
  ['src/actors/direct/open-page.ts', 'src/cdp/connection.ts'],
  ['src/actors/playwright/interaction.ts', 'playwright'],
  ['src/storage/sqlite/results.ts', 'src/storage/ports/result-store.ts'],
  ['src/receivers/transports/webhook.ts', 'src/egress/egress.ts'],
  ['src/jobs/run-job.ts', 'src/storage/ports/job-store.ts'],
  ['src/ipinfo/mod.ts', 'src/ipinfo/errors.ts'],
  ['src/feed/event-feed.ts', 'src/storage/ports/event-log.ts'],
  ['src/http/routes/results.ts', 'src/storage/ports/result-store.ts'],
  ['src/http/routes/results.ts', 'src/feed/event-feed.ts'],
  ['src/service/create-service.ts', 'src/storage/storage.ts'],
  ['src/service/receivers/open-receivers.ts', 'src/receivers/dispatcher.ts'],
  ['src/commands/serve/serve.ts', 'src/http/server.ts'],
  ['src/page-scripts/dom/dom.ts', 'src/words/comparable.ts'],
  ['src/storage/records/terms.ts', 'src/words/folded.ts'],
  ['src/mod.ts', 'src/service/create-service.ts'],
];

const cruiseReport = z.object({
  summary: z.object({ violations: z.array(z.object({ from: z.string(), to: z.string() })) }),
});

describe('import boundaries', () => {
  let dir: string;
  let violations: readonly { readonly from: string; readonly to: string }[];

  beforeAll(async () => {
    dir = await makeDirectory();
    await copyBoundaries(dir);
    await writeImports(dir, [...FORBIDDEN, ...ALLOWED]);
    violations = await findViolations(dir);
  });

  const isRefused = (file: string, imported: string): boolean =>
    violations.some(({ from, to }) => from === file && (to === imported || to.includes(`/node_modules/${imported}/`)));

  it.each(FORBIDDEN)('forbids %s to import %s', (file, imported) => {
    expect(isRefused(file, imported)).toBe(true);
  });

  it.each(ALLOWED)('allows %s to import %s', (file, imported) => {
    expect(isRefused(file, imported)).toBe(false);
  });
});

async function copyBoundaries(dir: string): Promise<void> {
  for await (const file of glob('src/*/boundary.json', { cwd: ROOT })) await cp(join(ROOT, file), join(dir, file));
  for (const file of ['.dependency-cruiser.mjs', 'package.json']) await cp(join(ROOT, file), join(dir, file));
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
}

async function writeImports(dir: string, imports: typeof FORBIDDEN): Promise<void> {
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(join(dir, dirname(file)), { recursive: true });
    await writeFile(join(dir, file), text, { flag: 'a' });
  };
  for (const [file, imported] of imports) {
    const isPackage = !imported.includes('/');
    if (!isPackage) await write(imported, '');
    await write(file, `import '${isPackage ? imported : relativeImport(file, imported)}';\n`);
  }
}

function relativeImport(file: string, imported: string): string {
  const path = relative(dirname(file), imported);
  return path.startsWith('.') ? path : `./${path}`;
}

async function findViolations(dir: string): Promise<z.output<typeof cruiseReport>['summary']['violations']> {
  const cruiser = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const args = [cruiser, 'src', '--config', '.dependency-cruiser.mjs', '--output-type', 'json'];
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: dir, maxBuffer: 16 * 1024 * 1024 }, (_failed, stdout) => resolve(stdout));
  });
  return cruiseReport.parse(JSON.parse(output)).summary.violations;
}
