import http from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import type { EgressAgents } from './egress.ts';
import type { Destination } from './egress-policy.ts';

/** Opens a checked connection, or throws a `CapstanError`. */
export type OpenConnection<S extends Duplex = Duplex> = (destination: Destination) => Promise<S>;

type Done = (error: Error | null, stream: Duplex) => void;

/** An agent that opens every connection with `open` and never dials by itself. */
export class OpeningAgent extends http.Agent {
  readonly #open: OpenConnection;

  constructor(open: OpenConnection, options: http.AgentOptions) {
    super(options);
    this.#open = open;
  }

  override createConnection({ host, port }: http.ClientRequestArgs, done?: Done): undefined {
    handOver(this.#open({ host: host ?? '', port: Number(port) }), done);
  }
}

/**
 * Returns agents that open every connection with `open` and never dial by themselves. Connections are not reused, so
 * every request is checked.
 */
export function createEgressAgents(open: OpenConnection<Socket>): EgressAgents {
  return {
    http: new OpeningAgent(open, { keepAlive: false }),
    https: new (class extends https.Agent {
      override createConnection({ host, port, servername }: https.RequestOptions, done?: Done): undefined {
        // The certificate is verified for the requested name, not for the address.
        const secured = open({ host: host ?? '', port: Number(port) }).then((socket) =>
          connect({ socket, host: host ?? '', servername: servername ?? '', ALPNProtocols: ['http/1.1'] }),
        );
        handOver(secured, done);
      }
    })({ keepAlive: false }),
  };
}

function handOver(opened: Promise<Duplex>, done: Done | undefined): void {
  opened.then(
    (socket) => done?.(null, socket),
    (error: unknown) => done?.(error instanceof Error ? error : new Error(String(error)), new Socket()),
  );
}
