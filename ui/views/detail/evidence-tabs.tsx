import type { Evidence } from '../../api/types.ts';
import { bytes, dateAndTime } from '../../parts/format.ts';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { TargetLink } from '../../parts/target-link.tsx';
import { Table } from './table.tsx';
import { Waterfall } from './waterfall.tsx';

/** One tab for each kind of evidence. Every value comes from the captured page, and is text. */
export function EvidenceTabs({ evidence }: { readonly evidence: Evidence }) {
  const { redirects, headers, tls, console: messages, network, cookies, dialogs, popups, favicon, exceeded } = evidence;
  const tabs: Tab[] = [];
  if (network !== undefined) {
    tabs.push({ name: 'Network', count: countOf(network), render: () => <Waterfall network={network} /> });
  }
  if (redirects !== undefined) {
    tabs.push({
      name: 'Redirects',
      count: countOf(redirects),
      render: () => (
        <Table
          columns={['Status', 'From', 'To']}
          rows={redirects.items.map(({ status, url, location }) => [
            status === 0 ? 'by the page' : String(status),
            <TargetLink key="url" url={url} />,
            <TargetLink key="to" url={location} />,
          ])}
          omitted={redirects.omitted}
          none="The URL did not redirect."
        />
      ),
    });
  }
  if (headers !== undefined) {
    tabs.push({
      name: 'Headers',
      count: countOf(headers),
      render: () => (
        <Table
          columns={['Name', 'Value']}
          rows={headers.items.map(({ name, value }) => [name, <code key="value">{value}</code>])}
          omitted={headers.omitted}
          none="There was no response."
        />
      ),
    });
  }
  if (tls !== undefined) {
    tabs.push({
      name: 'TLS',
      render: () => (tls === null ? <p class="muted">The page came without TLS.</p> : <Tls tls={tls} />),
    });
  }
  if (messages !== undefined) {
    tabs.push({
      name: 'Console',
      count: countOf(messages),
      render: () => (
        <Table
          columns={['Level', 'Text', 'Script']}
          rows={messages.items.map(({ level, text, url, line }) => [
            level,
            <code key="text">{text}</code>,
            url === '' ? '' : `${url}${line > 0 ? `:${line}` : ''}`,
          ])}
          tones={messages.items.map(({ level }) => (level === 'error' || level === 'exception' ? 'bad' : 'plain'))}
          omitted={messages.omitted}
          none="The page wrote nothing to the console."
        />
      ),
    });
  }
  tabs.push({
    name: 'Cookies',
    count: countOf(cookies),
    render: () => (
      <Table
        columns={['Name', 'Value', 'Domain', 'Path', 'Expires', 'Flags']}
        rows={cookies.items.map((cookie) => [
          cookie.name,
          <code key="value">{cookie.value}</code>,
          cookie.domain,
          cookie.path,
          cookie.expires === null ? 'session' : dateAndTime(cookie.expires),
          [cookie.secure && 'Secure', cookie.http_only && 'HttpOnly', cookie.same_site].filter(Boolean).join(' '),
        ])}
        omitted={cookies.omitted}
        none="The page set no cookies."
      />
    ),
  });
  const others: readonly (readonly [what: string, text: string])[] = [
    ...(exceeded ?? []).map(
      ({ limit, max, refused }) => ['limit exceeded', `${limit}: at most ${max}; refused ${refused}`] as const,
    ),
    ...dialogs.items.map(({ type, message }) => [type, message] as const),
    ...popups.items.map((url) => ['popup', url] as const),
    ...(favicon == null ? [] : [['icon', `${favicon.url} (${favicon.type}, ${bytes(favicon.bytes)})`] as const]),
  ];
  if (others.length > 0) {
    tabs.push({
      name: 'Other',
      count: others.length,
      render: () => (
        <Table columns={['What', 'Text']} rows={others} omitted={dialogs.omitted + popups.omitted} none="" />
      ),
    });
  }
  return <Tabs label="Evidence" tabs={tabs} />;
}

function countOf({ items, omitted }: { readonly items: readonly unknown[]; readonly omitted: number }): number {
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
