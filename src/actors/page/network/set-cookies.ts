import { CapstanError } from '../../../capture/errors.ts';
import type { RequestCookie } from '../../../capture/options/cookies.ts';
import type { CaptureRequest } from '../../../capture/request.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { PageSession } from '../isolated-page.ts';

/**
 * Puts the request's cookies into the page's context. Resolves when they are there; rejects with an `invalid_request`
 * that names the first one that the browser refuses.
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
    // Without a domain it is the target's host's alone; `url` says which that is.
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
