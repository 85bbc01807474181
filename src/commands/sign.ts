import type { Command } from 'commander';
import { millisecondsOf, SECOND_MS } from '../capture/basics/time-fields.ts';
import { claimsSignature, signedTarget } from '../capture/finding/signed-link.ts';
import { addConfigFlags } from '../config/flags.ts';
import { ConfigError } from '../config/mod.ts';
import { processConfig } from './process-config.ts';

/** Maximum time until a link expires, in seconds: a year. */
const MAX_SECONDS = 366 * 86_400;
/** Placeholder for scheme and host in a link without them. */
const NO_ORIGIN = 'http://none.invalid';

export function registerSignCommand(program: Command): void {
  const command = program
    .command('sign')
    .description('Sign a link to GET /screenshot, so that it needs no API key. Prints the link.')
    .argument('<link>', 'the link, with its options: http://127.0.0.1:8080/screenshot?url=https://example.com')
    .option('--expires <time>', 'time until it expires: 90s, 15m, 1h or 7d', '1h');
  addConfigFlags(command, ['signingKey']).action((link: string, flags: Readonly<Record<string, unknown>>) => {
    const [key] = processConfig(flags).signingKey;
    if (key === undefined) throw new ConfigError('sign needs --signing-key, or --signing-key-file');
    const expiresAt = Math.floor(Date.now() / 1000) + secondsOf(String(flags.expires));
    process.stdout.write(`${signedLink(link, expiresAt, key)}\n`);
  });
}

/** Signs what a browser or curl will send: the link as URL parsers write it, without its fragment. */
function signedLink(link: string, expiresAt: number, key: string): string {
  const url = URL.parse(link, NO_ORIGIN);
  if (url === null || !url.pathname.endsWith('/screenshot') || !url.searchParams.has('url')) {
    throw new ConfigError(
      `sign takes a link to GET /screenshot, such as http://127.0.0.1:8080/screenshot?url=https://example.com, not ${JSON.stringify(link)}`,
    );
  }
  const target = `${url.pathname}${url.search}`;
  if (claimsSignature(target) || url.searchParams.has('expires')) {
    throw new ConfigError('sign takes a link without expires and signature: it adds them');
  }
  return `${url.origin === NO_ORIGIN ? '' : url.origin}${signedTarget(target, expiresAt, key)}`;
}

function secondsOf(text: string): number {
  const seconds = (millisecondsOf(text) ?? 0) / SECOND_MS;
  if (seconds >= 1 && seconds <= MAX_SECONDS) return seconds;
  throw new ConfigError(
    `--expires takes a time from 1s to 366d such as 90s, 15m, 1h or 7d, not ${JSON.stringify(text)}`,
  );
}
