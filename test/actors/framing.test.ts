import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMessages } from '../../src/cdp/framing.ts';

describe('messages on the pipe', () => {
  it('decodes messages unchanged, however the bytes were split', () => {
    const messages = fc.array(
      fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (sent, cuts) => {
        const input = new PassThrough();
        const received: string[] = [];
        readMessages(input, { take: (text) => received.push(text) });
        emitCut(input, sent, cuts);
        expect(received).toEqual(sent);
      }),
    );
  });

  it('limits the length of messages, separately for answers and events', () => {
    const input = new PassThrough();
    const received: string[] = [];
    const passed: string[] = [];
    const limits = { eventBytes: 20, answerBytes: 40 };
    readMessages(input, { take: (text) => received.push(text), pass: (head) => passed.push(head.slice(0, 8)) }, limits);
    const answer = (length: number) => `{"id":7,${'a'.repeat(length - 8)}`;
    const event = (length: number) => `{"m":"e"${'e'.repeat(length - 8)}`;
    const sent = [event(20), event(21), answer(40), answer(41), event(500), event(20)];
    for (const byte of Buffer.from(sent.map((text) => `${text}\0`).join(''))) input.emit('data', Buffer.of(byte));
    expect(received).toEqual([event(20), answer(40), event(20)]);
    expect(passed).toEqual(['{"m":"e"', '{"id":7,', '{"m":"e"']);
  });

  it('decodes the characters of a text to bytes, however the message was split', () => {
    const characters = fc.constantFrom('a', '"', '\\', '\n', '\u0001', '=', '<', '\u00e9', '/');
    const texts = fc.array(fc.string({ unit: characters, maxLength: 60 }), { maxLength: 10 });
    fc.assert(
      fc.property(texts, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (sent, cuts) => {
        const messages = sent.map((text, id) => {
          const escaped = JSON.stringify(text).replaceAll('<', '\\u003C').replaceAll('\u00e9', '\\u00e9');
          return `{"id":${id},"result":{"data":${escaped}},"sessionId":"1"}`;
        });
        const input = new PassThrough();
        const received: string[] = [];
        readMessages(input, {
          take: (text) => received.push(JSON.parse(text).result.data),
          wantsData: () => 'latin1',
          takeData: (_id, data) => received.push(data.toString('latin1')),
        });
        emitCut(input, messages, cuts);
        expect(received).toEqual(sent);
      }),
    );
  });

  it('decodes image data to bytes, however the message was split, and only on request', () => {
    const pictures = fc.array(fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.boolean()), { maxLength: 10 });
    fc.assert(
      fc.property(pictures, fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 }), (sent, cuts) => {
        const messages = sent.map(
          ([picture], id) =>
            `{"id":${id},"result":{"data":"${Buffer.from(picture).toString('base64')}"},"sessionId":"1"}`,
        );
        const input = new PassThrough();
        const received: [id: number, picture: string][] = [];
        readMessages(input, {
          take: (text) => {
            const { id, result } = JSON.parse(text);
            received.push([id, result.data]);
          },
          wantsData: (id) => (sent[id]?.[1] === true ? 'base64' : undefined),
          takeData: (id, data) => {
            expect(sent[id]?.[1]).toBe(true);
            received.push([id, data.toString('base64')]);
          },
        });
        emitCut(input, messages, cuts);
        expect(received).toEqual(sent.map(([picture], id) => [id, Buffer.from(picture).toString('base64')]));
      }),
    );
  });

  it('limits messages with image data like answers, and reads the next message', () => {
    const input = new PassThrough();
    const received: string[] = [];
    const limits = { eventBytes: 20, answerBytes: 400 };
    readMessages(
      input,
      {
        take: (text) => received.push(text),
        pass: (head) => received.push(`${head.slice(0, 7)} is too long`),
        wantsData: () => 'base64',
        takeData: (id, data) => received.push(`${id}: ${data.length} bytes`),
      },
      limits,
    );
    const picture = (id: number, length: number) => `{"id":${id},"result":{"data":"${'a'.repeat(length)}"}}`;
    emitCut(input, [picture(1, 300), picture(2, 400), '{"m":"e"}', picture(3, 300)], [100]);
    expect(received).toEqual(['1: 225 bytes', '{"id":2 is too long', '{"m":"e"}', '3: 225 bytes']);
  });
});

/** Emits the bytes of `messages` as a pipe does, in pieces of the given sizes, which repeat. */
function emitCut(input: PassThrough, messages: readonly string[], sizes: readonly number[]): void {
  const bytes = Buffer.from(messages.map((text) => `${text}\0`).join(''));
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    input.emit('data', bytes.subarray(at, at + size));
    at += size;
  }
}
