import type { ComponentChildren } from 'preact';
import { optionLabels } from '../../../src/capture/option-labels.ts';
import type { DetailedResult } from '../../api/types.ts';
import { OptionBadges } from '../../parts/badge.tsx';
import { ago, bytes, dateAndTime, duration, integer } from '../../parts/format.ts';
import { TargetLink } from '../../parts/target-link.tsx';

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
    ['Download', download === null ? '' : [download.name, download.type].filter(Boolean).join(', ')],
    ['Cut', result.truncated ? `page is ${integer(result.full_height)} px high` : ''],
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
