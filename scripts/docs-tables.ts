import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EMPTY } from 'rxjs';
import { CATALOGUE } from '../src/capture/errors.ts';
import { CapstanEventSchema } from '../src/capture/events.ts';
import { describeOptions } from '../src/capture/options/describe.ts';
import { describedRequest } from '../src/capture/request.ts';
import { REQUEST_LIMITS, type RequestLimit } from '../src/capture/request-limits.ts';
import { bytesText, STORED_LIMITS, type StoredLimit } from '../src/capture/stored-limits.ts';
import { MESSENGERS } from '../src/capture/work/receiver.ts';
import { defaultText } from '../src/config/flags.ts';
import { configOf, OPTIONS } from '../src/config/mod.ts';
import { ROUTES } from '../src/http/routes/all.ts';
import { metricFamilies } from '../src/metrics/families.ts';
import { tallyEvents } from '../src/metrics/tallies.ts';
import { TRANSPORTS } from '../src/receivers/transports.ts';
import { BODY, HEADLESS, type Reading, SHAPES } from '../test/egress/answer-shapes.ts';

/* Writes the tables between `<!-- generated:NAME -->` markers: `npm run docs:tables`. A test compares them. */

const ROOT = join(import.meta.dirname, '..');

interface Table {
  readonly page: string;
  readonly name: string;
  readonly text: () => string;
}

export const TABLES: readonly Table[] = [
  { page: 'docs/options.md', name: 'service-options', text: serviceOptionsTable },
  { page: 'docs/options.md', name: 'capture-options', text: captureOptionsTables },
  { page: 'docs/http-api.md', name: 'endpoints', text: endpointsTable },
  { page: 'docs/errors.md', name: 'errors', text: errorsTable },
  { page: 'docs/errors.md', name: 'answer-shapes', text: answerShapesTable },
  { page: 'docs/events-and-webhooks.md', name: 'events', text: eventsTable },
  { page: 'docs/operations.md', name: 'metrics', text: metricsTable },
  { page: 'docs/receivers.md', name: 'messengers', text: messengersTable },
  { page: 'docs/security.md', name: 'request-limits', text: requestLimitsTable },
  { page: 'docs/security.md', name: 'stored-limits', text: storedLimitsTable },
];

/** Returns the text of a page with up-to-date tables. Throws when a table has no markers in its page. */
export function withTables(page: string, text: string): string {
  return TABLES.filter((table) => table.page === page).reduce((written, { name, text: render }) => {
    const begin = `<!-- generated:${name} -->\n`;
    const end = `<!-- /generated:${name} -->`;
    const [before, rest] = written.split(begin);
    const [, after] = rest?.split(end) ?? [];
    if (before === undefined || after === undefined) throw new Error(`${page} has no markers for the table ${name}`);
    return `${before}${begin}${render()}\n${end}${after}`;
  }, text);
}

export const PAGES: readonly string[] = [...new Set(TABLES.map(({ page }) => page))];

function messengersTable(): string {
  return markdownTable(
    ['kind', 'address', 'images'],
    MESSENGERS.map((kind) => {
      const { forms, images } = TRANSPORTS[kind];
      return [`\`${kind}\``, forms.map((form) => `\`${form}\``).join(', '), images];
    }),
  );
}

function serviceOptionsTable(): string {
  return markdownTable(
    ['option', 'default', 'meaning'],
    OPTIONS.map((option) => [
      option.kind === 'switch' ? `\`${option.flag}\`` : `\`${option.flag} <${option.placeholder}>\``,
      defaultText(option),
      `${option.description} Takes ${option.takes}.`,
    ]),
  );
}

/** Returns a table for each group of options, under the group's name. */
function captureOptionsTables(): string {
  const { timeoutMs, maxTimeoutMs } = configOf({}, { cores: 1 });
  const groups = describedRequest({ maxBatch: 1, timeoutMs, maxTimeoutMs });
  return Object.entries(groups)
    .map(([group, fields]) => {
      const rows = describeOptions(fields).map((option) => [
        ...[`\`${option.name}\``, option.takes, option.default, option.description],
      ]);
      return `### ${headingOf(group)}\n\n${markdownTable(['option', 'takes', 'default', 'meaning'], rows)}`;
    })
    .join('\n\n');
}

