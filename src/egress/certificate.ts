import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { connect, type DetailedPeerCertificate, type PeerCertificate, type TLSSocket } from 'node:tls';
import type { NotedTls } from '../capture/evidence.ts';
import type { Destination } from './egress-policy.ts';
import { unbracketed } from './egress-policy.ts';
import { urlDestination } from './egress-proxy.ts';

const MAX_CHARACTERS = 256;
const MAX_NAMES = 100;
const MAX_CHAIN = 10;

/**
 * Returns the certificate of a server that speaks TLS, though no page came from it; null when it does not within this
 * time. Never rejects.
 */
export async function certificateOf(
  open: (destination: Destination) => Promise<Socket>,
  url: URL,
  signal: AbortSignal,
): Promise<NotedTls | null> {
  // Node.js crashes when a socket is destroyed before the TLS socket over it.
  let outer: Socket | undefined;
  const end = (): void => void outer?.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    const destination = urlDestination(url);
    const host = unbracketed(destination.host);
    const socket = await open(destination);
    outer = socket;
    if (signal.aborted) return null;
    // The certificate is only noted: nothing is sent over the connection.
    const secured = connect({ socket, rejectUnauthorized: false, servername: isIP(host) === 0 ? host : '' });
    outer = secured;
    await once(secured, 'secureConnect', { signal });
    return notedTls(secured);
  } catch {
    return null;
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
}

function notedTls(socket: TLSSocket): NotedTls | null {
  const own = socket.getPeerCertificate(true);
  if (own.raw === undefined) return null;
  return {
    version: (socket.getProtocol() ?? '').replace('TLSv', 'TLS '),
    cipher: bounded(socket.getCipher().standardName),
    issuer: bounded(nameIn(own.issuer)),
    subject: bounded(nameIn(own.subject)),
    names: namesIn(own.subjectaltname ?? ''),
    valid_from: new Date(own.valid_from).toISOString(),
    valid_to: new Date(own.valid_to).toISOString(),
    fingerprint: own.fingerprint256.replaceAll(':', '').toLowerCase(),
    chain: chainOf(own),
  };
}

function chainOf(own: DetailedPeerCertificate): readonly string[] {
  const chain: string[] = [];
  const seen = new Set<DetailedPeerCertificate>();
  for (let each = own; each?.raw !== undefined && !seen.has(each) && chain.length < MAX_CHAIN; ) {
    seen.add(each);
    chain.push(each.raw.toString('base64'));
    each = each.issuerCertificate;
  }
  return chain;
}

/** Returns the names of an extension such as `DNS:a.example, IP Address:192.0.2.1`. */
function namesIn(text: string): readonly string[] {
  const names = [...text.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, name = '']) => bounded(name));
  return names.slice(0, MAX_NAMES);
}

function nameIn({ CN, O }: PeerCertificate['subject']): string {
  const name = CN ?? O ?? '';
  return typeof name === 'string' ? name : (name[0] ?? '');
}

function bounded(text: string): string {
  return text.slice(0, MAX_CHARACTERS);
}
