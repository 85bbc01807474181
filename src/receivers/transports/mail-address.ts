import { isIP } from 'node:net';
import { decodes, NOT_ENCODED } from './decodes.ts';

/** Mail server, sender and addressees, as `smtps://user:password@mail.example/?to=ops@shop.example` says them. */
export interface MailAddress {
  /** In the form of a URL's hostname. */
  readonly host: string;
  readonly port: number;
  /** `implicit`: TLS from the beginning; `starttls`: required after the greeting; `none`: in the clear. */
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly user: string;
  readonly password: string;
  readonly from: string;
  readonly to: readonly string[];
}

const MAX_ADDRESSEES = 20;
/** RFC 5321, 4.5.3.1.3. */
const MAX_ADDRESS_CHARACTERS = 254;
const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}]+@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u;
const FORM = 'smtps://user:password@host/?to=name@domain, or smtp:// for a server with STARTTLS';

/** Reads an address; returns what is wrong with it as a text. */
export function readMailAddress(text: string): MailAddress | string {
  if (!URL.canParse(text)) return `must be a URL such as ${FORM}`;
  const { protocol, hostname, port, username, password, searchParams } = new URL(text);
  if (protocol !== 'smtps:' && protocol !== 'smtp:') return `must begin with smtps:// or smtp://, such as ${FORM}`;
  if (hostname === '') return `must name a host, such as ${FORM}`;
  for (const name of searchParams.keys()) {
    if (name !== 'to' && name !== 'from' && name !== 'tls')
      return `has the unknown parameter ${name}: to, from and tls are accepted`;
  }
  const tls = searchParams.get('tls');
  if (tls !== null && (tls !== 'none' || protocol === 'smtps:'))
    return 'must have no parameter tls but tls=none, and that with smtp:// alone';
  if (!decodes(username) || !decodes(password)) return NOT_ENCODED;
  const user = decodeURIComponent(username);
  const to = searchParams.getAll('to').flatMap((list) => list.split(',').map((one) => one.trim()));
  if (to.length === 0) return `must name whom it is for, such as ${FORM}`;
  if (to.length > MAX_ADDRESSEES) return `must have at most ${MAX_ADDRESSEES} addresses in to`;
  const from = searchParams.get('from') ?? (isAddress(user) ? user : undefined);
  if (from === undefined)
    return 'must name the sender, such as &from=capstan@shop.example, because the user is no mail address';
  const wrong = [from, ...to].find((address) => !isAddress(address));
  if (wrong !== undefined) return `has ${JSON.stringify(wrong)}, which is no mail address`;
  return {
    host: canonical(hostname),
    port: port === '' ? (protocol === 'smtps:' ? 465 : 587) : Number(port),
    tls: protocol === 'smtps:' ? 'implicit' : tls === 'none' ? 'none' : 'starttls',
    user,
    password: decodeURIComponent(password),
    from,
    to,
  };
}

function isAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_CHARACTERS && ADDRESS.test(text);
}

/** URLs of other schemes than HTTP keep their hosts as they are written. */
function canonical(hostname: string): string {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) === 6) return hostname.toLowerCase();
  return URL.canParse(`http://${hostname}`) ? new URL(`http://${hostname}`).hostname : hostname;
}
