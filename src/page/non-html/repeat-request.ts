import type { Protocol } from 'devtools-protocol';
import type { IsolatedPage } from '../isolated-page.ts';
import type { PausedRequest } from '../network/intercept.ts';

/** A request that was repeated, and the navigation that waits for its response. */
interface RepeatedRequest {
  /** The final response, which waits; undefined when none came. */
  readonly paused: PausedRequest | undefined;
  readonly navigating: Promise<Protocol.Page.NavigateResponse>;
}

/** Sends a frame once more to a URL that Chromium treated as a download there. */
export async function repeatRequest(
  { session, visit }: Pick<IsolatedPage, 'session' | 'visit'>,
  frameId: string,
  url: string,
): Promise<RepeatedRequest> {
  const offered = Promise.withResolvers<PausedRequest>();
  let taken = false;
  await visit.interception.add({
    patterns: [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Response' }],
    judge: (paused) => {
      if (taken || paused.frameId !== frameId || !isFinal(paused)) return undefined;
      taken = true;
      offered.resolve(paused);
      return { verdict: 'own' };
    },
  });
  const navigating = session.send('Page.navigate', { url, frameId });
  const paused = await Promise.race([offered.promise, navigating.then(() => undefined)]);
  // Later responses of this frame are not for us, also when none came.
  taken = true;
  return { paused, navigating };
}

/** Returns whether the paused response is final, not a redirect. */
function isFinal({ responseStatusCode: status }: PausedRequest): boolean {
  return status !== undefined && (status < 300 || status >= 400);
}

/** Returns whether a response is a PDF that its server does not want to be saved. */
export function isShownPdf(paused: PausedRequest): boolean {
  return (
    typeOf(paused) === 'application/pdf' && !/^\s*attachment\b/i.test(headerOf(paused, 'content-disposition') ?? '')
  );
}

/** Returns the media type of a response, without parameters. */
export function typeOf(paused: PausedRequest): string {
  const [type = ''] = (headerOf(paused, 'content-type') ?? '').split(';');
  return type.trim().toLowerCase();
}

export function headerOf({ responseHeaders = [] }: PausedRequest, name: string): string | undefined {
  return responseHeaders.find((header) => header.name.toLowerCase() === name)?.value;
}