function headingOf(group: string): string {
  return group === 'pdf' ? 'PDF' : `${group.slice(0, 1).toUpperCase()}${group.slice(1)}`;
}

function endpointsTable(): string {
  return markdownTable(
    ['method and path', 'what it does'],
    ROUTES.map(({ method, path, summary }) => [`\`${method} ${path}\``, summary]),
  );
}

function errorsTable(): string {
  return markdownTable(
    ['code', 'status', 'retry', 'when', 'what to do'],
    Object.entries(CATALOGUE)
      .toSorted(([, { status: a }], [, { status: b }]) => a - b)
      .map(([code, { status, retry, text, help }]) => [
        ...[`\`${code}\``, String(status), retry === 'never' ? 'no' : 'yes', text, help],
      ]),
  );
}

/** Returns a table of the irregular answers that a test sends. */
function answerShapesTable(): string {
  return markdownTable(
    ['answer with', 'page'],
    [
      ...SHAPES.map(([what, answer, reading]) => [what, pageOf(reading, answer)]),
      ...HEADLESS.map(([what, answer, reading]) => [`on port 80: ${what}`, pageOf(reading, answer)]),
    ],
  );
}

function pageOf(reading: Reading, answer: string): string {
  if (reading === 'whole') return 'shown';
  if (reading === 'broken') return 'breaks off';
  if (reading === 'refused') return 'no page: `target_unreachable`';
  const [status, body] = reading;
  if (status === 302) return 'followed';
  if (body === '') return `${status}, an empty page`;
  if (body === answer) return 'shown with its first line, as text';
  return body === BODY ? `${status}, shown` : 'shown with the sizes of the chunks';
}

/** Returns a table of all event types with their fields. */
function eventsTable(): string {
  const events = CapstanEventSchema.options.map((schema) => ({
    type: [...schema.shape.type.values].join(),
    fields: Object.keys(schema.shape).filter((name) => name !== 'type'),
    description: schema.meta()?.description ?? '',
  }));
  return markdownTable(
    ['type', 'sent when', 'fields'],
    events.map(({ type, fields, description }) => [
      ...[`\`${type}\``, description, fields.map((name) => `\`${name}\``).join(', ')],
    ]),
  );
}

function metricsTable(): string {
  const unread = (): never => {
    throw new Error('the tables are made without a scrape');
  };
  const { families } = metricFamilies({
    stats: unread,
    pressure: unread,
    isReady: unread,
    subscribers: unread,
    tallies: tallyEvents(EMPTY),
  });
  return markdownTable(
    ['metric', 'type', 'meaning'],
    families.map(({ name, type, help }) => [`\`${name}\``, type, help]),
  );
}

const PER: Readonly<Record<StoredLimit['per'], string>> = {
  shared: 'all keys, which have a share each',
  key: 'each key',
  receiver: 'each receiver',
  watch: 'each watch',
  scan: 'each scan',
  page: 'each page of a list',
};

function storedLimitsTable(): string {
  return markdownTable(
    ['at most', 'bytes', 'of', 'beyond it'],
    Object.values<StoredLimit>(STORED_LIMITS).map(({ count, bytes, per, of, beyond }) => [
      ...[`${count.toLocaleString('en')} ${of}`, bytesText(bytes), PER[per], beyond],
    ]),
  );
}

function requestLimitsTable(): string {
  return markdownTable(
    ['at most', 'of', 'beyond it', 'longest turn of the event loop'],
    Object.values<RequestLimit>(REQUEST_LIMITS).map(({ max, unit, of, beyond, turn }) => [
      ...[
        unit === 'bytes' ? bytesText(max) : `${max.toLocaleString('en')} ${unit}`.trim(),
        of,
        beyond,
        turn ?? '\u2013',
      ],
    ]),
  );
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

if (import.meta.main) {
  for (const page of PAGES) {
    const file = join(ROOT, page);
    writeFileSync(file, withTables(page, readFileSync(file, 'utf8')));
  }
}
