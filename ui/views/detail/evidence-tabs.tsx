import type { Evidence } from '../../api/types.ts';
import type { Tone } from '../../parts/badge.tsx';
import { bytes, dateAndTime } from '../../parts/format.ts';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { TargetLink } from '../../parts/target-link.tsx';
import { Table, type TableProps } from './table.tsx';
import { Waterfall } from './waterfall.tsx';

/** One tab for each kind of evidence that was noted. Every value comes from the captured page, and is text. */
export function EvidenceTabs({ evidence }: { readonly evidence: Evidence }) {
  const { redirects, headers, tls, console: messages, network, cookies, dialogs, popups, favicon, exceeded } = evidence;
  const others: readonly (readonly [what: string, text: string])[] = [
    ...(exceeded ?? []).map(
      ({ limit, max, refused }) => ['limit exceeded', `${limit}: at most ${max}; refused ${refused}`] as const,
    ),
    ...dialogs.items.map(({ type, message }) => [type, message] as const),
    ...popups.items.map((url) => ['popup', url] as const),
    ...(favicon == null ? [] : [['icon', `${favicon.url} (${favicon.type}, ${bytes(favicon.bytes)})`] as const]),
  ];
  const tabs = [
    network && { name: 'Network', count: countOf(network), render: () => <Waterfall network={network} /> },
    tabOf(redirects, {
      name: 'Redirects',
      none: 'The URL did not redirect.',
      columns: ['Status', 'From', 'To'],
      rowOf: ({ status, url, location }) => [
        status === 0 ? 'by the page' : String(status),
        <TargetLink key="url" url={url} />,
        <TargetLink key="to" url={location} />,
      ],
    }),
    tabOf(headers, {
      name: 'Headers',
      none: 'There was no response.',
      columns: ['Name', 'Value'],
      rowOf: ({ name, value }) => [name, <code key="value">{value}</code>],
    }),
    tls !== undefined && {
      name: 'TLS',
      render: () => (tls === null ? <p class="muted">The page came without TLS.</p> : <Tls tls={tls} />),
    },
    tabOf(messages, {
      name: 'Console',
      none: 'The page wrote nothing to the console.',
      columns: ['Level', 'Text', 'Script'],
      rowOf: ({ level, text, url, line }) => [
        level,
        <code key="text">{text}</code>,
        url === '' ? '' : `${url}${line > 0 ? `:${line}` : ''}`,
      ],
      toneOf: ({ level }) => (level === 'error' || level === 'exception' ? 'bad' : 'plain'),
    }),
    tabOf(cookies, {
      name: 'Cookies',
      none: 'The page set no cookies.',
      columns: ['Name', 'Value', 'Domain', 'Path', 'Expires', 'Flags'],
      rowOf: (cookie) => [
        cookie.name,
        <code key="value">{cookie.value}</code>,
        cookie.domain,
        cookie.path,
        cookie.expires === null ? 'session' : dateAndTime(cookie.expires),
        [cookie.secure && 'Secure', cookie.http_only && 'HttpOnly', cookie.same_site].filter(Boolean).join(' '),
      ],
    }),
    others.length > 0 && {
      name: 'Other',
      count: others.length,
      render: () => (
        <Table columns={['What', 'Text']} rows={others} omitted={dialogs.omitted + popups.omitted} none="" />
      ),
    },
  ];
  return <Tabs label="Evidence" tabs={tabs.filter((tab) => tab !== undefined && tab !== false)} />;
}

interface Noted<T> {
  readonly items: readonly T[];
  readonly omitted: number;
}

interface ListTab<T> extends Pick<TableProps, 'columns' | 'none'> {
  readonly name: string;
  readonly rowOf: (item: T) => TableProps['rows'][number];
  readonly toneOf?: (item: T) => Tone;
}

/** Returns the tab of a list; undefined when it was not noted. */
function tabOf<T>(list: Noted<T> | undefined, { name, rowOf, toneOf, ...table }: ListTab<T>): Tab | undefined {
  if (list === undefined) return undefined;
  const { items, omitted } = list;
  const render = () => (
    <Table {...table} rows={items.map(rowOf)} omitted={omitted} {...(toneOf && { tones: items.map(toneOf) })} />
  );
  return { name, count: countOf(list), render };
}

function countOf({ items, omitted }: Noted<unknown>): number {
  return items.length + omitted;
}

function Tls({ tls }: { readonly tls: NonNullable<Evidence['tls']> }) {
  const rows = [
    ['Version', tls.version],
    ['Cipher', tls.cipher],
    ['Subject', tls.subject],
    ['Issuer', tls.issuer],
    ['Valid', `${dateAndTime(tls.valid_from)} to ${dateAndTime(tls.valid_to)}`],
    ['Names', tls.names.join(', ')],
    ['SHA-256', tls.fingerprint],
  ];
  return <Table columns={['Property', 'Value']} rows={rows} omitted={0} none="" />;
}
