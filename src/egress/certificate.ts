import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { bounded } from '../capture/basics/bounded.ts';
import { boundedChain, readCertificate } from '../capture/result/certificate.ts';
import type { NotedTls } from '../capture/result/evidence.ts';
import type { Destination } from './egress-policy.ts';
import { unbracketed } from './egress-policy.ts';
import { urlDestination } from './egress-proxy.ts';

const MAX_CHARACTERS = 256;

/**
 * Returns the certificate of a server that speaks TLS, although no page came from it; null when it does not before the
 * signal is aborted. Never rejects.
 */
export async function certificateOf(
  open: (destination: Destination, signal: AbortSignal) => Promise<Socket>,
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
    const socket = await open(destination, signal);
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
  const chain = chainOf(socket.getPeerCertificate(true));
  const [own] = chain;
  const certificate = own === undefined ? null : readCertificate(own);
  if (certificate === null) return null;
  const { sha256: fingerprint, ...facts } = certificate;
  return {
    version: (socket.getProtocol() ?? '').replace('TLSv', 'TLS '),
    cipher: bounded(socket.getCipher().standardName, MAX_CHARACTERS),
    ...facts,
    fingerprint,
    chain: boundedChain(chain.map((each) => each.toString('base64'))),
  };
}

/** Returns the certificates that were sent. The last one may name itself, or an earlier one, as its issuer. */
function chainOf(own: DetailedPeerCertificate): readonly Buffer[] {
  const chain = new Set<Buffer>();
  for (let each = own; each?.raw !== undefined && !chain.has(each.raw); each = each.issuerCertificate) {
    chain.add(each.raw);
  }
  return [...chain];
}
