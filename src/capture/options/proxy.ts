import { z } from 'zod';
import type { Immutable } from '../basics/immutable.ts';
import { credentials } from './credentials.ts';
import { optionFacts } from './facts.ts';
import { objectOf } from './fields.ts';

const MAX_SERVER_CHARACTERS = 2048;
const SERVER = 'must be http://host:port or http://user:password@host:port';

const written = objectOf(
  {
    server: z
      .string({ error: SERVER })
      .max(MAX_SERVER_CHARACTERS, { error: SERVER })
      .meta({ description: '`http://host:port` or `http://user:password@host:port`.' })
      // The credentials have been moved out of it.
      .register(optionFacts, { secret: false }),
    credentials: credentials.optional(),
  },
  'a proxy',
  'an object with server and optionally credentials',
);

/** `server` is `http://host:port`, without credentials. */
export type UpstreamProxy = Immutable<z.output<typeof written>>;

/** Moves credentials from the server URL to `credentials`. */
export const proxy = written
  .transform(({ server, credentials: given }, context): UpstreamProxy => {
    const read = readServer(server);
    const problem =
      read === null
        ? SERVER
        : given && read.credentials
          ? 'contains credentials: give them either here or in proxy.credentials'
          : null;
    if (read === null || problem !== null) {
      context.addIssue({ code: 'custom', path: ['server'], message: problem ?? SERVER });
      return z.NEVER;
    }
    const known = given ?? read.credentials;
    return known === undefined ? { server: read.server } : { server: read.server, credentials: known };
  })
  .meta({
    description: 'HTTP proxy for all requests of this capture. Its address is checked like that of a target.',
  });

function readServer(text: string): UpstreamProxy | null {
  const url = /^http:\/\/[^/?#\\\s]+\/?$/i.test(text) ? URL.parse(text) : null;
  if (url === null) return null;
  const server = `http://${url.hostname}:${url.port === '' ? 80 : url.port}`;
  if (url.username === '' && url.password === '') return { server };
  const username = decoded(url.username);
  const password = decoded(url.password);
  // A colon would end the user name.
  if (username === null || password === null || /[:\p{Cc}]/u.test(username) || /\p{Cc}/u.test(password)) return null;
  return { server, credentials: { username, password } };
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
