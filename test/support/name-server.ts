import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, type StringAnswer } from 'dns-packet';

/**
 * The server's answer to a question: addresses, `none` (no such name), `silence` (no answer at all), or an alias, with
 * the records that follow it after a time.
 */
export type Zone = (name: string, type: string) => Answered;

type Answered = readonly string[] | 'none' | 'silence' | 'refusal' | Alias;

interface Alias {
  /** The canonical name, in a CNAME record before the addresses. */
  readonly cname: string;
  readonly addresses: readonly string[];
  /** Answers when it resolves. */
  readonly when?: Promise<unknown>;
}

export interface NameServer extends AsyncDisposable {
  /** `<host>:<port>`. */
  readonly address: string;
  /** The names asked for, one entry for each question. */
  readonly asked: readonly string[];
}

/** A real name server on a UDP port of loopback, by default a free one of 127.0.0.1. */
export async function startNameServer(zone: Zone, { host = '127.0.0.1', port = 0 } = {}): Promise<NameServer> {
  const asked: string[] = [];
  let isOpen = true;
  const socket = createSocket('udp4');
  socket.on('message', (message, client) => {
    const { id, questions = [] } = decode(message);
    const [question] = questions;
    if (question === undefined) return;
    const name = question.name.toLowerCase();
    asked.push(name);
    const found = zone(name, question.type);
    if (found === 'silence') return;
    const alias = typeof found === 'object' && 'cname' in found ? found : undefined;
    const addresses = alias?.addresses ?? (Array.isArray(found) ? found : []);
    const owner = alias?.cname ?? question.name;
    const answers: StringAnswer[] = addresses
      .filter((text) => (question.type === 'AAAA') === text.includes(':'))
      .map((data) => ({ type: question.type === 'AAAA' ? 'AAAA' : 'A', name: owner, ttl: 60, data }));
    if (alias !== undefined) answers.unshift({ type: 'CNAME', name: question.name, ttl: 60, data: alias.cname });
    // RFC 1035, 4.1.1: 3 is "no such name", 5 is "refused".
    const code = found === 'none' ? 3 : found === 'refusal' ? 5 : 0;
    const answer = encode({ type: 'response', id: id ?? 0, flags: code, questions, answers });
    void Promise.resolve(alias?.when).then(() => isOpen && socket.send(answer, client.port, client.address));
  });
  socket.bind(port, host);
  await once(socket, 'listening');
  return {
    address: `${host}:${socket.address().port}`,
    asked,
    async [Symbol.asyncDispose]() {
      isOpen = false;
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
