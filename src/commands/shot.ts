import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { type Command, Option } from 'commander';
import { concatMap, fromEvent, lastValueFrom, reduce, takeUntil, tap } from 'rxjs';
import { z } from 'zod';
import { CapstanError } from '../capture/errors.ts';
import { CAPTURE_FORMATS, FORMATS } from '../capture/formats.ts';
import type { BatchItem } from '../capture/outcome.ts';
import { type CaptureRequest, requestSchemas } from '../capture/request.ts';
import type { Result } from '../capture/result.ts';
import { parseOrRefuse } from '../capture/validate.ts';
import { addConfigFlags } from '../config/flags.ts';
import { type Config, ConfigError, OPTIONS } from '../config/mod.ts';
import { openLog } from '../log/log.ts';
import { watchForEnd } from './ending.ts';
import { processConfig } from './process-config.ts';
import { makeFolder, type ShotPlace, saveShot } from './shot-files.ts';
import { addCaptureFlags, flagError, readCaptureFlags } from './shot-options.ts';
import { type Shot, startReport } from './shot-report.ts';
import { type BadLine, readTargets } from './shot-targets.ts';

const LOG_LEVELS = OPTIONS.find(({ name }) => name === 'logLevel')?.takes ?? '';

const shotFlags = z.object({
  outDir: z.string().min(1),
  output: z.string().min(1).optional(),
  list: z.array(z.string()).default([]),
  json: z.boolean().default(false),
  force: z.boolean().default(false),
  concurrency: z.coerce.number().int().min(1).max(1000).optional(),
  logLevel: z.string().default('error'),
});

const TAKES: Readonly<Record<string, string>> = {
  outDir: '--out-dir takes the path of a directory',
  output: '--output takes the path of a file',
  concurrency: '--concurrency takes an integer from 1 to 1000',
};

/** Formats by the extension of `--output`. */
const FORMAT_OF: ReadonlyMap<string, string> = new Map(
  CAPTURE_FORMATS.flatMap((format) => FORMATS[format].extensions.map((ending) => [`.${ending}`, format])),
);

const EXIT_CODES: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 };

export function registerShotCommand(program: Command): void {
  const command = program
    .command('shot')
    .description('Capture pages without a server: an image file and a line for each. Exit code 1 if any failed.')
    .argument('[url...]', 'pages to capture; - reads one URL per line from standard input')
    .option('--list <file>', 'file with one URL per line; blank lines and lines that begin with # are skipped', collect)
    .addOption(new Option('--out-dir <dir>', 'directory of the images').default('shots'))
    .option('-o, --output <file>', 'file of the image, for a single page; its extension names the format')
    .option('--force', 'overwrite existing files')
    .option('--json', 'write a JSON object for each page, with its result and evidence')
    .option('--concurrency <n>', 'maximum number of captures at once; default: --max-concurrent of the service');
  addCaptureFlags(command);
  addConfigFlags(command, ['timeoutMs', 'maxTimeoutMs', 'allowTargets', 'denyTargets', 'browserPath', 'sandbox'])
    .addOption(
      new Option(
        '--log-level <level>',
        `Log lines of this level and above to standard error. Takes ${LOG_LEVELS}. Default: error, whatever CAPSTAN_LOG_LEVEL or a file says.`,
      ).helpGroup('Running:'),
    )
    .action(async (urls: readonly string[], flags: Readonly<Record<string, unknown>>) => {
      const { outDir, output, list, json, force, concurrency, logLevel } = parseFlags(flags);
      const config = processConfig({ ...flags, logLevel });
      const targets = await readTargets(urls, list);
      if (output !== undefined && targets.urls.length + targets.badLines.length > 1) {
        throw new ConfigError('--output takes a single page; use --out-dir for several');
      }
      const format = FORMAT_OF.get(extname(output ?? '').toLowerCase());
      const options = { ...(format !== undefined && { format }), ...readCaptureFlags(flags) };
      const requests = requestsOf(targets.urls, options, config, flags);
      const place = { file: output ?? null, dir: output === undefined ? outDir : dirname(output), force };
      const maxConcurrent = concurrency ?? config.maxConcurrent;
      process.exitCode = await shoot(requests, targets.badLines, place, json, { ...config, maxConcurrent });
    });
}

