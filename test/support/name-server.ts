import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, type StringAnswer } from 'dns-packet';

/** The server's answer for each name: its addresses, `none` (no such name), or `silence` (no answer at all). */
export type Zone = (name: string) => readonly string[] | 'none' | 'silence' | 'refusal';

export interface NameServer extends AsyncDisposable {
  /** `<host>:<port>`. */
  readonly address: string;
  /** The names asked for, one entry for each question. */
  readonly asked: readonly string[];
}

/** A real name server on a UDP port of loopback, by default a free one of 127.0.0.1. */
export async function startNameServer(zone: Zone, { host = '127.0.0.1', port = 0 } = {}): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, client) => {
    const { id, questions = [] } = decode(message);
    const [question] = questions;
    if (question === undefined) return;
    const name = question.name.toLowerCase();
    asked.push(name);
    const found = zone(name);
    if (found === 'silence') return;
    const addresses = typeof found === 'string' ? [] : found;
    const answers: StringAnswer[] = addresses
      .filter((text) => (question.type === 'AAAA') === text.includes(':'))
      .map((data) => ({ type: question.type === 'AAAA' ? 'AAAA' : 'A', name: question.name, ttl: 60, data }));
    // RFC 1035, 4.1.1: 3 is "no such name", 5 is "refused".
    const code = found === 'none' ? 3 : found === 'refusal' ? 5 : 0;
    socket.send(
      encode({ type: 'response', id: id ?? 0, flags: code, questions, answers }),
      client.port,
      client.address,
    );
  });
  socket.bind(port, host);
  await once(socket, 'listening');
  return {
    address: `${host}:${socket.address().port}`,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
