import { CapstanError } from '../../capture/errors.ts';
import type { CdpSession } from '../../cdp/connection.ts';
import type { MainFrame } from '../../page/frames/main-frame.ts';

/** URLs up to this length are not counted: pages keep their state in them. */
const ORDINARY_CHARACTERS = 16 * 1024;
/**
 * Maximum total length of longer URLs that a page may give its documents, in characters. Measured: each URL of 1.9 MB
 * (Chromium's maximum) blocks the browser process, which all pages share, for up to 0.5 s.
 */
const MAX_CHARACTERS = 2 * 1024 * 1024;

/**
 * Returns a function that watches a frame's session, and fails the capture with `page_too_large` when the URLs that the
 * page's frames navigate to exceed the limit together: by `history.pushState` or `location.hash`, or to documents.
 */
export function urlLimit(frame: MainFrame): (session: CdpSession) => void {
  let total = 0;
  const count = ({ url }: { readonly url: string }) => {
    if (url.length <= ORDINARY_CHARACTERS) return;
    total += url.length;
    if (total <= MAX_CHARACTERS) return;
    const reason = `the page navigated to URLs of more than ${MAX_CHARACTERS} characters in all`;
    frame.fail(new CapstanError('page_too_large', reason));
  };
  return (session) => {
    session.on('Page.navigatedWithinDocument', count);
    session.on('Page.frameStartedNavigating', (navigation) => {
      if (!navigation.navigationType.endsWith('SameDocument')) count(navigation);
    });
  };
}
