import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, type StringAnswer } from 'dns-packet';

/** The server's answer for each name: its addresses, `none` (no such name), or `silence` (no answer at all). */
export type Zone = (name: string) => readonly string[] | 'none' | 'silence' | 'refusal';

export interface NameServer extends AsyncDisposable {
  /** `127.0.0.1:<port>`. */
  readonly address: string;
  /** The names asked for, one entry for each question. */
  readonly asked: readonly string[];
}

/** A real name server on a UDP port of 127.0.0.1. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { address, port }) => {
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
    socket.send(encode({ type: 'response', id: id ?? 0, flags: code, questions, answers }), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
