import { statSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { CAPTURE_FORMATS, FORMATS } from '../../capture/artifacts/formats.ts';
import { codeOf } from '../../capture/basics/error-code.ts';
import { CapstanError } from '../../capture/errors.ts';
import { type CaptureRequest, requestSchemas } from '../../capture/request.ts';
import { parseOrRefuse } from '../../capture/validate.ts';
import { CapstanFailure } from '../../client/mod.ts';
import { collect } from '../../config/flags.ts';
import { type Config, ConfigError } from '../../config/mod.ts';
import { openLog } from '../../log/log.ts';
import { codeOfEnd, watchForEnd } from '../ending.ts';
import { addPageFlags, readPageFlags } from '../serve/server-flags.ts';
import { type Capturing, makeFolderOf, type ShotOutcome, type ShotPlace, saveShot } from './shot-files.ts';
import { captureHere } from './shot-here.ts';
import { flagError } from './shot-options.ts';
import { type Shot, startReport } from './shot-report.ts';
import { type BadLine, readTargets } from './shot-targets.ts';
import { captureThere } from './shot-there.ts';

const shotFlags = z.object({
  outDir: z.string().min(1),
  output: z.string().min(1).optional(),
  list: z.array(z.string()).default([]),
  json: z.boolean().default(false),
  force: z.boolean().default(false),
  concurrency: z.coerce.number().int().min(1).max(1000).optional(),
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

export function registerShotCommand(program: Command): void {
  const command = program
    .command('shot')
    .description('Capture pages into files: an image file and a line for each. Exit code 1 if any failed.')
    .argument('[url...]', 'pages to capture; - reads one URL per line from standard input')
    .option('--list <file>', 'file with one URL per line; blank lines and lines that begin with # are skipped', collect)
    .addOption(new Option('--out-dir <dir>', 'directory of the images').default('shots'))
    .option('-o, --output <file>', 'file of the image, for a single page; its extension names the format')
    .option('--force', 'overwrite existing files')
    .option('--json', 'write a JSON object for each page, with its result and evidence')
    .option('--concurrency <n>', 'maximum number of captures at once; default: --max-concurrent of the service');
  addPageFlags(command).action(async (urls: readonly string[], flags: Readonly<Record<string, unknown>>) => {
    const { outDir, output, list, json, force, concurrency } = parseFlags(flags);
    const { server, config, options: given } = readPageFlags(flags);
    const targets = await readTargets(urls, list);
    if (output !== undefined && targets.urls.length + targets.badLines.length > 1) {
      throw new ConfigError('--output takes a single page; use --out-dir for several');
    }
    const format = formatOf(output, given.format);
    const options = { ...(format !== undefined && { format }), ...given };
    const requests = requestsOf(targets.urls, options, config, flags);
    const place = { file: output ?? null, dir: output === undefined ? outDir : dirname(output), force };
    const capturing =
      server === undefined
        ? captureHere(requests, { ...config, maxConcurrent: concurrency ?? config.maxConcurrent })
        : captureThere(
            targets.urls.map((url) => ({ ...options, url })),
            server,
            { concurrency, needsEvidence: json },
          );
    process.exitCode = await shoot(capturing, requests.length, targets.badLines, place, json, config);
  });
}

/** Returns the format that the extension of `--output` names; undefined for none. `given`: the value of `--format`. */
function formatOf(output: string | undefined, given: unknown): string | undefined {
  if (output === undefined) return undefined;
  const shown = JSON.stringify(output);
  if (output === '-' || /[\\/]$/.test(output) || statSync(output, { throwIfNoEntry: false })?.isDirectory()) {
    throw new ConfigError(`--output takes the path of a file, not ${shown}; --out-dir takes a directory`);
  }
  const extension = extname(output).toLowerCase();
  const format = FORMAT_OF.get(extension);
  if (format === undefined && extension !== '' && given === undefined) {
    const known = [...FORMAT_OF.keys()].join(', ');
    throw new ConfigError(`--output takes a file that ends with ${known}, or --format beside it, not ${shown}`);
  }
  const wanted = FORMAT_OF.get(`.${given}`);
  if (format !== undefined && wanted !== undefined && format !== wanted) {
    throw new ConfigError(`--output ${shown} names the format ${format}, and --format says ${given}`);
  }
  return format;
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
  const { screenshot } = requestSchemas({ maxBatch: 1, timeoutMs, maxTimeoutMs });
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
  capturing: Capturing,
  size: number,
  badLines: readonly BadLine[],
  place: ShotPlace,
  json: boolean,
  config: Config,
): Promise<number> {
  // Before the browser starts, so that nothing is captured when images cannot be saved.
  await makeFolderOf('--out-dir', place.dir);
  const log = await openLog(config);
  const ending = watchForEnd(log.logger);
  const report = startReport(size + badLines.length, json);
  let saved = 0;
  try {
    for (const { url, place: line, problem } of badLines) {
      report.done({ saved: false, url, line, code: 'invalid_request', reason: problem });
    }
    await capturing(log.logger, ending, async (outcome) => {
      const shot = await finish(outcome, place, size);
      report.done(shot);
      if (shot.saved) saved += 1;
    });
    if (ending.signal.aborted) return codeOfEnd(ending.signal);
    return saved === size && badLines.length === 0 ? 0 : 1;
  } finally {
    report.end();
    await log.flush();
  }
}

async function finish(outcome: ShotOutcome, place: ShotPlace, count: number): Promise<Shot> {
  const { url, index } = outcome;
  if ('failure' in outcome) return { saved: false, url, ...outcome.failure };
  const { result, evidence } = outcome.capture;
  try {
    const file = await saveShot(outcome.capture, place, index, count);
    return { saved: true, url, file, status: result.response_code, title: result.title, result, evidence };
  } catch (error) {
    if (error instanceof CapstanFailure) return { saved: false, url, code: error.code, reason: error.message };
    if (!isExisting(error)) throw error;
    return { saved: false, url, code: 'file_exists', reason: `${error.path} exists: use --force to overwrite it` };
  }
}

function isExisting(error: unknown): error is NodeJS.ErrnoException {
  return codeOf(error) === 'EEXIST';
}
