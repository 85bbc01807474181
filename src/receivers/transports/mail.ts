import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import type { SendMailOptions } from 'nodemailer';
import { codeOf } from '../../capture/basics/error-code.ts';
import { CapstanError } from '../../capture/errors.ts';
import type { Egress } from '../../egress/egress.ts';
import type { Notice } from '../notice.ts';
import type { Attempt, Message, Transport } from '../transport.ts';
import { again, reasonIn, refused } from './exchange.ts';
import type { MailAddress } from './mail-address.ts';
import { htmlOf, subjectOf, textOf } from './mail-text.ts';
import { messenger, type SentImage } from './messenger.ts';

/* Mail over SMTP: RFC 5321, with TLS from the beginning (RFC 8314) or STARTTLS (RFC 3207). */

/** Mail of more than about 10 MB is refused by many servers; base64 adds a third. */
const IMAGE_LIMITS = { maxBytes: 1024 * 1024, maxSide: 4096 };
/** Time without a byte, in milliseconds. */
const TIMEOUT_MS = 30_000;
/** Maximum time of an attempt, in limits of silence. */
const MAX_SILENCES = 4;
/** RFC 5321, 4.2.2 and 3.3; 523 of some servers: the message is too large. */
const TOO_LARGE_CODES: readonly number[] = [523, 552];
const TOO_LARGE = 'the message is too large for the server';

interface MailOptions {
  readonly address: MailAddress;
  readonly connectToMail: Egress['connectToMail'];
  /** Time limit for each wait for the server, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

export function mailTransport(options: MailOptions): Transport {
  const attempt = messenger({
    files: IMAGE_LIMITS,
    loads: false,
    refusesImages: (end) => 'reason' in end && end.reason === TOO_LARGE,
    tell: (notice, { files }, { id, signal }) => deliver(mailOf(id, notice, files, options.address), options, signal),
  });
  return (message, signal) => {
    // A server that answers little by little never runs into the limit of silence.
    const limit = AbortSignal.timeout(MAX_SILENCES * (options.timeoutMs ?? TIMEOUT_MS));
    return attempt(message, AbortSignal.any([signal, limit]));
  };
}

async function deliver(
  mail: SendMailOptions,
  { address, connectToMail, timeoutMs = TIMEOUT_MS }: MailOptions,
  signal: AbortSignal,
): Promise<Attempt> {
  const { host, port, tls, user, password } = address;
  // Loaded with the first message: a start without receivers does not need it.
  const { createTransport } = await import('nodemailer');
  const connection: Socket = await connectToMail({ host, port }, signal);
  const cut = () => connection.destroy();
  signal.addEventListener('abort', cut);
  try {
    const name = host.replace(/^\[|\]$/g, '');
    const transport = createTransport({
      // The address was checked before the connection was opened: the name is for TLS alone.
      connection,
      host: name,
      port,
      secure: tls === 'implicit',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      tls: isIP(name) === 0 ? { servername: name } : {},
      auth: user === '' ? undefined : { user, pass: password },
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    const { response } = await transport.sendMail(mail);
    return { end: 'delivered', status: Number.parseInt(response, 10) || null };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CapstanError) throw error;
    return failed(error);
  } finally {
    signal.removeEventListener('abort', cut);
    connection.destroy();
  }
}

/** Replies of 4yz are temporary, and of 5yz final: RFC 5321, 4.2.1. */
function failed(error: unknown): Attempt {
  const { message, responseCode, code } = fieldsOf(error);
  const isTooLarge =
    responseCode === null ? code === 'EMESSAGE' && /size/i.test(message) : TOO_LARGE_CODES.includes(responseCode);
  if (isTooLarge) return refused(TOO_LARGE);
  const reason = reasonIn(message);
  return responseCode !== null && responseCode >= 500 ? refused(reason, responseCode) : again(reason, responseCode);
}

function fieldsOf(error: unknown): { message: string; responseCode: number | null; code: string | undefined } {
  if (!(error instanceof Error)) return { message: String(error), responseCode: null, code: undefined };
  const responseCode = 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : null;
  return { message: error.message, responseCode, code: codeOf(error) };
}

function mailOf(
  id: Message['id'],
  notice: Notice,
  images: readonly SentImage[],
  { from, to }: MailAddress,
): SendMailOptions {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const unique = id.replace(/[^\w.-]/g, '-');
  const inline = images.map((image) => ({ ...image, cid: `${image.image.name}.${unique}@${domain}` }));
  return {
    // As objects, which are not parsed.
    from: { name: 'Capstan', address: from },
    to: to.map((address) => ({ name: '', address })),
    subject: subjectOf(notice),
    // The same for each attempt: mailboxes that get a message twice show it once.
    messageId: `<${unique}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    text: textOf(notice),
    html: htmlOf(
      notice,
      inline.map(({ cid, image }) => ({ cid, alt: image.alt })),
    ),
    attachments: inline.map(({ bytes, mediaType, fileName, cid }) => ({
      filename: fileName,
      content: bytes,
      contentType: mediaType,
      contentDisposition: 'inline',
      cid,
    })),
  };
}
