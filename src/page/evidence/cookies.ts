import type { Protocol } from 'devtools-protocol';
import { bounded, instant } from '../../capture/basics/bounded.ts';
import type { RequestCookie } from '../../capture/options/cookies.ts';
import type { Noted, NotedCookie } from '../../capture/result/evidence.ts';
import type { PageSession } from '../frames/page-session.ts';
import { Tally } from './tally.ts';

const MAX_COOKIES = 200;
const MAX_NAME_CHARACTERS = 256;
const MAX_VALUE_CHARACTERS = 1024;
const MAX_PLACE_CHARACTERS = 1024;

/**
 * Returns the cookies of the page's browser context. Cookies from the request are the caller's secrets and are listed
 * without values. Measured: the command takes about 1 ms. Its successor `Storage.getCookies` works only in the session
 * of the browser.
 */
export async function notedCookies(
  session: PageSession,
  brought: readonly RequestCookie[],
): Promise<Noted<NotedCookie>> {
  const { cookies } = await session.send('Network.getAllCookies');
  const tally = new Tally<NotedCookie>(MAX_COOKIES);
  for (const cookie of cookies) {
    const isSecret = brought.some(({ name, value }) => name === cookie.name && value === cookie.value);
    tally.note({ ...notedCookie(cookie), ...(isSecret && { value: '' }) });
  }
  return tally.noted;
}

function notedCookie(cookie: Protocol.Network.Cookie): NotedCookie {
  return {
    name: bounded(cookie.name, MAX_NAME_CHARACTERS),
    value: bounded(cookie.value, MAX_VALUE_CHARACTERS),
    domain: bounded(cookie.domain, MAX_PLACE_CHARACTERS),
    path: bounded(cookie.path, MAX_PLACE_CHARACTERS),
    expires: cookie.session ? null : instant(cookie.expires),
    secure: cookie.secure,
    http_only: cookie.httpOnly,
    same_site: cookie.sameSite ?? null,
  };
}
