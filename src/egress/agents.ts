import http from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import type { EgressAgents } from './egress.ts';
import type { Destination } from './egress-policy.ts';

type Done = (error: Error | null, stream: Duplex) => void;

/**
 * Returns agents that open every connection with `open` and never dial by themselves. Connections are not reused, so
 * every request is checked.
 */
export function createEgressAgents(open: (destination: Destination) => Promise<Socket>): EgressAgents {
  const opened = ({ host, port }: http.ClientRequestArgs, done: Done | undefined, wrap: (socket: Socket) => Duplex) => {
    open({ host: host ?? '', port: Number(port) }).then(
      (socket) => done?.(null, wrap(socket)),
      (error: unknown) => done?.(error instanceof Error ? error : new Error(String(error)), new Socket()),
    );
  };

  return {
    http: new (class extends http.Agent {
      override createConnection(options: http.ClientRequestArgs, done?: Done): undefined {
        opened(options, done, (socket) => socket);
      }
    })({ keepAlive: false }),
    https: new (class extends https.Agent {
      override createConnection(options: https.RequestOptions, done?: Done): undefined {
        // The certificate is verified for the requested name, not for the address.
        const { host, servername } = options;
        opened(options, done, (socket) =>
          connect({ socket, host: host ?? '', servername: servername ?? '', ALPNProtocols: ['http/1.1'] }),
        );
      }
    })({ keepAlive: false }),
  };
}
