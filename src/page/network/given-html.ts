import { HTML_TARGET } from '../../capture/target.ts';
import type { PageSession } from '../frames/page-session.ts';
import type { IsPageItself } from './block.ts';
import type { InterceptionRule } from './intercept.ts';
import { isUnsent } from './own-origin.ts';

/**
 * Answers the page's own request with HTML that the request contains. Its origin exists on no network, so nothing that
 * a browser keeps for an origin is reachable, and relative URLs lead nowhere: all other requests to it fail. Requests
 * to other origins are sent like those of any page.
 */
export function givenHtml(session: PageSession, html: string, isPageItself: IsPageItself): InterceptionRule {
  const { href, origin } = HTML_TARGET.parsed;
  const body = Buffer.from(html).toString('base64');
  return {
    patterns: [{ urlPattern: `${origin}/*` }],
    judge: (paused) => {
      const { requestId, request } = paused;
      if (!isUnsent(paused) || URL.parse(request.url)?.origin !== origin) return undefined;
      if (!isPageItself(paused) || request.url !== href) return { verdict: 'fail' };
      session.post('Fetch.fulfillRequest', {
        requestId,
        responseCode: 200,
        responseHeaders: [
          { name: 'content-type', value: 'text/html; charset=utf-8' },
          { name: 'referrer-policy', value: 'no-referrer' },
        ],
        body,
      });
      return { verdict: 'own' };
    },
  };
}
