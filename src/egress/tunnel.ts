import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { failure, toFailure } from '../capture/errors.ts';
import type { Destination } from './egress-policy.ts';
import type { Traffic } from './traffic.ts';

export interface TunnelOptions {
  readonly destination: Destination;
  /** What the browser sent behind the request already. */
  readonly head: Buffer;
  readonly open: (destination: Destination) => Promise<Socket>;
  readonly traffic: Traffic;
}

/**
 * Joins the browser to a target for TLS and WebSockets, at the pace of the slower side. A refusal is answered as such
 * (browsers never show the body of a failed CONNECT).
 */
export async function openTunnel(browser: Duplex, { destination, head, open, traffic }: TunnelOptions): Promise<void> {
  let target: Socket;
  try {
    traffic.admitRequest();
    target = await open(destination);
  } catch (error) {
    const reason = toFailure(error);
    traffic.noteFailure(destination, reason);
    refuseTunnel(browser, reason.code === 'target_forbidden' ? '403 Forbidden' : '502 Bad Gateway');
    return;
  }
  if (browser.destroyed) {
    target.destroy();
    return;
  }
  browser.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  if (head.length > 0) target.write(head);

  for (const side of [browser, target]) side.on('data', (chunk: Buffer) => traffic.countBytes(chunk.length));
  browser.pipe(target);
  target.pipe(browser);
  target.once('close', (hadError) => {
    if (target.bytesRead === 0 && !traffic.signal.aborted && !browser.destroyed) {
      traffic.noteFailure(destination, hungUp(destination));
    }
    if (hadError) browser.destroy();
    else endSoon(browser);
  });
  browser.once('close', () => target.destroySoon());
}

export function refuseTunnel(browser: Duplex, status: string): void {
  browser.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`, () => browser.destroy());
}

/** Lets what is on its way to the browser arrive, then closes. */
function endSoon(browser: Duplex): void {
  if (browser.writableFinished) browser.destroy();
  else browser.end(() => browser.destroy());
}

function hungUp({ host, port }: Destination): ReturnType<typeof failure> {
  return failure('target_unreachable', `${host}:${port} closed the connection without an answer`);
}

/** The destination of a CONNECT request, or null when its authority is none. */
export function tunnelDestination({ url = '' }: IncomingMessage): Destination | null {
  const port = /^[^/?#@\\\s]+:(\d{1,5})$/.exec(url)?.[1];
  const host = URL.parse(`http://${url}/`)?.hostname;
  return port === undefined || !host ? null : { host, port: Number(port) };
}
