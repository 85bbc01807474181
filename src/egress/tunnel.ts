import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { failure, toFailure } from '../capture/errors.ts';
import { mayHaveClosed } from './dialled-connection.ts';
import type { Destination } from './egress-policy.ts';
import type { Traffic } from './traffic.ts';

interface TunnelOptions {
  readonly destination: Destination;
  /** Bytes that the browser has sent after the request. */
  readonly head: Buffer;
  readonly open: (destination: Destination) => Promise<Socket>;
  readonly traffic: Traffic;
}

/**
 * Connects the browser to a target for TLS and WebSockets, with backpressure in both directions. A refusal is answered
 * with a status and no body, because browsers never show the body of a failed CONNECT.
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

  /** Bytes that the browser has sent over a connection that may be closed already, until it is answered. */
  let unanswered: Buffer[] | undefined = mayHaveClosed(target) ? [] : undefined;
  browser.on('data', (chunk: Buffer) => {
    traffic.countBytes(chunk.length);
    unanswered?.push(chunk);
  });
  const join = (target: Socket): void => {
    target.on('data', (chunk: Buffer) => {
      unanswered = undefined;
      traffic.countBytes(chunk.length);
    });
    browser.pipe(target);
    target.pipe(browser, { end: false });
    const leave = (): void => target.destroySoon();
    browser.once('close', leave);
    target.once('end', () => {
      if (unanswered === undefined) browser.end();
    });
    target.once('close', (hadError) => {
      browser.off('close', leave);
      const silent = target.bytesRead === 0 && !traffic.signal.aborted && !browser.destroyed;
      if (silent && unanswered !== undefined) return again();
      if (silent) traffic.noteFailure(destination, hungUp(destination));
      if (hadError) browser.destroy();
      else endSoon(browser);
    });
  };
  /** Repeats what was sent on another connection. */
  const again = (): void => {
    open(destination).then(
      (target) => {
        const sent = unanswered ?? [];
        unanswered = undefined;
        if (browser.destroyed) return void target.destroy();
        if (sent.length > 0) target.write(Buffer.concat(sent));
        join(target);
      },
      (error: unknown) => {
        traffic.noteFailure(destination, toFailure(error));
        browser.destroy();
      },
    );
  };
  if (head.length > 0) {
    target.write(head);
    unanswered?.push(head);
  }
  join(target);
}

export function refuseTunnel(browser: Duplex, status: string): void {
  browser.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`, () => browser.destroy());
}

/** Closes once everything has been sent to the browser. */
function endSoon(browser: Duplex): void {
  if (browser.writableFinished) browser.destroy();
  else browser.end(() => browser.destroy());
}

function hungUp({ host, port }: Destination): ReturnType<typeof failure> {
  return failure('target_unreachable', `${host}:${port} closed the connection without an answer`);
}

/** Returns the destination of a CONNECT request, or null when its authority is not a host and port. */
export function tunnelDestination({ url = '' }: IncomingMessage): Destination | null {
  const port = /^[^/?#@\\\s]+:(\d{1,5})$/.exec(url)?.[1];
  const host = URL.parse(`http://${url}/`)?.hostname;
  return port === undefined || !host ? null : { host, port: Number(port) };
}
