import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTurn } from '../../../src/http/answer/long-answers.ts';
import { serviceForSuite } from '../../support/for-suite.ts';
import { NO_BROWSER } from '../../support/service.ts';
import { resultOf } from '../stored-capture.ts';

const app = serviceForSuite(NO_BROWSER);
const unread: Socket[] = [];

beforeAll(async () => {
  const title = 'T'.repeat(2000);
  for (let id = 1; id <= 1000; id += 1) await app.service.results.insert(resultOf(id, { title }));
});
afterAll(() => {
  for (const socket of unread) socket.destroy();
});

describe('long answers', () => {
  it('gives each page a turn of the event loop, so that other requests run between any three', async () => {
    let turn = 0;
    let isOver = false;
    const count = () => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const works = Array.from({ length: 20 }, () => inTurn(null, async () => turn));
    const turns = await Promise.all(works);
    isOver = true;
    for (const [at, each] of turns.entries()) expect(each).toBeGreaterThan(turns[at - 2] ?? -1);
  });

  it.each(['/results/export', '/results/export?format=csv', '/results/by-host?host=example.com'])(
    'answers %s whole while a client reads none of its own',
    async (path) => {
      const { port } = new URL(app.baseUrl);
      for (let each = 0; each < 10; each += 1) {
        const socket = connect(Number(port), '127.0.0.1');
        socket.pause();
        socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
        unread.push(socket);
      }
      const text = await (await app.call(path)).text();
      expect(text.split('T'.repeat(2000))).toHaveLength(1001);
    },
  );
});
