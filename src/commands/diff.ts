import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { errorText } from '../capture/basics/error-text.ts';
import { ignoreField, type VisualDifference } from '../capture/comparison/comparison.ts';
import { CapstanError } from '../capture/errors.ts';
import { collect } from '../config/flags.ts';
import { ConfigError } from '../config/mod.ts';
import { createComparisonThread } from '../imaging/comparison/comparison-thread.ts';
import { codeOfEnd } from './ending.ts';
import { readableRegions } from './readable-regions.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Exit codes as those of diff: 0 for no difference; 2, for trouble, is that of a `ConfigError`. */
const DIFFERENT = 1;
const END_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

interface Flags {
  readonly output?: string;
  readonly json?: true;
  readonly ignore: readonly string[];
}

export function registerDiffCommand(program: Command): void {
  program
    .command('diff')
    .description('Compare two images as GET /compare does. Exit code 0: no difference; 1: a difference; 2: trouble.')
    .argument('<before>', 'image file: PNG, JPEG, WebP')
    .argument('<after>', 'image file')
    .option('-o, --output <file>', 'PNG file for both images beside each other, with the regions marked')
    .option('--json', 'write the difference as JSON')
    .addOption(
      new Option('--ignore <what>', 'a kind such as moved, or a rectangle x,y,width,height; repeatable')
        .default([], 'nothing')
        .argParser(collect),
    )
    .action(async (before: string, after: string, flags: Flags) => {
      // Exits, which removes temporary files: a signal alone would leave them.
      for (const signal of END_SIGNALS) process.once(signal, () => process.exit(codeOfEnd({ reason: signal })));
      const { visual, drawing } = await compared(before, after, flags);
      if (flags.output !== undefined && drawing !== null) await written(flags.output, drawing);
      process.stdout.write(flags.json === true ? `${JSON.stringify(visual)}\n` : readable(visual));
      if (visual.regions.length > 0) process.exitCode = DIFFERENT;
    });
}

async function compared(before: string, after: string, { output, ignore: texts }: Flags) {
  const { data: ignore, error } = ignoreField.safeParse([...texts]);
  if (ignore === undefined) throw new ConfigError(`--ignore ${error.issues[0]?.message}`);
  const images = [await imageIn(before), await imageIn(after)] as const;
  if (ignore.selectors.length > 0) throw new ConfigError('--ignore selector: image files have no elements');
  const captures = {
    images,
    texts: null,
    links: null,
    maps: null,
    onlyElements: null,
    ignore,
    inAnyOrder: false,
    draws: output !== undefined,
    places: false,
  };
  const { visual, drawing } = await createComparisonThread(async () => temporaryDirectory())
    .compare(captures)
    .catch((error: unknown) => {
      const reason = error instanceof CapstanError ? error.message : 'one of the files is not an image';
      throw new ConfigError(`${before} and ${after} cannot be compared: ${reason}`);
    });
  if (visual === null) throw new Error('images were compared, and there is no difference of them');
  return { visual, drawing };
}

async function imageIn(file: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await readFile(file));
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${errorText(error)}`);
  }
}

async function written(file: string, drawing: { stream(): Readable }): Promise<void> {
  try {
    await pipeline(drawing.stream(), createWriteStream(file));
  } catch (error) {
    throw new ConfigError(`${file} cannot be written: ${errorText(error)}`);
  }
}

function readable({ regions, share, truncated }: VisualDifference): string {
  if (regions.length === 0) return '';
  const rest = truncated ? ['and more regions'] : [];
  return `${[...readableRegions(regions), ...rest, `${(share * 100).toFixed(2)} % changed`].join('\n')}\n`;
}
