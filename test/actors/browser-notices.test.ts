import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { MAX_SETTLE_MS } from '../../src/page/wait/await-settled.ts';
import { patience } from '../support/actor.ts';
import { captureRequest } from '../support/capture-request.ts';
import { actorForSuite, forSuite } from '../support/for-suite.ts';
import { pngOf } from '../support/image.ts';

const BODY = '<h1>Ferries</h1><p>To the islands, at ten and at noon.</p>';
const SHEET = `<?xml version="1.0"?><xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="METHOD"/><xsl:template match="/"><html><head><title>Ferries</title></head><body>${BODY}</body></html></xsl:template>
</xsl:stylesheet>`;
const byXslt = (root: string, sheet: string) =>
  `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="${sheet}"?>${root}`;
const script = (code: string) => `<title>Ferries</title><body>${BODY}<script>${code}</script>`;

/** Each page looks like `/plain`, in quirks mode as what XSLT makes, by a feature that browsers have given up. */
const PAGES: Readonly<Record<string, readonly [type: string, body: string]>> = {
  '/plain': ['text/html', `<title>Ferries</title><body>${BODY}`],
  '/feed.xml': ['text/xml', byXslt('<rss version="2.0"><channel><title>Ferries</title></channel></rss>', '/html.xsl')],
  '/feed.atom': ['text/xml', byXslt('<feed xmlns="http://www.w3.org/2005/Atom"/>', '/html.xsl')],
  '/sitemap.xml': [
    'application/xml',
    byXslt('<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>', '/html.xsl'),
  ],
  '/transformed': [
    'text/html',
    script(`const sheet = new DOMParser().parseFromString(${JSON.stringify(SHEET.replace('METHOD', 'html'))}, 'text/xml')
      const processor = new XSLTProcessor()
      processor.importStylesheet(sheet)
      document.body.innerHTML = processor.transformToDocument(sheet).body.innerHTML`),
  ],
  '/unload': ['text/html', script(`addEventListener('unload', () => {}); document.domain = document.domain`)],
  '/framed': ['text/html', script(`document.body.insertAdjacentHTML('beforeend', '<iframe hidden src=/feed.xml>')`)],
  '/html.xsl': ['text/xsl', SHEET.replace('METHOD', 'html')],
};

describe("notices of the browser's own", () => {
  const running = actorForSuite();
  const server = forSuite(
    async () => {
      const server = createServer(({ url = '' }, response) => {
        const [type, body] = PAGES[url] ?? ['text/plain', ''];
        response.writeHead(url in PAGES ? 200 : 404, { 'content-type': `${type}; charset=utf-8` }).end(body);
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const address = server.address();
      const origin = typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '';
      return { origin, close: async () => server.close() };
    },
    ({ close }) => close(),
  );

  const capture = (path: string) => {
    const request = captureRequest(server.origin + path, {
      outputs: ['text', 'markdown'],
      markdown: { scope: 'page' },
      waitUntil: 'settled',
      elementMap: false,
    });
    return running.actor.capture(request, patience);
  };

  /** Captures a page, and once more when a busy machine has delayed it for as long as a page may take to settle. */
  const settled = async (path: string) => {
    const page = await capture(path);
    return (page.timings.wait ?? 0) < MAX_SETTLE_MS ? page : await capture(path);
  };

  it.each(Object.keys(PAGES).filter((path) => !['/plain', '/html.xsl'].includes(path)))(
    'do not cover %s, nor come into its text',
    async (path) => {
      const [plain, page] = [await capture('/plain'), await settled(path)];
      expect(String(page.outputs.markdown?.content)).toBe('# Ferries\n\nTo the islands, at ten and at noon.\n');
      expect(page.outputs.text?.content).toEqual(plain.outputs.text?.content);
      expect(page.timings.wait ?? 0).toBeLessThan(MAX_SETTLE_MS);
      expect(page.html).not.toContain('<dialog');
      const [expected, seen] = [await pngOf(plain), await pngOf(page)];
      expect([seen.width, seen.height]).toEqual([expected.width, expected.height]);
      expect(seen.data.equals(expected.data)).toBe(true);
    },
  );
});
