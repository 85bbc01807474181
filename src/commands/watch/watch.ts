import { type Command, Option } from 'commander';
import { describeOptions } from '../../capture/options/describe.ts';
import { COMPARED, watchFields } from '../../capture/work/watch.ts';
import type { CapstanClient, CapstanEvent, Comparison, WatchRequest, WatchRun } from '../../client/mod.ts';
import { serviceUrl } from '../../client/service-url.ts';
import { collect } from '../../config/flags.ts';
import { ConfigError } from '../../config/mod.ts';
import { oneLine, printableJson } from '../../log/printable.ts';
import { readableRegions } from '../readable-regions.ts';
import { addPageFlags, readPageFlags, withClient } from '../serve/server-flags.ts';
import { optionFlag, readFlags } from '../shot/shot-options.ts';
import { execCommand } from './exec-command.ts';

type Flags = Readonly<Record<string, unknown>>;
type RunEvent = Extract<CapstanEvent, { type: 'watch.run' }>;

/** Fields of a watch that are flags of the same name. */
const FIELDS = ['every', 'schedule', 'timeZone', 'jitter', 'confirm', 'ignore', 'notify'] as const;
/** Fields whose flags take JSON, or a file of it. */
const VALUE_OPTIONS = describeOptions({ values: watchFields.values, when: watchFields.when });
/** Maximum number of lines of a text diff that are written for a change. */
const MAX_LINES = 20;

export function registerWatchCommand(program: Command): void {
  const command = program
    .command('watch')
    .description('Capture a page again and again, write a line for each run, and run a command when it changed.')
    .argument('<url>', 'page to watch')
    .option('--every <interval>', 'interval of the runs, such as 30s, 10m, 6h or 1d')
    .option('--schedule <pattern>', 'cron pattern of five fields, in place of --every')
    .option('--time-zone <name>', 'time zone of --schedule, such as Europe/Berlin; default: UTC')
    .option('--jitter <time>', 'delay of a --schedule, of up to this time; default: 30s')
    .addOption(
      new Option(
        '--compare <what>',
        `what is compared: ${WITHOUT_VALUE.join(', ')}, visual=0.01 with a threshold, or elements=.price`,
      )
        .default([], 'visual, or with --values nothing else')
        .argParser(collect),
    )
    .addOption(
      new Option('--ignore <what>', 'what is no change, such as selector:.clock or "text:Updated *"; repeatable')
        .default([], 'nothing')
        .argParser(collect),
    )
    .option('--no-confirm', 'report a change without capturing it a second time')
    .addOption(
      new Option(
        '--notify <name>',
        'receiver of the service at --server that is told of changes; repeatable',
      ).argParser(collect),
    )
    .option('--exec <command>', 'command to run for each change, with the event as JSON on standard input')
    .option('--json', 'write the event of each run as JSON');
  for (const option of VALUE_OPTIONS) command.addOption(optionFlag(option));
  addPageFlags(command).action(async (url: string, flags: Flags) => {
    // A closed terminal stops it as Ctrl-C does, and its command, which has a group of its own. Shell and kernel may
    // both report it, and a second SIGTERM would end this process before it has removed the watch.
    let isHungUp = false;
    process.on('SIGHUP', () => {
      if (!isHungUp) process.kill(process.pid, 'SIGTERM');
      isHungUp = true;
    });
    // The service has an option of this name.
    const { options, ...service } = readPageFlags({ ...flags, notify: undefined });
    if (flags.notify !== undefined && service.server === undefined) {
      throw new ConfigError('--notify needs --server: a service of this process has no receivers');
    }
    const wanted = Object.fromEntries(
      FIELDS.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])),
    );
    const request = { ...options, ...wanted, ...readFlags(VALUE_OPTIONS, flags), ...comparedIn(flags.compare), url };
    await withClient(flags, service, (client, signal, baseUrl) => follow(client, request, baseUrl, flags, signal));
  });
}

const WITHOUT_VALUE = COMPARED.filter((name) => name !== 'elements');

/** Returns the field `compare` of a watch; none for the service's default. */
function comparedIn(texts: unknown): { readonly compare?: WatchRequest['compare'] } {
  if (!Array.isArray(texts) || texts.length === 0) return {};
  const compare: Record<string, unknown> = {};
  const elements: string[] = [];
  for (const text of texts.map(String)) {
    const [name = ''] = text.split('=', 1);
    const value = name === text ? undefined : text.slice(name.length + 1);
    const takesValue = name === 'visual' || name === 'elements';
    if (!COMPARED.some((known) => known === name) || (name === 'elements' && !value) || (value && !takesValue)) {
      const accepted = `${WITHOUT_VALUE.join(', ')}, visual=0.01, or elements=.price`;
      throw new ConfigError(`--compare takes one of ${accepted}, not ${JSON.stringify(text)}`);
    }
    if (name === 'elements' && value) elements.push(value);
    else compare[name] = value === undefined ? true : { threshold: Number(value) };
  }
  return { compare: { ...compare, ...(elements.length > 0 && { elements }) } };
}

