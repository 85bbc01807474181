import type { Command } from 'commander';
import type { Stability } from '../client/mod.ts';
import { createClient } from '../client/mod.ts';
import { codeOfEnd } from './ending.ts';
import { withServer } from './own-service.ts';
import { addPageFlags, commandError, readPageFlags } from './server-flags.ts';
import { oneLine } from './shot-report.ts';

export function registerStabilityCommand(program: Command): void {
  const command = program
    .command('stability')
    .description(
      'Find the elements of a page that look different from capture to capture, and why. Captures the page 11 times.',
    )
    .argument('<url>', 'page to capture')
    .option('--json', 'write what was found as JSON');
  addPageFlags(command).action(async (url: string, flags: Readonly<Record<string, unknown>>) => {
    const { server, config, options } = readPageFlags(flags);
    await withServer(server, config, async ({ url: baseUrl, apiKey }, signal) => {
      const client = createClient({ baseUrl, ...(apiKey !== undefined && { apiKey }) });
      try {
        const found = await client.stability({ ...options, url }, { signal });
        process.stdout.write(flags.json === true ? `${JSON.stringify(found)}\n` : readable(found));
      } catch (error) {
        if (!signal.aborted) throw commandError(error, flags);
        process.exitCode = codeOfEnd(signal);
      }
    });
  });
}

function readable({ unstable, ignore }: Stability): string {
  if (unstable.length === 0) return 'The page looks the same each time.\n';
  const lines = unstable.map(({ cause, selector }) => oneLine(`${cause.padEnd(10)}  ${selector}`));
  return [...lines, '', 'To leave them out of comparisons and watches:', JSON.stringify(ignore), ''].join('\n');
}
