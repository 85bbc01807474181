import type { Evidence } from '../../src/capture/result/evidence.ts';
import type { DetailedResult, Result } from '../../src/capture/result/result.ts';
import { exampleResult } from '../support/example-result.ts';

/** Returns a record with values that are hard to store, and with the given fields. */
export function resultOf(id: number, wanted: Partial<Result> = {}): Result {
  return exampleResult(id, {
    title: 'Ein Titel – mit “allem”\u0000 \u{1F4F7}',
    content_length: 5_000_000_000,
    remote_ip: '192.0.2.7',
    ip_info: { country: 'DE', latitude: 52.5, in_eu: true, hostname: null },
    ...wanted,
  });
}

/** Evidence as a capture produces it, with values chosen by people and pages. */
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
