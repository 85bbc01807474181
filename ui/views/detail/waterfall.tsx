import type { Evidence } from '../../api/types.ts';
import { bytes, duration, shortUrl } from '../../parts/format.ts';

/** Requests of the page on a common time scale, ordered by start time. */
export function Waterfall({ network: { items, omitted } }: { readonly network: NonNullable<Evidence['network']> }) {
  if (items.length === 0) return <p class="muted">The page made no requests.</p>;
  const end = Math.max(1, ...items.map(({ start_ms: start, time_ms: time }) => (start ?? 0) + (time ?? 0)));
  return (
    <>
      <table class="waterfall">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Request</th>
            <th scope="col">Type</th>
            <th scope="col" class="right">
              Size
            </th>
            <th scope="col" class="right">
              Time
            </th>
            <th scope="col" class="scale">
              <span>0</span>
              <span>{duration(end)}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ method, url, type, status, bytes: size, start_ms: start, time_ms: time, failure }, row) => {
            const isBad = failure !== '' || status >= 400;
            const left = ((start ?? 0) / end) * 100;
            const width = time === null ? 100 - left : (time / end) * 100;
            return (
              <tr key={row} class={isBad ? 'bad' : undefined}>
                <td class="number">{status === 0 ? '–' : status}</td>
                <td class="request" title={url}>
                  {method === 'GET' ? '' : `${method} `}
                  {shortUrl(url)}
                  {failure !== '' && <span class="failure"> {failure}</span>}
                </td>
                <td>{type}</td>
                <td class="right number">{size > 0 ? bytes(size) : ''}</td>
                <td class="right number">{time === null ? 'pending' : duration(time)}</td>
                <td>
                  <span class="bar-track" aria-hidden="true">
                    <span
                      class={`bar ${type}${time === null ? ' open' : ''}`}
                      style={{ left: `${left}%`, width: `${Math.max(0.5, width)}%` }}
                    />
                  </span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {omitted > 0 && <p class="muted">{omitted} more were not recorded.</p>}
    </>
  );
}
