import { expect, it } from 'vitest';
import { ChunkedBody } from '../../src/egress/chunked-body.ts';

it('joins small chunks that come together', () => {
  const body = new ChunkedBody(1024);
  expect(body.read(Buffer.from('1\r\na\r\n'.repeat(10)))?.toString()).toBe('a\r\naaaaaaaaaa\r\n');
  expect(body.read(Buffer.from('3\r\nbcd\r\n1'))?.toString()).toBe('3\r\nbcd\r\n');
  expect(body.read(Buffer.from('0\r\ne'))?.toString()).toBe('1\r\ne\r\n');
  expect(body.read(Buffer.from('f'))?.toString()).toBe('1\r\nf\r\n');
  expect(body.read(Buffer.from('0123456789abcd\r\n2\r\ngh\r\n0\r\n\r\n'))?.toString()).toBe(
    '10\r\n0123456789abcdgh\r\n0\r\n\r\n',
  );
  expect(body.isRegular).toBe(true);
});
