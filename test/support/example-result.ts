import { UNSEEN } from '../../src/capture/result/build-result.ts';
import type { HostFacts } from '../../src/capture/result/host-facts.ts';
import type { Result } from '../../src/capture/result/result.ts';
import { timeOfId } from '../../src/storage/records/ids.ts';

/** Returns a record of a page with the time of its id and the given fields, and without files unless some are given. */
export function exampleResult(id: number, wanted: Partial<Result> = {}): Result {
  const url = wanted.url ?? `https://${wanted.host ?? 'example.com'}/`;
  return {
    id,
    ...UNSEEN,
    options_digest: '',
    options: {},
    options_withheld: [],
    url,
    final_url: url,
    scheme: url.startsWith('http:') ? 'http' : 'https',
    host: wanted.host ?? URL.parse(url)?.hostname ?? '',
    port: 443,
    title: 'Example',
    response_code: 200,
    response_reason: 'OK',
    content_type: 'text/html',
    content_length: 5,
    probed_at: timeOfId(id).toISOString(),
    duration_ms: 12,
    format: 'png',
    width: 1280,
    height: 800,
    ...wanted,
  };
}

const FIRST_ID = 300_000_000_000_000;
/** Difference between the ids of two captures one second apart. */
const SECOND = 4_096_000;

/** Returns the id of a capture that was made this many seconds after the first one. */
export function exampleId(seconds: number): number {
  return FIRST_ID + seconds * SECOND;
}

/** The facts of a host that says nothing of itself. */
export const NO_HOST_FACTS: HostFacts = {
  server: '',
  powered_by: '',
  content_security_policy: false,
  hsts: false,
  certificate: null,
  favicon: null,
  cnames: [],
  technologies: [],
};
