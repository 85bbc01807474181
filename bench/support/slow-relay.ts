import { connect, createServer, type Socket } from 'node:net';
import { type Listening, listening } from '../../test/egress/listening.ts';

/** Starts a relay to a port of loopback, through which a round trip takes `roundTripMs` longer. */
export function startSlowRelay(port: number, roundTripMs: number): Promise<Listening> {
  const relay = (from: Socket, to: Socket): void => {
    // Timers of the same time fire in the order in which they were set.
    const later = (act: () => void): void => void setTimeout(act, roundTripMs / 2);
    from.on('data', (bytes) => later(() => to.write(bytes)));
    from.on('end', () => later(() => to.end()));
    from.on('error', () => to.destroy());
    from.on('close', () => later(() => to.destroy()));
  };
  return listening(
    createServer({ allowHalfOpen: true }, (client) => {
      const server = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      relay(client, server);
      relay(server, client);
    }),
    '127.0.0.1',
  );
}