function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

function parseFlags(flags: Readonly<Record<string, unknown>>): z.output<typeof shotFlags> {
  const parsed = shotFlags.safeParse(flags);
  if (parsed.success) return parsed.data;
  const name = String(parsed.error.issues[0]?.path[0]);
  throw new ConfigError(`${TAKES[name] ?? name}, not ${JSON.stringify(flags[name])}`);
}

function requestsOf(
  urls: readonly string[],
  options: Readonly<Record<string, unknown>>,
  { timeoutMs, maxTimeoutMs }: Config,
  flags: Readonly<Record<string, unknown>>,
): readonly CaptureRequest[] {
  const { screenshot } = requestSchemas({ maxBatch: 1, defaultTimeoutMs: timeoutMs, maxTimeoutMs });
  try {
    // Checks the options even when every line of a list is bad.
    parseOrRefuse(screenshot, { ...options, url: 'https://example.com/' });
    return urls.map((url) => parseOrRefuse(screenshot, { ...options, url }));
  } catch (error) {
    const [problem] = error instanceof CapstanError ? error.problems : [];
    throw problem === undefined ? error : flagError(problem.path, problem.message, flags);
  }
}

/** Captures every request and saves its image. Resolves with the exit code. */
async function shoot(
  requests: readonly CaptureRequest[],
  badLines: readonly BadLine[],
  place: ShotPlace,
  json: boolean,
  config: Config,
): Promise<number> {
  await makeOutDir(place.dir);
  const log = openLog(config);
  const { logger } = log;
  const ending = watchForEnd(logger);
  const { createService } = await import('../service/create-service.ts');
  const service = await createService({ ...config, ...withoutServer(requests.length) }, logger);
  ending.watchOver(service);
  const report = startReport(requests.length + badLines.length, json);
  try {
    for (const { url, place: line, problem } of badLines) {
      report.done({ saved: false, url, line, code: 'invalid_request', reason: problem });
    }
    const shots = service.submitBatch(requests, config.maxConcurrent).pipe(
      takeUntil(fromEvent(ending.signal, 'abort')),
      concatMap((item) =>
        finish(item, (result) => saveShot(service.artifacts, result, place, item.index, requests.length)),
      ),
      tap((shot) => report.done(shot)),
      reduce((saved, shot) => saved + (shot.saved ? 1 : 0), 0),
    );
    const saved = await lastValueFrom(shots);
    if (ending.signal.aborted) return EXIT_CODES[String(ending.signal.reason)] ?? 1;
    return saved === requests.length && badLines.length === 0 ? 0 : 1;
  } finally {
    report.end();
    await service.stop(0);
    await log.flush();
  }
}

/** Makes the output directory before the browser starts, so that nothing is captured when images cannot be saved. */
async function makeOutDir(outDir: string): Promise<void> {
  try {
    await makeFolder(outDir);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `--out-dir takes a directory that can be written to, and ${outDir} cannot be created: ${why}`,
    );
  }
}

/** Configuration without a database and server, with a temporary data directory and a queue for all captures. */
function withoutServer(size: number): Partial<Config> {
  const dataDir = mkdtempSync(join(tmpdir(), 'capstan-shot-'));
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  return {
    webhook: [],
    dbPath: null,
    mongoUrl: null,
    natsUrl: [],
    role: 'all',
    dataDir,
    artifacts: 'files',
    requireStore: false,
    retainDays: null,
    retainBytes: null,
    maxQueue: size,
    maxBatch: size,
  };
}

async function finish({ outcome, url }: BatchItem, save: (result: Result) => Promise<string>): Promise<Shot> {
  if (outcome.state !== 'stored') return { saved: false, url, ...outcome.failure };
  const { artifacts: _artifacts, ...result } = outcome.result;
  try {
    const file = await save(outcome.result);
    const { response_code: status, title } = result;
    return { saved: true, url, file, status, title, result, evidence: outcome.evidence };
  } catch (error) {
    if (!isExisting(error)) throw error;
    return { saved: false, url, code: 'file_exists', reason: `${error.path} exists: use --force to overwrite it` };
  }
}

function isExisting(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
