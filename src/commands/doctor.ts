import type { Command } from 'commander';
import { addConfigFlags } from '../config/flags.ts';
import type { Finding } from '../doctor/finding.ts';
import { processConfig } from './process-config.ts';

/** `capstan doctor`: checks the requirements of a service with this configuration, and advises how to meet them. */
export function registerDoctorCommand(program: Command): void {
  const command = program
    .command('doctor')
    .description(
      'Check everything that the service needs with this configuration, and print advice. Changes nothing. Exit code 1 when the service would not start or not capture.',
    )
    .option('--json', 'Print the findings as JSON.');
  addConfigFlags(command).action(async ({ json, ...flags }: Readonly<Record<string, unknown>>) => {
    const config = processConfig(flags);
    // Loaded on demand, so that other commands do not load a database driver.
    const { examine } = await import('../doctor/examine.ts');
    const findings = await examine(config);
    const serves = findings.every(({ state }) => state !== 'failure');
    process.stdout.write(json === true ? `${JSON.stringify({ serves, findings }, null, 2)}\n` : table(findings));
    if (!serves) process.exitCode = 1;
  });
}

/** Returns a line for each finding, with the advice below it. */
function table(findings: readonly Finding[]): string {
  const head = { check: 'CHECK', state: 'STATE', found: 'FOUND', advice: '' };
  const width = (column: 'check' | 'state') => Math.max(...[head, ...findings].map((row) => row[column].length));
  const lines = [head, ...findings].flatMap(({ check, state, found, advice }) => {
    const start = `${check.padEnd(width('check'))}  ${state.padEnd(width('state'))}  `;
    return [`${start}${found}`, ...(advice === '' ? [] : [`${' '.repeat(start.length)}-> ${advice}`])];
  });
  return `${lines.join('\n')}\n`;
}
