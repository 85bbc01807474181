import type { Command } from 'commander';
import type { Stability } from '../client/mod.ts';
import { oneLine, printableJson } from '../log/printable.ts';
import { addPageFlags, readPageFlags, withClient } from './serve/server-flags.ts';
import { whileAnswering } from './while-answering.ts';

export function registerStabilityCommand(program: Command): void {
  const command = program
    .command('stability')
    .description(
      'Find the elements of a page that look different from capture to capture, and why. Captures the page 11 times.',
    )
    .argument('<url>', 'page to capture')
    .option('--json', 'write what was found as JSON');
  addPageFlags(command).action(async (url: string, flags: Readonly<Record<string, unknown>>) => {
    const { options, ...service } = readPageFlags(flags);
    await withClient(flags, service, async (client, signal, baseUrl) => {
      const found = await whileAnswering(baseUrl, signal, (until) =>
        client.stability({ ...options, url }, { signal: until }),
      );
      process.stdout.write(flags.json === true ? `${printableJson(found)}\n` : readable(found));
    });
  });
}

function readable({ unstable, truncated, ignore }: Stability): string {
  if (unstable.length === 0) return 'The page looks the same each time.\n';
  const lines = unstable.map(({ cause, selector }) => oneLine(`${cause.padEnd(10)}  ${selector}`));
  if (truncated) lines.push('There are more, which are not listed.');
  return [...lines, '', 'To leave them out of comparisons and watches:', printableJson(ignore), ''].join('\n');
}
