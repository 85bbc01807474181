import { expect, it } from 'vitest';
import { ChunkedBody } from '../../src/egress/chunked-body.ts';

it('joins small chunks that come together', () => {
  const body = new ChunkedBody(1024);
  const read = (text: string) => Buffer.concat(body.read(Buffer.from(text))).toString();
  expect(read('1\r\na\r\n'.repeat(10))).toBe('a\r\naaaaaaaaaa\r\n');
  expect(read('3\r\nbcd\r\n1')).toBe('3\r\nbcd\r\n');
  expect(read('0\r\ne')).toBe('1\r\ne\r\n');
  expect(read('f')).toBe('1\r\nf\r\n');
  expect(read('0123456789abcd\r\n2\r\ngh\r\n0\r\n\r\n')).toBe('10\r\n0123456789abcdgh\r\n0\r\n\r\n');
  expect(body.isRegular).toBe(true);
});
