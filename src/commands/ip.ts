import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { ConfigError } from '../config/config-error.ts';
import { readSecret } from '../config/files.ts';
import type { IpapiErrorCode } from '../ipinfo/errors.ts';
import type { IpapiClient } from '../ipinfo/mod.ts';
import { FIELD_NAMES, FORMATS } from '../ipinfo/names.ts';
import { oneLine, printable, printableJson } from '../log/printable.ts';
import { decodeText } from './decode-text.ts';

/** Exit codes with what they mean. 1 is reserved for unexpected errors, and 2 for invalid usage, as in every command. */
const EXITS: Readonly<Record<IpapiErrorCode, readonly [code: number, meaning: string]>> = {
  invalid_argument: [2, 'invalid usage: arguments, options, format or field'],
  invalid_ip: [3, 'not an IP address'],
  reserved_ip: [4, 'private or reserved address'],
  invalid_key: [5, 'invalid key; without a key: this network is blocked'],
  rate_limited: [6, 'quota used up'],
  not_found: [7, 'not found (404)'],
  method_not_allowed: [8, 'method not allowed (405)'],
  server_error: [9, 'the upstream failed (400, 500, or an error of its own)'],
  unexpected_status: [10, 'another unexpected status'],
  network_error: [11, 'no answer: DNS, connection, TLS'],
  timeout: [12, 'no answer in time'],
  body_too_large: [13, 'answer too large'],
  invalid_response: [14, 'invalid answer'],
  limiter_failed: [15, 'the limiter of requests failed'],
};

const [INVALID_USAGE] = EXITS.invalid_argument;
const HELP_LINES = [[0, 'answered'] as const, [1, 'unexpected error'] as const, ...Object.values(EXITS)];
const EXIT_CODES_HELP = `
Exit codes:
${HELP_LINES.map(([code, meaning]) => `  ${String(code).padStart(2)}  ${meaning}\n`).join('')}`;

const MAX_TIMEOUT_MS = 2_147_483_647;
const TIMEOUT_TAKES = `--timeout-ms takes an integer from 1 to ${MAX_TIMEOUT_MS}`;

const flagsSchema = z.object({
  field: z.enum([...FIELD_NAMES, 'hostname'], `--field takes one of ${FIELD_NAMES.join(', ')}, hostname`).optional(),
  format: z.enum(FORMATS, `--format takes one of ${FORMATS.join(', ')}`).optional(),
  quota: z.boolean().default(false),
  url: z.string().optional(),
  key: z.string().optional(),
  keyFile: z.string().optional(),
  timeoutMs: z.coerce
    .number(TIMEOUT_TAKES)
    .int(TIMEOUT_TAKES)
    .min(1, TIMEOUT_TAKES)
    .max(MAX_TIMEOUT_MS, TIMEOUT_TAKES)
    .optional(),
});

type Flags = z.infer<typeof flagsSchema>;

export function registerIpCommand(program: Command): void {
  program
    .command('ip')
    .description('Print what ipapi.co knows about an address: JSON, or text, on standard output.')
    .argument('[address]', 'an IPv4 or IPv6 address, or "me" for your own')
    .option('--field <name>', 'only this field, as text')
    .option(
      '--format <format>',
      `${FORMATS.join(', ')}; all but json are printed byte for byte, except on a terminal (default: json)`,
    )
    .option('--quota', "print the key's remaining quota, instead of an address")
    .addOption(new Option('--url <url>', 'base address of the service').env('CAPSTAN_IPINFO_URL'))
    .addOption(
      new Option('--key <key>', 'API key; the environment variable and --key-file keep it out of the process list').env(
        'CAPSTAN_IPINFO_KEY',
      ),
    )
    .addOption(new Option('--key-file <file>', 'a file with the API key').env('CAPSTAN_IPINFO_KEY_FILE'))
    .option('--timeout-ms <n>', 'milliseconds for each of at most three attempts (default: 10000)')
    .addHelpText('after', EXIT_CODES_HELP)
    .action(async (address: string | undefined, rawFlags: unknown) => {
      const { IpapiClient, IpapiError } = await import('../ipinfo/mod.ts');
      const flags = flagsSchema.safeParse(rawFlags);
      const misuse = flags.success ? misuseOf(address, flags.data) : (flags.error.issues[0]?.message ?? 'bad options');
      if (!flags.success || misuse !== null) {
        complain(misuse ?? 'bad options', INVALID_USAGE);
        return;
      }
      const { url, timeoutMs } = flags.data;
      try {
        const client = new IpapiClient({ baseUrl: url || undefined, apiKey: keyOf(flags.data), timeoutMs });
        await print(await answer(client, address ?? '', flags.data));
      } catch (error) {
        if (error instanceof ConfigError) complain(error.message, INVALID_USAGE);
        else if (error instanceof IpapiError) complain(error.message, EXITS[error.code][0]);
        else throw error;
      }
    });
}

/** Returns why the arguments cannot be combined; null when they can. */
function misuseOf(address: string | undefined, { quota, field, format, key, keyFile }: Flags): string | null {
  if (quota && (address !== undefined || field !== undefined || format !== undefined)) {
    return '--quota cannot be combined with an address, --field or --format';
  }
  if (!quota && address === undefined) return 'give an address, "me" or --quota';
  if (field !== undefined && format !== undefined) return '--field and --format cannot be combined';
  if (key !== undefined && keyFile !== undefined) {
    return '--key (or CAPSTAN_IPINFO_KEY) and --key-file (or CAPSTAN_IPINFO_KEY_FILE) cannot be combined';
  }
  return null;
}

function keyOf({ key, keyFile }: Flags): string | undefined {
  return keyFile === undefined ? key : readSecret('--key-file', keyFile, (path) => readFileSync(path, 'utf8'));
}

async function answer(client: IpapiClient, address: string, flags: Flags): Promise<string | Uint8Array> {
  const { quota, field, format = 'json' } = flags;
  const json = (value: unknown) => `${printableJson(value, 2)}\n`;
  if (quota) return json(await client.getQuota());
  const own = address === 'me';
  if (field !== undefined) {
    return `${oneLine(await (own ? client.getClientField(field) : client.getField(address, field)))}\n`;
  }
  if (format === 'json') return json(await (own ? client.getClientIPInfo() : client.getIPInfo(address)));
  const raw = await (own ? client.getClientIPInfoRaw(format) : client.getIPInfoRaw(address, format));
  return process.stdout.isTTY ? printable(decodeText(raw)) : raw;
}

/** Writes to standard output. Resolves when the text is written. */
function print(text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Prints the message as one line, even when the upstream's text has line breaks or control characters. */
function complain(message: string, exitCode: number): void {
  process.stderr.write(`capstan ip: ${oneLine(message)}\n`);
  process.exitCode = exitCode;
}
