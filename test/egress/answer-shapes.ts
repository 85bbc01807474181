/* Shapes of HTTP answers, and what Chromium 156 makes of each when it opens the page without a proxy. */

export const BODY = '<!doctype html><title>T</title><h1>Hello body</h1><p>Some text here to fill.</p>';
const SIZE = BODY.length;
const HEX = SIZE.toString(16);
const TYPE = 'Content-Type: text/html\r\n';
const CLOSE = 'Connection: close\r\n';
const LENGTH = `Content-Length: ${SIZE}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const CHUNKS = `${HEX}\r\n${BODY}\r\n0\r\n\r\n`;

const ok = (headers: string, body = BODY): string => `HTTP/1.1 200 OK\r\n${TYPE}${headers}\r\n${body}`;
const start = (statusLine: string): string => `${statusLine}\r\n${TYPE}${CLOSE}\r\n${BODY}`;

/** Answers without a head on port 80, which Chromium reads as HTTP/0.9. */
export const HEADLESS: readonly (readonly [what: string, answer: string, reading: Reading])[] = [
  ['a body alone', BODY, 'whole'],
  ['a few letters', 'hi', [200, 'hi']],
  ['RTSP', start('RTSP/1.0 200 OK'), [200, start('RTSP/1.0 200 OK')]],
  ['ICY after an empty line', `\r\n${start('ICY 200 OK')}`, [200, `\r\n${start('ICY 200 OK')}`]],
  ['NUL', '220 Welcome\0', [200, '220 Welcome\0']],
  ['a plain answer', ok(LENGTH + CLOSE), 'whole'],
  ['a body after 100', `HTTP/1.1 100 Continue\r\n\r\n${BODY}`, 'refused'],
  ['nothing', '', 'refused'],
];

/** `whole` is a 200 with `BODY`; `broken` a 200 whose body ends with an error; `refused` no answer. */
export type Reading = 'whole' | 'broken' | 'refused' | readonly [status: number, body: string];

export const SHAPES: readonly (readonly [what: string, answer: string, reading: Reading])[] = [
  ['a plain answer', ok(LENGTH + CLOSE), 'whole'],
  ['two equal lengths', ok(LENGTH + LENGTH + CLOSE), 'whole'],
  ['two equal lengths in one line', ok(`Content-Length: ${SIZE}, ${SIZE}\r\n${CLOSE}`), 'whole'],
  ['two different lengths', ok(`${LENGTH}Content-Length: 9\r\n${CLOSE}`), 'refused'],
  ['an empty line after the body', ok(LENGTH + CLOSE, `${BODY}\r\n`), 'whole'],
  ['an empty line after the body on a kept connection', ok(LENGTH, `${BODY}\r\n`), 'whole'],
  ['a length shorter than the body', ok(LENGTH + CLOSE, `${BODY}<p>more</p>`), 'whole'],
  ['a length shorter than the body on a kept connection', ok(LENGTH, `${BODY}<p>more</p>`), 'whole'],
  ['a length of 0 with a body', ok(`Content-Length: 0\r\n${CLOSE}`), [200, '']],
  ['a length in letters', ok(`Content-Length: abc\r\n${CLOSE}`), 'whole'],
  ['an empty length', ok(`Content-Length: \r\n${CLOSE}`), 'whole'],
  ['a negative length', ok(`Content-Length: -1\r\n${CLOSE}`), 'whole'],
  ['a length with a plus', ok(`Content-Length: +${SIZE}\r\n${CLOSE}`), 'whole'],
  ['a length beyond all numbers', ok(`Content-Length: ${'9'.repeat(23)}\r\n${CLOSE}`), 'whole'],
  ['spaces around the length', ok(`Content-Length:   ${SIZE}  \r\n${CLOSE}`), 'whole'],
  ['a space before a colon', ok(`X-A : b\r\n${LENGTH}${CLOSE}`), 'whole'],
  ['a line without a colon', ok(`JunkLine\r\n${LENGTH}${CLOSE}`), 'whole'],
  ['an empty name', ok(`: value\r\n${LENGTH}${CLOSE}`), 'whole'],
  ['a space in a name', ok(`X A: value\r\n${LENGTH}${CLOSE}`), 'whole'],
  ['a folded line', ok(`X-A: one\r\n two\r\n${LENGTH}${CLOSE}`), 'whole'],
  ['a space before the first name', `HTTP/1.1 200 OK\r\n X-Lead: 1\r\n${TYPE}${LENGTH}${CLOSE}\r\n${BODY}`, 'whole'],
  ['an empty line before the status line', `\r\n${ok(LENGTH + CLOSE)}`, 'whole'],
  ['chunks and a length', ok(LENGTH + CHUNKED + CLOSE, CHUNKS), 'whole'],
  ['the encoding identity', ok(`Transfer-Encoding: identity\r\n${LENGTH}${CLOSE}`), 'whole'],
  ['the encodings gzip, chunked', ok(`Transfer-Encoding: gzip, chunked\r\n${CLOSE}`, CHUNKS), 'whole'],
  ['the encoding chunked twice', ok(CHUNKED + CHUNKED + CLOSE, CHUNKS), 'whole'],
  ['chunks with LF alone', ok(CHUNKED + CLOSE, `${HEX}\n${BODY}\n0\n\n`), 'whole'],
  ['spaces after the size of a chunk', ok(CHUNKED + CLOSE, `${HEX}  \r\n${BODY}\r\n0\r\n\r\n`), 'whole'],
  ['a chunk extension', ok(CHUNKED + CLOSE, `${HEX};a=b\r\n${BODY}\r\n0\r\n\r\n`), 'whole'],
  ['zeros before the size of a chunk', ok(CHUNKED + CLOSE, `0000${HEX}\r\n${BODY}\r\n0000\r\n\r\n`), 'whole'],
  ['chunks without a last one', ok(CHUNKED + CLOSE, `${HEX}\r\n${BODY}\r\n`), 'broken'],
  ['chunks without the last empty line', ok(CHUNKED + CLOSE, `${HEX}\r\n${BODY}\r\n0\r\n`), 'broken'],
  ['a body that is not in chunks as promised', ok(CHUNKED + CLOSE), 'broken'],
  ['the size of a chunk with LF alone', ok(CHUNKED + CLOSE, `${HEX}\n${BODY}\r\n0\r\n\r\n`), 'whole'],
  ['the end of a chunk with LF alone', ok(CHUNKED + CLOSE, `${HEX}\r\n${BODY}\n0\r\n\r\n`), 'whole'],
  ['LF alone after the last chunk', ok(CHUNKED + CLOSE, `${HEX}\r\n${BODY}\r\n0\r\n\n`), 'whole'],
  ['chunks with CR alone', ok(CHUNKED + CLOSE, `${HEX}\r${BODY}\r0\r\r`), 'broken'],
  ['a tab after the size of a chunk', ok(CHUNKED + CLOSE, `${HEX}\t\r\n${BODY}\r\n0\r\n\r\n`), 'broken'],
  ['a space before the size of a chunk', ok(CHUNKED + CLOSE, ` ${HEX}\r\n${BODY}\r\n0\r\n\r\n`), 'broken'],
  ['0x before the size of a chunk', ok(CHUNKED + CLOSE, `0x${HEX}\r\n${BODY}\r\n0\r\n\r\n`), 'broken'],
  ['an empty line before the first chunk', ok(CHUNKED + CLOSE, `\r\n${CHUNKS}`), 'broken'],
  ['spaces and an extension', ok(CHUNKED + CLOSE, `${HEX}  ; a="b"\r\n${BODY}\r\n0;c\r\n\r\n`), 'whole'],
  ['a chunk longer than its size', ok(CHUNKED + CLOSE, `${HEX}\r\n${BODY}<p>\r\n0\r\n\r\n`), 'broken'],
  ['an invalid chunk after a valid one', ok(CHUNKED + CLOSE, `${HEX}\r\n${BODY}\r\nzz\r\nmore`), 'broken'],
  ['a length and no body', ok(LENGTH + CLOSE, ''), 'broken'],
  ['a trailer', ok(CHUNKED + CLOSE, `${HEX}\r\n${BODY}\r\n0\r\nX-A: b\r\n\r\n`), 'whole'],
  ['a trailer that is no header', ok(CHUNKED + CLOSE, `${HEX}\r\n${BODY}\r\n0\r\nX A\n\r\n`), 'whole'],
  ['bytes after the last chunk', ok(CHUNKED, `${CHUNKS}<p>more</p>`), 'whole'],
  ['chunks in version 1.0', ok(CHUNKED, CHUNKS).replace('1.1', '1.0'), [200, CHUNKS]],
  ['the status 200OK', start('HTTP/1.1 200OK'), 'whole'],
  ['no version', start('HTTP 200 OK'), 'whole'],
  ['version 2.0', start('HTTP/2.0 200 OK'), 'whole'],
  ['version 1.2', start('HTTP/1.2 200 OK'), 'whole'],
  ['small letters', start('http/1.1 200 ok'), 'whole'],
  ['a reason phrase in UTF-8', start('HTTP/1.1 200 \xc3\x9cber'), 'whole'],
  ['two spaces before the status', start('HTTP/1.1  200 OK'), 'whole'],
  ['tabs in the status line', start('HTTP/1.1\t200\tOK'), 'whole'],
  ['no reason phrase', start('HTTP/1.1 200'), 'whole'],
  ['the status 099', start('HTTP/1.1 099 Odd'), 'whole'],
  ['a status of four digits', start('HTTP/1.1 1000 Odd'), 'whole'],
  ['101 that nothing has asked for', start('HTTP/1.1 101 Switching Protocols'), 'refused'],
  ['a status line alone', 'HTTP/1.1 200 OK', [200, '']],
  ['an end before the empty line, after a length', `HTTP/1.1 200 OK\r\n${TYPE}${LENGTH}`, [200, '']],
  ['lines that end with CR CR LF', ok(LENGTH + CLOSE).replaceAll('\r\n', '\r\r\n'), [200, '']],
  ['an end before the empty line', `HTTP/1.1 404 Not Found\r\n${TYPE}Content-Len`, [404, '']],
  ['LF alone', start('HTTP/1.1 200 OK').replaceAll('\r', ''), 'whole'],
  ['100 first', `HTTP/1.1 100 Continue\r\n\r\n${ok(LENGTH + CLOSE)}`, 'whole'],
  ['control characters in a value', ok(`X-A: a\x02b\x7f\r\n${LENGTH}${CLOSE}`), 'whole'],
  ['a bare CR in a value', ok(`X-A: a\rb\r\n${LENGTH}${CLOSE}`), 'whole'],
  ['UTF-8 in a value', ok(`X-A: \xc3\xa4\xe2\x82\xac\r\n${LENGTH}${CLOSE}`), 'whole'],
  ['Keep-Alive without a length', ok('Connection: Keep-Alive\r\nKeep-Alive: timeout=5\r\n'), 'whole'],
  ['version 1.0 without a length', `HTTP/1.0 200 OK\r\n${TYPE}\r\n${BODY}`, 'whole'],
  ['an offer to upgrade', ok(`Upgrade: h2,h2c\r\nConnection: Upgrade, close\r\n${LENGTH}`), 'whole'],
  ['two types', ok(TYPE + LENGTH + CLOSE), 'whole'],
  ['two equal locations', 'HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n', [302, '']],
  ['NUL in a value', ok(`X-A: a\0b\r\n${LENGTH}${CLOSE}`), 'refused'],
  ['NUL in a name', ok(`X\0A: b\r\n${LENGTH}${CLOSE}`), 'refused'],
  ['NUL in a reason phrase', start('HTTP/1.1 200 O\0K'), 'refused'],
  ['ICY', start('ICY 200 OK'), [200, start('ICY 200 OK')]],
  ['ICY in small letters, and nothing else', 'icy', [200, 'icy']],
  ['ICY after an empty line', `\r\n${start('ICY 200 OK')}`, 'refused'],
  ['ICY after 100', `HTTP/1.1 100 Continue\r\n\r\n${start('ICY 200 OK')}`, 'refused'],
  ['RTSP', start('RTSP/1.0 200 OK'), 'refused'],
  ['a body alone', BODY, 'refused'],
  ['a few letters', 'hi', 'refused'],
  ['nothing', '', 'refused'],
  ['an error with a page', `HTTP/1.1 404 Not Found\r\n${TYPE}${LENGTH}${CLOSE}\r\n${BODY}`, [404, BODY]],
];
