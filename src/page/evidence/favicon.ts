import { createHash } from 'node:crypto';
import { z } from 'zod';
import { bounded } from '../../capture/basics/bounded.ts';
import type { NotedFavicon } from '../../capture/result/evidence.ts';
import { evaluate } from '../asking/ask-page.ts';
import { call, type ResultOf } from '../asking/page-scripts.ts';
import { readStream } from '../asking/read-stream.ts';
import type { PageSession } from '../frames/page-session.ts';
import { faviconHash } from './favicon-hash.ts';
import { headerOf } from './header-of.ts';

const named: z.ZodType<ResultOf<'iconUrl'>> = z.string().nullable();

const MAX_BYTES = 1024 * 1024;
const MAX_URL_CHARACTERS = 2048;
const MAX_TYPE_CHARACTERS = 128;
const READ_BYTES = 128 * 1024;

/**
 * Returns the page's icon, fetched through the page's own browser context, and so through its egress proxy. Null when
 * there is none, the response is a page, or it is larger than 1 MiB.
 */
export async function notedFavicon(session: PageSession, frameId: string): Promise<NotedFavicon | null> {
  const url = await iconUrl(session, frameId);
  if (url === null) return null;
  const icon = url.startsWith('data:') ? await decoded(url) : await loaded(session, frameId, url);
  if (icon === null || icon.body.byteLength === 0 || icon.body.byteLength > MAX_BYTES) return null;
  return {
    url: bounded(url, MAX_URL_CHARACTERS),
    type: bounded(icon.type, MAX_TYPE_CHARACTERS),
    bytes: icon.body.byteLength,
    hash: faviconHash(icon.body),
    sha256: createHash('sha256').update(icon.body).digest('hex'),
  };
}

interface Icon {
  readonly type: string;
  readonly body: Uint8Array;
}

/** Returns the URL of the icon that the page names, or of the default location. */
async function iconUrl(session: PageSession, frameId: string): Promise<string | null> {
  const answer = await evaluate({ session, frame: { id: frameId } }, call('iconUrl', 2 * MAX_BYTES), {
    mayThrow: true,
  });
  const { data: url } = named.safeParse(answer);
  return typeof url === 'string' && /^(https?|data):/.test(url) ? url : null;
}

/** Data URLs need no network. */
async function decoded(url: string): Promise<Icon> {
  const response = await fetch(url);
  return { type: response.headers.get('content-type') ?? '', body: await response.bytes() };
}

async function loaded(session: PageSession, frameId: string, url: string): Promise<Icon | null> {
  const { resource } = await session.send('Network.loadNetworkResource', {
    frameId,
    url,
    options: { disableCache: false, includeCredentials: true },
  });
  const { success, httpStatusCode = 0, headers = {}, stream } = resource;
  if (stream === undefined) return null;
  try {
    if (!success || httpStatusCode >= 400) return null;
    const type = String(headerOf(headers, 'content-type') ?? '');
    // Some sites answer every unknown path with a page.
    if (type.startsWith('text/html')) return null;
    const body = await readStream(session, stream, READ_BYTES, MAX_BYTES);
    return body && { type, body: Buffer.concat(body) };
  } finally {
    session.post('IO.close', { handle: stream });
  }
}
