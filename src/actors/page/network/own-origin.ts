import type { Credentials } from '../../../capture/options/credentials.ts';
import type { CaptureRequest } from '../../../capture/request.ts';
import type { PageSession } from '../isolated-page.ts';
import { FrameOrigins } from './frame-origins.ts';
import type { InterceptionRule, PausedRequest } from './intercept.ts';

/*
 * What is meant for the target alone: headers and credentials go to the origin of the URL that was asked for and to no
 * other, wherever the page comes from afterwards. Chromium drops added headers when it follows a redirect, and the
 * next hop is paused anew only when it is of that origin again.
 */

/** A rule for the headers that a request brings, and one for its credentials, each where there are any. */
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
 * Whether a document of that origin asks. Somebody else's, in a frame, could read what the target lets everybody read,
 * and would read what it shows to the caller alone. A document itself may be asked for by anybody: who asks cannot look
 * into it.
 */
function askersOf(session: PageSession, origin: string): (paused: PausedRequest) => Promise<boolean> {
  const documents = new FrameOrigins(session);
  return async ({ resourceType, frameId }) =>
    resourceType === 'Document' || (await documents.originOf(frameId)) === origin;
}

/** Wrong credentials are not asked for for ever: the page that stands behind the question is shown. */
function once(isOwn: (address: string) => boolean, credentials: Credentials): NonNullable<InterceptionRule['answer']> {
  const answered = new Set<string>();
  return ({ requestId, authChallenge }) => {
    if (authChallenge.source === 'Proxy' || !isOwn(authChallenge.origin) || answered.has(requestId)) return undefined;
    answered.add(requestId);
    return credentials;
  };
}

/** Whether a request is paused on its way out, and not on its answer's way in. */
export function isUnsent({ responseStatusCode, responseErrorReason }: PausedRequest): boolean {
  return responseStatusCode === undefined && responseErrorReason === undefined;
}
