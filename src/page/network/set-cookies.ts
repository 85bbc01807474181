import { CapstanError } from '../../capture/errors.ts';
import type { RequestCookie } from '../../capture/options/cookies.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { PageSession } from '../frames/page-session.ts';

/**
 * Adds the request's cookies to the page's context. Rejects with an `invalid_request` that names the first cookie that
 * the browser refuses.
 */
export async function setCookies(
  session: PageSession,
  { target: { url }, cookies = [] }: CaptureRequest,
): Promise<void> {
  const accepted = await Promise.all(cookies.map((cookie) => setCookie(session, url, cookie)));
  const refused = cookies[accepted.indexOf(false)];
  if (refused !== undefined) {
    throw new CapstanError(
      'invalid_request',
      `cookies: the browser refuses "${refused.name}" for ${refused.domain ?? 'the target'}`,
    );
  }
}

async function setCookie(session: PageSession, url: string, cookie: RequestCookie): Promise<boolean> {
  const { domain, sameSite, ...rest } = cookie;
  try {
    // A cookie without a domain is limited to the host in `url`.
    const { success } = await session.send('Network.setCookie', {
      ...rest,
      ...(sameSite === undefined ? {} : { sameSite }),
      ...(domain === undefined ? { url } : { domain }),
    });
    return success;
  } catch (error) {
    if (error instanceof CdpError) return false;
    throw error;
  }
}
