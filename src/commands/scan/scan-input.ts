import { accessSync, constants, createReadStream, existsSync, statSync } from 'node:fs';
import { errorText } from '../../capture/basics/error-text.ts';
import type { ListReport, ScanSettings } from '../../capture/work/scan.ts';
import { MAX_SCAN_TARGETS } from '../../capture/work/scan-limits.ts';
import { ConfigError } from '../../config/mod.ts';
import { oneLine } from '../../log/printable.ts';
import { readEntry } from '../../targets/entry.ts';
import { readList } from '../../targets/read-list.ts';

/** A list of targets: the arguments, a file or standard input. */
interface Input {
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** A name of a file that is no name of a host. A shell creates the file of `scan HOST > HOST` before the scan begins. */
const FILE_NAME = /^[^.:]*$|^\.{0,2}\/|\.(?:txt|csv|tsv|xml|jsonl?|ndjson|list|lst|log|gz)$/i;

/**
 * Returns the lists of a command line; `-` is standard input.
 * @throws ConfigError for a bad target among the arguments, for a file that cannot be read, and when there is none.
 */
export function scanInputs(args: readonly string[], lists: readonly string[]): readonly Input[] {
  const targets = args.filter((arg) => arg !== '-');
  const files = [...(args.includes('-') ? ['-'] : []), ...lists];
  if (targets.length + files.length === 0) {
    throw new ConfigError('scan takes at least one target: as an argument, in a --list, or with - on standard input');
  }
  for (const target of targets) {
    if (FILE_NAME.test(target) && existsSync(target) && statSync(target).isFile()) {
      const ways = 'name it with --list, or begin the target with http:// or https://';
      throw new ConfigError(`scan takes targets, and ${JSON.stringify(target)} is a file: ${ways}`);
    }
    const entry = readEntry(target);
    if ('problem' in entry) throw new ConfigError(`scan takes targets, and ${JSON.stringify(target)} ${entry.problem}`);
  }
  return [
    ...(targets.length === 0 ? [] : [{ name: 'arguments', bytes: linesOf(targets) }]),
    ...files.map((file) => (file === '-' ? { name: 'standard input', bytes: process.stdin } : fileInput(file))),
  ];
}

/**
 * Generates the targets of lists, one on each line, as they are read, and reports to `tell` what each list gave.
 */
export async function* targetLines(
  inputs: readonly Input[],
  expansion: Pick<ScanSettings, 'ports' | 'schemes'>,
  tell: (text: string) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const { name, bytes } of inputs) {
    const entries = readList(bytes, { expansion, maxTargets: MAX_SCAN_TARGETS });
    let step = await entries.next();
    for (; step.done !== true; step = await entries.next()) {
      if (step.value.length > 0) yield Buffer.from(step.value.map(({ text }) => `${text}\n`).join(''));
    }
    for (const line of reportLines(name, step.value)) tell(line);
  }
}

/** Returns lines on what a list gave. `line` 0: of no line of the list. */
export function reportLines(
  name: string,
  { form, targets, left_out: leftOut, problems }: ListReport,
): readonly string[] {
  const reasons = Object.entries(leftOut).map(([reason, count]) => `${count} ${reason}`);
  const without = reasons.length === 0 ? '' : `, left out: ${reasons.join(', ')}`;
  return [
    ...problems.map(({ line, text, problem }) => {
      const shown = text === '' ? '' : `${JSON.stringify(text)} `;
      return oneLine(`${name}${line === 0 ? '' : `:${line}`}: ${shown}${problem}`);
    }),
    oneLine(
      `${name}: ${targets} ${targets === 1 ? 'target' : 'targets'}${form === 'lines' ? '' : ` (${form})`}${without}`,
    ),
  ];
}

async function* linesOf(texts: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const text of texts) yield Buffer.from(`${text}\n`);
}

function fileInput(file: string): Input {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new ConfigError(`--list takes a file with targets: ${errorText(error)}`);
  }
  if (statSync(file).isDirectory())
    throw new ConfigError(`--list takes a file with targets, and ${file} is a directory`);
  return { name: file, bytes: createReadStream(file) };
}
