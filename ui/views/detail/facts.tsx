import type { ComponentChildren } from 'preact';
import { optionLabels } from '../../../src/capture/options/option-labels.ts';
import type { ResultConditions } from '../../../src/client/types.ts';
import { queryOf } from '../../api/client.ts';
import type { DetailedResult } from '../../api/types.ts';
import { OptionBadges, worded } from '../../parts/badge.tsx';
import { ago, bytes, dateAndTime, duration, integer } from '../../parts/format.ts';
import { hrefOf } from '../../parts/route.ts';
import { TargetLink } from '../../parts/target-link.tsx';

const CUTS: Readonly<Record<DetailedResult['truncated_by'], string>> = {
  '': '',
  format: 'the format holds no more rows',
  maxHeight: 'at the requested maximum height',
  limit: 'at a limit of the service',
  growth: 'the page grew while it was scrolled',
  container: 'what is around the element cuts it off',
  time: 'the time was over',
};

/** Says why the image shows less than requested, and the height of the page when it is known. */
function cutOf({ truncated_by: by, full_height: height }: DetailedResult): string {
  return by !== '' && height > 0 ? `${CUTS[by]}; page is ${integer(height)} px high` : CUTS[by];
}

/** Says what the page turned out to be, and why. */
function verdictOf({ verdict, verdict_confidence: confidence, verdict_reasons: reasons }: DetailedResult): string {
  if (verdict === null) return '';
  const why = reasons.length === 0 ? '' : `: ${reasons.map(worded).join(', ')}`;
  return `${worded(verdict)} (${Math.round(confidence * 100)} %)${why}`;
}

/** A value that leads to all captures that have it. */
function Shared({ where, children }: { readonly where: ResultConditions; readonly children: ComponentChildren }) {
  return (
    <a href={hrefOf(`/${queryOf({ ...where })}`)} title="All captures with this value">
      {children}
    </a>
  );
}

/** `nginx/1.26` of `nginx/1.26 (Ubuntu)`: conditions name one product. */
const firstProduct = (header: string): string => header.split(/[\s,;(]/, 1)[0] || header;

/** Returns the rows of facts about the host. */
function hostFactsOf(
  host: DetailedResult['host_facts'],
): readonly (readonly [name: string, value: ComponentChildren])[] {
  if (host === null) return [];
  const { server, powered_by: poweredBy, certificate, favicon, cnames, technologies } = host;
  const software = technologies.map(({ name, version, sign }, at) => (
    <span key={name}>
      {at > 0 && ', '}
      <Shared where={{ technology: version === '' ? name : `${name}/${version}` }}>
        {[name, version].join(' ').trim()}
      </Shared>{' '}
      ({sign})
    </span>
  ));
  return [
    ['Server', server ? <Shared where={{ server: firstProduct(server) }}>{server}</Shared> : ''],
    ['Powered by', poweredBy ? <Shared where={{ poweredBy: firstProduct(poweredBy) }}>{poweredBy}</Shared> : ''],
    ['Software', software.length === 0 ? '' : software],
    [
      'Certificate',
      certificate === null ? (
        ''
      ) : (
        <Shared where={{ certificate: certificate.sha256 }}>
          {certificate.subject}, by {certificate.issuer}
        </Shared>
      ),
    ],
    [
      'Valid',
      certificate === null ? '' : `${dateAndTime(certificate.valid_from)} to ${dateAndTime(certificate.valid_to)}`,
    ],
    ['Favicon', favicon === null ? '' : <Shared where={{ favicon: String(favicon.hash) }}>{favicon.hash}</Shared>],
    ['Alias of', cnames.join(', ')],
  ];
}

/** The metadata of a capture. Unknown values are left out. */
export function Facts({ result }: { readonly result: DetailedResult }) {
  const {
    id,
    url,
    final_url: finalUrl,
    probed_at: at,
    response_code: status,
    response_reason: statusText,
    content_type: type,
    content_length: length,
    remote_ip: ip,
    ip_info: ipInfo,
    host_facts: host,
    download,
  } = result;
  const place = [ipInfo?.city, ipInfo?.country_name, ipInfo?.org].filter((part) => typeof part === 'string');
  const shown: readonly (readonly [name: string, value: ComponentChildren])[] = [
    ['URL', <TargetLink key="url" url={url} />],
    ['Final URL', finalUrl === url || finalUrl === '' ? '' : <TargetLink key="final" url={finalUrl} />],
    [
      'Captured',
      <time key="at" dateTime={at} title={ago(at)}>
        {dateAndTime(at)}
      </time>,
    ],
    ['Duration', duration(result.duration_ms)],
    ['Made with', optionLabels(result).length === 0 ? '' : <OptionBadges key="made" result={result} />],
    ['Status', status === 0 ? '' : `${status} ${statusText}`],
    ['Content', [type, length > 0 ? bytes(length) : ''].filter((part) => part !== '').join(', ')],
    ['Protocol', result.protocol],
    ['Address', [ip, ...place].filter((part) => part !== null).join(', ')],
    ...hostFactsOf(host),
    ['Download', download === null ? '' : [download.name, download.type].filter(Boolean).join(', ')],
    ['Verdict', verdictOf(result)],
    ['Cut', cutOf(result)],
    ['Incomplete', result.partial ? `while: ${result.partial_phase}` : ''],
    [
      'Id',
      <span key="id" class="number">
        {id}
      </span>,
    ],
  ];
  return (
    <dl class="facts">
      {shown
        .filter(([, value]) => value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