/** Adds a watch, reports its runs until the signal is aborted, and removes the watch. */
async function follow(
  client: CapstanClient,
  request: WatchRequest,
  baseUrl: string,
  flags: Flags,
  signal: AbortSignal,
): Promise<void> {
  // A query keeps its position while the service restarts, and delivers a run again until it was reported.
  const query = await client.createQuery({ type: ['watch.run'] }, { signal });
  try {
    const { id } = await client.watches.add(request, { signal });
    try {
      for await (const received of client.consume(query.id, { signal })) {
        if ('gap' in received) process.stderr.write(`${oneLine(received.gap.text)}\n`);
        else if (received.event.type === 'watch.run' && received.event.watch === id) {
          await tellRun(client, received.event, baseUrl, flags, signal);
        }
      }
    } finally {
      await client.watches.remove(id);
    }
  } finally {
    await client.removeQuery(query.id);
  }
}

async function tellRun(
  client: CapstanClient,
  event: RunEvent,
  baseUrl: string,
  { json, exec, ignore }: Flags,
  signal: AbortSignal,
): Promise<void> {
  const { run } = event;
  process.stdout.write(json === true ? `${printableJson(event)}\n` : `${lineOf(run)}\n`);
  if (run.state !== 'changed' || run.capture === null || run.before === null) return;
  if (json !== true) {
    const how = { signal, ...(Array.isArray(ignore) && { ignore }) };
    // The change is told also when the captures cannot be compared again, as with images that are too large.
    const found = await client.compare(run.before, run.capture, how).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return undefined;
    });
    if (found !== undefined) process.stdout.write(details(run, found));
  }
  if (typeof exec === 'string') await execute(exec, event, run, baseUrl, signal);
}

/** Returns the line of a run, which begins with the local time. */
function lineOf({ at, state, changed, share, verdict, code, reason }: WatchRun): string {
  const time = new Date(at).toLocaleString('sv-SE');
  const what = changed.map((name) => {
    if (name === 'values') return reason ?? name;
    return name === 'visual' && share !== null ? `visual ${percent(share)}` : name;
  });
  const why = state === 'failed' ? `${code ?? verdict ?? ''} ${reason ?? ''}` : what.join(', ');
  return oneLine(`${time}  ${state.padEnd(11)}  ${why}`);
}

/** Returns what a change consists of, a line for each part. */
function details({ changed, regions }: WatchRun, { title, response_code, text }: Comparison): string {
  const has = (name: (typeof COMPARED)[number]) => changed.includes(name);
  const lines = [
    ...readableRegions(regions),
    ...(has('title') && title !== null ? [`title: ${title.from} -> ${title.to}`] : []),
    ...(has('status') && response_code !== null ? [`status: ${response_code.from} -> ${response_code.to}`] : []),
    ...(has('text') && text !== null ? text.unified.split('\n').filter((line) => /^[-+]/.test(line)) : []),
  ];
  const more = lines.length > MAX_LINES ? [`and ${lines.length - MAX_LINES} more`] : [];
  return [...lines.slice(0, MAX_LINES), ...more].map((line) => `  ${oneLine(line)}\n`).join('');
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

/** Runs the command of `--exec` and waits for its end. It ends with this process. */
async function execute(
  command: string,
  event: RunEvent,
  { before, capture, share }: WatchRun,
  baseUrl: string,
  signal: AbortSignal,
): Promise<void> {
  const about = {
    CAPSTAN_URL: event.url,
    CAPSTAN_BEFORE: serviceUrl(baseUrl, `/screenshot/${before}`).href,
    CAPSTAN_AFTER: serviceUrl(baseUrl, `/screenshot/${capture}`).href,
    CAPSTAN_COMPARISON: serviceUrl(baseUrl, `/compare?a=${before}&b=${capture}`).href,
    CAPSTAN_SHARE: String(share ?? ''),
  };
  const code = await execCommand(command, `${JSON.stringify(event)}\n`, about, signal);
  if (code !== 0) process.stderr.write(`the command of --exec ended with ${code ?? 'a signal'}\n`);
}
