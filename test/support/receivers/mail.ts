import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { type MailAddress, readMailAddress } from '../../../src/receivers/transports/mail-address.ts';
import { CERTIFICATE, KEY } from '../../receivers/certificate.ts';

/** A mail as the server took it. */
export interface GotMail {
  readonly raw: string;
  readonly mail: Email;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly isSecure: boolean;
}

export interface MailReceiver extends AsyncDisposable {
  readonly port: number;
  readonly mails: readonly GotMail[];
  /** The next messages are refused with these replies. */
  refuse(...replies: readonly { readonly code: number; readonly text: string }[]): void;
}

export const MAIL_USER = 'capstan@shop.example';
export const MAIL_PASSWORD = 'p:w/d@ 1';

/** Returns the address of a receiver of mail at a server: `to` is its query, from the addressees on. */
export function mailAddressOf(scheme: 'smtp' | 'smtps', { port }: Pick<MailReceiver, 'port'>, to: string): MailAddress {
  const user = `${encodeURIComponent(MAIL_USER)}:${encodeURIComponent(MAIL_PASSWORD)}`;
  const address = readMailAddress(`${scheme}://${user}@hooks.test:${port}/?to=${to}`);
  if (typeof address === 'string') throw new Error(address);
  return address;
}

/** Starts an SMTP server on loopback with the certificate of hooks.test, for which clients log in. */
export async function startMail(options: SMTPServerOptions = {}): Promise<MailReceiver> {
  const mails: GotMail[] = [];
  const waiting: { readonly code: number; readonly text: string }[] = [];
  const server = new SMTPServer({
    key: KEY,
    cert: CERTIFICATE,
    hideENHANCEDSTATUSCODES: false,
    onAuth: ({ username, password }, _, done) => {
      if (username === MAIL_USER && password === MAIL_PASSWORD) done(null, { user: username });
      else done(Object.assign(new Error('Invalid username or password'), { responseCode: 535 }));
    },
    onData: (stream, session, done) => {
      buffer(stream)
        .then(async (raw) => {
          const reply = stream.sizeExceeded
            ? { code: 552, text: 'Message exceeds fixed maximum size' }
            : waiting.shift();
          if (reply !== undefined) return done(Object.assign(new Error(reply.text), { responseCode: reply.code }));
          mails.push({
            raw: raw.toString(),
            mail: await PostalMime.parse(new Uint8Array(raw)),
            to: session.envelope.rcptTo.map(({ address }) => address),
            user: typeof session.user === 'string' ? session.user : undefined,
            isSecure: session.secure,
          });
          done();
        })
        .catch(done);
    },
    ...options,
  });
  // A client that does not trust the certificate, or breaks off, is no failure of the server.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.server.address() as AddressInfo;
  return {
    port: address.port,
    mails,
    refuse: (...replies) => void waiting.push(...replies),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
