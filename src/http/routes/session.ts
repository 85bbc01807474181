import { z } from 'zod';
import { CapstanError } from '../../capture/errors.ts';
import { answer } from '../answer/envelope.ts';
import { SessionSchema } from '../answer/schemas.ts';
import { callerOf } from '../keys/callers.ts';
import { envelope } from '../openapi/content.ts';
import { route, routeWithBody } from '../route.ts';
import { sessionToken, setSessionCookie } from '../session/cookie.ts';

/* Sessions of the web interface: a browser exchanges an API key for a cookie that its scripts cannot read. */

const SESSION = envelope('Session', SessionSchema);
const KEY = 'must be the API key, a text of 1 to 4096 characters';

const LoginSchema = z.strictObject(
  { key: z.string({ error: KEY }).min(1, { error: KEY }).max(4096, { error: KEY }) },
  {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? 'is not a field of a login; its field is key' : 'must be an object with key',
  },
);

export const getSession = route({
  method: 'GET',
  path: '/session',
  operationId: 'getSession',
  summary: 'Whether requests need an API key, and whether this one has a valid key or session.',
  tag: 'operations',
  isOpen: true,
  parameters: {},
  answers: { 200: { description: 'The session.', content: SESSION } },
  handle: (ctx, _, { sessions }) => {
    const authenticated = !sessions.required || ctx.state.client !== undefined;
    answer(ctx, { required: sessions.required, authenticated, scope: authenticated ? callerOf(ctx).scope : null });
  },
});

export const postSession = routeWithBody({
  method: 'POST',
  path: '/session',
  operationId: 'logIn',
  summary: 'Exchanges an API key for a session cookie.',
  description:
    'For browsers; programs send the key with each request. The cookie is `HttpOnly` and `SameSite=Strict`, `Secure` behind TLS, and valid for 12 hours, for requests of pages of this service only. It ends when its key is no longer configured. After 10 logins with a wrong key from one address within a minute, further ones from there are 429, also with the right key.',
  tag: 'operations',
  isOpen: true,
  parameters: {},
  body: { name: 'Login', schema: () => LoginSchema },
  answers: { 200: { description: 'The session, and its cookie.', content: SESSION, headers: ['Set-Cookie'] } },
  failures: ['unauthorized', 'too_many_logins'],
  handle: (ctx, { body }, { sessions, logins, noteLogin }) => {
    if (!sessions.required) return answer(ctx, { required: false, authenticated: true, scope: callerOf(ctx).scope });
    const { remoteAddress = '' } = ctx.req.socket;
    logins.refuse(remoteAddress);
    const session = sessions.begin(body.key);
    if (session === undefined) {
      logins.wrong(remoteAddress);
      ctx.set('WWW-Authenticate', 'Bearer');
      throw new CapstanError('unauthorized', 'The API key is wrong.');
    }
    logins.right(session.client);
    ctx.state.client = session.client;
    noteLogin(ctx);
    setSessionCookie(ctx, session.token);
    answer(ctx, { required: true, authenticated: true, scope: callerOf(ctx).scope }, 'The session has begun.');
  },
});

export const deleteSession = route({
  method: 'DELETE',
  path: '/session',
  operationId: 'logOut',
  summary: 'Ends the session of the cookie.',
  description:
    'It has ended for every copy of the cookie, at every process with the same database. While the database is away, the answer is 503, and the session has ended in this process alone.',
  tag: 'operations',
  isOpen: true,
  parameters: {},
  answers: { 200: { description: 'The session has ended.', content: SESSION, headers: ['Set-Cookie'] } },
  failures: ['database_unavailable'],
  handle: async (ctx, _, { sessions }) => {
    const token = sessionToken(ctx);
    setSessionCookie(ctx, '');
    await sessions.end(token);
    const { required } = sessions;
    const scope = required ? null : callerOf(ctx).scope;
    answer(ctx, { required, authenticated: !required, scope }, 'The session has ended.');
  },
});
