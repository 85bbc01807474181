import { UNSEEN } from '../../src/capture-result.ts';
import type { Result } from '../../src/domain.ts';
import type { Evidence } from '../../src/evidence.ts';
import { timeOfId } from '../../src/storage/ids.ts';
import type { DetailedResult } from '../../src/storage/result-store.ts';

/** A record as a capture leaves it, with what a test wants of it. */
export function resultOf(id: number, wanted: Partial<Result> = {}): Result {
  const host = wanted.host ?? 'example.com';
  const url = wanted.url ?? `https://${host}/`;
  return {
    id,
    ...UNSEEN,
    options_digest: '',
    url,
    final_url: url,
    scheme: 'https',
    host,
    port: 443,
    title: 'Ein Titel – mit “allem”\u0000 \u{1F4F7}',
    response_code: 200,
    response_reason: 'OK',
    content_type: 'text/html',
    content_length: 5_000_000_000,
    probed_at: timeOfId(id).toISOString(),
    duration_ms: 321,
    screenshot: '',
    html: '',
    format: 'png',
    width: 1280,
    height: 800,
    remote_ip: '192.0.2.7',
    ip_info: { country: 'DE', latitude: 52.5, in_eu: true, hostname: null },
    ...wanted,
  };
}

/** Evidence as a capture leaves it, with what people and pages put into it. */
export const EVIDENCE: Evidence = {
  dialogs: { items: [{ type: 'alert', message: 'Grüß “Gott”\u0000 \u{1F4F7}' }], omitted: 2 },
  popups: { items: ['https://popup.example/'], omitted: 0 },
  cookies: { items: [], omitted: 0 },
  headers: { items: [{ name: '$where', value: 'a.b' }], omitted: 0 },
  tls: null,
};

/** The same record with its evidence. */
export function captureOf(id: number, wanted: Partial<DetailedResult> = {}): DetailedResult {
  const { evidence = EVIDENCE, ...rest } = wanted;
  return { ...resultOf(id, rest), evidence };
}
