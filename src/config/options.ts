import { z } from 'zod';
import { LIMIT_BOUNDS } from '../capture/limits.ts';
import { bytes, choice, file, integer, nameServers, type OptionFacts, table, targets } from './kinds.ts';

/*
 * The one table of options. Flags, environment variables, keys of the configuration file, `--help`,
 * `--print-config`, the lines that refuse a bad value and the README's table all derive from it.
 */

export const configSchema = z.strictObject({
  host: z
    .string()
    .regex(/^[^\s/]+$/)
    .register(table, {
      kind: 'text',
      group: 'Listening',
      description: 'The address to listen on.',
      placeholder: 'address',
      takes: 'an IP address or a host name',
      default: '127.0.0.1',
    }),
  port: integer(0, 65535, '', {
    group: 'Listening',
    description: 'The port to listen on; 0 takes a free one.',
    placeholder: 'n',
    default: 8080,
  }),
  apiKey: z.array(z.string().regex(/^[\x21-\x2b\x2d-\x7e]+$/)).register(table, {
    kind: 'list',
    group: 'Listening',
    description: 'A key that clients must send. May be given more than once, so that a key can be rotated.',
    placeholder: 'secret',
    takes: 'printable ASCII characters without spaces or commas',
    default: [],
    secret: 'whole',
    repeatable: true,
  }),
  apiKeyFile: file({
    group: 'Listening',
    description: 'A file with one more key on each line; unlike a flag, nobody sees it in the list of processes.',
    placeholder: 'file',
    takes: 'the path of a file with one key on each line',
    default: null,
  }),
  allowedHosts: z.array(z.string().regex(/^[^\s/?#@\\]+$/)).register(table, {
    kind: 'list',
    group: 'Listening',
    description:
      'Host names that requests without an API key may be sent to, besides localhost and the address that is listened on; others are answered 421.',
    placeholder: 'host,...',
    takes: 'host names and IP addresses, divided by commas',
    default: [],
  }),

  dbPath: file({
    group: 'Storing',
    description: 'The SQLite file of results. Without it, and without --mongo-url, /results* answers 503.',
    placeholder: 'file',
    default: null,
  }),
  mongoUrl: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\/\S+$/)
    .nullable()
    .register(table, {
      kind: 'text',
      group: 'Storing',
      description: 'MongoDB, or a cluster of it, in place of the file.',
      placeholder: 'url',
      takes: 'a mongodb:// or mongodb+srv:// URL',
      default: null,
      secret: 'url',
    }),
  dataDir: z.string().min(1).register(table, {
    kind: 'text',
    group: 'Storing',
    description: 'Where screenshots and HTML copies are stored.',
    placeholder: 'dir',
    takes: 'the path of a directory',
    default: 'data',
  }),
  retainDays: z.number().min(0.01).max(36_500).nullable().register(table, {
    kind: 'number',
    group: 'Storing',
    description: 'Captures older than this are removed, files and records.',
    placeholder: 'n',
    takes: 'a number from 0.01 to 36500 (days)',
    default: null,
  }),
  retainBytes: bytes({
    group: 'Storing',
    description: 'When the files are more than this, the oldest captures are removed, files and records.',
    placeholder: 'n',
    default: null,
  }),

  maxConcurrent: integer(LIMIT_BOUNDS.maxConcurrent.min, LIMIT_BOUNDS.maxConcurrent.max, 'captures', {
    group: 'Limits',
    description: 'Captures under way at once, those of batches included.',
    placeholder: 'n',
    // Pages that wait for a network keep four a core busy; pages that do not are fastest at 1.5 a core.
    default: (machine) => machine.cores * 4,
    defaultText: 'four a core',
  }),
  maxQueue: integer(LIMIT_BOUNDS.maxQueue.min, LIMIT_BOUNDS.maxQueue.max, 'captures', {
    group: 'Limits',
    description: 'Captures that may wait; one more is answered 429.',
    placeholder: 'n',
    default: 1000,
  }),
  maxBatch: integer(1, 100_000, 'requests', {
    group: 'Limits',
    description: 'Most requests in one batch.',
    placeholder: 'n',
    default: 1000,
  }),
  timeoutMs: integer(1, 3_600_000, 'milliseconds', {
    group: 'Limits',
    description: "A capture's deadline, when the request names none.",
    placeholder: 'ms',
    default: 30_000,
  }),
  maxTimeoutMs: integer(1, 3_600_000, 'milliseconds', {
    group: 'Limits',
    description: 'The largest deadline that a request may ask for.',
    placeholder: 'ms',
    default: 120_000,
  }),
  maxConnections: integer(1, 1_000_000, 'connections', {
    group: 'Limits',
    description:
      'Connections that may be open at once; one more is closed. Fewer where the limit of open files (ulimit -n) must leave some for captures.',
    placeholder: 'n',
    // A client that waits in the queue holds one: ten times the queue, so that 429 is what the greedy hear first.
    default: 10_000,
  }),
  maxMemoryMb: z.int().min(1).max(1_048_576).nullable().register(table, {
    kind: 'number',
    group: 'Limits',
    description: "The service's own memory, its browsers' left out, above which new captures are answered 429.",
    placeholder: 'mib',
    takes: 'an integer from 1 to 1048576 (MiB)',
    // Half of the machine is the browsers'; past V8's limit the process would be ended.
    default: null,
    defaultText: "half of the machine, at most 3/4 of V8's heap limit, at least 512",
  }),
  minFreeMemory: integer(0, 90, 'per cent of the machine, or of its control group', {
    group: 'Limits',
    description: 'Free memory below which new captures are answered 429; 0 does not look at it.',
    placeholder: 'n',
    // Room for the pages that are open to grow, before the system kills a process to make some.
    default: 5,
  }),
  maxLoopDelayMs: integer(50, 600_000, 'milliseconds', {
    group: 'Limits',
    description: 'How late the event loop may be before new captures are answered 429.',
    placeholder: 'ms',
    // Ten times what is seen while browsers take all of a machine: past it, time-outs are no longer kept.
    default: 1_000,
  }),

  allowTargets: targets({
    group: 'Targets',
    description: 'Private targets that may be captured all the same.',
  }),
  denyTargets: targets({
    group: 'Targets',
    description: 'Public targets that may not be captured.',
  }),
  nameServers: nameServers({
    group: 'Targets',
    description:
      'Name servers for targets and webhook receivers. The hosts file goes first; search domains are those of /etc/resolv.conf.',
    defaultText: 'those of /etc/resolv.conf',
  }),

  webhook: z.array(z.url({ protocol: /^https?$/ })).register(table, {
    kind: 'list',
    group: 'Webhooks',
    description: 'A receiver that is told how every capture and batch ended. May be given more than once.',
    placeholder: 'url',
    takes: 'an http:// or https:// URL',
    default: [],
    secret: 'url',
    repeatable: true,
  }),
  webhookSecret: z.array(z.string().regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/)).register(table, {
    kind: 'list',
    group: 'Webhooks',
    description:
      'What webhooks are signed with; without it there are none. May be given more than once, so that it can be rotated.',
    placeholder: 'secret',
    takes: 'whsec_ and 24 to 64 bytes in base64',
    default: [],
    secret: 'whole',
    repeatable: true,
  }),
  allowWebhooks: targets({
    group: 'Webhooks',
    description: 'Private receivers that may be told all the same; --allow-targets does not open them.',
  }),

  browserPath: file({
    group: 'Browser',
    description: 'The Chromium to drive. Without it: the first of those that Playwright, the system or npm installed.',
    placeholder: 'file',
    default: null,
    defaultText: 'found',
  }),
  sandbox: choice(['auto', 'on', 'off'], {
    group: 'Browser',
    description:
      "Chromium's sandbox; auto turns it off only where it cannot work. Browsers of a service that is root run as nobody.",
    placeholder: 'mode',
    default: 'auto',
  }),
  honestUserAgent: z.boolean().register(table, {
    kind: 'switch',
    group: 'Browser',
    description:
      'Tell pages that they are shown by a headless browser (`HeadlessChrome`, `navigator.webdriver`). Without it they see the same version of Chrome for desktops.',
    placeholder: '',
    takes: 'true or false',
    default: false,
  }),
  retireAfter: integer(1, 1_000_000, 'captures', {
    group: 'Browser',
    description: 'Captures after which a browser process is replaced by a fresh one.',
    placeholder: 'n',
    default: 500,
  }),

  ipinfo: z.boolean().register(table, {
    kind: 'switch',
    group: 'IP information',
    description: 'Look up what is known about the address that a target answered from.',
    placeholder: '',
    takes: 'true or false',
    default: false,
  }),
  ipinfoUrl: z.url({ protocol: /^https?$/ }).register(table, {
    kind: 'text',
    group: 'IP information',
    description: 'The upstream, an ipapi.co or one that speaks like it.',
    placeholder: 'url',
    takes: 'an http:// or https:// URL',
    default: 'https://ipapi.co/',
    secret: 'url',
  }),
  ipinfoKey: z
    .string()
    .regex(/^[\x21-\x7e]+$/)
    .nullable()
    .register(table, {
      kind: 'text',
      group: 'IP information',
      description: "The upstream's key.",
      placeholder: 'secret',
      takes: 'printable ASCII characters without spaces',
      default: null,
      secret: 'whole',
    }),
  ipinfoRate: z.number().min(0.01).max(1000).register(table, {
    kind: 'number',
    group: 'IP information',
    description: 'Most requests to the upstream in a second.',
    placeholder: 'n',
    takes: 'a number from 0.01 to 1000 (requests a second)',
    default: 5,
  }),

  logLevel: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    group: 'Running',
    description: 'What is logged: this level and all above it.',
    placeholder: 'level',
    default: 'info',
  }),
  logFile: file({
    group: 'Running',
    description:
      'A file to append the log to, in place of standard error. SIGHUP opens it anew, so that it can be rotated by renaming it.',
    placeholder: 'file',
    default: null,
    defaultText: 'standard error',
  }),
  graceMs: integer(0, 600_000, 'milliseconds', {
    group: 'Running',
    description: 'How long captures under way may take to finish when the service is stopped.',
    placeholder: 'ms',
    default: 10_000,
  }),
});

/** The effective configuration: every option decided. Null and the empty list mean "not set". */
export type Config = Readonly<z.output<typeof configSchema>>;

export interface Option extends OptionFacts {
  /** The key in the configuration file. */
  readonly name: string;
  /** With its dashes. */
  readonly flag: string;
  /** Name of the environment variable. */
  readonly variable: string;
}

/** The table, in the order in which people read it. */
export const OPTIONS: readonly Option[] = Object.entries(configSchema.shape).flatMap(([name, schema]) => {
  const facts = table.get(schema);
  return facts === undefined ? [] : [{ name, flag: flagOf(name), variable: variableOf(name), ...facts }];
});

export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function variableOf(name: string): string {
  return `CAPSTAN_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
