import type { Evidence } from '../../src/capture/result/evidence.ts';
import type { Result } from '../../src/capture/result/result.ts';
import { putCapture } from '../storage/put-capture.ts';
import { exampleResult } from '../support/example-result.ts';
import type { RunningService } from '../support/service.ts';

/** Text that changes the document's title when it is parsed as markup or runs as a script. */
export const MARKUP = `"'><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
const SCRIPT_URL = "javascript:document.title='owned'";

const HTML = `<!doctype html><title>Snapshot</title><meta http-equiv="refresh" content="0;url=/livez?from=refresh">
<script>top.document.title = document.title = 'owned'; fetch('/livez?from=script')</script>
<img src="/livez?from=image" onerror="top.document.title='owned'"><iframe src="/livez?from=frame"></iframe>
<form action="/livez?from=form"><button autofocus>Send</button></form>
<a id="out" href="/livez?from=link" target="_top">Away</a><h1>Hostile</h1>`;

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export const HOSTILE_ID = 350_000_000_000_000;

const none = { items: [], omitted: 0 };

const EVIDENCE: Evidence = {
  dialogs: { items: [{ type: 'alert', message: MARKUP }], omitted: 0 },
  popups: { items: [SCRIPT_URL], omitted: 0 },
  cookies: {
    items: [
      {
        name: MARKUP,
        value: MARKUP,
        domain: MARKUP,
        path: '/',
        expires: null,
        secure: false,
        http_only: false,
        same_site: null,
      },
    ],
    omitted: 0,
  },
  redirects: { items: [{ url: SCRIPT_URL, status: 302, location: SCRIPT_URL }], omitted: 0 },
  headers: { items: [{ name: MARKUP, value: MARKUP }], omitted: 3 },
  tls: null,
  console: { items: [{ level: 'error', text: MARKUP, url: SCRIPT_URL, line: 1 }], omitted: 0 },
  network: {
    items: [
      {
        method: MARKUP,
        url: SCRIPT_URL,
        type: MARKUP,
        status: 200,
        bytes: 1,
        start_ms: 0,
        time_ms: 5,
        failure: MARKUP,
      },
    ],
    omitted: 0,
  },
  favicon: { url: SCRIPT_URL, type: MARKUP, bytes: 1, hash: 0, sha256: '0'.repeat(64) },
};

/** Names, attributes and texts of an element map, which the page's process writes. */
const ELEMENTS = JSON.stringify({
  styles: [{ color: MARKUP }],
  entries: [
    { parent: -1, tag: 'html' },
    { parent: 0, tag: 'body', box: [0, 0, 1, 1], style: 0 },
    { parent: 1, tag: MARKUP, id: MARKUP, class: MARKUP, attributes: { onclick: MARKUP, [MARKUP]: MARKUP }, style: 0 },
    { parent: 2, tag: 'script', attributes: { src: SCRIPT_URL }, box: [0, 0, 1, 1], style: 0, image: SCRIPT_URL },
    { parent: 3, text: MARKUP, length: MARKUP.length, hash: 1 },
    { parent: -1, tag: 'html', box: [0, 0, 1, 1], style: 0 },
  ],
  partial: false,
});

/** An element map with 9,000 children of one element, and 900 elements without a box, each in the one before. */
export const LARGE_MAP = JSON.stringify({
  styles: [{ color: 'red' }],
  entries: [
    { parent: -1, tag: 'html' },
    { parent: 0, tag: 'body', box: [0, 0, 1, 1], style: 0 },
    ...Array.from({ length: 9000 }, () => ({ parent: 1, tag: 'i', box: [0, 0, 1, 1], style: 0 })),
    ...Array.from({ length: 900 }, (_, at) => ({ parent: at === 0 ? 1 : 9001 + at, tag: 'b' })),
  ],
  partial: false,
});

/** Stores a capture in which every text that a page controls is an attack. */
export async function keepHostileCapture(
  { service }: Pick<RunningService, 'service'>,
  id = HOSTILE_ID,
  elements = ELEMENTS,
): Promise<Result> {
  const record = exampleResult(id, {
    title: MARKUP,
    final_url: SCRIPT_URL,
    response_reason: MARKUP,
    content_type: MARKUP,
    protocol: MARKUP,
    artifacts: { store: 'here', kinds: ['image', 'html', 'elements'] },
    width: 1,
    height: 1,
  });
  await putCapture(service.artifacts, record, { image: PIXEL, html: HTML, elements });
  await service.results.insert({ ...record, evidence: { ...EVIDENCE, dialogs: EVIDENCE.dialogs ?? none } });
  return record;
}
