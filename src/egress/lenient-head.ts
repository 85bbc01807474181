import { isValidHeader } from './hop-by-hop.ts';

/** RFC 9110, 5.6.2. */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const REGULAR = new RegExp(
  `^HTTP/1\\.([01]) ([1-9]\\d{2})(?: [^\\r\\n\\0]*)?\\r\\n(?:${TOKEN}:[^\\r\\n\\0]*\\r\\n)*\\r\\n$`,
);
const FRAMING = /^(content-length|transfer-encoding):[ \t]*(.*?)[ \t]*\r$/gim;
const LINE = new RegExp(`^(${TOKEN})[ \\t]*:[ \\t]*(.*?)[ \\t]*$`);
/** `http` may come after up to four other bytes, as in Chromium. */
const STATUS_LINE = /^.{0,4}?(http(?:\/(\d+)\.(\d+))?[^\r\n]*)/is;
/** Content-Length that fits into 64 bits. Chromium ignores a longer one. */
const COUNTED = /^\d{1,18}$/;
/** Written anew, or without meaning on a connection that ends after the answer. */
const REWRITTEN = new Set(['content-length', 'transfer-encoding', 'keep-alive', 'upgrade']);

/** The head of an answer in HTTP/0.9, which has none. Its body ends with the connection. */
export const HEAD_OF_HTTP_09 = Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');

type Header = readonly [name: string, value: string];

/**
 * Returns the head of an answer, as latin1, in a form that Node's parser reads as Chromium reads the original. Regular
 * heads are returned unchanged. Others get `Connection: close`: where such an answer ends is open to interpretation, so
 * no later answer may be read from its connection. Returns null when Chromium refuses the head too.
 */
export function normalizedHead(head: string): string | null {
  if (isRegular(head)) return head;
  // RFC 9110, 5.5, and Chromium for the whole head.
  if (head.includes('\0')) return null;
  const [, statusLine = '', major, minor] = STATUS_LINE.exec(head) ?? [];
  const status = statusIn(statusLine);
  // No request asks for another protocol.
  if (statusLine === '' || status.startsWith('101')) return null;
  const headers = headersIn(head.slice(head.indexOf(statusLine) + statusLine.length));
  const lengths = new Set(valuesOf(headers, 'content-length'));
  const encodings = valuesOf(headers, 'transfer-encoding').map((value) => value.toLowerCase());
  const isHttp11 = major !== undefined && (Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 1));
  const isChunked = isHttp11 && encodings.includes('chunked');
  if (!isChunked && lengths.size > 1) return null;
  const [length = ''] = lengths;
  const framing: Header[] = [['Connection', 'close']];
  if (isChunked) framing.push(['Transfer-Encoding', 'chunked']);
  else if (COUNTED.test(length)) framing.push(['Content-Length', length]);

  const kept = headers.filter(([name, value]) => !REWRITTEN.has(name.toLowerCase()) && isValidHeader(name, value));
  const lines = [...kept, ...framing].map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`;
}

/**
 * Returns status and reason phrase: 200 when there is no number after the first space, as in Chromium, or one that Node
 * cannot send.
 */
function statusIn(statusLine: string): string {
  const [, digits, reason = ''] = /^[^ ]* +([1-9]\d\d)(?!\d)(.*)$/.exec(statusLine) ?? [];
  return digits === undefined ? '200 OK' : `${digits} ${reason.trim()}`;
}

function headersIn(text: string): Header[] {
  const lines: string[] = [];
  let canContinue = false;
  // A lone CR ends a line, as in Chromium.
  for (const line of text.split(/[\r\n]+/)) {
    if (canContinue && /^[ \t]/.test(line)) {
      lines.push(`${lines.pop() ?? ''} ${line.trim()}`);
      continue;
    }
    lines.push(line);
    canContinue = /^[^ \t:][^:]*:/.test(line);
  }
  return lines.flatMap((line) => {
    const [, name, value = ''] = LINE.exec(line) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });
}

function valuesOf(headers: readonly Header[], wanted: string): string[] {
  return headers
    .filter(([name]) => name.toLowerCase() === wanted)
    .flatMap(([, value]) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/** Also checks that the head says once, or not at all, how long its body is. */
function isRegular(head: string): boolean {
  const [, minor, status] = REGULAR.exec(head) ?? [];
  if (status === undefined || status === '101') return false;
  const framing = [...head.matchAll(FRAMING)];
  const [[, name = '', value = ''] = []] = framing;
  if (framing.length === 0) return true;
  if (framing.length > 1) return false;
  return /^content-length$/i.test(name) ? COUNTED.test(value) : minor === '1' && /^chunked$/i.test(value);
}
