import type { CaptureRequest, Credentials } from '../../../capture-request.ts';
import type { InterceptionRule, PausedRequest } from './intercept.ts';

/*
 * What is meant for the target alone: headers and credentials go to the origin of the URL that was asked for and to no
 * other, wherever the page comes from afterwards. Chromium drops added headers when it follows a redirect, and the
 * next hop is paused anew only when it is of that origin again.
 */

/** A rule for the headers that a request brings, and one for its credentials, each where there are any. */
export function ownOriginRules({ url, headers = {}, httpCredentials }: CaptureRequest): InterceptionRule[] {
  const { origin } = new URL(url);
  const patterns = [{ urlPattern: `${origin}/*` }];
  const isOwn = (address: string) => URL.parse(address)?.origin === origin;
  const rules: InterceptionRule[] = [];
  if (Object.keys(headers).length > 0) {
    rules.push({
      patterns,
      judge: (paused) => (isUnsent(paused) && isOwn(paused.request.url) ? { verdict: 'continue', headers } : undefined),
    });
  }
  if (httpCredentials !== undefined) rules.push({ patterns, answer: once(isOwn, httpCredentials) });
  return rules;
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
