import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMessages } from '../../src/actors/cdp/framing.ts';

describe('messages on the pipe', () => {
  it('come out as they went in, however the bytes were cut', () => {
    const messages = fc.array(
      fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sent, cuts) => {
        const bytes = Buffer.from(sent.map((text) => `${text}\0`).join(''));
        const input = new PassThrough();
        const received: string[] = [];
        readMessages(input, (text) => received.push(text));
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = cuts[turn % cuts.length] ?? 1;
          input.emit('data', bytes.subarray(at, at + size));
          at += size;
        }
        expect(received).toEqual(sent);
      }),
    );
  });

  it('are held to a length, which is another one for answers than for events', () => {
    const input = new PassThrough();
    const received: string[] = [];
    const passed: string[] = [];
    const limits = { eventBytes: 20, answerBytes: 40 };
    readMessages(
      input,
      (text) => received.push(text),
      (head) => passed.push(head.slice(0, 8)),
      limits,
    );
    const answer = (length: number) => `{"id":7,${'a'.repeat(length - 8)}`;
    const event = (length: number) => `{"m":"e"${'e'.repeat(length - 8)}`;
    const sent = [event(20), event(21), answer(40), answer(41), event(500), event(20)];
    for (const byte of Buffer.from(sent.map((text) => `${text}\0`).join(''))) input.emit('data', Buffer.of(byte));
    expect(received).toEqual([event(20), answer(40), event(20)]);
    expect(passed).toEqual(['{"m":"e"', '{"id":7,', '{"m":"e"']);
  });
});
