import type { Credentials } from '../../capture/options/credentials.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type { PageSession } from '../frames/page-session.ts';
import { FrameOrigins } from './frame-origins.ts';
import type { InterceptionRule, PausedRequest } from './intercept.ts';

/*
 * Sends headers and credentials only to the origin of the requested URL, even when the page navigates elsewhere.
 * Chromium drops added headers when it follows a redirect; the next hop gets them again only if it has the same origin.
 */

/** Returns a rule for the request's headers and one for its credentials, if it has any. */
export function ownOriginRules(session: PageSession, request: CaptureRequest): InterceptionRule[] {
  const { headers = {}, httpCredentials } = request;
  const { origin } = request.target.parsed;
  const patterns = [{ urlPattern: `${origin}/*` }];
  const isOwn = (address: string) => URL.parse(address)?.origin === origin;
  const rules: InterceptionRule[] = [];
  if (Object.keys(headers).length > 0) {
    const isAskedByOwn = askersOf(session, origin);
    rules.push({
      patterns,
      judge: async (paused) =>
        isUnsent(paused) && isOwn(paused.request.url) && (await isAskedByOwn(paused))
          ? { verdict: 'continue', headers }
          : undefined,
    });
  }
  if (httpCredentials !== undefined) rules.push({ patterns, answer: once(isOwn, httpCredentials) });
  return rules;
}

/**
 * Returns whether a document of the target's origin sends the request. A cross-origin frame could read what the target
 * allows every origin to read, and would see content meant for the caller alone. Navigations are allowed from anywhere,
 * because their initiator cannot read the result.
 */
function askersOf(session: PageSession, origin: string): (paused: PausedRequest) => Promise<boolean> {
  const documents = new FrameOrigins(session);
  return async ({ resourceType, frameId }) =>
    resourceType === 'Document' || (await documents.originOf(frameId)) === origin;
}

/**
 * Answers the first challenge of a request only. When the server rejects the credentials, the page that it shows
 * without them is captured.
 */
function once(isOwn: (address: string) => boolean, credentials: Credentials): NonNullable<InterceptionRule['answer']> {
  const answered = new Set<string>();
  return ({ requestId, authChallenge }) => {
    if (authChallenge.source === 'Proxy' || !isOwn(authChallenge.origin) || answered.has(requestId)) return undefined;
    answered.add(requestId);
    return credentials;
  };
}

/** Returns whether a request is paused before it is sent, not at its response. */
export function isUnsent({ responseStatusCode, responseErrorReason }: PausedRequest): boolean {
  return responseStatusCode === undefined && responseErrorReason === undefined;
}
